public import AggregatorCore
import AggregatorFiles
package import AggregatorFoundation
public import AggregatorStore
package import AggregatorText
import CAggregatorSQLite

extension SQLiteStore {
  public func record(
    _ id: String, of source: String
  ) async throws(SourceError) -> StoredRecord? {
    try await read { connection throws(SQLiteFailure) in
      try connection.row(
        """
        SELECT position, saved, json, removed_upstream FROM records
        WHERE source = (SELECT number FROM sources WHERE name = ?1) AND id = ?2
        """, source, id, read: StoredRecord.init)
    } ?? nil
  }

  public func records(
    of source: String, at positions: [Int64]
  ) async throws(SourceError) -> [StoredRecord] {
    let list = JSON.array(positions.map { .integer(Int($0)) }).text
    return try await read { connection throws(SQLiteFailure) in
      try connection.rows(
        """
        SELECT r.position, r.saved, r.json, r.removed_upstream, r.id
        FROM json_each(?2) e JOIN records r ON r.position = e.value
        WHERE r.source = (SELECT number FROM sources WHERE name = ?1) AND r.removed_upstream IS NULL
          AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = r.source AND t.id = r.id)
        ORDER BY e.key
        """, source, list, read: StoredRecord.withID)
    } ?? []
  }

  public func page(_ key: String, of source: String) async throws(SourceError) -> CachedPage? {
    try await read { connection throws(SQLiteFailure) in
      try connection.page(key, of: source)
    } ?? nil
  }

  public func ids(
    of source: String, startingWith prefix: String, limit: Int
  ) async throws(SourceError) -> [String] {
    try await read { connection throws(SQLiteFailure) in
      try connection.ids(of: source, from: prefix, areDeleted: false, atMost: limit).map(\.id)
    } ?? []
  }

  public func pageKeys(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String] {
    try await read { connection throws(SQLiteFailure) in
      // The last text in byte order that begins with the prefix.
      try connection.rows(
        """
        SELECT key FROM pages
        WHERE source = (SELECT number FROM sources WHERE name = ?1) AND key >= ?2 AND key < ?3
        """, source, prefix, "\(prefix)\u{10FFFF}"
      ) { $0.text(0) ?? "" }
    } ?? []
  }

  public func state(
    of source: String, checkpoints names: [String]
  ) async throws(SourceError) -> StoredState {
    try await read { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return StoredState() }
      var state = StoredState(try connection.status(of: number))
      let pages = try connection.rows(
        "SELECT key, page FROM pages WHERE source = ?1 ORDER BY fetched DESC", number
      ) { (key: $0.text(0) ?? "", page: $0.data(1)) }
      state.pages = pages.compactMap { row in PageMetadata(json: row.page).map { (row.key, $0) } }
      let checkpoints = try connection.rows(
        """
        SELECT name, value FROM checkpoints
        WHERE source = ?1 AND name IN (SELECT value FROM json_each(?2))
        """, number, names.jsonArray
      ) { (name: $0.text(0) ?? "", text: $0.text(1) ?? "") }
      for checkpoint in checkpoints { state.checkpoints[checkpoint.name] = checkpoint.text }
      return state
    } ?? StoredState()
  }

  public func checkpoint(_ name: String, of source: String) async throws(SourceError) -> String? {
    try await read { connection throws(SQLiteFailure) in
      try connection.checkpoint(name, of: source)
    } ?? nil
  }

  public func checkpoints(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String: String] {
    let found = try await read { connection throws(SQLiteFailure) in
      try connection.rows(
        """
        SELECT name, value FROM checkpoints
        WHERE source = (SELECT number FROM sources WHERE name = ?1) AND name >= ?2 AND name < ?3
        """, source, prefix, "\(prefix)\u{10FFFF}"
      ) { ($0.text(0) ?? "", $0.text(1) ?? "") }
    }
    return Dictionary(found ?? []) { first, _ in first }
  }

  public func deleted(
    among ids: [String], of source: String
  ) async throws(SourceError) -> Set<RecordKey> {
    // A zero byte ends a text in SQLite's JSON, so such ids, which hardly exist, are looked up singly.
    let list = ids.filter { !$0.utf8.contains(0) }.jsonArray
    let others = ids.filter { $0.utf8.contains(0) }
    return try await read { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return [] }
      let found = try connection.rows(
        """
        SELECT t.id FROM json_each(?2) e CROSS JOIN tombstones t
        WHERE t.source = ?1 AND t.id = e.value
        """, number, list
      ) { RecordKey($0.text(0) ?? "") }
      var deleted = Set(found)
      for id in others {
        let isDeleted = try connection.row(
          "SELECT true FROM tombstones WHERE source = ?1 AND id = ?2", number, id
        ) { _ in true }
        if isDeleted == true { deleted.insert(RecordKey(id)) }
      }
      return deleted
    } ?? []
  }

  public func deletions(
    of source: String, after id: String?, limit: Int
  ) async throws(SourceError) -> [StoredDeletion] {
    try await read { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return [] }
      return try connection.rows(
        """
        SELECT r.position, r.saved, r.json, r.removed_upstream, t.id
        FROM tombstones t LEFT JOIN records r ON r.source = t.source AND r.id = t.id
        WHERE t.source = ?1 AND (?2 IS NULL OR t.id > ?2) ORDER BY t.id LIMIT ?3
        """, number, id, limit, read: StoredDeletion.init)
    } ?? []
  }

  public func status(of source: String) async throws(SourceError) -> StoreStatus {
    try await read { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return StoreStatus() }
      return try connection.status(of: number)
    } ?? StoreStatus()
  }
}

extension Connection {
  mutating func checkpoint(_ name: String, of source: String) throws(SQLiteFailure) -> String? {
    try row(
      """
      SELECT value FROM checkpoints
      WHERE source = (SELECT number FROM sources WHERE name = ?1) AND name = ?2
      """, source, name
    ) { $0.text(0) } ?? nil
  }

  fileprivate mutating func status(of source: Int64) throws(SQLiteFailure) -> StoreStatus {
    var status =
      try row(
        """
        SELECT records, removed_upstream, last,
          (SELECT count(*) FROM tombstones WHERE source = ?1),
          (SELECT count(*) FROM pages WHERE source = ?1),
          nullif(max(0, coalesce(last_fetched, 0),
            coalesce((SELECT max(fetched) FROM pages WHERE source = ?1), 0)), 0),
          (SELECT count(*) FROM tombstones t WHERE t.source = ?1 AND EXISTS (
            SELECT 1 FROM records r
            WHERE r.source = t.source AND r.id = t.id AND r.removed_upstream IS NULL))
        FROM sources WHERE number = ?1
        """, source
      ) { StoreStatus($0, of: source) } ?? StoreStatus()
    status.history = try history(of: source)
    return status
  }

  /// The number of records of a source, without deleted ones and ones removed upstream.
  ///
  /// Only the deleted ones, which are few, are counted; the rest is a stored count.
  mutating func recordCount(of source: Int64) throws(SQLiteFailure) -> Int {
    let count = try row(
      """
      SELECT records - removed_upstream - (
        SELECT count(*) FROM tombstones t WHERE t.source = ?1 AND EXISTS (
          SELECT 1 FROM records r
          WHERE r.source = t.source AND r.id = t.id AND r.removed_upstream IS NULL))
      FROM sources WHERE number = ?1
      """, source
    ) { $0.integer(0) }
    return (count ?? 0).count
  }

  fileprivate mutating func page(
    _ key: String, of source: String
  ) throws(SQLiteFailure) -> CachedPage? {
    let row = try row(
      """
      SELECT page, positions, fetched FROM pages
      WHERE source = (SELECT number FROM sources WHERE name = ?1) AND key = ?2
      """, source, key
    ) { (page: $0.data(0), positions: $0.text(1) ?? "[]", fetched: $0.date(2)) }
    guard let row, let fetched = row.fetched, let page = PageMetadata(json: row.page),
      Int64(page.unreadable).count == page.unreadable
    else { return nil }
    let records = try rows(
      """
      SELECT r.position, r.saved, r.json
      FROM json_each(?1) e JOIN records r ON r.position = e.value
      WHERE r.removed_upstream IS NULL ORDER BY e.key
      """, row.positions
    ) {
      StoredRecord(position: $0.integer(0), json: $0.data(2), savedAt: $0.date(1) ?? fetched)
    }
    return CachedPage(records: records, page: page, fetchedAt: fetched)
  }
}

// MARK: - Reading without waiting

/// An ID of the store, for completions.
package struct StoredID: Sendable {
  package let id: String

  /// The record; `nil` if only its deletion is stored.
  package let json: Data?

  fileprivate init(_ row: borrowing Statement) {
    (id, json) = (row.text(0) ?? "", row.isNull(1) ? nil : row.data(1))
  }
}

extension SQLiteStore {
  /// Reads IDs for completions: at once or not at all.
  ///
  /// It waits for no lock, creates no file and leaves a damaged one in place.
  ///
  /// Prefixes are compared byte by byte. Without `areDeleted` it reads IDs neither deleted nor removed
  /// upstream. Returns the first in byte order and the last one; `nil` if there is a file that cannot be read.
  ///
  /// - Parameter name: The beginning of a line of the records' texts, one of which is the name, in the place of that of
  ///   their IDs. One of one or two letters finds nothing where every text would be read for long.
  package func readWithoutWaiting(
    _ source: String, idsFrom prefix: String, named name: FoldedText? = nil, areDeleted: Bool,
    atMost limit: Int
  ) -> [StoredID]? {
    guard FileIdentity(file.path) != nil else { return [] }
    do throws(SQLiteFailure) {
      guard var connection = try file.openWithoutWaiting() else { return nil }
      if let name { return try connection.ids(of: source, named: name.searchable, atMost: limit) }
      return try connection.ids(of: source, from: prefix, areDeleted: areDeleted, atMost: limit)
    } catch {
      return nil
    }
  }
}

extension StoreFile {
  /// A connection that reads the file as it is; `nil` if there is none of this version.
  fileprivate func openWithoutWaiting() throws(SQLiteFailure) -> Connection? {
    guard FileIdentity(path)?.isRegular == true else { return nil }
    // Locked as in ``open(for:)`` against being renamed meanwhile, but without waiting for the lock.
    guard let directory = try? OpenFile(directory: PrivateFile.directory(of: path)),
      (try? directory.lock(.shared, within: .zero)) == true
    else { return nil }
    defer { directory.unlock() }
    // While no process has the file open, the files that readers share would have to be created.
    var connection =
      FileIdentity(realPath + "-shm") == nil
      ? try Connection(unchanging: path, busyTimeout: .zero)
      : try Connection(path, busyTimeout: .zero, flags: SQLITE_OPEN_READONLY)
    let mark = try connection.row("PRAGMA application_id") { $0.integer(0) }
    let version = try connection.row("PRAGMA user_version") { $0.integer(0) }
    guard mark == SQLiteSchema.applicationID, version == SQLiteSchema.version else { return nil }
    return connection
  }
}

extension Connection {
  fileprivate mutating func ids(
    of source: String, from prefix: String, areDeleted: Bool, atMost limit: Int
  ) throws(SQLiteFailure) -> [StoredID] {
    guard let number = try number(of: source) else { return [] }
    // The last text in byte order that begins with the prefix.
    let end = "\(prefix)\u{10FFFF}"
    var found =
      areDeleted
      ? try rows(
        """
        WITH found AS NOT MATERIALIZED (
          SELECT t.id, r.json FROM tombstones t
          LEFT JOIN records r ON r.source = t.source AND r.id = t.id
          WHERE t.source = ?1 AND t.id >= ?2 AND t.id < ?3)
        SELECT * FROM (SELECT * FROM found ORDER BY id LIMIT ?4) UNION
        SELECT * FROM (SELECT * FROM found ORDER BY id DESC LIMIT 1) ORDER BY 1
        """, number, prefix, end, limit, read: StoredID.init)
      : try rows(
        """
        WITH found AS NOT MATERIALIZED (
          SELECT r.id, r.json FROM records r
          WHERE r.source = ?1 AND r.id >= ?2 AND r.id < ?3 AND r.removed_upstream IS NULL
            AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = r.source AND t.id = r.id))
        SELECT * FROM (SELECT * FROM found ORDER BY id LIMIT ?4) UNION
        SELECT * FROM (SELECT * FROM found ORDER BY id DESC LIMIT 1) ORDER BY 1
        """, number, prefix, end, limit, read: StoredID.init)
    // All begin with what the first and the last one have in common, which shells insert.
    if found.count > limit { found.remove(at: limit - 1) }
    return found
  }

  fileprivate mutating func ids(
    of source: String, named name: String, atMost limit: Int
  ) throws(SQLiteFailure) -> [StoredID] {
    guard let number = try number(of: source) else { return [] }
    let range = PositionRange(of: number)
    guard name.unicodeScalars.count < 3 else {
      let quoted = name.replacing("\"", with: "\"\"")
      return try rows(
        """
        SELECT r.id, r.json FROM search JOIN records r ON r.position = search.rowid
        WHERE search MATCH ?1 AND search.rowid > ?2 AND search.rowid <= ?3
          AND r.removed_upstream IS NULL
          AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = r.source AND t.id = r.id)
        LIMIT ?4
        """, "^ \"\(quoted)\" OR \"\n\(quoted)\"", range.start, range.end, limit,
        read: StoredID.init)
    }
    guard try recordCount(of: number) <= 50_000 else { return [] }
    return try rows(
      """
      SELECT r.id, r.json FROM records r
      WHERE r.position > ?2 AND r.position <= ?3
        AND instr(char(10) || r.folded, char(10) || ?1) > 0 AND r.removed_upstream IS NULL
        AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = r.source AND t.id = r.id)
      LIMIT ?4
      """, name, range.start, range.end, limit, read: StoredID.init)
  }
}
