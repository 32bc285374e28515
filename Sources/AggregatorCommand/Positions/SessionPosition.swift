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
  /// The names of the fields that were chosen; `nil` for the default ones.
  let fields: [String]?
  /// The conditions and the order; `nil` for all records in the source's order.
  var selection: SelectionText?
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
    guard next != nil || goesOnAfterEnd && selection == nil else { return nil }
    return NextPageRequest(
      query: query, fields: fields, selection: selection, start: next ?? request,
      limit: latest.limit, excluded: ids, earlier: earlier, latest: latest)
  }

  /// The request for the page before the latest one; `nil` if there is none or it was dropped.
  var back: NextPageRequest? {
    guard let target = earlier.last else { return nil }
    return NextPageRequest(
      query: query, fields: fields, selection: selection, start: target.start, limit: target.limit,
      excluded: ids.dropping(last: latest.count + target.count), earlier: earlier.dropLast(),
      latest: nil)
  }

  /// `true` if pages before those in ``earlier`` were dropped.
  var isTruncated: Bool { earlier.isEmpty && latest.start != nil }
}

struct NextPageRequest: Hashable, Sendable {
  let query: Query?
  /// The fields to show, and to remember; `nil` for the default ones.
  var fields: [String]?
  var selection: SelectionText?
  let start: Cursor?
  /// The limit with which this page, or the one before it, was shown.
  let limit: Int?
  let excluded: ShownIDs
  /// The pages before ``latest``, or before this one if that is `nil`.
  let earlier: [SessionPosition.Shown]
  /// The page shown last, if this one comes after it.
  let latest: SessionPosition.Shown?
  static func beginning(
    of query: Query?, fields: [String]? = nil, selection: SelectionText? = nil
  ) -> NextPageRequest {
    NextPageRequest(
      query: query, fields: fields, selection: selection, start: nil, limit: nil,
      excluded: ShownIDs(), earlier: [],
      latest: nil)
  }

  /// The number of records before this page; `nil` if the first pages are not known.
  var earlierCount: Int? {
    let pages = earlier + [latest].compactMap(\.self)
    guard let first = pages.first else { return start == nil ? 0 : nil }
    return first.start == nil ? pages.reduce(0) { $0 + $1.count } : nil
  }

  /// `--back` skips pages without records.
  func position(after page: ShownPage, limit: Int) -> SessionPosition {
    let isEmpty = page.count == 0
    let shown = SessionPosition.Shown(start: page.start, limit: limit, count: page.count)
    let before = isEmpty ? earlier : earlier + [latest].compactMap(\.self)
    return SessionPosition(
      query: query, fields: fields, selection: selection,
      earlier: before.suffix(SessionPosition.maxEarlierPages),
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
    next = step.end?.isWithoutProgress == true ? nil : step.page.next
    ids.add(step.items)
    count += step.items.count
  }

  /// Ends the listing, if its cursors do not continue it.
  mutating func end() {
    request = nil
    next = nil
  }

  /// Adds a step of the stored copy, whose cursors no other source opens: the page keeps its own, and
  /// excluding the records shown continues from here in both.
  mutating func addCopy<Item: Record>(_ step: PaginationStep<Item>) {
    let isLast = step.end.map { $0 != .itemLimit } ?? false
    next = isLast || step.page.next == nil ? nil : start
    ids.add(step.items)
    count += step.items.count
  }
}
