import AggregatorKit

/// A page as it was shown, which may have taken several requests.
struct ShownPage: Hashable, Sendable {
  /// Where it starts; `nil` at the beginning.
  let start: Cursor?

  /// Where the last request for it started.
  private(set) var request: Cursor?

  /// Where the page after it starts; `nil` at the end.
  private(set) var next: Cursor?

  /// What is on it.
  private(set) var ids = ShownIDs()

  /// How many records are on it.
  private(set) var count = 0

  /// A page of which nothing is there yet.
  ///
  /// - Parameter start: Where it starts.
  init(from start: Cursor?) {
    self.start = start
    request = start
    next = start
  }

  /// Adds what a request brought.
  mutating func add<Item: Record>(_ step: PaginationStep<Item>) {
    request = next
    next = step.end?.isStall == true ? nil : step.page.next
    ids.add(step.items.lazy.map(\.id))
    count += step.items.count
  }
}
