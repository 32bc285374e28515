extension DataSource {
  /// Gives search to a source whose service has none: it looks through the source's pages.
  ///
  /// So does looking up one record, if the source says that this is `unsupported`.
  ///
  /// A record matches when every word of the query occurs in its text. One call looks at no more than
  /// `bound` records; a page that ends there may be short, or empty, has a `next` to look further, and
  /// says how far it looked in a warning.
  ///
  /// - Parameters:
  ///   - bound: The most records that one call looks at, rounded down to whole pages of `size`.
  ///   - size: How many records it reads at a time.
  ///   - name: The source's name, for cursors and messages.
  ///   - text: The folded text of a record that is searched.
  /// - Returns: A source that answers queries.
  public func searchingLocally(
    upTo bound: Int, by size: Int, as name: String, text: @escaping @Sendable (Item) -> Folded
  ) -> some DataSource<Item> {
    SearchingLocally(base: self, bound: bound, size: size, name: name, text: text)
  }
}

struct SearchingLocally<Base: DataSource>: DataSource, CustomStringConvertible {
  let base: Base
  let bound: Int
  let size: Int
  let name: String
  let text: @Sendable (Base.Item) -> Folded

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    guard let query = request.query else { return try await base.page(request) }
    let seal = CursorSeal("\(name).scan", for: query)
    var scan = LocalSearch<Base.Item>(
      from: try seal.open(request.cursor) ?? LocalSearchPosition(), limit: request.limit,
      words: query.words, text: text)
    let walk = base.pages(after: scan.cursor, size: size, upTo: bounds, ahead: 0)
    var answer: Page<Base.Item>?
    for try await step in walk {
      scan.look(through: step)
      answer = step.page
      if scan.isDone { break }
    }
    guard var page = answer else { throw .cancelled }  // a walk has at least one step, or throws
    page.records = scan.matches
    page.total = scan.total
    page.hidden = scan.hidden
    page.unreadable = scan.unreadable
    page.warnings = scan.warnings
    page.next = try scan.next.map { next throws(SourceError) in try seal.close(next) }
    page.warnings += scan.ownWarnings(about: name)
    return page
  }

  func item(_ id: Base.Item.ID) async throws(SourceError) -> LookupResult<Base.Item> {
    do { return try await base.item(id) } catch .unsupported { return try await find(id) }
  }

  private func find(_ id: Base.Item.ID) async throws(SourceError) -> LookupResult<Base.Item> {
    var looked = 0
    var unreadable = 0
    var end: PaginationEnd?
    for try await step in base.pages(size: size, upTo: bounds, ahead: 0) {
      if let item = step.items.first(where: { $0.id == id }) {
        return LookupResult(item, provenance: step.page.provenance)
      }
      looked += step.items.count
      unreadable += step.page.unreadable.count
      end = step.end
    }
    // Only who has seen everything can say that there is no such record.
    throw SourceError(
      end == .exhausted && unreadable == 0 ? .notFound : .unsupported,
      "none of the first \(looked) \(name) has the id '\(id)'")
  }

  /// How far one call looks.
  private var bounds: PaginationBound { PaginationBound(pages: max(bound / size, 1)) }

  func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    request.query == nil ? base.cursor(skipping: count, from: request) : nil
  }

  var description: String { chained(base, "searchingLocally(upTo: \(bound))") }
}
