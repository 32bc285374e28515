public import AggregatorText

extension DataSource {
  /// Adds search to a source whose service has none, by scanning the source's pages.
  ///
  /// Also looks up single records that way, if the source fails with `unsupported`.
  ///
  /// A record matches if every word of the query occurs in its text. One call scans at most `bound`
  /// records; a page that ends there may be short, or empty, has a `next` to continue, and a warning with
  /// the number of records scanned. If the source has a single page, the closest matches come first.
  ///
  /// - Parameters:
  ///   - bound: The maximum number of records per call, rounded down to whole pages of `size`.
  ///   - size: The number of records to request at a time.
  ///   - name: The source's name, for cursors and messages.
  ///   - text: The folded, searchable text of a record.
  public func searchingLocally(
    upTo bound: Int, by size: Int, as name: String, text: @escaping @Sendable (Item) -> FoldedText
  ) -> some DataSource<Item> {
    SearchingLocally(base: self, bound: bound, size: size, name: name, text: text)
  }
}

private struct SearchingLocally<Base: DataSource>: Decorator {
  let base: Base
  let bound: Int
  let size: Int
  let name: String
  let text: @Sendable (Base.Item) -> FoldedText
  var label: String { "searchingLocally(upTo: \(bound))" }

  @concurrent func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    guard let query = request.query else { return try await base.page(request) }
    let seal = CursorSeal("\(name).scan", for: query)
    var search = LocalSearch<Base.Item>(
      from: try seal.open(request.cursor) ?? LocalSearchPosition(), limit: request.limit,
      RankedSearch(query, for: Base.Item.self), text: text)
    var answer: Page<Base.Item>?
    let state = PaginationState<Base.Item>(
      matching: nil, after: search.cursor, size: size, bound: bounds,
      cachePolicy: request.cachePolicy)
    for try await step in base.pages(state, ahead: 0) {
      search.scan(step)
      answer = step.page
      if search.isDone { break }
    }
    guard var page = answer else { throw .cancelled }  // the iteration has a step, or throws
    page.records = search.matches
    page.total = search.total
    page.hidden = search.hidden
    page.unreadable = search.unreadable
    page.warnings = search.warnings + search.ownWarnings(about: name)
    page.next = try search.next.map { next throws(SourceError) in try seal.close(next) }
    return page
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    do { return try await base.item(id, cachePolicy: cachePolicy) } catch .unsupported {
      return try await find(id, cachePolicy)
    }
  }

  private func find(
    _ id: Base.Item.ID, _ cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    var (scanned, unreadable) = (0, UnreadableRows.none)
    var (end, doubt, failure): (PaginationEnd?, Warning?, SourceError?) = (nil, nil, nil)
    let state = PaginationState<Base.Item>(
      matching: nil, after: nil, size: size, bound: bounds, cachePolicy: cachePolicy)
    for try await step in base.pages(state, ahead: 0) {
      if let item = step.items.first(where: { $0.id == id }) {
        let rounded = step.page.warnings.filter { $0.code == .rounded }
        return LookupResult(item, provenance: step.page.provenance, warnings: rounded)
      }
      scanned += step.items.count
      unreadable = unreadable + step.page.unreadable
      failure = failure ?? step.page.provenance.reason
      doubt = doubt ?? step.page.warnings.first(where: \.meansIncomplete)
      end = step.end
    }
    // Only a complete scan of the service proves that the record does not exist.
    if let failure { throw failure }
    // Without a readable row the scan ends soon, and that is the reason.
    guard unreadable.count == 0 || scanned > 0 && end != .exhausted else {
      throw SourceError(
        .malformed,
        "record \"\(id)\" not found, but \(unreadable.count.of("row")) could not be read",
        cause: unreadable.firstReason.map { SourceError(.malformed, $0) })
    }
    guard end == .exhausted, doubt == nil else {
      let reason = doubt.map { ": \($0.message)" } ?? ""
      throw SourceError(
        .unsupported, "record \"\(id)\" not found among the first \(scanned)\(reason)",
        remedy: doubt == nil ? Remedy("\(name) sync", .command) : nil,
        cause: doubt.map { SourceError(.noProgress, $0.message) } ?? end.map(SourceError.noProgress)
      )
    }
    throw .notFound(id, in: name)
  }

  /// The limits of one call.
  private var bounds: PaginationBound { PaginationBound(pages: max(bound / size, 1)) }

  func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    request.query == nil ? base.cursor(skipping: count, from: request) : nil
  }
}

/// The state of one call of a local search.
private struct LocalSearch<Item: SourceRecord> {
  private(set) var matches: [Item] = []

  /// The total number of matches, if this call has scanned every record.
  private(set) var total: Int?

  /// The unreadable rows; those of a page that is scanned again are not counted twice.
  private(set) var unreadable = UnreadableRows.none

  /// The warnings of the pages, each once as well.
  private(set) var warnings: [Warning] = []

  /// The number of records that this call has scanned, or upstream has hidden, without a match.
  private(set) var hidden = 0

  /// The position of the next call; `nil` at the end.
  private(set) var next: LocalSearchPosition?

  /// True if the source made no progress, so that the search stopped before the end.
  private var isWithoutProgress = false

  private let start: LocalSearchPosition
  private let limit: Int
  private let search: RankedSearch
  private let text: @Sendable (Item) -> FoldedText

  init(
    from start: LocalSearchPosition, limit: Int, _ search: RankedSearch,
    text: @escaping @Sendable (Item) -> FoldedText
  ) {
    (self.start, self.limit, next) = (start, limit, start)
    self.search = search
    self.text = text
  }

  /// The cursor of the upstream page to scan.
  var cursor: PageCursor? { next?.cursor }

  /// True if the page is full, or the end was reached.
  var isDone: Bool { matches.count >= limit || next == nil }

  /// Scans an upstream page from the current position.
  mutating func scan(_ step: PaginationStep<Item>) {
    guard let position = next else { return }
    let page = step.page
    let skip = Int(position.skip)
    let isRanked = position.isRanked == true || position.isStart && page.next == nil
    if skip == 0 {
      unreadable = unreadable + page.unreadable
      warnings += page.warnings
      hidden += page.hidden
    }
    var found = page.records.indices.dropFirst(isRanked ? 0 : skip).filter {
      text(page.records[$0]).containsAll(search.words)
    }
    let others = page.records.count - found.count
    if isRanked {
      found = search.sorted(found) { [text, search] index in
        search.rank(page.records[index].id.description, text(page.records[index]))
      }
      found.removeFirst(min(skip, found.count))
    }
    let taken = found.prefix(limit - matches.count)
    matches += taken.map { page.records[$0] }
    // The next call starts at the first match that does not fit, so that it finds something.
    let rest = found.dropFirst(taken.count).first
    if !isRanked {
      hidden += max((rest ?? page.records.count) - skip, 0) - taken.count
    } else if skip == 0 {
      hidden += others
    }
    let continuation = step.end?.isWithoutProgress == true ? nil : page.next
    let following = continuation.flatMap { position.following($0, after: page.records.count) }
    if let rest {
      next?.skip = UInt32(clamping: isRanked ? skip + taken.count : rest)
      next?.isRanked = isRanked ? true : nil
    } else {
      next = following
    }
    if following == nil && page.next != nil {
      isWithoutProgress = rest == nil
    } else if position.isStart && following == nil {
      total = found.count
    } else if start.isStart && next == nil {
      total = matches.count
    }
  }

  /// A warning if the search stopped before the page was full: at its bound, or because the source made no progress.
  func ownWarnings(about name: String) -> [Warning] {
    if isWithoutProgress { return [Warning(.stopped, "stopped: the pages of \(name) repeat")] }
    guard let next, matches.count < limit else { return [] }
    return [Warning(.scanned, "searched only the first \(next.scanned.grouped) records")]
  }
}

/// The position of a local search; the types reject values that no search can have.
private struct LocalSearchPosition: Codable {
  /// The cursor of the upstream page.
  private(set) var cursor: PageCursor?

  /// The number of its records that have been scanned, or of its matches that were returned if they are ranked.
  var skip: UInt32 = 0

  /// True if the matches of the page are in the order of their ranks; `nil` for the page's own order.
  var isRanked: Bool?

  /// The number of records scanned before this page.
  private var passed: UInt32 = 0

  /// The number of upstream pages scanned.
  private var pages: UInt32 = 0

  /// A digest of the cursor that led to page 1, 2, 4, 8 … before this one.
  private var mark: UInt32?

  private enum CodingKeys: String, CodingKey {
    case cursor = "c", skip = "s", passed = "n", pages = "p", mark = "m", isRanked = "r"
  }

  /// The start.
  init() {}

  var isStart: Bool { cursor == nil && skip == 0 }

  /// The total number of records scanned.
  var scanned: Int { Int(passed) + Int(skip) }

  /// The start of the next page, after one of `count` records; `nil` if the pages form a cycle.
  ///
  /// Each call of a search is an iteration of its own, so none detects a cycle of more pages than it
  /// reads. Brent's algorithm does, with one stored cursor.
  func following(_ cursor: PageCursor, after count: Int) -> LocalSearchPosition? {
    let digest = UInt32(truncatingIfNeeded: cursor.description.fnv1a)
    guard digest != mark else { return nil }
    var next = LocalSearchPosition()
    next.cursor = cursor
    next.passed = UInt32(clamping: Int(passed) + count)
    next.pages = pages == .max ? pages : pages + 1
    next.mark = next.pages.nonzeroBitCount == 1 ? digest : mark
    return next
  }
}
