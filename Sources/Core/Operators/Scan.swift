/// How far a local search has looked.
struct ScanPosition: Codable {
  /// The upstream page that is looked through.
  var cursor: String?
  /// How many of its records have been looked at.
  var skip = 0
  /// How many records were looked at before this page.
  var passed = 0

  private enum CodingKeys: String, CodingKey { case cursor = "c", skip = "s", passed = "n" }

  var isStart: Bool { cursor == nil && skip == 0 }
}

/// One call of a local search: what it has found so far, and where to look on.
struct Scan<Item: Record> {
  /// The records that match.
  private(set) var matches: [Item] = []

  /// How many records match altogether, if this call has seen them all.
  private(set) var total: Int?

  /// The rows that could not be read, those of a page that is looked at again not counted twice.
  private(set) var unreadable = Unreadable.none

  /// How many records this call has looked at.
  private(set) var looked = 0

  /// Where the next call looks on; `nil` when the end was reached.
  private(set) var next: ScanPosition?

  private let start: ScanPosition
  private let limit: Int
  private let words: [Folded]
  private let text: @Sendable (Item) -> Folded

  init(
    from start: ScanPosition, limit: Int, words: [Folded],
    text: @escaping @Sendable (Item) -> Folded
  ) {
    self.start = start
    self.limit = limit
    self.words = words
    self.text = text
    next = start
  }

  /// The upstream page to look through now.
  var cursor: Cursor? { next?.cursor.flatMap { Cursor($0) } }

  /// Whether the page is full, or the end was reached.
  var isDone: Bool { matches.count >= limit || next == nil }

  /// Looks through an upstream page, from where the scan stands in it.
  mutating func look(through step: WalkStep<Item>) {
    guard let position = next else { return }
    let page = step.page
    // A source that leads nowhere ends the search.
    let onward = step.end?.isStall == true ? nil : page.next
    if position.skip == 0 { unreadable = unreadable + page.unreadable }
    let hits = page.records.indices.dropFirst(position.skip).filter {
      text(page.records[$0]).containsAll(words)
    }
    let room = limit - matches.count
    matches += hits.prefix(room).map { page.records[$0] }
    // The first match that has no room is where the next call starts, so that it finds something.
    let rest = hits.dropFirst(room).first
    looked += max((rest ?? page.records.count) - position.skip, 0)
    if let rest {
      next?.skip = rest
    } else {
      next = onward.map {
        ScanPosition(cursor: $0.description, passed: position.passed + page.records.count)
      }
    }
    if position.isStart && onward == nil {
      total = hits.count
    } else if start.isStart && next == nil {
      total = matches.count
    }
  }

  /// What to say where the search stopped at its bound before the page was full.
  func warning(about name: String) -> Warning? {
    guard let next, matches.count < limit else { return nil }
    return Warning("scanned", "searched the first \(next.passed + next.skip) \(name) only")
  }
}
