/// One call of a local search: what it has found so far, and where to look on.
struct LocalSearch<Item: Record> {
  /// The records that match.
  private(set) var matches: [Item] = []

  /// How many records match altogether, if this call has seen them all.
  private(set) var total: Int?

  /// The rows that could not be read, those of a page that is looked at again not counted twice.
  private(set) var unreadable = Unreadable.none

  /// What the pages warn of, told once as well.
  private(set) var warnings: [Warning] = []

  /// How many records this call has looked at or was not shown, and does not give.
  private(set) var hidden = 0

  /// Where the next call looks on; `nil` when the end was reached.
  private(set) var next: LocalSearchPosition?

  /// Whether the source led the search nowhere, so that it ended before the end.
  private var isStalled = false

  private let start: LocalSearchPosition
  private let limit: Int
  private let words: [Folded]
  private let text: @Sendable (Item) -> Folded

  init(
    from start: LocalSearchPosition, limit: Int, words: [Folded],
    text: @escaping @Sendable (Item) -> Folded
  ) {
    self.start = start
    self.limit = limit
    self.words = words
    self.text = text
    next = start
  }

  /// The upstream page to look through now.
  var cursor: Cursor? { next?.cursor }

  /// Whether the page is full, or the end was reached.
  var isDone: Bool { matches.count >= limit || next == nil }

  /// Looks through an upstream page, from where the scan stands in it.
  mutating func look(through step: PaginationStep<Item>) {
    guard let position = next else { return }
    let page = step.page
    let skip = Int(position.skip)
    if skip == 0 {
      unreadable = unreadable + page.unreadable
      warnings += page.warnings
      hidden += page.hidden
    }
    let hits = page.records.indices.dropFirst(skip).filter {
      text(page.records[$0]).containsAll(words)
    }
    let given = hits.prefix(limit - matches.count)
    matches += given.map { page.records[$0] }
    // The first match that has no room is where the next call starts, so that it finds something.
    let rest = hits.dropFirst(given.count).first
    hidden += max((rest ?? page.records.count) - skip, 0) - given.count
    // A source that leads nowhere ends the search.
    let continuation = step.end?.isStall == true ? nil : page.next
    let following = continuation.flatMap { position.following($0, after: page.records.count) }
    if let rest { next?.skip = UInt32(clamping: rest) } else { next = following }
    if following == nil && page.next != nil {
      isStalled = rest == nil
    } else if position.isStart && following == nil {
      total = hits.count
    } else if start.isStart && next == nil {
      total = matches.count
    }
  }

  /// What to say where the search stopped before the page was full: at its bound, or because the
  /// source led it nowhere.
  func ownWarnings(about name: String) -> [Warning] {
    if isStalled { return [Warning("stopped", "stopped: the pages of \(name) lead nowhere")] }
    guard let next, matches.count < limit else { return [] }
    return [Warning("scanned", "searched the first \(next.looked) \(name) only")]
  }
}
