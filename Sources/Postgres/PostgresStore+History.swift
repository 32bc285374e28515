public import AggregatorCore
package import AggregatorFoundation
public import AggregatorStore

extension PostgresStatement {
  static func history(of source: String) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT h.start, h.trimmed, h.last, s.last, (
          SELECT completed FROM aggregator_store.syncs y WHERE y.source = s.number
          ORDER BY y.number DESC LIMIT 1), s.number
      FROM aggregator_store.sources s JOIN aggregator_store.history h ON h.source = s.number
      WHERE s.name = $1
      """, [.text(source)])
  }
}

extension PostgresConnection {
  package mutating func update(_ history: HistoryUpdate, of source: Int64, at date: Date) {
    if history.isCleared { clearHistory(of: source) }
    if let state = history.state {
      let changes = history.changes
      if !changes.isEmpty {
        enqueue(
          """
          INSERT INTO aggregator_store.changes (number, position, kind, changed, json)
          SELECT $1 + place, position, kind, $2, json
          FROM unnest($3::bigint[], $4::text[], $5::text[])
            WITH ORDINALITY AS new (position, kind, json, place)
          """, .integer(state.last - Int64(changes.count)), .date(date),
          .integers(changes.map(\.position)), .texts(changes.map(\.kind.rawValue)),
          .utf8s(changes.map(\.before)))
      }
      // Reads the changes that will be removed, and one more.
      enqueue(
        """
        WITH bounds AS (
          SELECT greatest($3, $4 - $6, coalesce(
            (SELECT number FROM aggregator_store.changes
              WHERE number > $3 AND number <= $4 AND changed >= $5 ORDER BY number LIMIT 1), $4 + 1) - 1
          ) AS trimmed),
        removed AS (
          DELETE FROM aggregator_store.changes USING bounds
          WHERE number > $3 AND number <= trimmed RETURNING number, changed)
        INSERT INTO aggregator_store.history AS h (source, start, trimmed, last)
        SELECT $1, $2, trimmed, $4 FROM bounds
        ON CONFLICT (source) DO UPDATE SET trimmed = excluded.trimmed, last = excluded.last,
          start = greatest(coalesce(h.start, excluded.start),
            (SELECT changed FROM removed ORDER BY number DESC LIMIT 1))
        """, .integer(source), .date(state.isKept ? date : nil), .integer(state.trimmed),
        .integer(state.last), .date(history.oldest), .integer(Int64(history.maxCount)))
    }
    if let sync = history.sync {
      enqueue(
        """
        INSERT INTO aggregator_store.syncs (source, position, change, completed)
        VALUES ($1, $2, $3, $4)
        """, .integer(source), .integer(sync.position), .integer(sync.change), .date(date))
      enqueue(
        """
        DELETE FROM aggregator_store.syncs WHERE number IN (
          SELECT number FROM aggregator_store.syncs WHERE source = $1 ORDER BY number DESC OFFSET 2)
        """, .integer(source))
    }
  }

  /// Removes the changes of a source; their numbers are never reused, because a watch may know one.
  mutating func clearHistory(of source: Int64) {
    let range = PositionRange(of: source)
    enqueue(
      "DELETE FROM aggregator_store.changes WHERE number > $1 AND number <= $2",
      .integer(range.start), .integer(range.end))
    enqueue("DELETE FROM aggregator_store.syncs WHERE source = $1", .integer(source))
    enqueue(
      "UPDATE aggregator_store.history SET start = NULL, trimmed = last WHERE source = $1",
      .integer(source))
  }
}

extension PostgresStore {
  public func changes(
    of source: String, since start: HistoryStart, after position: Int64, limit: Int
  ) async throws(SourceError) -> ChangeSlice? {
    try await read(records: true) { connection throws(PostgresFailure) in
      connection.beginSnapshot()
      let changes = try connection.changes(of: source, since: start, after: position, limit: limit)
      try connection.commit()
      return changes
    } ?? nil
  }

  public func history(
    of id: String, in source: String, limit: Int
  ) async throws(SourceError) -> StoredHistory? {
    try await read(records: true) { connection throws(PostgresFailure) in
      connection.beginSnapshot()
      let history = try connection.history(of: id, in: source, limit: limit)
      try connection.commit()
      return history
    } ?? nil
  }
}

extension PostgresConnection: HistoryReader {
  package mutating func history(
    of source: String
  ) throws(PostgresFailure) -> (source: Int64, history: HistoryStatus)? {
    try rows(.history(of: source)).first.flatMap { row in
      HistoryStatus(row).map { (row.integer(5), $0) }
    }
  }

  package mutating func syncs(
    of source: Int64
  ) throws(PostgresFailure) -> [(mark: HistoryMark, date: Date?)] {
    try rows(
      """
      SELECT position, change, completed FROM aggregator_store.syncs WHERE source = $1
      ORDER BY number DESC LIMIT 2
      """, .integer(source)
    ).map { (HistoryMark($0), $0.date(2)) }
  }

  package mutating func mark(
    of source: Int64, at date: Date, trimmed: Int64
  ) throws(PostgresFailure) -> HistoryMark {
    let range = PositionRange(of: source)
    return HistoryMark(
      try rows(
        """
        SELECT
          coalesce((SELECT position FROM aggregator_store.records
            WHERE position > $1 AND position <= $2 AND first_seen <= $3
            ORDER BY position DESC LIMIT 1), $1),
          coalesce((SELECT number FROM aggregator_store.changes
            WHERE number > $1 AND number <= $2 AND changed <= $3
            ORDER BY number DESC LIMIT 1), $4)
        """, .integer(range.start), .integer(range.end), .date(date), .integer(trimmed))[0])
  }

  package mutating func changedRecords(
    of source: Int64, since mark: HistoryMark, after position: Int64, limit: Int
  ) throws(PostgresFailure) -> [StoredChange] {
    let range = PositionRange(of: source)
    return try rows(
      """
      WITH found AS (
        SELECT position FROM (
          SELECT DISTINCT c.position FROM aggregator_store.changes c
          WHERE c.position > $1 AND c.position <= $2 AND c.number > $3
            AND EXISTS (SELECT 1 FROM aggregator_store.records r
              WHERE r.position = c.position AND NOT EXISTS (
                SELECT 1 FROM aggregator_store.tombstones t
                WHERE t.source = r.source AND t.id = r.id))
          ORDER BY c.position LIMIT $5) changed
        UNION
        SELECT position FROM (
          SELECT r.position FROM aggregator_store.records r
          WHERE r.position > greatest($1, $4) AND r.position <= $2 AND NOT EXISTS (
            SELECT 1 FROM aggregator_store.tombstones t WHERE t.source = r.source AND t.id = r.id)
          ORDER BY r.position LIMIT $5) added
        ORDER BY position LIMIT $5)
      SELECT r.position, r.saved, r.json, r.removed_upstream, r.id,
        (SELECT c.kind FROM aggregator_store.changes c
          WHERE c.position = r.position AND c.number > $3 AND c.kind <> 'changed'
          ORDER BY c.number LIMIT 1),
        (SELECT c.json FROM aggregator_store.changes c
          WHERE c.position = r.position AND c.number > $3 AND c.kind = 'changed'
          ORDER BY c.number LIMIT 1),
        coalesce((SELECT c.changed FROM aggregator_store.changes c
          WHERE c.position = r.position AND c.number > $3 AND r.position <= $4
          ORDER BY c.number DESC LIMIT 1),
          r.first_seen)
      FROM found JOIN aggregator_store.records r USING (position) ORDER BY r.position
      """, .integer(range.clamped(position)), .integer(range.end), .integer(mark.change),
      .integer(mark.position), .integer(Int64(limit))
    ).map { StoredChange($0, since: mark) }
  }

  package mutating func record(
    _ id: String, in source: Int64
  ) throws(PostgresFailure) -> (record: StoredRecord, firstSeen: Date)? {
    try rows(
      """
      SELECT position, saved, json, removed_upstream, first_seen FROM aggregator_store.records
      WHERE source = $1 AND id = $2
      """, .integer(source), .text(id)
    ).first.map { (StoredRecord($0), $0.date(4) ?? .distantPast) }
  }

  package mutating func events(
    at position: Int64, limit: Int
  ) throws(PostgresFailure) -> [StoredHistory.Event] {
    try rows(
      """
      SELECT kind, changed, json FROM aggregator_store.changes WHERE position = $1
      ORDER BY number DESC LIMIT $2
      """, .integer(position), .integer(Int64(limit))
    ).compactMap { StoredHistory.Event($0) }
  }
}
