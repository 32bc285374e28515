public import AggregatorCore
public import AggregatorFoundation
public import AggregatorStore

extension PostgresStore {
  public var isShared: Bool { true }

  public func save(
    _ batch: StoreBatch, of source: String, at date: Date
  ) async throws(SourceError) -> StoreChanges {
    try await write { [history] connection throws(PostgresFailure) in
      let found = try connection.state(of: batch, in: source)
      let locked = found.source
      let stored = found.checkpoint
      guard let batch = batch.decided(on: stored, at: found.time) else {
        return StoreChanges()
      }
      let known = KnownRecords(found.records)
      let plan = BatchPlan(batch.entries, after: locked.last, known: known.record)
      var changes = plan.changes
      var history = PostgresHistory(
        of: locked.number, at: date, keeping: history, known: found.history)
      connection.write(plan, of: locked.number, at: date, &history)
      if let (key, page) = batch.page {
        connection.savePage(key, page, positions: plan.positions, of: locked.number, at: date)
      }
      if let update = batch.update {
        changes.didMoveCheckpoint = stored == update.from
        if changes.didMoveCheckpoint {
          connection.apply(update, of: locked.number, fetchedAt: batch.isFetched ? date : nil)
          if let reconciliation = update.reconciliation {
            let found = try connection.reconcile(
              reconciliation, seeing: plan.positions, at: update, of: locked.number, at: date)
            changes.incompleteSeenCount = found.incompleteSeenCount
            changes.unconfirmedRemovals = found.unconfirmedRemovals
            changes.removedUpstream = found.removed.count
            history.add(
              found.removed.map { BatchPlan.Change(.removed, of: $0) }, in: &connection)
          }
          if update.replacesPages {
            connection.enqueue(
              "DELETE FROM aggregator_store.pages WHERE source = $1", .integer(locked.number))
          }
        }
      }
      let isOutdated = batch.update != nil && !changes.didMoveCheckpoint
      if batch.completesSync, !isOutdated { history.completeSync(in: &connection) }
      history.finish(in: &connection)
      if changes.hasChangedRecords { connection.enqueueNotification(of: source) }
      return changes
    }
  }

  public func delete(
    _ ids: [String], of source: String, at date: Date
  ) async throws(SourceError) -> [String] {
    try await write { connection throws(PostgresFailure) in
      let state = connection.enqueueLock(of: source)
      let number = try connection.locked(source, connection.run()[state]).number
      let result = try connection.rows(
        """
        INSERT INTO aggregator_store.tombstones (source, id, deleted)
        SELECT $1, id, $3 FROM unnest($2::text[]) id ON CONFLICT DO NOTHING RETURNING id
        """, .integer(number), .texts(ids), .date(date))
      if result.count > 0 { connection.enqueueNotification(of: source) }
      return ids.inOrder(result.rows { result.text($0, 0) ?? "" })
    }
  }

  public func restore(_ ids: [String]?, of source: String) async throws(SourceError) -> [String] {
    try await write { connection throws(PostgresFailure) in
      let result = connection.enqueue(
        """
        DELETE FROM aggregator_store.tombstones t USING aggregator_store.sources s
        WHERE t.source = s.number AND s.name = $1 AND ($3 OR t.id = ANY ($2)) RETURNING t.id
        """, .text(source), .texts(ids ?? []), .bool(ids == nil))
      let results = try connection.run()
      let restored = results[result].rows { results[result].text($0, 0) ?? "" }
      if !restored.isEmpty { connection.enqueueNotification(of: source) }
      return ids?.inOrder(restored) ?? restored
    }
  }

  public func change(
    _ key: String, timed body: @escaping @Sendable (String?, Date?) -> String?
  ) async throws(SourceError) {
    // Most callers change nothing, and need not wait for writers.
    let isChanged = try await read { connection throws(PostgresFailure) in
      let result = try connection.rows(
        """
        SELECT \(Self.serverTime), (SELECT value FROM aggregator_store.shared WHERE key = $1)
        """, .text(key))
      let old = result.text(0, 1)
      return body(old, result.date(0, 0)).map { $0 != old } ?? false
    }
    guard isChanged ?? true else { return }
    try await write { connection throws(PostgresFailure) in
      connection.enqueue("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", .text(key))
      // The time after the lock: turns are given in the order of the times.
      let index = connection.enqueue(
        """
        SELECT \(Self.serverTime), (SELECT value FROM aggregator_store.shared WHERE key = $1)
        """, .text(key))
      let result = try connection.run()[index]
      let old = result.text(0, 1)
      guard let new = body(old, result.date(0, 0)), new != old else { return }
      connection.enqueue(
        """
        INSERT INTO aggregator_store.shared (key, value) VALUES ($1, $2)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value
        """, .text(key), .text(new))
    }
  }

  /// The server's clock in milliseconds since 1970, which all machines share.
  fileprivate static let serverTime = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

  public func clear(_ source: String, forgetsDeleted: Bool) async throws(SourceError) {
    try await write { connection throws(PostgresFailure) in
      let state = connection.enqueueLock(of: source)
      let result = try connection.run()[state]
      guard result.count > 0 else { return }
      let number = result.integer(0, 0)
      for table in ["records", "pages", "checkpoints", "seen"]
        + (forgetsDeleted ? ["tombstones"] : [])
      {
        connection.enqueue(
          "DELETE FROM aggregator_store.\(table) WHERE source = $1", .integer(number))
      }
      connection.clearHistory(of: number)
      // Positions are never reused: an old cursor must not point at new records.
      connection.enqueue(
        """
        UPDATE aggregator_store.sources
        SET records = 0, removed_upstream = 0, last_fetched = NULL WHERE number = $1
        """, .integer(number))
      connection.enqueueNotification(of: source)
    }
  }

  public func clearHistory(of source: String) async throws(SourceError) {
    try await write { connection throws(PostgresFailure) in
      let state = connection.enqueueLock(of: source)
      let result = try connection.run()[state]
      if result.count > 0 { connection.clearHistory(of: result.integer(0, 0)) }
    }
  }
}

/// The stored state on which the effect of a batch depends.
private struct BatchState {
  let source: (number: Int64, last: Int64)
  let records: PostgresResult
  let checkpoint: String?
  let time: Date?
  let history: PostgresResult
}

/// The records of a batch that are stored already.
private struct KnownRecords {
  private let result: PostgresResult
  private let rows: [RecordKey: Int]

  init(_ result: PostgresResult) {
    self.result = result
    rows = Dictionary(
      result.rows { (RecordKey(result.text($0, 0) ?? ""), $0) },
      uniquingKeysWith: { first, _ in first })
  }

  func record(of entry: StoreEntry) -> BatchPlan.Known? {
    guard let row = rows[RecordKey(entry.id)] else { return nil }
    let isSame = entry.json.withUnsafeBytes { $0.elementsEqual(result.bytes(row, 2)) }
    return BatchPlan.Known(
      position: result.integer(row, 1), json: isSame ? nil : result.data(row, 2),
      isRemovedUpstream: result.integer(row, 3) != 0)
  }
}

extension [String] {
  /// Those of `found`, each once, in this order.
  fileprivate func inOrder(_ found: [String]) -> [String] {
    var rest = Set(found.map { RecordKey($0) })
    return filter { rest.remove(RecordKey($0)) != nil }
  }
}

extension PostgresConnection {
  // MARK: The lock of a source

  /// Locks the source of a batch, and reads what the batch depends on.
  fileprivate mutating func state(
    of batch: StoreBatch, in source: String
  ) throws(PostgresFailure) -> BatchState {
    let state = enqueueLock(of: source)
    // One by one in the index: without statistics, as before a table is first analyzed, the planner would read
    // all records of the source instead.
    let records = enqueue(
      """
      SELECT r.id, r.position, r.json, r.removed_upstream IS NOT NULL
      FROM aggregator_store.sources s CROSS JOIN unnest($2::text[]) e (id) CROSS JOIN LATERAL (
        SELECT * FROM aggregator_store.records r WHERE r.source = s.number AND r.id = e.id LIMIT 1) r
      WHERE s.name = $1
      """, .text(source), .texts(batch.entries.map(\.id)))
    let checkpoint = enqueue(
      """
      SELECT c.value
      FROM aggregator_store.sources s JOIN aggregator_store.checkpoints c ON c.source = s.number
      WHERE s.name = $1 AND c.name = $2
      """, .text(source), .text(batch.checkpointName ?? ""))
    let time = enqueue("SELECT \(PostgresStore.serverTime)")
    let history = enqueue(PostgresHistory.query(named: source))
    let results = try run()
    guard results[state].count > 0 else {
      // Only what was read under the lock counts: another machine may have saved the source meanwhile.
      _ = try locked(source, results[state])
      return try self.state(of: batch, in: source)
    }
    return BatchState(
      source: try locked(source, results[state]), records: results[records],
      checkpoint: results[checkpoint].count > 0 ? results[checkpoint].text(0, 0) : nil,
      time: results[time].date(0, 0), history: results[history])
  }

  /// Locks a source until the commit, so that its positions are visible in the order in which they are given.
  fileprivate mutating func enqueueLock(of source: String) -> Int {
    enqueue(
      "SELECT number, last FROM aggregator_store.sources WHERE name = $1 FOR UPDATE",
      .text(source))
  }

  /// The source that `enqueueLock` has found, or a new one.
  fileprivate mutating func locked(
    _ source: String, _ found: PostgresResult
  ) throws(PostgresFailure) -> (number: Int64, last: Int64) {
    if found.count > 0 { return (found.integer(0, 0), found.integer(0, 1)) }
    // Numbers are given one after another.
    enqueue("SELECT pg_advisory_xact_lock(\(PostgresSchema.lock + 1))")
    enqueue(
      """
      INSERT INTO aggregator_store.sources (number, name, last, records)
      SELECT n, $1, n << $2::int, 0
      FROM (SELECT coalesce(max(number), 0) + 1 AS n FROM aggregator_store.sources) numbers
      WHERE n <= $3 ON CONFLICT (name) DO NOTHING
      """, .text(source), .integer(PositionRange.bits),
      .integer(PositionRange.maxSources))
    let state = enqueueLock(of: source)
    let made = try run()[state]
    guard made.count > 0 else {
      throw PostgresFailure(.refused(state: "54000"), "too many sources")
    }
    return (made.integer(0, 0), made.integer(0, 1))
  }

  // MARK: Records

  fileprivate mutating func write(
    _ plan: BatchPlan, of source: Int64, at date: Date, _ history: inout PostgresHistory
  ) {
    if let last = plan.insertions.last?.position {
      history.begin(in: &self)
      enqueue(
        """
        INSERT INTO aggregator_store.records (position, source, id, saved, first_seen, folded, json)
        SELECT position, $1, id, $2, $2, folded, json
        FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[])
          AS new (position, id, folded, json)
        """, .integer(source), .date(date), .integers(plan.insertions.map(\.position)),
        .texts(plan.insertions.map(\.id)),
        .utf8s(plan.insertions.map { Data($0.text.stored.utf8) }),
        .utf8s(plan.insertions.map(\.json)))
      enqueue(
        "UPDATE aggregator_store.sources SET last = $2, records = records + $3 WHERE number = $1",
        .integer(source), .integer(last), .integer(Int64(plan.insertions.count)))
    }
    if !plan.replacements.isEmpty {
      enqueue(
        """
        UPDATE aggregator_store.records r SET saved = $1, folded = new.folded, json = new.json
        FROM unnest($2::bigint[], $3::text[], $4::text[]) AS new (position, folded, json)
        WHERE r.position = new.position
        """, .date(date), .integers(plan.replacements.map(\.position)),
        .utf8s(plan.replacements.map { Data($0.text.stored.utf8) }),
        .utf8s(plan.replacements.map(\.json)))
    }
    if !plan.returned.isEmpty {
      enqueue(
        """
        UPDATE aggregator_store.records SET removed_upstream = NULL WHERE position = ANY ($1)
        """, .integers(plan.returned))
      enqueue(
        """
        UPDATE aggregator_store.sources SET removed_upstream = removed_upstream - $2
        WHERE number = $1
        """, .integer(source), .integer(Int64(plan.returned.count)))
    }
    history.add(plan.history, in: &self)
  }

  /// Saves a page in place of an earlier one, and drops the oldest pages beyond the limit.
  fileprivate mutating func savePage(
    _ key: String, _ page: FetchedPage, positions: [Int64], of source: Int64, at date: Date
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

  // MARK: Checkpoints

  /// Moves or deletes a checkpoint.
  fileprivate mutating func apply(
    _ update: CheckpointUpdate, of source: Int64, fetchedAt date: Date?
  ) {
    if let to = update.to {
      enqueue(
        """
        INSERT INTO aggregator_store.checkpoints (source, name, value) VALUES ($1, $2, $3)
        ON CONFLICT (source, name) DO UPDATE SET value = excluded.value
        """, .integer(source), .text(update.name), .text(to))
    } else {
      enqueue(
        "DELETE FROM aggregator_store.checkpoints WHERE source = $1 AND name = $2",
        .integer(source), .text(update.name))
    }
    guard let date else { return }
    enqueue(
      "UPDATE aggregator_store.sources SET last_fetched = $2 WHERE number = $1", .integer(source),
      .date(date))
  }
}
