package import AggregatorKit
package import AggregatorSelection

/// The pages of one source that a session has shown, and so the point where `next` continues.
package struct SessionPosition: Hashable, Sendable {
  /// A page that was shown, so that `--back` can show it again.
  package struct Shown: Hashable, Sendable, Codable {
    package let start: PageCursor?
    /// The number of records requested, 1 or more.
    package let limit: Int
    package let count: Int
  }

  static let maxEarlierPages = 200

  package let query: SearchQuery?
  /// The names of the fields that were chosen; `nil` for the default ones.
  package let fields: [String]?
  /// The conditions and the order; `nil` for all records in the source's order.
  package var selection: SelectionText?
  /// The pages before the latest one, oldest first.
  package let earlier: [Shown]
  package let latest: Shown
  /// The last request for the latest page: a source that grows at its end continues from here.
  package let request: PageCursor?
  /// The cursor of the next page; `nil` at the end.
  package let next: PageCursor?
  package let ids: ShownIDs

  /// `nil` at the end, unless the source may have grown since (`goesOnAfterEnd`).
  package func continuation(goesOnAfterEnd: Bool) -> NextRequest? {
    guard next != nil || goesOnAfterEnd && selection == nil else { return nil }
    return NextRequest(
      query: query, fields: fields, selection: selection, start: next ?? request,
      limit: latest.limit, excluded: ids, earlier: earlier, latest: latest)
  }

  /// The request for the page before the latest one; `nil` if there is none or it was dropped.
  package var back: NextRequest? {
    guard let target = earlier.last else { return nil }
    return NextRequest(
      query: query, fields: fields, selection: selection, start: target.start, limit: target.limit,
      excluded: ids.dropping(last: latest.count + target.count), earlier: earlier.dropLast(),
      latest: nil)
  }

  /// The listing in words.
  package var text: String {
    query.map { "a search for \"\($0.text.oneLine(atMost: 80))\"" }
      ?? (selection == nil ? "a list" : "a list of selected records")
  }

  /// `true` if pages before those in ``earlier`` were dropped.
  package var isTruncated: Bool { earlier.isEmpty && latest.start != nil }
}

package struct NextRequest: Hashable, Sendable {
  package let query: SearchQuery?
  /// The fields to show, and to remember; `nil` for the default ones.
  package var fields: [String]?
  package var selection: SelectionText?
  package let start: PageCursor?
  /// The limit with which this page, or the one before it, was shown.
  package let limit: Int?
  package let excluded: ShownIDs
  /// The pages before ``latest``, or before this one if that is `nil`.
  package let earlier: [SessionPosition.Shown]
  /// The page shown last, if this one comes after it.
  package let latest: SessionPosition.Shown?
  package static func beginning(
    of query: SearchQuery?, fields: [String]? = nil, selection: SelectionText? = nil
  ) -> NextRequest {
    NextRequest(
      query: query, fields: fields, selection: selection, start: nil, limit: nil,
      excluded: ShownIDs(), earlier: [],
      latest: nil)
  }

  /// The number of records before this page; `nil` if the first pages are not known.
  package var earlierCount: Int? {
    let pages = earlier + [latest].compactMap(\.self)
    guard let first = pages.first else { return start == nil ? 0 : nil }
    return first.start == nil ? pages.reduce(0) { $0 + $1.count } : nil
  }

  /// `--back` skips pages without records.
  package func position(after page: ShownRecords, limit: Int) -> SessionPosition {
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
package struct ShownRecords: Hashable, Sendable {
  package let start: PageCursor?
  /// The cursor of the last request for the page.
  package private(set) var request: PageCursor?
  package private(set) var next: PageCursor?
  package private(set) var ids = ShownIDs()

  package private(set) var count = 0

  package init(from start: PageCursor?) {
    self.start = start
    request = start
    next = start
  }

  package mutating func add<Item: SourceRecord>(_ step: PaginationStep<Item>) {
    request = next
    next = step.end?.isWithoutProgress == true ? nil : step.page.next
    ids.add(step.items)
    count += step.items.count
  }

  /// Ends the listing, if its cursors do not continue it.
  package mutating func end() {
    request = nil
    next = nil
  }

  /// Adds a step of the stored copy, whose cursors no other source opens: the page keeps its own, and
  /// excluding the records shown continues from here in both.
  package mutating func addCopy<Item: SourceRecord>(_ step: PaginationStep<Item>) {
    let isLast = step.end.map { $0 != .itemLimit } ?? false
    next = isLast || step.page.next == nil ? nil : start
    ids.add(step.items)
    count += step.items.count
  }
}

/// The IDs that a session has shown, as 8-byte digests: the newest ten thousand, oldest first.
package struct ShownIDs: Hashable, Sendable {
  package static let maxCount = 10_000

  var digests: ArraySlice<UInt64> { all.suffix(Self.maxCount) }

  /// Up to twice ``maxCount`` digests, so that not every addition moves them.
  private var all: [UInt64] = []

  init(_ digests: some Sequence<UInt64> = []) { all = Array(digests) }

  /// True if older IDs may have been dropped.
  package var isTruncated: Bool { digests.count == Self.maxCount }

  package mutating func add(_ records: [some SourceRecord]) {
    for record in records { all.append(Self.digest(of: record.id)) }
    if all.count > 2 * Self.maxCount { all.removeFirst(all.count - Self.maxCount) }
  }

  func followed(by later: ShownIDs) -> ShownIDs { ShownIDs(digests + later.digests) }

  func dropping(last count: Int) -> ShownIDs { ShownIDs(digests.dropLast(count)) }

  /// The same in every process; the chance of a collision among ten thousand IDs is 1 in 10¹¹.
  static func digest(of id: some RecordID) -> UInt64 { id.description.fnv1a }

  package static func == (left: ShownIDs, right: ShownIDs) -> Bool { left.digests == right.digests }

  package func hash(into hasher: inout Hasher) { hasher.combine(digests) }
}

extension DataSource {
  /// Leaves out records already shown, which shift when others are added or deleted; they count as
  /// hidden, so pagination continues until the page is full.
  package func excluding(_ ids: ShownIDs) -> some DataSource<Item> {
    ExcludingShown(base: self, digests: Set(ids.digests))
  }
}

private struct ExcludingShown<Base: DataSource>: Decorator {
  let base: Base
  let digests: Set<UInt64>

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    var page = try await base.page(request)
    let count = page.records.count
    page.records.removeAll { digests.contains(ShownIDs.digest(of: $0.id)) }
    page.hidden += count - page.records.count
    return page
  }

  var label: String { "excluding(\(digests.count))" }
}
