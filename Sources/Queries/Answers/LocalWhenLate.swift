package import AggregatorKit

extension DataSource {
  /// Reads a page that does not arrive within a time from a local source instead; `nil` to fail with `timedOut`.
  ///
  /// Unlike ``DataSource/fallback(to:when:)`` it leaves cursors alone, so that the source itself continues the listing.
  package func timeout(
    _ limit: Duration, clock: some Clock<Duration>, else local: (any DataSource<Item>)?
  ) -> some DataSource<Item> {
    LocalWhenLate(base: timeout(limit, clock: clock), local: local)
  }
}

private struct LocalWhenLate<Base: DataSource>: Decorator {
  let base: Base
  let local: (any DataSource<Base.Item>)?

  var label: String { "localWhenLate" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    do { return try await base.page(request) } catch {
      guard let local, error.code == .timedOut else { throw error }
      guard var page = try? await local.page(request) else { throw error }
      page.provenance.reason = error
      return page
    }
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    try await base.item(id, cachePolicy: cachePolicy)
  }
}
