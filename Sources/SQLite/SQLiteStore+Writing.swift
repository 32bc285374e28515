public import AggregatorCore
public import AggregatorStore
public import Foundation

extension SQLiteStore {
  /// The most pages cached per source; the oldest are dropped first.
  static let maxPages = 2000

  public func save(
    _ batch: StoreBatch, of source: String, at date: Date
  ) async throws(SourceError) -> StoreChanges {
    try await write { [history] connection throws(SQLiteFailure) in
      let number = try connection.numbered(source)
      var save = BatchSave(source: number, date: date, history: history)
      for (index, entry) in batch.entries.enumerated() {
        try save.save(entry, index, in: &connection)
      }
      try save.indexNewRecords(in: &connection)
      if let (key, page) = batch.page {
        try connection.savePage(key, page, positions: save.positions, of: number, at: date)
      }
      if let update = batch.update {
        save.changes.didMoveCheckpoint = try connection.apply(update, of: number)
        if save.changes.didMoveCheckpoint {
          try connection.run(
            "UPDATE sources SET last_fetched = ?2 WHERE number = ?1", number, date)
          if let reconciliation = update.reconciliation {
            try save.reconcile(reconciliation, at: update, in: &connection)
          }
          if update.replacesPages {
            try connection.run("DELETE FROM pages WHERE source = ?1", number)
          }
        }
      }
      let isOutdated = batch.update != nil && !save.changes.didMoveCheckpoint
      if batch.completesSync, !isOutdated { try save.log.completeSync(in: &connection) }
      try save.log.finish(in: &connection)
      return save.changes
    }
  }

  public func delete(
    _ ids: [String], of source: String, at date: Date
  ) async throws(SourceError) -> [String] {
    try await write { connection throws(SQLiteFailure) in
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
  }

  public func restore(_ ids: [String]?, of source: String) async throws(SourceError) -> [String] {
    try await write { connection throws(SQLiteFailure) in
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
  }

  public func change(
    _ key: String, timed body: @escaping @Sendable (String?, Date?) -> String?
  ) async throws(SourceError) {
    // Most callers change nothing, and need not wait for writers.
    let isChanged = try await read { connection throws(SQLiteFailure) in
      let old = try connection.sharedText(key)
      return body(old, nil).map { $0 != old } ?? false
    }
    guard isChanged ?? true else { return }
    try await write { connection throws(SQLiteFailure) in
      let old = try connection.sharedText(key)
      guard let new = body(old, nil), new != old else { return }
      try connection.run(
        """
        INSERT INTO shared (key, value) VALUES (?1, ?2)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value
        """, key, new)
    }
  }

  /// Removes a source's records, pages, checkpoints and history, and returns their space to the disk.
  public func clear(_ source: String, forgetsDeleted: Bool) async throws(SourceError) {
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
      try connection.run("DELETE FROM pages WHERE source = ?1", number)
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
    try await compact()
  }
}

/// The state of saving one batch.
private struct BatchSave {
  let source: Int64
  let date: Date
  var changes = StoreChanges()
  var positions: [Int64] = []
  var log: ChangeLog

  /// The last positions assigned before this batch and by now; `nil` until one is needed.
  private var last: (before: Int64, now: Int64)?

  init(source: Int64, date: Date, history: HistoryLimit) {
    self.source = source
    self.date = date
    log = ChangeLog(of: source, at: date, keeping: history)
  }

  mutating func save(
    _ entry: StoreEntry, _ index: Int, in connection: inout Connection
  ) throws(SQLiteFailure) {
    let known = try connection.row(
      "SELECT position, json, removed_upstream FROM records WHERE source = ?1 AND id = ?2", source,
      entry.id
    ) { row in
      (
        position: row.integer(0), json: row.holds(entry.json, in: 1) ? nil : row.bytes(1),
        isRemovedUpstream: row.date(2) != nil
      )
    }
    guard let known else { return try insert(entry, index, in: &connection) }
    positions.append(known.position)
    if known.isRemovedUpstream {
      try connection.unmarkRemoved(known.position, of: source)
      try log.add(.returned, of: known.position, in: &connection)
    }
    let merged = known.json.flatMap(entry.mergedWithStored)
    changes.merged[index] = merged?.json
    guard let old = known.json, old != merged?.json else {
      if known.isRemovedUpstream { changes.changed += 1 } else { changes.unchanged += 1 }
      return
    }
    changes.changed += 1
    // False for a record that this batch has twice.
    let isEarlier = last.map { known.position <= $0.before } ?? true
    if isEarlier, entry.isChange(old) {
      try log.add(.changed, of: known.position, from: old, in: &connection)
    }
    try connection.replace(
      known.position, json: merged?.json ?? entry.json,
      text: (merged?.text ?? entry.text()).stored, at: date, isIndexed: isEarlier)
  }

  private mutating func insert(
    _ entry: StoreEntry, _ index: Int, in connection: inout Connection
  ) throws(SQLiteFailure) {
    var last: (before: Int64, now: Int64)
    if let known = self.last { last = known } else { last = try start(in: &connection) }
    last.now += 1
    self.last = last
    try connection.run(
      """
      INSERT INTO records (position, source, id, saved, first_seen, folded, json)
      VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6)
      """, last.now, source, entry.id, date, entry.text().stored, entry.json)
    positions.append(last.now)
    changes.added.append(index)
  }

  private func start(
    in connection: inout Connection
  ) throws(SQLiteFailure) -> (before: Int64, now: Int64) {
    let last = try connection.row("SELECT last FROM sources WHERE number = ?1", source) {
      $0.integer(0)
    }
    return (last ?? 0, last ?? 0)
  }

  /// Adds the new records to the search index, all at once: one by one, or by a trigger, takes more than
  /// twice as long.
  mutating func indexNewRecords(in connection: inout Connection) throws(SQLiteFailure) {
    guard let last else { return }
    try log.begin(in: &connection)
    try connection.run(
      """
      INSERT INTO search (rowid, folded)
      SELECT position, folded FROM records WHERE position > ?1 AND position <= ?2
      """, last.before, last.now)
    try connection.run(
      "UPDATE sources SET last = ?2, records = records + ?3 WHERE number = ?1", source, last.now,
      changes.added.count)
  }

  /// Notes the batch's records as seen and, with the last batch, marks those never seen.
  mutating func reconcile(
    _ reconciliation: Reconciliation, at update: CheckpointUpdate, in connection: inout Connection
  ) throws(SQLiteFailure) {
    if reconciliation.begins { try connection.forgetSeen(update.name, of: source) }
    try connection.noteSeen(positions, by: update.name, of: source)
    if let completion = reconciliation.completion {
      let seen = try connection.seenCount(update.name, of: source)
      if seen < completion.minRecordCount {
        changes.incompleteSeenCount = seen
      } else {
        try remove(
          unlessSeenBy: update.name, seeing: seen, upTo: completion.lastPosition, in: &connection)
      }
    }
    if update.to == nil { try connection.forgetSeen(update.name, of: source) }
  }

  /// Marks the records that were not seen, or only notes them if they are suspiciously many and the last
  /// pass did not miss them, or if nothing was seen.
  private mutating func remove(
    unlessSeenBy reconciliation: String, seeing seen: Int, upTo last: Int64,
    in connection: inout Connection
  ) throws(SQLiteFailure) {
    let notes = "missing \(reconciliation)"
    let missing = try connection.unseen(by: reconciliation, of: source, upTo: last)
    let noted = Set(missing.isEmpty ? [] : try connection.seen(notes, of: source))
    try connection.forgetSeen(notes, of: source)
    let known = try connection.knownCount(of: source, upTo: last)
    let unexpected = missing.count { !noted.contains($0) }
    let isNothingSeen = seen == 0 && !missing.isEmpty
    if isNothingSeen || unexpected > 10 && unexpected > known / 10 {
      try connection.noteSeen(missing, by: notes, of: source)
      changes.unconfirmedRemovals = .init(missing: missing.count, known: known)
    } else {
      try connection.markRemoved(missing, of: source, at: date)
      for position in missing { try log.add(.removed, of: position, in: &connection) }
      changes.removedUpstream = missing.count
    }
  }
}

extension Connection {
  /// Replaces a record, and its text in the search index if that has changed.
  fileprivate mutating func replace(
    _ position: Int64, json: Data, text: String, at date: Date, isIndexed: Bool
  ) throws(SQLiteFailure) {
    let old = try row("SELECT folded FROM records WHERE position = ?1", position) { $0.text(0) }
    if let old = old ?? nil, old != text {
      if isIndexed {
        // The index can only delete an entry if it is given the old text.
        try run(
          "INSERT INTO search (search, rowid, folded) VALUES ('delete', ?1, ?2)", position, old)
        try run("INSERT INTO search (rowid, folded) VALUES (?1, ?2)", position, text)
      }
      try run("UPDATE records SET folded = ?2 WHERE position = ?1", position, text)
    }
    try run("UPDATE records SET json = ?2, saved = ?3 WHERE position = ?1", position, json, date)
  }

  /// Saves a page in place of an earlier one, and drops the oldest pages beyond the limit.
  fileprivate mutating func savePage(
    _ key: String, _ page: FetchedPage, positions: [Int64], of source: Int64, at date: Date
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
      """, source, SQLiteStore.maxPages)
  }

  /// Moves or deletes a checkpoint; `false` if another process has moved it.
  fileprivate mutating func apply(
    _ update: CheckpointUpdate, of source: Int64
  ) throws(SQLiteFailure) -> Bool {
    let found = try row(
      "SELECT value FROM checkpoints WHERE source = ?1 AND name = ?2", source, update.name
    ) { $0.text(0) }
    guard (found ?? nil) == update.from else { return false }
    guard let to = update.to else {
      try run("DELETE FROM checkpoints WHERE source = ?1 AND name = ?2", source, update.name)
      return true
    }
    try run(
      """
      INSERT INTO checkpoints (source, name, value) VALUES (?1, ?2, ?3)
      ON CONFLICT (source, name) DO UPDATE SET value = excluded.value
      """, source, update.name, to)
    return true
  }

  // MARK: Reconciliation

  /// The number of different records seen: a service may send one twice and leave out another.
  fileprivate mutating func seenCount(
    _ reconciliation: String, of source: Int64
  ) throws(SQLiteFailure) -> Int {
    let count = try row(
      """
      SELECT count(DISTINCT e.value) FROM seen s, json_each(s.positions) e
      WHERE s.source = ?1 AND s.reconciliation = ?2
      """, source, reconciliation
    ) { $0.integer(0) }
    return Int(count ?? 0)
  }

  fileprivate mutating func noteSeen(
    _ positions: [Int64], by reconciliation: String, of source: Int64
  ) throws(SQLiteFailure) {
    try run(
      "INSERT INTO seen (source, reconciliation, positions) VALUES (?1, ?2, ?3)", source,
      reconciliation, positions.jsonArray)
  }

  fileprivate mutating func seen(
    _ reconciliation: String, of source: Int64
  ) throws(SQLiteFailure) -> [Int64] {
    try rows(
      """
      SELECT e.value FROM seen s, json_each(s.positions) e
      WHERE s.source = ?1 AND s.reconciliation = ?2
      """, source, reconciliation
    ) { $0.integer(0) }
  }

  fileprivate mutating func forgetSeen(
    _ reconciliation: String, of source: Int64
  ) throws(SQLiteFailure) {
    try run("DELETE FROM seen WHERE source = ?1 AND reconciliation = ?2", source, reconciliation)
  }

  /// The records up to a position that were not seen, except those known to be removed upstream.
  fileprivate mutating func unseen(
    by reconciliation: String, of source: Int64, upTo last: Int64
  ) throws(SQLiteFailure) -> [Int64] {
    let range = PositionRange(of: source)
    return try rows(
      """
      SELECT position FROM records
      WHERE position > ?3 AND position <= ?4 AND removed_upstream IS NULL
        AND position NOT IN (
          SELECT e.value FROM seen s, json_each(s.positions) e
          WHERE s.source = ?1 AND s.reconciliation = ?2)
      """, source, reconciliation, range.start, min(last, range.end)
    ) { $0.integer(0) }
  }

  /// The number of records up to a position, except those known to be removed upstream.
  fileprivate mutating func knownCount(
    of source: Int64, upTo last: Int64
  ) throws(SQLiteFailure) -> Int {
    let range = PositionRange(of: source)
    let count = try row(
      """
      SELECT count(*) FROM records
      WHERE position > ?1 AND position <= ?2 AND removed_upstream IS NULL
      """, range.start, min(last, range.end)
    ) { $0.integer(0) }
    return Int(count ?? 0)
  }

  fileprivate mutating func markRemoved(
    _ positions: [Int64], of source: Int64, at date: Date
  ) throws(SQLiteFailure) {
    guard !positions.isEmpty else { return }
    try run(
      """
      UPDATE records SET removed_upstream = ?2
      WHERE position IN (SELECT value FROM json_each(?1))
      """, positions.jsonArray, date)
    try run(
      "UPDATE sources SET removed_upstream = removed_upstream + ?2 WHERE number = ?1", source,
      positions.count)
  }

  /// Takes the mark away: the service has the record again.
  fileprivate mutating func unmarkRemoved(
    _ position: Int64, of source: Int64
  ) throws(SQLiteFailure) {
    try run("UPDATE records SET removed_upstream = NULL WHERE position = ?1", position)
    try run(
      "UPDATE sources SET removed_upstream = removed_upstream - 1 WHERE number = ?1", source)
  }

  // MARK: Shared texts

  fileprivate mutating func sharedText(_ key: String) throws(SQLiteFailure) -> String? {
    try row("SELECT value FROM shared WHERE key = ?1", key) { $0.text(0) } ?? nil
  }
}
