package import AggregatorKit

extension DataSource {
  /// Reads the pages that do not arrive within a time from a local source instead; `nil` to fail with `timedOut`.
  package func answering(
    within time: Duration, on clock: any Clock<Duration>, else local: (any DataSource<Item>)?
  ) -> some DataSource<Item> {
    TimeLimited(base: self, time: time, clock: clock, local: local)
  }
}

private struct TimeLimited<Base: DataSource>: Decorator {
  let base: Base
  let time: Duration
  let clock: any Clock<Duration>
  let local: (any DataSource<Base.Item>)?

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    if let answer = await timely(request) { return try answer.get() }
    let late = SourceError(
      .timedOut, "no answer within \(time.text)", remedy: Remedy("allow more time", .allowMoreTime))
    guard let local else { throw late }
    var page = try await local.page(request)
    page.provenance.reason = late
    return page
  }

  private func timely(_ request: PageRequest) async -> Result<Page<Base.Item>, SourceError>? {
    await withTaskGroup(of: Result<Page<Base.Item>, SourceError>?.self) { group in
      group.addTask {
        await Result { () async throws(SourceError) in try await base.page(request) }
      }
      group.addTask {
        // Cancelled when the page arrives.
        try? await clock.sleep(for: time)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    try await base.item(id, cachePolicy: cachePolicy)
  }

  var label: String { "answering(within: \(time.text))" }
}
