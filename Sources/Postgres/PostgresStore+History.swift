public import AggregatorCore
import AggregatorFoundation
public import AggregatorStore

/// The stored history of a source, and the changes that one transaction adds to it.
///
/// It is touched only once something is written: saving unchanged records stays free.
struct PostgresHistory: Sendable {
  fileprivate let source: Int64
  private let date: Date
  private let limit: HistoryLimit

  /// The time since which changes are known; `nil` for never.
  private let start: Date?
  fileprivate let trimmed: Int64
  private var last: Int64
  private var hasBegun = false
  private var added: [BatchPlan.Change] = []

  /// The stored history; `nil` if none is kept.
  private(set) var stored: StoredHistory?

  /// The stored history of a source, in a form that ``init(_:)`` reads.
  static func query(named source: String) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT h.start, h.trimmed, h.last, s.last, (
          SELECT completed FROM aggregator_store.syncs y WHERE y.source = s.number
          ORDER BY y.number DESC LIMIT 1), s.number
      FROM aggregator_store.sources s JOIN aggregator_store.history h ON h.source = s.number
      WHERE s.name = $1
      """, [.text(source)])
  }

  /// The history in the result of ``query(named:)``; `nil` if none is kept.
  init?(_ result: PostgresResult) {
    guard result.count > 0, result.date(0, 0) != nil else { return nil }
    self.init(of: result.integer(0, 5), at: .distantPast, keeping: .off, known: result)
  }

  init(of source: Int64, at date: Date, keeping limit: HistoryLimit, known: PostgresResult) {
    self.source = source
    self.date = date
    self.limit = limit
    let isKnown = known.count > 0
    let first = PositionRange(of: source).start
    trimmed = isKnown ? known.integer(0, 1) : first
    last = isKnown ? known.integer(0, 2) : first
    start = isKnown ? known.date(0, 0) : nil
    stored = start.map { start in
      StoredHistory(
        start: start, count: Int(clamping: max(0, last - trimmed)),
        mark: HistoryMark(position: known.integer(0, 3), change: last), syncedAt: known.date(0, 4))
    }
  }

  /// Begins the history of the source at this transaction, unless it has begun, or removes it if none is kept.
  mutating func begin(in connection: inout PostgresConnection) {
    guard !hasBegun else { return }
    hasBegun = true
    if limit.isOff {
      if start != nil { connection.clearHistory(of: source) }
    } else if start == nil {
      connection.enqueue(
        """
        INSERT INTO aggregator_store.history (source, start, trimmed, last) VALUES ($1, $2, $3, $3)
        ON CONFLICT (source) DO UPDATE SET start = excluded.start
        """, .integer(source), .date(date), .integer(last))
    }
  }

  mutating func add(_ changes: [BatchPlan.Change], in connection: inout PostgresConnection) {
    guard !changes.isEmpty else { return }
    begin(in: &connection)
    added += changes
  }

  /// Notes that a sync is complete; the last two such notes are kept.
  mutating func completeSync(in connection: inout PostgresConnection) {
    begin(in: &connection)
    guard !limit.isOff else { return }
    connection.enqueue(
      """
      INSERT INTO aggregator_store.syncs (source, position, change, completed)
      SELECT $1, last, $2, $3 FROM aggregator_store.sources WHERE number = $1
      """, .integer(source), .integer(last + Int64(added.count)), .date(date))
    connection.enqueue(
      """
      DELETE FROM aggregator_store.syncs WHERE number IN (
        SELECT number FROM aggregator_store.syncs WHERE source = $1 ORDER BY number DESC OFFSET 2)
      """, .integer(source))
  }

  /// Saves the changes, and removes those beyond the limit.
  mutating func finish(in connection: inout PostgresConnection) {
    guard !added.isEmpty else { return }
    let first = last
    last += Int64(added.count)
    guard !limit.isOff else {
      // Only counted: by the number of the last change those who listen notice it.
      connection.enqueue(
        """
        INSERT INTO aggregator_store.history (source, start, trimmed, last) VALUES ($1, NULL, $2, $2)
        ON CONFLICT (source) DO UPDATE SET trimmed = excluded.trimmed, last = excluded.last
        """, .integer(source), .integer(last))
      return
    }
    connection.enqueue(
      """
      INSERT INTO aggregator_store.changes (number, position, kind, changed, json)
      SELECT $1 + place, position, kind, $2, json
      FROM unnest($3::bigint[], $4::text[], $5::text[])
        WITH ORDINALITY AS new (position, kind, json, place)
      """, .integer(first), .date(date), .integers(added.map(\.position)),
      .texts(added.map(\.kind.rawValue)), .utf8s(added.map(\.before)))
    let oldest = date.addingTimeInterval(-(limit.age / .seconds(1)))
    // Reads the changes that will be removed, and one more.
    connection.enqueue(
      """
      WITH bounds AS (
        SELECT greatest(
          coalesce(
            (SELECT number FROM aggregator_store.changes
              WHERE number > $2 AND number <= $3 AND changed >= $4 ORDER BY number LIMIT 1), $3 + 1) - 1,
          $3 - $5) AS last_removed),
      removed AS (
        DELETE FROM aggregator_store.changes USING bounds
        WHERE number > $2 AND number <= last_removed RETURNING number, changed)
      UPDATE aggregator_store.history SET last = $3, trimmed = greatest(trimmed, last_removed),
        start = greatest(start, (SELECT changed FROM removed ORDER BY number DESC LIMIT 1))
      FROM bounds WHERE source = $1
      """, .integer(source), .integer(trimmed), .integer(last), .date(oldest),
      .integer(Int64(limit.count)))
  }
}

extension PostgresConnection {
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
  ) async throws(SourceError) -> StoredChanges? {
    try await read { connection throws(PostgresFailure) in
      connection.beginSnapshot()
      let query = connection.enqueue(PostgresHistory.query(named: source))
      let result = try connection.run()[query]
      var found: StoredChanges?
      if let history = PostgresHistory(result),
        var changes = try connection.changes(of: history, since: start)
      {
        // One more than requested shows whether there are more.
        changes.changes = try connection.changes(
          of: history, since: changes.start, after: position, limit: min(limit, .max - 1) + 1)
        changes.hasMore = changes.changes.count > limit
        if changes.hasMore { changes.changes.removeLast() }
        found = changes
      }
      try connection.commit()
      return found
    } ?? nil
  }
}

extension PostgresConnection {
  /// The start of a comparison, without changes; `nil` if nothing is known of it.
  fileprivate mutating func changes(
    of history: PostgresHistory, since start: HistoryStart
  ) throws(PostgresFailure) -> StoredChanges? {
    guard let stored = history.stored else { return nil }
    let trimmed = history.trimmed
    func since(_ mark: HistoryMark, _ date: Date?) -> StoredChanges {
      StoredChanges(
        start: mark, date: date, knownSince: mark.change < trimmed ? stored.start : nil,
        changes: [], hasMore: false)
    }
    switch start {
    case .mark(let mark): return since(mark, nil)
    case .sync:
      let syncs = try rows(
        """
        SELECT position, change, completed FROM aggregator_store.syncs WHERE source = $1
        ORDER BY number DESC LIMIT 2
        """, .integer(history.source))
      guard syncs.count > 0 else { return nil }
      let row = syncs.count - 1
      let mark = HistoryMark(position: syncs.integer(row, 0), change: syncs.integer(row, 1))
      return since(mark, syncs.date(row, 2))
    case .date(let date):
      // Both queries read only what is later, one more row aside, and a clock that was set back moves the
      // point, but tears nothing apart.
      let range = PositionRange(of: history.source)
      let points = try rows(
        """
        SELECT
          coalesce((SELECT position FROM aggregator_store.records
            WHERE position > $1 AND position <= $2 AND first_seen <= $3
            ORDER BY position DESC LIMIT 1), $1),
          coalesce((SELECT number FROM aggregator_store.changes
            WHERE number > $1 AND number <= $2 AND changed <= $3
            ORDER BY number DESC LIMIT 1), $4)
        """, .integer(range.start), .integer(range.end), .date(date), .integer(trimmed))
      let mark = HistoryMark(position: points.integer(0, 0), change: points.integer(0, 1))
      // Records that were all seen later have no history before.
      let isWhole = date >= stored.start || mark.position == range.start
      return StoredChanges(
        start: mark, date: date, knownSince: isWhole ? nil : stored.start, changes: [],
        hasMore: false)
    }
  }

  /// The records that are new or have changed, in the order of their positions.
  fileprivate mutating func changes(
    of history: PostgresHistory, since mark: HistoryMark, after position: Int64, limit: Int
  ) throws(PostgresFailure) -> [StoredChange] {
    let range = PositionRange(of: history.source)
    // Of the changes of a record, the first of each kind tells the state before it.
    let result = try rows(
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
      SELECT r.position, r.saved, r.json, r.removed_upstream, r.id, r.first_seen,
        (SELECT c.kind FROM aggregator_store.changes c
          WHERE c.position = r.position AND c.number > $3 AND c.kind <> 'changed'
          ORDER BY c.number LIMIT 1),
        (SELECT c.json FROM aggregator_store.changes c
          WHERE c.position = r.position AND c.number > $3 AND c.kind = 'changed'
          ORDER BY c.number LIMIT 1),
        (SELECT c.changed FROM aggregator_store.changes c
          WHERE c.position = r.position AND c.number > $3 ORDER BY c.number DESC LIMIT 1)
      FROM found JOIN aggregator_store.records r USING (position) ORDER BY r.position
      """, .integer(range.clamped(position)), .integer(range.end), .integer(mark.change),
      .integer(mark.position), .integer(Int64(limit)))
    return result.rows { row in
      let record = StoredRecord(result, row)
      let listing = result.text(row, 6)
      let isNew = record.position > mark.position
      return StoredChange(
        id: result.text(row, 4) ?? "", record: record,
        wasListed: isNew
          ? false : listing.map { $0 == "removed" } ?? (record.removedUpstreamAt == nil),
        before: isNew || result.isNull(row, 7) ? nil : result.data(row, 7),
        date: result.date(row, 8) ?? result.date(row, 5) ?? .distantPast)
    }
  }
}
