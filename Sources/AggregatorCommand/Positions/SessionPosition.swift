import AggregatorKit

/// The pages of one source that a session has shown, and so the point where `next` continues.
package struct SessionPosition: Hashable, Sendable {
  /// A page that was shown, so that `--back` can show it again.
  struct Shown: Hashable, Sendable, Codable {
    let start: Cursor?
    /// The number of records requested, 1 or more.
    let limit: Int
    let count: Int
  }

  static let maxEarlierPages = 200

  let query: Query?
  /// The pages before the latest one, oldest first.
  let earlier: [Shown]
  let latest: Shown
  /// The last request for the latest page: a source that grows at its end continues from here.
  let request: Cursor?
  /// The cursor of the next page; `nil` at the end.
  let next: Cursor?
  let ids: ShownIDs

  /// `nil` at the end, unless the source may have grown since (`goesOnAfterEnd`).
  func continuation(goesOnAfterEnd: Bool) -> NextPageRequest? {
    guard next != nil || goesOnAfterEnd else { return nil }
    return NextPageRequest(
      query: query, start: next ?? request, limit: nil, excluded: ids, earlier: earlier,
      latest: latest)
  }

  /// The request for the page before the latest one; `nil` if there is none or it was dropped.
  var back: NextPageRequest? {
    guard let target = earlier.last else { return nil }
    return NextPageRequest(
      query: query, start: target.start, limit: target.limit,
      excluded: ids.dropping(last: latest.count + target.count), earlier: earlier.dropLast(),
      latest: nil)
  }

  /// `true` if pages before those in ``earlier`` were dropped.
  var isTruncated: Bool { earlier.isEmpty && latest.start != nil }
}

struct NextPageRequest: Hashable, Sendable {
  let query: Query?
  let start: Cursor?
  /// The limit with which the page was shown before.
  let limit: Int?
  let excluded: ShownIDs
  /// The pages before ``latest``, or before this one if that is `nil`.
  let earlier: [SessionPosition.Shown]
  /// The page shown last, if this one comes after it.
  let latest: SessionPosition.Shown?
  static func beginning(of query: Query?) -> NextPageRequest {
    NextPageRequest(
      query: query, start: nil, limit: nil, excluded: ShownIDs(), earlier: [], latest: nil)
  }

  /// `--back` skips pages without records.
  func position(after page: ShownPage, limit: Int) -> SessionPosition {
    let isEmpty = page.count == 0
    let shown = SessionPosition.Shown(start: page.start, limit: limit, count: page.count)
    let before = isEmpty ? earlier : earlier + [latest].compactMap(\.self)
    return SessionPosition(
      query: query, earlier: before.suffix(SessionPosition.maxEarlierPages),
      latest: isEmpty ? latest ?? shown : shown, request: page.request, next: page.next,
      ids: excluded.followed(by: page.ids))
  }
}

/// A page as it was shown, which may have taken several requests.
struct ShownPage: Hashable, Sendable {
  let start: Cursor?
  /// The cursor of the last request for the page.
  private(set) var request: Cursor?
  private(set) var next: Cursor?
  private(set) var ids = ShownIDs()

  private(set) var count = 0

  init(from start: Cursor?) {
    self.start = start
    request = start
    next = start
  }

  mutating func add<Item: Record>(_ step: PaginationStep<Item>) {
    request = next
    next = step.end?.isStall == true ? nil : step.page.next
    ids.add(step.items.lazy.map(\.id))
    count += step.items.count
  }
}
