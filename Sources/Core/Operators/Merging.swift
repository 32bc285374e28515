extension DataSource {
  /// Lists the records of two sources in turn: a page of this one, a page of the other, until both have ended.
  ///
  /// So each page has one provenance, and costs one call. A record that both have comes twice; iterating over pages
  /// leaves out the second (see ``pages(matching:after:size:upTo:ahead:)``). The total is known once both have named
  /// theirs, and counts such records twice. A single record comes from this source if it knows it.
  ///
  /// A failure of one source is a failure of the call, so that no record is missing in silence: give each its own
  /// ``fallback(to:when:)``.
  ///
  /// - Parameter name: The name of both together, for cursors.
  public func merging(_ other: some DataSource<Item>, as name: String) -> some DataSource<Item> {
    Merged(base: self, other: other, name: name)
  }
}

private struct Merged<First: DataSource, Second: DataSource<First.Item>>: Decorator {
  let base: First
  let other: Second
  let name: String
  var label: String { "merging(\(other), as: \(name))" }
  var readsAhead: Bool { base.readsAhead && other.readsAhead }
  var replacements: [AsyncStream<Void>] { base.replacements + other.replacements }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<First.Item> {
    let seal = CursorSeal("\(name).merged", for: request.query)
    var position = try seal.open(request.cursor) ?? Position()
    let isOther = position.isOther
    let upstream = request.after(isOther ? position.second.cursor : position.first.cursor)
    var page =
      isOther ? try await other.page(upstream) : try await base.page(upstream)
    if isOther { position.second.take(page) } else { position.first.take(page) }
    // The other's turn, unless it has ended.
    position.isOther = isOther ? position.first.hasEnded : !position.second.hasEnded
    let hasEnded = position.first.hasEnded && position.second.hasEnded
    page.next = hasEnded ? nil : try seal.close(position)
    page.total = position.first.total.flatMap { first in
      position.second.total.map { first.addingReportingOverflow($0).partialValue }
    }
    return page
  }

  func item(
    _ id: First.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<First.Item> {
    do { return try await base.item(id, cachePolicy: cachePolicy) } catch let error
      where error.code == .notFound || error.code == .unsupported
    {
      return try await other.item(id, cachePolicy: cachePolicy)
    }
  }

  func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? { nil }

  /// The positions in both sources, and whose turn it is.
  private struct Position: Codable {
    var first = Part()
    var second = Part()
    var isOther = false

    private enum CodingKeys: String, CodingKey { case first = "a", second = "b", isOther = "o" }
  }

  private struct Part: Codable {
    /// The cursor of the next page; `nil` at the start, and at the end.
    private(set) var cursor: PageCursor?
    private(set) var hasEnded = false
    private(set) var total: Int?

    mutating func take(_ page: Page<First.Item>) {
      cursor = page.next
      hasEnded = page.next == nil
      total = page.total ?? total
    }

    private enum CodingKeys: String, CodingKey { case cursor = "c", hasEnded = "e", total = "t" }
  }
}
