public import AggregatorCore
package import AggregatorFoundation
public import AggregatorStore

extension SQLiteStore {
  public func changes(
    of source: String, since start: HistoryStart, after position: Int64, limit: Int
  ) async throws(SourceError) -> ChangeSlice? {
    try await read { connection throws(SQLiteFailure) in
      try connection.changes(of: source, since: start, after: position, limit: limit)
    } ?? nil
  }

  public func history(
    of id: String, in source: String, limit: Int
  ) async throws(SourceError) -> StoredHistory? {
    try await read { connection throws(SQLiteFailure) in
      try connection.history(of: id, in: source, limit: limit)
    } ?? nil
  }

  public func clearHistory(of source: String) async throws(SourceError) {
    guard !isMissing else { return }
    try await write { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return }
      try connection.clearHistory(of: number)
    }
  }
}

extension Connection {
  package mutating func update(
    _ history: HistoryUpdate, of source: Int64, at date: Date
  ) throws(SQLiteFailure) {
    if history.isCleared { try clearHistory(of: source) }
    if let state = history.state {
      try run(
        """
        INSERT INTO history (source, start, trimmed, last) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (source) DO UPDATE SET
          start = coalesce(start, excluded.start), trimmed = excluded.trimmed, last = excluded.last
        """, source, state.isKept ? date : nil, state.trimmed, state.last)
      var number = state.last - Int64(history.changes.count)
      for change in history.changes {
        number += 1
        try run(
          "INSERT INTO changes (number, position, kind, changed, json) VALUES (?1, ?2, ?3, ?4, ?5)",
          number, change.position, change.kind.rawValue, date, change.before)
      }
      if state.isKept { try trim(history, from: state, of: source) }
    }
    if let sync = history.sync {
      try run(
        "INSERT INTO syncs (source, position, change, completed) VALUES (?1, ?2, ?3, ?4)", source,
        sync.position, sync.change, date)
      try run(
        """
        DELETE FROM syncs WHERE number IN (
          SELECT number FROM syncs WHERE source = ?1 ORDER BY number DESC LIMIT -1 OFFSET 2)
        """, source)
    }
  }

  /// Removes the changes beyond the limit.
  private mutating func trim(
    _ history: HistoryUpdate, from state: HistoryState, of source: Int64
  ) throws(SQLiteFailure) {
    // Reads the changes that will be removed, and one more.
    let young = try row(
      """
      SELECT number FROM changes WHERE number > ?1 AND number <= ?2 AND changed >= ?3
      ORDER BY number LIMIT 1
      """, state.trimmed, state.last, history.oldest
    ) { $0.integer(0) }
    let end = max((young ?? state.last + 1) - 1, state.last - Int64(history.maxCount))
    guard end > state.trimmed else { return }
    try run(
      """
      UPDATE history SET trimmed = ?2,
        start = max(start, coalesce((SELECT changed FROM changes WHERE number = ?2), start))
      WHERE source = ?1
      """, source, end)
    try run("DELETE FROM changes WHERE number > ?1 AND number <= ?2", state.trimmed, end)
  }

  /// Removes the changes of a source; their numbers are never reused, because a watch may know one.
  mutating func clearHistory(of source: Int64) throws(SQLiteFailure) {
    let range = PositionRange(of: source)
    try run("DELETE FROM changes WHERE number > ?1 AND number <= ?2", range.start, range.end)
    try run("DELETE FROM syncs WHERE source = ?1", source)
    try run("UPDATE history SET start = NULL, trimmed = last WHERE source = ?1", source)
  }
}

extension Connection: HistoryReader {
  package mutating func history(
    of source: String
  ) throws(SQLiteFailure) -> (source: Int64, history: HistoryStatus)? {
    guard let number = try number(of: source), let history = try history(of: number) else {
      return nil
    }
    return (number, history)
  }

  /// The history of a source; `nil` if none is kept.
  mutating func history(of source: Int64) throws(SQLiteFailure) -> HistoryStatus? {
    try row(
      """
      SELECT h.start, h.trimmed, h.last, s.last,
        (SELECT completed FROM syncs WHERE source = ?1 ORDER BY number DESC LIMIT 1)
      FROM history h JOIN sources s ON s.number = h.source WHERE h.source = ?1
      """, source
    ) { HistoryStatus($0) } ?? nil
  }

  package mutating func syncs(
    of source: Int64
  ) throws(SQLiteFailure) -> [(mark: HistoryMark, date: Date?)] {
    try rows(
      """
      SELECT position, change, completed FROM syncs WHERE source = ?1 ORDER BY number DESC LIMIT 2
      """, source
    ) { (HistoryMark($0), $0.date(2)) }
  }

  package mutating func mark(
    of source: Int64, at date: Date, trimmed: Int64
  ) throws(SQLiteFailure) -> HistoryMark {
    let range = PositionRange(of: source)
    let mark = try row(
      """
      SELECT
        (SELECT position FROM records WHERE position > ?1 AND position <= ?2 AND first_seen <= ?3
          ORDER BY position DESC LIMIT 1),
        (SELECT number FROM changes WHERE number > ?1 AND number <= ?2 AND changed <= ?3
          ORDER BY number DESC LIMIT 1)
      """, range.start, range.end, date
    ) { row in
      HistoryMark(
        position: row.isNull(0) ? range.start : row.integer(0),
        change: row.isNull(1) ? trimmed : row.integer(1))
    }
    return mark ?? HistoryMark(position: range.start, change: trimmed)
  }

  package mutating func changedRecords(
    of source: Int64, since mark: HistoryMark, after position: Int64, limit: Int
  ) throws(SQLiteFailure) -> [StoredChange] {
    let range = PositionRange(of: source)
    return try rows(
      """
      WITH found AS (
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
        ORDER BY position LIMIT ?5)
      SELECT r.position, r.saved, r.json, r.removed_upstream, r.id,
        (SELECT c.kind FROM changes c
          WHERE c.position = r.position AND c.number > ?3 AND c.kind <> 'changed'
          ORDER BY c.number LIMIT 1),
        (SELECT c.json FROM changes c
          WHERE c.position = r.position AND c.number > ?3 AND c.kind = 'changed'
          ORDER BY c.number LIMIT 1),
        coalesce((SELECT c.changed FROM changes c
          WHERE c.position = r.position AND c.number > ?3 AND r.position <= ?4
          ORDER BY c.number DESC LIMIT 1),
          r.first_seen)
      FROM found CROSS JOIN records r ON r.position = found.position ORDER BY r.position
      """, range.clamped(position), range.end, mark.change, mark.position, limit, source
    ) { StoredChange($0, since: mark) }
  }

  package mutating func record(
    _ id: String, in source: Int64
  ) throws(SQLiteFailure) -> (record: StoredRecord, firstSeen: Date)? {
    try row(
      """
      SELECT position, saved, json, removed_upstream, first_seen FROM records
      WHERE source = ?1 AND id = ?2
      """, source, id
    ) { (StoredRecord($0), $0.date(4) ?? .distantPast) }
  }

  package mutating func events(
    at position: Int64, limit: Int
  ) throws(SQLiteFailure) -> [StoredHistory.Event] {
    try rows(
      """
      SELECT kind, changed, json FROM changes WHERE position = ?1 ORDER BY number DESC LIMIT ?2
      """, position, limit
    ) { StoredHistory.Event($0) }
    .compactMap(\.self)
  }
}
