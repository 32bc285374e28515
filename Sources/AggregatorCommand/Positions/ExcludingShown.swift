import AggregatorKit

extension DataSource {
  /// Leaves out records that were shown before.
  ///
  /// Rows shift between two pages when others are added or deleted meanwhile. What is left out counts as
  /// hidden, so a walk goes on until its page is full.
  ///
  /// - Parameter ids: What was shown.
  /// - Returns: A source whose pages may be shorter.
  func leavingOut(_ ids: ShownIDs) -> some DataSource<Item> {
    ExcludingShown(base: self, digests: Set(ids.digests))
  }
}

private struct ExcludingShown<Base: DataSource>: Decorator {
  let base: Base
  let digests: Set<UInt64>
  var label: String { "leavingOut(\(digests.count))" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    var page = try await base.page(request)
    let count = page.records.count
    page.records.removeAll { digests.contains(ShownIDs.digest(of: $0.id)) }
    page.hidden += count - page.records.count
    return page
  }

  func item(_ id: Base.Item.ID) async throws(SourceError) -> LookupResult<Base.Item> {
    try await base.item(id)
  }
}
