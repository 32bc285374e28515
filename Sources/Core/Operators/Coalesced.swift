extension DataSource {
  /// Lets identical calls that are in flight at the same time share one.
  ///
  /// A caller that is cancelled leaves at once; the shared call ends when the last caller has left.
  ///
  /// - Returns: The source, asked once for what several ask at a time.
  public func coalesced() -> some DataSource<Item> { Coalesced(base: self) }
}

struct Coalesced<Base: DataSource>: DataSource, CustomStringConvertible {
  let base: Base
  private let pages = SingleFlight<PageRequest, Page<Base.Item>>()
  private let items = SingleFlight<Base.Item.ID, LookupResult<Base.Item>>()

  init(base: Base) { self.base = base }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    try await pages.answer(to: request, base.page)
  }

  func item(_ id: Base.Item.ID) async throws(SourceError) -> LookupResult<Base.Item> {
    try await items.answer(to: id, base.item)
  }

  func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    base.cursor(skipping: count, from: request)
  }

  var description: String { chained(base, "coalesced()") }
}
