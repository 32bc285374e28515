public import AggregatorCore
import AggregatorFoundation
public import AggregatorStore

extension PostgresStore {
  public func record(
    _ id: String, of source: String
  ) async throws(SourceError) -> StoredRecord? {
    let found = try await read { connection throws(PostgresFailure) in
      let result = try connection.rows(
        """
        SELECT r.position, r.saved, r.json, r.removed_upstream
        FROM aggregator_store.sources s JOIN aggregator_store.records r ON r.source = s.number
        WHERE s.name = $1 AND r.id = $2
        """, .text(source), .text(id))
      return result.rows { StoredRecord(result, $0) }.first
    }
    return found ?? nil
  }

  public func ids(
    of source: String, startingWith prefix: String, limit: Int
  ) async throws(SourceError) -> [String] {
    try await read { connection throws(PostgresFailure) in
      // The last text in byte order that begins with the prefix.
      let result = try connection.rows(
        """
        SELECT r.id
        FROM aggregator_store.sources s JOIN aggregator_store.records r ON r.source = s.number
        WHERE s.name = $1 AND r.id >= $2 AND r.id < $3 AND r.removed_upstream IS NULL
          AND NOT EXISTS (
            SELECT 1 FROM aggregator_store.tombstones t WHERE t.source = r.source AND t.id = r.id)
        ORDER BY r.id LIMIT $4
        """, .text(source), .text(prefix), .text("\(prefix)\u{10FFFF}"), .integer(Int64(limit)))
      return result.rows { result.text($0, 0) ?? "" }
    } ?? []
  }

  public func page(_ key: String, of source: String) async throws(SourceError) -> CachedPage? {
    let found = try await read { connection throws(PostgresFailure) -> CachedPage? in
      let page = connection.enqueue(
        """
        SELECT p.page, p.fetched
        FROM aggregator_store.sources s JOIN aggregator_store.pages p ON p.source = s.number
        WHERE s.name = $1 AND p.key = $2
        """, .text(source), .text(key))
      // A record that has been removed since is left out, so a page may be another one than its records.
      let records = connection.enqueue(
        """
        SELECT r.position, r.saved, r.json, r.removed_upstream
        FROM aggregator_store.sources s JOIN aggregator_store.pages p ON p.source = s.number,
          json_array_elements_text(p.positions::json) WITH ORDINALITY e (position, place)
          JOIN aggregator_store.records r ON r.position = e.position::bigint
        WHERE s.name = $1 AND p.key = $2 AND r.removed_upstream IS NULL ORDER BY e.place
        """, .text(source), .text(key))
      let results = try connection.snapshot()
      // An unreadable page was written by another version: it counts as missing.
      guard results[page].count > 0, let fetched = results[page].date(0, 1),
        let read = try? JSONText(results[page].data(0, 0))?.read(PageMetadata.self)
      else { return nil }
      return CachedPage(
        records: results[records].rows { StoredRecord(results[records], $0) }, page: read,
        fetchedAt: fetched)
    }
    return found ?? nil
  }

  public func pageKeys(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String] {
    try await read { connection throws(PostgresFailure) in
      let result = try connection.rows(
        """
        SELECT p.key
        FROM aggregator_store.sources s JOIN aggregator_store.pages p ON p.source = s.number
        WHERE s.name = $1 AND starts_with(p.key, $2)
        """, .text(source), .text(prefix))
      return result.rows { result.text($0, 0) ?? "" }
    } ?? []
  }

  public func fetchedPages(
    of source: String
  ) async throws(SourceError) -> [(key: String, page: PageMetadata)] {
    let rows = try await read { connection throws(PostgresFailure) in
      let result = try connection.rows(
        """
        SELECT p.key, p.page
        FROM aggregator_store.sources s JOIN aggregator_store.pages p ON p.source = s.number
        WHERE s.name = $1 ORDER BY p.fetched DESC
        """, .text(source))
      return result.rows { (key: result.text($0, 0) ?? "", page: result.data($0, 1)) }
    }
    // An unreadable page was written by another version: it counts as missing.
    return (rows ?? []).compactMap { row in
      (try? JSONText(row.page)?.read(PageMetadata.self)).map { (row.key, $0) }
    }
  }

  public func checkpoint(_ name: String, of source: String) async throws(SourceError) -> String? {
    let found = try await read { connection throws(PostgresFailure) in
      let result = try connection.rows(
        """
        SELECT c.value
        FROM aggregator_store.sources s JOIN aggregator_store.checkpoints c ON c.source = s.number
        WHERE s.name = $1 AND c.name = $2
        """, .text(source), .text(name))
      return result.count > 0 ? result.text(0, 0) : nil
    }
    return found ?? nil
  }

  public func deleted(
    among ids: [String], of source: String
  ) async throws(SourceError) -> Set<RecordKey> {
    try await read { connection throws(PostgresFailure) in
      let result = try connection.rows(
        """
        SELECT t.id
        FROM aggregator_store.sources s JOIN aggregator_store.tombstones t ON t.source = s.number
        WHERE s.name = $1 AND t.id = ANY ($2)
        """, .text(source), .texts(ids))
      return Set(result.rows { RecordKey(result.text($0, 0) ?? "") })
    } ?? []
  }

  public func deletions(
    of source: String, after id: String?, limit: Int
  ) async throws(SourceError) -> [StoredDeletion] {
    try await read { connection throws(PostgresFailure) in
      let result = try connection.rows(
        """
        SELECT r.position, r.saved, r.json, r.removed_upstream, t.id
        FROM aggregator_store.sources s JOIN aggregator_store.tombstones t ON t.source = s.number
          LEFT JOIN aggregator_store.records r ON r.source = t.source AND r.id = t.id
        WHERE s.name = $1 AND ($2::text IS NULL OR t.id > $2) ORDER BY t.id LIMIT $3
        """, .text(source), .text(id), .integer(Int64(limit)))
      return result.rows { row in
        StoredDeletion(
          id: result.text(row, 4) ?? "",
          record: result.isNull(row, 0) ? nil : StoredRecord(result, row))
      }
    } ?? []
  }

  public func status(of source: String) async throws(SourceError) -> StoreStatus {
    try await read { connection throws(PostgresFailure) in
      let facts = connection.enqueue(
        """
        SELECT s.records, s.removed_upstream, s.last,
          (SELECT count(*) FROM aggregator_store.tombstones t WHERE t.source = s.number),
          (SELECT count(*) FROM aggregator_store.pages p WHERE p.source = s.number),
          greatest(s.last_fetched,
            (SELECT max(fetched) FROM aggregator_store.pages p WHERE p.source = s.number)),
          (SELECT count(*) FROM aggregator_store.tombstones t
            JOIN aggregator_store.records r ON r.source = t.source AND r.id = t.id
            WHERE t.source = s.number AND r.removed_upstream IS NULL), s.number
        FROM aggregator_store.sources s WHERE s.name = $1
        """, .text(source))
      let history = connection.enqueue(.history(of: source))
      let results = try connection.snapshot()
      var status = StoreStatus()
      let row = results[facts]
      guard row.count > 0 else { return status }
      func count(_ column: Int) -> Int { Int(max(0, row.integer(0, column))) }
      status.hidden = count(6)
      status.removedUpstream = count(1)
      status.records = max(0, count(0) - count(1) - count(6))
      status.deleted = count(3)
      status.pages = count(4)
      status.fetchedAt = row.date(0, 5)
      let last = row.integer(0, 2)
      if last > PositionRange(of: row.integer(0, 7)).start { status.lastPosition = last }
      status.history = HistoryStatus(results[history])
      return status
    } ?? StoreStatus()
  }
}

extension PostgresConnection {
  /// Begins a transaction that reads one state of the store, with the next round trip.
  mutating func beginSnapshot() {
    enqueue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  }

  /// Runs the collected statements on one state of the store, and returns their results.
  mutating func snapshot() throws(PostgresFailure) -> [PostgresResult] {
    let statements = takeQueue()
    beginSnapshot()
    for statement in statements { enqueue(statement) }
    enqueue("COMMIT")
    return Array(try run().dropFirst().dropLast())
  }
}

extension StoredRecord {
  /// The row `position, saved, json, removed_upstream`.
  init(_ result: PostgresResult, _ row: Int) {
    self.init(
      position: result.integer(row, 0), json: result.data(row, 2),
      savedAt: result.date(row, 1) ?? .distantPast, removedUpstreamAt: result.date(row, 3))
  }
}
