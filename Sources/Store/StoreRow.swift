import AggregatorCore
package import AggregatorFoundation

/// A row that a database returned; its columns are counted from 0.
package protocol StoreRow: ~Copyable {
  func isNull(_ column: Int) -> Bool

  /// 0 for null.
  func integer(_ column: Int) -> Int64

  /// `nil` for null.
  func text(_ column: Int) -> String?

  /// The UTF-8 of a text; empty for null.
  func data(_ column: Int) -> Data

  /// The time of a number of milliseconds since 1970; `nil` for null.
  func date(_ column: Int) -> Date?

  /// True if the UTF-8 of a text is `data`.
  func holds(_ data: Data, in column: Int) -> Bool
}

extension StoredRecord {
  /// The row `position, saved, json, removed_upstream`.
  package init(_ row: borrowing some StoreRow & ~Copyable) {
    self.init(
      position: row.integer(0), json: row.data(2), savedAt: row.date(1) ?? .distantPast,
      removedUpstreamAt: row.date(3))
  }

  /// The same with the ID as the last column.
  package static func withID(_ row: borrowing some StoreRow & ~Copyable) -> StoredRecord {
    var record = StoredRecord(row)
    record.id = row.text(4)
    return record
  }
}

extension StoredDeletion {
  /// The row of a record, null for none, and `id`.
  package init(_ row: borrowing some StoreRow & ~Copyable) {
    self.init(id: row.text(4) ?? "", record: row.isNull(0) ? nil : StoredRecord(row))
  }
}

extension Int64 {
  /// This as a count: those of a damaged store may be anything, and are added up.
  package var count: Int { Int(Swift.min(Swift.max(self, 0), 1 << PositionRange.bits)) }
}

extension StoreStatus {
  /// The row of a source's `records, removed_upstream, last`, the numbers of its deletions and its pages, the time of the
  /// last fetch, and the number of records that are only deleted.
  package init(_ row: borrowing some StoreRow & ~Copyable, of source: Int64) {
    removedUpstream = row.integer(1).count
    let listed = max(0, row.integer(0).count - removedUpstream)
    records = max(0, listed - row.integer(6).count)
    hidden = listed - records
    deleted = row.integer(3).count
    pages = row.integer(4).count
    fetchedAt = row.date(5)
    if row.integer(2) > PositionRange(of: source).start { lastPosition = row.integer(2) }
  }
}

extension BatchPlan.Known {
  /// The row `position, json, removed_upstream` of an entry's record; `nil` if it is new.
  package init?(_ row: borrowing some StoreRow & ~Copyable, for entry: StoreEntry) {
    guard !row.isNull(0) else { return nil }
    self.init(
      position: row.integer(0), json: row.holds(entry.json, in: 1) ? nil : row.data(1),
      isRemovedUpstream: !row.isNull(2))
  }
}

extension PageMetadata {
  /// `nil` for a page that another version wrote: it counts as missing.
  package init?(json: Data) {
    guard let text = JSONText(json),
      let page = PageMetadata(plain: JSON(text)) ?? (try? text.read(PageMetadata.self))
    else { return nil }
    self = page
  }

  /// Without coders, whose types take longer to make than a page to read; `nil` for a page that has anything else, such as warnings.
  private init?(plain json: JSON) {
    guard case .object(let members) = json, case .integer(let count)? = json["unreadable"] else {
      return nil
    }
    self.init(next: nil, total: nil, endpoint: nil)
    unreadable = count
    for member in members {
      switch (member.name, member.value) {
      case ("unreadable", _): continue
      case ("next", .string(let text)):
        guard let cursor = PageCursor(text) else { return nil }
        next = cursor
      case ("total", .integer(let count)): total = count
      case ("rows", .integer(let count)): rows = count
      case ("endpoint", .string(let text)): endpoint = text
      case ("reason", .string(let text)): reason = text
      case ("generation", .string(let text)): generation = text
      case ("unchangedSince", .string(let text)): unchangedSince = text
      case ("endsPartition", .bool(let isLast)): endsPartition = isLast
      default: return nil
      }
    }
  }
}

extension HistoryMark {
  /// The row `position, change`.
  package init(_ row: borrowing some StoreRow & ~Copyable) {
    self.init(position: row.integer(0), change: row.integer(1))
  }
}

extension HistoryState {
  /// The row of a history's `start, trimmed, last`, beginning at a column; `nil` if it never had one.
  package init?(_ row: borrowing some StoreRow & ~Copyable, at column: Int = 0) {
    guard !row.isNull(column + 1) else { return nil }
    self.init(
      isKept: !row.isNull(column), trimmed: row.integer(column + 1), last: row.integer(column + 2))
  }
}

extension HistoryStatus {
  /// The row of a history's `start, trimmed, last`, the last position, and the time of the last completed sync;
  /// `nil` if none is kept.
  package init?(_ row: borrowing some StoreRow & ~Copyable) {
    guard let start = row.date(0) else { return nil }
    let (trimmed, last) = (row.integer(1), row.integer(2))
    self.init(
      start: start, count: Int(clamping: max(0, last &- trimmed)),
      mark: HistoryMark(position: row.integer(3), change: last), syncedAt: row.date(4))
  }
}

extension StoredChange {
  /// The row of a record that is new or has changed since `mark`, its `id`, the first of its removals and returns since
  /// then, the record before its first change, and the time of the last change, or that at which it was first seen.
  package init(_ row: borrowing some StoreRow & ~Copyable, since mark: HistoryMark) {
    let record = StoredRecord(row)
    let isNew = record.position > mark.position
    let listing = row.text(5).flatMap(StoredHistory.Event.Kind.init)
    self.init(
      id: row.text(4) ?? "", record: record,
      wasListed: !isNew && (listing.map { $0 == .removed } ?? (record.removedUpstreamAt == nil)),
      before: isNew || row.isNull(6) ? nil : row.data(6), date: row.date(7) ?? .distantPast)
  }
}

extension StoredHistory.Event {
  /// The row of a change: its kind, its time and the record before it; `nil` for a kind that another version has written.
  package init?(_ row: borrowing some StoreRow & ~Copyable) {
    guard let kind = row.text(0).flatMap(Kind.init) else { return nil }
    self.init(
      kind, at: row.date(1) ?? .distantPast, before: row.isNull(2) ? nil : row.data(2))
  }
}
