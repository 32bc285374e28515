public import AggregatorCore
import AggregatorFoundation
public import AggregatorStore

extension SQLiteStore {
  public func changes(
    of source: String, since start: HistoryStart, after position: Int64, limit: Int
  ) async throws(SourceError) -> StoredChanges? {
    try await read { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source),
        var changes = try connection.changes(of: number, since: start)
      else { return nil }
      // One more than requested shows whether there are more.
      let bound = min(limit, .max - 1) + 1
      let positions = try connection.changedPositions(
        of: number, since: changes.start, after: position, limit: bound)
      for position in positions {
        if let change = try connection.change(of: position, in: number, since: changes.start) {
          changes.changes.append(change)
        }
      }
      changes.hasMore = changes.changes.count > limit
      if changes.hasMore { changes.changes.removeLast() }
      return changes
    } ?? nil
  }

  public func clearHistory(of source: String) async throws(SourceError) {
    try await write { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return }
      try connection.clearHistory(of: number)
    }
  }
}

extension Connection {
  /// The history of a source; `nil` if none is kept.
  mutating func history(of source: Int64) throws(SQLiteFailure) -> StoredHistory? {
    let found = try row(
      """
      SELECT h.start, h.last, h.last - h.trimmed, s.last,
        (SELECT completed FROM syncs WHERE source = ?1 ORDER BY number DESC LIMIT 1)
      FROM history h JOIN sources s ON s.number = h.source WHERE h.source = ?1
      """, source
    ) { row in
      row.date(0).map { start in
        StoredHistory(
          start: start, count: Int(clamping: max(0, row.integer(2))),
          mark: HistoryMark(position: row.integer(3), change: row.integer(1)),
          syncedAt: row.date(4))
      }
    }
    return found ?? nil
  }

  /// The start of a comparison, without changes; `nil` if nothing is known of it.
  fileprivate mutating func changes(
    of source: Int64, since start: HistoryStart
  ) throws(SQLiteFailure) -> StoredChanges? {
    let trimmed = try row("SELECT trimmed FROM history WHERE source = ?1", source) {
      $0.integer(0)
    }
    guard let history = try history(of: source), let trimmed else { return nil }
    switch start {
    case .mark(let mark):
      return StoredChanges(
        start: mark, date: nil, knownSince: mark.change < trimmed ? history.start : nil)
    case .sync:
      let syncs = try rows(
        """
        SELECT position, change, completed FROM syncs WHERE source = ?1
        ORDER BY number DESC LIMIT 2
        """, source
      ) { (HistoryMark(position: $0.integer(0), change: $0.integer(1)), $0.date(2)) }
      return syncs.last.map { mark, date in
        StoredChanges(
          start: mark, date: date, knownSince: mark.change < trimmed ? history.start : nil)
      }
    case .date(let date):
      let mark = try mark(of: source, at: date, trimmed: trimmed)
      // Records that were all seen later have no history before.
      let isWhole = date >= history.start || mark.position == PositionRange(of: source).start
      return StoredChanges(start: mark, date: date, knownSince: isWhole ? nil : history.start)
    }
  }

  /// The point of a date.
  ///
  /// Both queries read only what is later, one more row aside, and a clock that was set back moves the point,
  /// but tears nothing apart.
  private mutating func mark(
    of source: Int64, at date: Date, trimmed: Int64
  ) throws(SQLiteFailure) -> HistoryMark {
    let range = PositionRange(of: source)
    let position = try row(
      """
      SELECT position FROM records WHERE position > ?1 AND position <= ?2 AND first_seen <= ?3
      ORDER BY position DESC LIMIT 1
      """, range.start, range.end, date
    ) { $0.integer(0) }
    let change = try row(
      """
      SELECT number FROM changes WHERE number > ?1 AND number <= ?2 AND changed <= ?3
      ORDER BY number DESC LIMIT 1
      """, range.start, range.end, date
    ) { $0.integer(0) }
    return HistoryMark(position: position ?? range.start, change: change ?? trimmed)
  }

  /// The positions of records that are new or have changed, ascending.
  fileprivate mutating func changedPositions(
    of source: Int64, since mark: HistoryMark, after position: Int64, limit: Int
  ) throws(SQLiteFailure) -> [Int64] {
    let range = PositionRange(of: source)
    let start = range.clamped(position)
    return try rows(
      """
      SELECT position FROM (
        SELECT DISTINCT c.position FROM changes c JOIN records r ON r.position = c.position
        WHERE c.position > ?1 AND c.position <= ?2 AND c.number > ?3
          AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = ?6 AND t.id = r.id)
        ORDER BY c.position LIMIT ?5)
      UNION
      SELECT position FROM (
        SELECT r.position FROM records r WHERE r.position > max(?1, ?4) AND r.position <= ?2
          AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = ?6 AND t.id = r.id)
        ORDER BY r.position LIMIT ?5)
      ORDER BY position LIMIT ?5
      """, start, range.end, mark.change, mark.position, limit, source
    ) { $0.integer(0) }
  }

  fileprivate mutating func change(
    of position: Int64, in source: Int64, since mark: HistoryMark
  ) throws(SQLiteFailure) -> StoredChange? {
    let found = try row(
      "SELECT id, saved, json, removed_upstream, first_seen FROM records WHERE position = ?1",
      position
    ) { row in
      (
        id: row.text(0) ?? "", seen: row.date(4) ?? .distantPast,
        record: StoredRecord(
          position: position, json: row.bytes(2), savedAt: row.date(1) ?? .distantPast,
          removedUpstreamAt: row.date(3))
      )
    }
    guard let found else { return nil }
    // The first of each kind tells the state before it.
    let earlier = try rows(
      """
      SELECT kind, changed, json FROM changes WHERE position = ?1 AND number > ?2 ORDER BY number
      """, position, mark.change
    ) {
      (kind: BatchPlan.Change.Kind(rawValue: $0.text(0) ?? ""), date: $0.date(1), json: $0.bytes(2))
    }
    let listing = earlier.first { $0.kind == .removed || $0.kind == .returned }
    let isListed = found.record.removedUpstreamAt == nil
    let isNew = position > mark.position
    return StoredChange(
      id: found.id, record: found.record,
      wasListed: isNew ? false : listing.map { $0.kind == .removed } ?? isListed,
      before: isNew ? nil : earlier.first { $0.kind == .changed }?.json,
      date: earlier.last?.date ?? found.seen)
  }
}

extension StoredChanges {
  fileprivate init(start: HistoryMark, date: Date?, knownSince: Date?) {
    self.init(start: start, date: date, knownSince: knownSince, changes: [], hasMore: false)
  }
}
