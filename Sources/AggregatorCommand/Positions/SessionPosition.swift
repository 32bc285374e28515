import AggregatorKit

/// What one session was shown last of one source, and so where `next` goes on.
package struct SessionPosition: Hashable, Sendable {
  /// A page that was shown, to show it again.
  struct Shown: Hashable, Sendable, Codable {
    /// Where it starts; `nil` at the beginning.
    let start: Cursor?
    /// How many records were wanted, 1 or more.
    let limit: Int
    /// How many were shown.
    let count: Int
  }

  /// How many earlier pages are remembered for `--back`.
  static let mostEarlier = 200

  /// What is listed; `nil` for everything.
  let query: Query?

  /// The pages before the one shown last, the newest last.
  let earlier: [Shown]

  /// The page shown last.
  let latest: Shown

  /// Where the last request for the page shown last started.
  ///
  /// Where a source grows at its end, the next page is found by asking on from here.
  let request: Cursor?

  /// Where the next page starts; `nil` at the end.
  let next: Cursor?

  /// What was shown up to here.
  let ids: ShownIDs

  /// The way to the next page.
  ///
  /// - Parameter goesOnAfterEnd: Whether the end is only that of what is known so far, as in a source
  ///   that is asked for more when what is stored runs out.
  /// - Returns: `nil` at the end.
  func continuation(goesOnAfterEnd: Bool) -> NextPageRequest? {
    guard next != nil || goesOnAfterEnd else { return nil }
    return NextPageRequest(
      query: query, start: next ?? request, limit: nil, leftOut: ids, earlier: earlier,
      latest: latest)
  }

  /// The way to the page before the one shown last.
  ///
  /// - Returns: `nil` if there is none, or none that is remembered.
  var back: NextPageRequest? {
    guard let target = earlier.last else { return nil }
    return NextPageRequest(
      query: query, start: target.start, limit: target.limit,
      leftOut: ids.dropping(last: latest.count + target.count), earlier: earlier.dropLast(),
      latest: nil)
  }

  /// Whether the pages before those of ``earlier`` have been forgotten.
  var hasForgotten: Bool { earlier.isEmpty && latest.start != nil }
}

/// A page that is about to be shown: where it starts, and what is left out.
struct NextPageRequest: Hashable, Sendable {
  /// What is listed; `nil` for everything.
  let query: Query?
  /// Where the page starts; `nil` at the beginning.
  let start: Cursor?
  /// How many records were wanted when it was shown before.
  let limit: Int?
  /// What earlier pages had.
  let leftOut: ShownIDs
  /// The pages before the one shown last, or before this one if that is `nil`.
  let earlier: [SessionPosition.Shown]
  /// The page shown last, if this one comes after it.
  let latest: SessionPosition.Shown?

  /// The way to the first page of a listing.
  static func beginning(of query: Query?) -> NextPageRequest {
    NextPageRequest(
      query: query, start: nil, limit: nil, leftOut: ShownIDs(), earlier: [], latest: nil)
  }

  /// Where it led.
  ///
  /// - Parameters:
  ///   - page: What was shown.
  ///   - limit: How many records were wanted, 1 or more.
  /// - Returns: The place after it. A page without records is none that `--back` would show.
  func place(after page: ShownPage, limit: Int) -> SessionPosition {
    let isEmpty = page.count == 0
    let shown = SessionPosition.Shown(start: page.start, limit: limit, count: page.count)
    let before = isEmpty ? earlier : earlier + [latest].compactMap(\.self)
    return SessionPosition(
      query: query, earlier: before.suffix(SessionPosition.mostEarlier),
      latest: isEmpty ? latest ?? shown : shown, request: page.request, next: page.next,
      ids: leftOut.followed(by: page.ids))
  }
}

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
