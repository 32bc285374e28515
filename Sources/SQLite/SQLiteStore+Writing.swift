public import AggregatorCore
public import AggregatorFoundation
public import AggregatorStore
import CAggregatorSQLite

extension SQLiteStore {
  public func save(
    _ batch: StoreBatch, of source: String, at date: Date
  ) async throws(SourceError) -> StoreChanges {
    let changes = try await write { [history] connection throws(SQLiteFailure) in
      try connection.save(batch, of: source, at: date, keeping: history)
    }
    notify(of: source)
    return changes
  }

  public func delete(
    _ ids: [String], of source: String, at date: Date
  ) async throws(SourceError) -> [String] {
    let deleted = try await write { connection throws(SQLiteFailure) in
      let number = try connection.numbered(source)
      var deleted: [String] = []
      for id in ids {
        let isNew = try connection.row(
          """
          INSERT INTO tombstones (source, id, deleted) VALUES (?1, ?2, ?3)
          ON CONFLICT DO NOTHING RETURNING true
          """, number, id, date
        ) { _ in true }
        if isNew == true { deleted.append(id) }
      }
      return deleted
    }
    notify(of: source)
    return deleted
  }

  public func restore(_ ids: [String]?, of source: String) async throws(SourceError) -> [String] {
    let restored: [String] = try await write { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return [] }
      guard let ids else {
        return try connection.rows(
          "DELETE FROM tombstones WHERE source = ?1 RETURNING id", number
        ) { $0.text(0) ?? "" }
      }
      var restored: [String] = []
      for id in ids {
        let wasDeleted = try connection.row(
          "DELETE FROM tombstones WHERE source = ?1 AND id = ?2 RETURNING true", number, id
        ) { _ in true }
        if wasDeleted == true { restored.append(id) }
      }
      return restored
    }
    notify(of: source)
    return restored
  }

  /// Tells those who listen in this process, without waiting for their next look at the file.
  private func notify(of source: String) {
    let key = RecordKey(source)
    listeners.notify { $0 == key }
  }

  public func change(
    _ key: String, timed body: @escaping @Sendable (String?, Date?) -> String?
  ) async throws(SourceError) {
    // Most callers change nothing, and need not wait for writers.
    let isChanged = try await read { connection throws(SQLiteFailure) in
      let old = try connection.sharedText(key)
      return body(old, nil).map { $0 != old } ?? false
    }
    // No file is made for what changes nothing.
    guard isChanged ?? (body(nil, nil) != nil) else { return }
    try await write { connection throws(SQLiteFailure) in
      let old = try connection.sharedText(key)
      guard let new = body(old, nil), new != old else { return }
      try connection.setSharedText(key, to: new)
    }
  }

  package func rename(
    _ names: [(old: String, new: String)], droppingPages dropsPages: Bool
  ) async throws(SourceError) {
    try await write { connection throws(SQLiteFailure) in
      for (old, new) in names {
        let number = try connection.row(
          """
          UPDATE sources SET name = ?2
          WHERE name = ?1 AND NOT EXISTS (SELECT 1 FROM sources WHERE name = ?2) RETURNING number
          """, old, new
        ) { $0.integer(0) }
        if dropsPages, let number { try connection.removePages(of: number) }
      }
    }
    for name in Set(names.flatMap { [$0.old, $0.new] }) { notify(of: name) }
  }

  package func names() async throws(SourceError) -> [String] {
    try await read { connection throws(SQLiteFailure) in
      try connection.rows("SELECT name FROM sources") { $0.text(0) ?? "" }
    } ?? []
  }

  /// True if there is no file, and so nothing to remove: none is made for that.
  var isMissing: Bool { access(path, F_OK) != 0 && errno == ENOENT }

  /// Removes a source's records, pages, checkpoints and history, and returns their space to the disk.
  public func clear(_ source: String, forgetsDeleted: Bool) async throws(SourceError) {
    guard !isMissing else { return }
    try await write { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return }
      let range = PositionRange(of: number)
      try connection.run(
        """
        INSERT INTO search (search, rowid, folded)
        SELECT 'delete', position, folded FROM records WHERE position > ?1 AND position <= ?2
        """, range.start, range.end)
      try connection.run(
        "DELETE FROM records WHERE position > ?1 AND position <= ?2", range.start, range.end)
      // Otherwise the index keeps both the old entries and their deletions.
      try connection.run("INSERT INTO search (search) VALUES ('optimize')")
      try connection.removePages(of: number)
      try connection.run("DELETE FROM checkpoints WHERE source = ?1", number)
      try connection.run("DELETE FROM seen WHERE source = ?1", number)
      try connection.clearHistory(of: number)
      if forgetsDeleted {
        try connection.run("DELETE FROM tombstones WHERE source = ?1", number)
      }
      // Positions are never reused: an old cursor must not point at new records.
      try connection.run(
        """
        UPDATE sources SET records = 0, removed_upstream = 0, last_fetched = NULL
        WHERE number = ?1
        """, number)
    }
    notify(of: source)
    try await compact()
  }
}

extension Connection: StoreTransaction {
  package typealias Failure = SQLiteFailure

  package mutating func state(
    for batch: StoreBatch, of name: String
  ) throws(SQLiteFailure) -> BatchState {
    let source = try numbered(name)
    var records: [BatchPlan.Known?] = []
    records.reserveCapacity(batch.entries.count)
    // Iteration would copy each entry.
    for index in batch.entries.indices {
      records.append(try known(batch.entries[index], of: source))
    }
    let state = try row(
      """
      SELECT s.last, c.value, h.start, h.trimmed, h.last
      FROM sources s LEFT JOIN checkpoints c ON c.source = s.number AND c.name = ?2
        LEFT JOIN history h ON h.source = s.number
      WHERE s.number = ?1
      """, source, batch.checkpointName
    ) { row in
      BatchState(
        source: source, last: row.integer(0), checkpoint: row.text(1), records: records,
        history: HistoryState(row, at: 2))
    }
    guard let state else { throw SQLiteFailure(SQLITE_CORRUPT, on: nil) }
    return state
  }

  /// The record of an entry as it is stored; `nil` if it is new.
  private mutating func known(
    _ entry: StoreEntry, of source: Int64
  ) throws(SQLiteFailure) -> BatchPlan.Known? {
    try row(
      "SELECT position, json, removed_upstream FROM records WHERE source = ?1 AND id = ?2", source,
      entry.id
    ) { BatchPlan.Known($0, for: entry) } ?? nil
  }

  /// Adds the records to the search index all at once: one by one, or by a trigger, takes more than twice as long.
  package mutating func insert(
    _ records: [BatchPlan.Form], of source: Int64, at date: Date
  ) throws(SQLiteFailure) {
    for form in records {
      try run(
        """
        INSERT INTO records (position, source, id, saved, first_seen, folded, json)
        VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6)
        """, form.position, source, form.id, date, form.text.searchable, form.json)
    }
    try run(
      """
      INSERT INTO search (rowid, folded)
      SELECT position, folded FROM records WHERE position >= ?1 AND position <= ?2
      """, records.first?.position, records.last?.position)
  }

  package mutating func move(
    _ moves: [(from: Int64, to: Int64)], of source: Int64, at date: Date
  ) throws(SQLiteFailure) {
    for (old, new) in moves {
      try run(
        """
        INSERT INTO search (search, rowid, folded)
        SELECT 'delete', position, folded FROM records WHERE position = ?1
        """, old)
      try run(
        "UPDATE records SET position = ?2, first_seen = ?3 WHERE position = ?1", old, new, date)
      try run(
        "INSERT INTO search (rowid, folded) SELECT position, folded FROM records WHERE position = ?1",
        new)
      try run("UPDATE changes SET position = ?2 WHERE position = ?1", old, new)
    }
    try run(
      """
      WITH moves (old, new) AS MATERIALIZED (
        SELECT e.value, n.value FROM json_each(?2) e JOIN json_each(?3) n ON n.key = e.key)
      UPDATE pages SET positions = (
        SELECT json_group_array(coalesce(m.new, e.value))
        FROM json_each(pages.positions) e LEFT JOIN moves m ON m.old = e.value)
      WHERE source = ?1 AND EXISTS (
        SELECT 1 FROM json_each(pages.positions) e JOIN moves m ON m.old = e.value)
      """, source, moves.map(\.from).jsonArray, moves.map(\.to).jsonArray)
  }

  /// One by one in the table, which the planner does not choose by itself.
  package mutating func count(
    at positions: [Int64], of source: Int64
  ) throws(SQLiteFailure) -> Int {
    try row(
      """
      SELECT count(*) FROM json_each(?2) e CROSS JOIN records r ON r.position = e.value
      WHERE r.source = ?1 AND r.removed_upstream IS NULL
      """, source, positions.jsonArray
    ) { $0.integer(0).count } ?? 0
  }

  /// Replaces the texts in the search index if they have changed.
  package mutating func replace(
    _ records: [BatchPlan.Form], at date: Date
  ) throws(SQLiteFailure) {
    for form in records {
      let text = form.text.searchable
      let old = try row("SELECT folded FROM records WHERE position = ?1", form.position) {
        $0.text(0)
      }
      if let old = old ?? nil, old != text {
        // The index can only delete an entry if it is given the old text.
        try run(
          "INSERT INTO search (search, rowid, folded) VALUES ('delete', ?1, ?2)", form.position, old
        )
        try run("INSERT INTO search (rowid, folded) VALUES (?1, ?2)", form.position, text)
        try run("UPDATE records SET folded = ?2 WHERE position = ?1", form.position, text)
      }
      try run(
        "UPDATE records SET json = ?2, saved = ?3 WHERE position = ?1", form.position, form.json,
        date)
    }
  }

  package mutating func mark(
    _ positions: [Int64], removedUpstreamAt date: Date?
  ) throws(SQLiteFailure) {
    try run(
      """
      UPDATE records SET removed_upstream = ?2
      WHERE position IN (SELECT value FROM json_each(?1))
      """, positions.jsonArray, date)
  }

  package mutating func update(
    _ source: Int64, by changes: SourceChanges
  ) throws(SQLiteFailure) {
    try run(
      """
      UPDATE sources SET last = ?2, records = records + ?3,
        removed_upstream = removed_upstream + ?4, last_fetched = coalesce(?5, last_fetched)
      WHERE number = ?1
      """, source, changes.last, changes.added, changes.removedUpstream, changes.fetchedAt)
  }

  // MARK: Pages and checkpoints

  package mutating func savePage(
    _ page: PageMetadata, as key: String, positions: [Int64], of source: Int64, at date: Date
  ) throws(SQLiteFailure) {
    guard let json = try? CanonicalJSON.bytes(of: page) else { return }
    try run(
      """
      INSERT INTO pages (source, key, fetched, positions, page) VALUES (?1, ?2, ?3, ?4, ?5)
      ON CONFLICT (source, key) DO UPDATE SET
        fetched = excluded.fetched, positions = excluded.positions, page = excluded.page
      """, source, key, date, positions.jsonArray, json)
    try run(
      """
      DELETE FROM pages WHERE number IN (
        SELECT number FROM pages WHERE source = ?1 ORDER BY fetched DESC LIMIT -1 OFFSET ?2)
      """, source, StoreLimit.pages)
  }

  package mutating func removePages(of source: Int64) throws(SQLiteFailure) {
    try run("DELETE FROM pages WHERE source = ?1", source)
  }

  package mutating func checkpoint(
    _ name: String, of source: Int64
  ) throws(SQLiteFailure) -> String? {
    try row(
      "SELECT value FROM checkpoints WHERE source = ?1 AND name = ?2", source, name
    ) { $0.text(0) } ?? nil
  }

  package mutating func setCheckpoint(
    _ name: String, to text: String?, of source: Int64
  ) throws(SQLiteFailure) {
    guard let text else {
      try run("DELETE FROM checkpoints WHERE source = ?1 AND name = ?2", source, name)
      return
    }
    try run(
      """
      INSERT INTO checkpoints (source, name, value) VALUES (?1, ?2, ?3)
      ON CONFLICT (source, name) DO UPDATE SET value = excluded.value
      """, source, name, text)
  }

  // MARK: Reconciliation

  package mutating func noteSeen(
    _ positions: [Int64], by pass: String, of source: Int64
  ) throws(SQLiteFailure) {
    try run(
      "INSERT INTO seen (source, reconciliation, positions) VALUES (?1, ?2, ?3)", source, pass,
      positions.jsonArray)
  }

  package mutating func forgetSeen(by pass: String, of source: Int64) throws(SQLiteFailure) {
    try run("DELETE FROM seen WHERE source = ?1 AND reconciliation = ?2", source, pass)
  }

  package mutating func unseen(
    by pass: String, and notes: String, upTo last: Int64, of source: Int64,
    startingWith prefix: String?
  ) throws(SQLiteFailure) -> (missing: [Int64], noted: [Int64], known: Int, seen: Int) {
    let range = PositionRange(of: source)
    // In SQL the sets would be tables in memory, which take a hundred times as much.
    let seen = try listed(in: pass, of: source)
    var known = 0
    var missing: [Int64] = []
    let end = min(last, range.end)
    func take(_ row: borrowing Statement) {
      let position = row.integer(0)
      known += 1
      if !seen.contains(position) { missing.append(position) }
    }
    if let prefix {
      // The last text in byte order that begins with the prefix.
      _ = try rows(
        """
        SELECT position FROM records
        WHERE source = ?1 AND id >= ?2 AND id < ?3 AND position <= ?4 AND removed_upstream IS NULL
        ORDER BY position
        """, source, prefix, "\(prefix)\u{10FFFF}", end, read: take)
    } else {
      _ = try rows(
        """
        SELECT position FROM records
        WHERE position > ?1 AND position <= ?2 AND removed_upstream IS NULL
        """, range.start, end, read: take)
    }
    let noted = missing.isEmpty ? PositionSet() : try listed(in: notes, of: source)
    return (missing, missing.filter(noted.contains), known, seen.count)
  }

  /// The positions that a pass has noted.
  private mutating func listed(
    in pass: String, of source: Int64
  ) throws(SQLiteFailure) -> PositionSet {
    var positions = PositionSet()
    _ = try rows(
      "SELECT positions FROM seen WHERE source = ?1 AND reconciliation = ?2", source, pass
    ) { row in
      if let list = row.text(0) { positions.insert(listed: list) }
    }
    return positions
  }

  // MARK: Shared texts

  mutating func sharedText(_ key: String) throws(SQLiteFailure) -> String? {
    try row("SELECT value FROM shared WHERE key = ?1", key) { $0.text(0) } ?? nil
  }

  mutating func setSharedText(_ key: String, to text: String) throws(SQLiteFailure) {
    try run(
      """
      INSERT INTO shared (key, value) VALUES (?1, ?2)
      ON CONFLICT (key) DO UPDATE SET value = excluded.value
      """, key, text)
  }
}
