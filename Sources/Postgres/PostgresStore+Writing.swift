public import AggregatorCore
public import AggregatorFoundation
public import AggregatorStore

extension PostgresStore {
  public var isShared: Bool { true }

  public func save(
    _ batch: StoreBatch, of source: String, at date: Date
  ) async throws(SourceError) -> StoreChanges {
    let changes = try await write { [history] connection throws(PostgresFailure) in
      let changes = try connection.save(batch, of: source, at: date, keeping: history)
      if changes.hasChangedRecords { connection.enqueueNotification(of: source) }
      return changes
    }
    // A process that was killed while it cleared a source has left records; a second's worth delays no sync.
    if batch.completesSync { await removeCleared(atMost: 20) }
    return changes
  }

  public func delete(
    _ ids: [String], of source: String, at date: Date
  ) async throws(SourceError) -> [String] {
    try await write { connection throws(PostgresFailure) in
      let found = try connection.rows(.lock(of: source))
      let number = try connection.locked(source, found)
      let result = try connection.rows(
        """
        INSERT INTO aggregator_store.tombstones (source, id, deleted)
        SELECT $1, id, $3 FROM unnest($2::text[]) id ON CONFLICT DO NOTHING RETURNING id
        """, .integer(number), .texts(ids), .date(date))
      if !result.isEmpty { connection.enqueueNotification(of: source) }
      return ids.among(result.map { $0.text(0) ?? "" }.recordKeys)
    }
  }

  public func restore(_ ids: [String]?, of source: String) async throws(SourceError) -> [String] {
    try await write { connection throws(PostgresFailure) in
      // Its deletions move to another number if it is cleared.
      connection.enqueue(.lock(of: source))
      let restored = try connection.rows(
        """
        DELETE FROM aggregator_store.tombstones t USING aggregator_store.sources s
        WHERE t.source = s.number AND s.name = $1 AND ($3 OR t.id = ANY ($2)) RETURNING t.id
        """, .text(source), .texts(ids ?? []), .bool(ids == nil)
      ).map { $0.text(0) ?? "" }
      if !restored.isEmpty { connection.enqueueNotification(of: source) }
      return ids?.among(restored.recordKeys) ?? restored
    }
  }

  public func change(
    _ key: String, timed body: @escaping @Sendable (String?, Date?) -> String?
  ) async throws(SourceError) {
    // Most callers change nothing, and need not wait for writers.
    let isChanged = try await read { connection throws(PostgresFailure) in
      let (old, time) = try connection.sharedText(key)
      return body(old, time).map { $0 != old } ?? false
    }
    guard isChanged ?? true else { return }
    try await write(records: false) { connection throws(PostgresFailure) in
      connection.enqueue("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", .text(key))
      // The time after the lock: turns are given in the order of the times.
      let (old, time) = try connection.sharedText(key)
      guard let new = body(old, time), new != old else { return }
      connection.setSharedText(key, to: new)
    }
  }

  /// The server's clock in milliseconds since 1970, which all machines share.
  fileprivate static let serverTime = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

  package func rename(
    _ names: [(old: String, new: String)], droppingPages dropsPages: Bool
  ) async throws(SourceError) {
    let renaming = """
      UPDATE aggregator_store.sources SET name = $2
      WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM aggregator_store.sources WHERE name = $2)
      """
    let statement =
      dropsPages
      ? """
      WITH renamed AS (\(renaming) RETURNING number)
      DELETE FROM aggregator_store.pages WHERE source IN (SELECT number FROM renamed)
      """ : renaming
    try await write { connection throws(PostgresFailure) in
      for (old, new) in names {
        // Until a clearing ends, which moves the name to another row.
        connection.enqueue(.lock(of: old))
        connection.enqueue(statement, .text(old), .text(new))
      }
      for name in Set(names.flatMap { [$0.old, $0.new] }).sorted() {
        connection.enqueueNotification(of: name)
      }
    }
  }

  public func clearHistory(of source: String) async throws(SourceError) {
    try await write { connection throws(PostgresFailure) in
      guard let number = try connection.rows(.lock(of: source)).first?.integer(0) else { return }
      connection.clearHistory(of: number)
    }
  }
}

extension PostgresStatement {
  /// Locks a source until the commit, so that its positions are visible in the order in which they are given.
  static func lock(of source: String) -> PostgresStatement {
    PostgresStatement(
      "SELECT number, last FROM aggregator_store.sources WHERE name = $1 FOR UPDATE",
      [.text(source)])
  }
}

extension PostgresConnection: StoreTransaction {
  package typealias Failure = PostgresFailure

  package mutating func state(
    for batch: StoreBatch, of name: String
  ) throws(PostgresFailure) -> BatchState {
    let source = enqueue(.lock(of: name))
    // One by one in the index: without statistics, as before a table is first analyzed, the planner would read
    // all records of the source instead.
    let records = enqueue(
      """
      SELECT r.position, r.json, r.removed_upstream
      FROM aggregator_store.sources s CROSS JOIN unnest($2::text[]) WITH ORDINALITY e (id, place)
        LEFT JOIN LATERAL (
          SELECT * FROM aggregator_store.records r
          WHERE r.source = s.number AND r.id = e.id LIMIT 1) r ON true
      WHERE s.name = $1 ORDER BY e.place
      """, .text(name), .texts(batch.entries.map(\.id)))
    let checkpoint = enqueue(
      """
      SELECT c.value
      FROM aggregator_store.sources s JOIN aggregator_store.checkpoints c ON c.source = s.number
      WHERE s.name = $1 AND c.name = $2
      """, .text(name), .text(batch.checkpointName ?? ""))
    let time = enqueue("SELECT \(PostgresStore.serverTime)")
    let history = enqueue(PostgresStatement.history(of: name))
    let results = try run()
    guard let found = results[source].first else {
      // Only what was read under the lock counts: another machine may have saved the source meanwhile.
      _ = try locked(name, results[source])
      return try state(for: batch, of: name)
    }
    return BatchState(
      source: found.integer(0), last: found.integer(1),
      checkpoint: results[checkpoint].first?.text(0), time: results[time][0].date(0),
      records: zip(results[records], batch.entries).map { BatchPlan.Known($0, for: $1) },
      history: results[history].first.flatMap { HistoryState($0) })
  }

  /// The number of the source that the lock has found, or of a new one.
  fileprivate mutating func locked(
    _ source: String, _ found: PostgresResult
  ) throws(PostgresFailure) -> Int64 {
    if let row = found.first { return row.integer(0) }
    enqueueLockOfNumbers()
    return try addSource(source)
  }

  /// Numbers are given one after another.
  mutating func enqueueLockOfNumbers() {
    enqueue("SELECT pg_advisory_xact_lock(\(PostgresSchema.lock + 1))")
  }

  /// Adds a source, behind the lock of numbers, unless it is there; returns its number, locked.
  mutating func addSource(_ source: String) throws(PostgresFailure) -> Int64 {
    enqueue(
      """
      INSERT INTO aggregator_store.sources (number, name, last, records)
      SELECT n, $1, n << $2::int, 0
      FROM (SELECT coalesce(max(number), 0) + 1 AS n FROM aggregator_store.sources) numbers
      WHERE n <= $3 ON CONFLICT (name) DO NOTHING
      """, .text(source), .integer(PositionRange.bits),
      .integer(PositionRange.maxSources))
    guard let made = try rows(.lock(of: source)).first else {
      throw PostgresFailure(.refused(state: "54000"), "too many sources")
    }
    return made.integer(0)
  }

  package mutating func insert(_ records: [BatchPlan.Form], of source: Int64, at date: Date) {
    enqueue(
      """
      INSERT INTO aggregator_store.records (position, source, id, saved, first_seen, folded, json)
      SELECT position, $1, id, $2, $2, folded, json
      FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[])
        AS new (position, id, folded, json)
      """, .integer(source), .date(date), .integers(records.map(\.position)),
      .texts(records.map(\.id)), .utf8s(records.map { Data($0.text.searchable.utf8) }),
      .utf8s(records.map(\.json)))
  }

  package mutating func move(
    _ moves: [(from: Int64, to: Int64)], of source: Int64, at date: Date
  ) {
    let numbers: [PostgresValue] = [.integers(moves.map(\.from)), .integers(moves.map(\.to))]
    let places = "unnest($1::bigint[], $2::bigint[]) AS m (old, new)"
    enqueue(
      PostgresStatement(
        """
        UPDATE aggregator_store.records SET position = m.new, first_seen = $3
        FROM \(places) WHERE position = m.old
        """, numbers + [.date(date)]))
    enqueue(
      PostgresStatement(
        """
        UPDATE aggregator_store.changes SET position = m.new FROM \(places) WHERE position = m.old
        """, numbers))
    enqueue(
      PostgresStatement(
        """
        UPDATE aggregator_store.pages p SET positions = '[' || (
          SELECT string_agg(coalesce(m.new::text, e.old), ',' ORDER BY e.place)
          FROM json_array_elements_text(p.positions::json) WITH ORDINALITY e (old, place)
            LEFT JOIN \(places) ON m.old = e.old::bigint) || ']'
        WHERE p.source = $3 AND EXISTS (
          SELECT 1 FROM json_array_elements_text(p.positions::json) e (old)
            JOIN \(places) ON m.old = e.old::bigint)
        """, numbers + [.integer(source)]))
  }

  package mutating func count(
    at positions: [Int64], of source: Int64
  ) throws(PostgresFailure) -> Int {
    try rows(
      """
      SELECT count(*) FROM aggregator_store.records
      WHERE position = ANY ($2::bigint[]) AND source = $1 AND removed_upstream IS NULL
      """, .integer(source), .integers(positions)
    ).first?.integer(0).count ?? 0
  }

  package mutating func replace(_ records: [BatchPlan.Form], at date: Date) {
    enqueue(
      """
      UPDATE aggregator_store.records r SET saved = $1, folded = new.folded, json = new.json
      FROM unnest($2::bigint[], $3::text[], $4::text[]) AS new (position, folded, json)
      WHERE r.position = new.position
      """, .date(date), .integers(records.map(\.position)),
      .utf8s(records.map { Data($0.text.searchable.utf8) }), .utf8s(records.map(\.json)))
  }

  package mutating func mark(_ positions: [Int64], removedUpstreamAt date: Date?) {
    enqueue(
      "UPDATE aggregator_store.records SET removed_upstream = $2 WHERE position = ANY ($1)",
      .integers(positions), .date(date))
  }

  package mutating func update(_ source: Int64, by changes: SourceChanges) {
    enqueue(
      """
      UPDATE aggregator_store.sources SET last = $2, records = records + $3,
        removed_upstream = removed_upstream + $4, last_fetched = coalesce($5, last_fetched)
      WHERE number = $1
      """, .integer(source), .integer(changes.last), .integer(Int64(changes.added)),
      .integer(Int64(changes.removedUpstream)), .date(changes.fetchedAt))
  }

  // MARK: Pages and checkpoints

  package mutating func savePage(
    _ page: PageMetadata, as key: String, positions: [Int64], of source: Int64, at date: Date
  ) {
    guard let json = try? CanonicalJSON.bytes(of: page) else { return }
    enqueue(
      """
      INSERT INTO aggregator_store.pages (source, key, fetched, positions, page)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (source, key) DO UPDATE SET
        fetched = excluded.fetched, positions = excluded.positions, page = excluded.page
      """, .integer(source), .text(key), .date(date), .text(positions.jsonArray), .utf8(json))
    enqueue(
      """
      DELETE FROM aggregator_store.pages WHERE number IN (
        SELECT number FROM aggregator_store.pages WHERE source = $1 ORDER BY fetched DESC
        OFFSET $2)
      """, .integer(source), .integer(Int64(StoreLimit.pages)))
  }

  package mutating func removePages(of source: Int64) {
    enqueue("DELETE FROM aggregator_store.pages WHERE source = $1", .integer(source))
  }

  package mutating func checkpoint(
    _ name: String, of source: Int64
  ) throws(PostgresFailure) -> String? {
    try rows(
      "SELECT value FROM aggregator_store.checkpoints WHERE source = $1 AND name = $2",
      .integer(source), .text(name)
    ).first?.text(0)
  }

  package mutating func setCheckpoint(_ name: String, to text: String?, of source: Int64) {
    guard let text else {
      enqueue(
        "DELETE FROM aggregator_store.checkpoints WHERE source = $1 AND name = $2",
        .integer(source), .text(name))
      return
    }
    enqueue(
      """
      INSERT INTO aggregator_store.checkpoints (source, name, value) VALUES ($1, $2, $3)
      ON CONFLICT (source, name) DO UPDATE SET value = excluded.value
      """, .integer(source), .text(name), .text(text))
  }

  // MARK: Reconciliation

  package mutating func noteSeen(_ positions: [Int64], by pass: String, of source: Int64) {
    enqueue(
      """
      INSERT INTO aggregator_store.seen (source, reconciliation, positions) VALUES ($1, $2, $3)
      """, .integer(source), .text(pass), .text(positions.jsonArray))
  }

  package mutating func forgetSeen(by pass: String, of source: Int64) {
    enqueue(
      "DELETE FROM aggregator_store.seen WHERE source = $1 AND reconciliation = $2",
      .integer(source), .text(pass))
  }

  package mutating func unseen(
    by pass: String, and notes: String, upTo last: Int64, of source: Int64,
    startingWith prefix: String?
  ) throws(PostgresFailure) -> (missing: [Int64], noted: [Int64], known: Int, seen: Int) {
    let seen = """
      SELECT e.position::bigint AS position
      FROM aggregator_store.seen s, json_array_elements_text(s.positions::json) e (position)
      WHERE s.source = $1 AND s.reconciliation = $2
      """
    let range = PositionRange(of: source)
    var records = """
      aggregator_store.records r
      WHERE r.position > $3 AND r.position <= $4 AND r.removed_upstream IS NULL
      """
    var values: [PostgresValue] = [
      .integer(source), .text(pass), .integer(range.start), .integer(min(last, range.end)),
    ]
    if let prefix {
      records += " AND r.source = $1 AND r.id >= $5 AND r.id < $6"
      // The last text in byte order that begins with the prefix.
      values += [.text(prefix), .text("\(prefix)\u{10FFFF}")]
    }
    let counts = enqueue(
      PostgresStatement(
        """
        SELECT (SELECT count(DISTINCT position) FROM (\(seen)) seen), (
          SELECT count(*) FROM \(records))
        """, values))
    // NOT IN would compare all with all as soon as they do not fit in the server's work_mem.
    let missing = enqueue(
      PostgresStatement(
        "SELECT r.position FROM \(records) EXCEPT \(seen) ORDER BY position", values))
    let noted = enqueue(seen, .integer(source), .text(notes))
    let results = try run()
    return (
      results[missing].map { $0.integer(0) }, results[noted].map { $0.integer(0) },
      Int(results[counts][0].integer(1)), Int(results[counts][0].integer(0))
    )
  }

  // MARK: Shared texts

  /// The text of a key, and the server's time.
  fileprivate mutating func sharedText(
    _ key: String
  ) throws(PostgresFailure) -> (text: String?, time: Date?) {
    let row = try rows(
      """
      SELECT \(PostgresStore.serverTime),
        (SELECT value FROM aggregator_store.shared WHERE key = $1)
      """, .text(key))[0]
    return (row.text(1), row.date(0))
  }

  mutating func setSharedText(_ key: String, to text: String) {
    enqueue(
      """
      INSERT INTO aggregator_store.shared (key, value) VALUES ($1, $2)
      ON CONFLICT (key) DO UPDATE SET value = excluded.value
      """, .text(key), .text(text))
  }
}
