public import AggregatorCore
import AggregatorFoundation
public import AggregatorStore

extension PostgresStore {
  public func record(
    _ id: String, of source: String
  ) async throws(SourceError) -> StoredRecord? {
    try await read(records: true) { connection throws(PostgresFailure) in
      try connection.rows(
        """
        SELECT r.position, r.saved, r.json, r.removed_upstream
        FROM aggregator_store.sources s JOIN aggregator_store.records r ON r.source = s.number
        WHERE s.name = $1 AND r.id = $2
        """, .text(source), .text(id)
      ).first.map(StoredRecord.init)
    } ?? nil
  }

  public func ids(
    of source: String, startingWith prefix: String, limit: Int
  ) async throws(SourceError) -> [String] {
    try await read(records: true) { connection throws(PostgresFailure) in
      // The last text in byte order that begins with the prefix.
      try connection.rows(
        """
        SELECT r.id
        FROM aggregator_store.sources s JOIN aggregator_store.records r ON r.source = s.number
        WHERE s.name = $1 AND r.id >= $2 AND r.id < $3 AND r.removed_upstream IS NULL
          AND NOT EXISTS (
            SELECT 1 FROM aggregator_store.tombstones t WHERE t.source = r.source AND t.id = r.id)
        ORDER BY r.id LIMIT $4
        """, .text(source), .text(prefix), .text("\(prefix)\u{10FFFF}"), .integer(Int64(limit))
      ).map { $0.text(0) ?? "" }
    } ?? []
  }

  public func page(_ key: String, of source: String) async throws(SourceError) -> CachedPage? {
    try await read(records: true) { connection throws(PostgresFailure) -> CachedPage? in
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
      guard let row = results[page].first, let fetched = row.date(1),
        let page = PageMetadata(json: row.data(0))
      else { return nil }
      return CachedPage(
        records: results[records].map(StoredRecord.init), page: page, fetchedAt: fetched)
    } ?? nil
  }

  public func records(
    of source: String, at positions: [Int64]
  ) async throws(SourceError) -> [StoredRecord] {
    try await read(records: true) { connection throws(PostgresFailure) in
      try connection.rows(
        """
        SELECT r.position, r.saved, r.json, r.removed_upstream, r.id
        FROM aggregator_store.sources s
          CROSS JOIN unnest($2::bigint[]) WITH ORDINALITY AS p (position, index)
          JOIN aggregator_store.records r ON r.position = p.position AND r.source = s.number
        WHERE s.name = $1 AND r.removed_upstream IS NULL AND NOT EXISTS (
          SELECT 1 FROM aggregator_store.tombstones t WHERE t.source = r.source AND t.id = r.id)
        ORDER BY p.index
        """, .text(source), .integers(positions)
      ).map(StoredRecord.withID)
    } ?? []
  }

  public func revision(of source: String) async throws(SourceError) -> String? {
    try await read(records: true) { connection throws(PostgresFailure) in
      let contents = connection.enqueue(.contents(of: source))
      let numbers = connection.enqueue(.numbers(of: source))
      let results = try connection.snapshot()
      return results[contents].first?.text(0).map { "\($0) \(results[numbers].unrecorded.count)" }
    } ?? nil
  }

  public func update(
    of source: String, since mark: RecordMark?
  ) async throws(SourceError) -> RecordUpdate? {
    try await read(records: true) { connection throws(PostgresFailure) in
      try connection.update(of: source, since: mark)
    } ?? nil
  }

  public func pageKeys(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String] {
    try await read(records: true) { connection throws(PostgresFailure) in
      try connection.rows(
        """
        SELECT p.key
        FROM aggregator_store.sources s JOIN aggregator_store.pages p ON p.source = s.number
        WHERE s.name = $1 AND starts_with(p.key, $2)
        """, .text(source), .text(prefix)
      ).map { $0.text(0) ?? "" }
    } ?? []
  }

  public func state(
    of source: String, checkpoints names: [String]
  ) async throws(SourceError) -> StoredState {
    try await read(records: true) { connection throws(PostgresFailure) in
      let (facts, history) = connection.enqueueStatus(of: source)
      let pages = connection.enqueue(
        """
        SELECT p.key, p.page
        FROM aggregator_store.sources s JOIN aggregator_store.pages p ON p.source = s.number
        WHERE s.name = $1 ORDER BY p.fetched DESC
        """, .text(source))
      let checkpoints = connection.enqueue(
        """
        SELECT c.name, c.value
        FROM aggregator_store.sources s JOIN aggregator_store.checkpoints c ON c.source = s.number
        WHERE s.name = $1 AND c.name = ANY ($2)
        """, .text(source), .texts(names))
      let results = try connection.snapshot()
      var state = StoredState(StoreStatus(results[facts], history: results[history]))
      state.pages = results[pages].compactMap { row in
        PageMetadata(json: row.data(1)).map { (row.text(0) ?? "", $0) }
      }
      for row in results[checkpoints] { state.checkpoints[row.text(0) ?? ""] = row.text(1) }
      return state
    } ?? StoredState()
  }

  public func checkpoint(_ name: String, of source: String) async throws(SourceError) -> String? {
    try await read { connection throws(PostgresFailure) in
      try connection.rows(
        """
        SELECT c.value
        FROM aggregator_store.sources s JOIN aggregator_store.checkpoints c ON c.source = s.number
        WHERE s.name = $1 AND c.name = $2
        """, .text(source), .text(name)
      ).first?.text(0)
    } ?? nil
  }

  public func checkpoints(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String: String] {
    let found = try await read { connection throws(PostgresFailure) in
      try connection.rows(
        """
        SELECT c.name, c.value
        FROM aggregator_store.sources s JOIN aggregator_store.checkpoints c ON c.source = s.number
        WHERE s.name = $1 AND starts_with(c.name, $2)
        """, .text(source), .text(prefix)
      ).map { ($0.text(0) ?? "", $0.text(1) ?? "") }
    }
    return Dictionary(found ?? []) { first, _ in first }
  }

  public func deleted(
    among ids: [String], of source: String
  ) async throws(SourceError) -> Set<RecordKey> {
    try await read(records: true) { connection throws(PostgresFailure) in
      let result = try connection.rows(
        """
        SELECT t.id
        FROM aggregator_store.sources s JOIN aggregator_store.tombstones t ON t.source = s.number
        WHERE s.name = $1 AND t.id = ANY ($2)
        """, .text(source), .texts(ids))
      return Set(result.map { RecordKey($0.text(0) ?? "") })
    } ?? []
  }

  public func deletions(
    of source: String, after id: String?, limit: Int
  ) async throws(SourceError) -> [StoredDeletion] {
    try await read(records: true) { connection throws(PostgresFailure) in
      try connection.rows(
        """
        SELECT r.position, r.saved, r.json, r.removed_upstream, t.id
        FROM aggregator_store.sources s JOIN aggregator_store.tombstones t ON t.source = s.number
          LEFT JOIN aggregator_store.records r ON r.source = t.source AND r.id = t.id
        WHERE s.name = $1 AND ($2::text IS NULL OR t.id > $2) ORDER BY t.id LIMIT $3
        """, .text(source), .text(id), .integer(Int64(limit))
      ).map(StoredDeletion.init)
    } ?? []
  }

  public func status(of source: String) async throws(SourceError) -> StoreStatus {
    try await read(records: true) { connection throws(PostgresFailure) in
      let (facts, history) = connection.enqueueStatus(of: source)
      let results = try connection.snapshot()
      return StoreStatus(results[facts], history: results[history])
    } ?? StoreStatus()
  }
}

extension PostgresConnection {
  /// The indices of the results with the counts and with the history.
  fileprivate mutating func enqueueStatus(of source: String) -> (facts: Int, history: Int) {
    let facts = enqueue(
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
    return (facts, enqueue(.history(of: source)))
  }
}

extension StoreStatus {
  fileprivate init(_ facts: PostgresResult, history: PostgresResult) {
    guard let row = facts.first else {
      self.init()
      return
    }
    self.init(row, of: row.integer(7))
    self.history = history.first.flatMap { HistoryStatus($0) }
  }
}
