public import AggregatorCore
public import AggregatorFoundation
public import AggregatorStore

extension SQLiteStore {
  public func save(
    _ batch: StoreBatch, of source: String, at date: Date
  ) async throws(SourceError) -> StoreChanges {
    try await write { [history] connection throws(SQLiteFailure) in
      let number = try connection.numbered(source)
      let stored = try batch.checkpointName.flatMap { name throws(SQLiteFailure) in
        try connection.checkpoint(name, of: number)
      }
      guard let batch = batch.decided(on: stored, at: nil) else { return StoreChanges() }
      let last = try connection.lastPosition(of: number)
      let plan = try BatchPlan(batch.entries, after: last) { entry throws(SQLiteFailure) in
        try connection.known(entry, of: number)
      }
      var changes = plan.changes
      var log = ChangeLog(of: number, at: date, keeping: history)
      if !plan.insertions.isEmpty {
        try log.begin(in: &connection)
        try connection.insert(plan.insertions, after: last, of: number, at: date)
      }
      for form in plan.replacements { try connection.replace(form, at: date) }
      for position in plan.returned { try connection.unmarkRemoved(position, of: number) }
      for change in plan.history { try log.add(change, in: &connection) }
      if let (key, page) = batch.page {
        try connection.savePage(key, page, positions: plan.positions, of: number, at: date)
      }
      if let update = batch.update {
        changes.didMoveCheckpoint = stored == update.from
        if changes.didMoveCheckpoint {
          try connection.apply(update, of: number)
          if batch.isFetched {
            try connection.run(
              "UPDATE sources SET last_fetched = ?2 WHERE number = ?1", number, date)
          }
          if let step = update.reconciliation {
            let reconciler = Reconciler(by: update, of: number, at: date)
            try reconciler.perform(
              step, seeing: plan.positions, &changes, &log, in: &connection)
          }
          if update.replacesPages {
            try connection.run("DELETE FROM pages WHERE source = ?1", number)
          }
        }
      }
      let isOutdated = batch.update != nil && !changes.didMoveCheckpoint
      if batch.completesSync, !isOutdated { try log.completeSync(in: &connection) }
      try log.finish(in: &connection)
      return changes
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

extension Connection {
  /// The position given last to a record of a source.
  fileprivate mutating func lastPosition(of source: Int64) throws(SQLiteFailure) -> Int64 {
    try row("SELECT last FROM sources WHERE number = ?1", source) { $0.integer(0) } ?? 0
  }

  /// The record of an entry as it is stored; `nil` if it is new.
  fileprivate mutating func known(
    _ entry: StoreEntry, of source: Int64
  ) throws(SQLiteFailure) -> BatchPlan.Known? {
    try row(
      "SELECT position, json, removed_upstream FROM records WHERE source = ?1 AND id = ?2", source,
      entry.id
    ) { row in
      BatchPlan.Known(
        position: row.integer(0), json: row.holds(entry.json, in: 1) ? nil : row.bytes(1),
        isRemovedUpstream: !row.isNull(2))
    }
  }

  /// Inserts new records, and then adds them to the search index all at once: one by one, or by a trigger,
  /// takes more than twice as long.
  fileprivate mutating func insert(
    _ forms: [BatchPlan.Form], after last: Int64, of source: Int64, at date: Date
  ) throws(SQLiteFailure) {
    for form in forms {
      try run(
        """
        INSERT INTO records (position, source, id, saved, first_seen, folded, json)
        VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6)
        """, form.position, source, form.id, date, form.text.stored, form.json)
    }
    let end = last + Int64(forms.count)
    try run(
      """
      INSERT INTO search (rowid, folded)
      SELECT position, folded FROM records WHERE position > ?1 AND position <= ?2
      """, last, end)
    try run(
      "UPDATE sources SET last = ?2, records = records + ?3 WHERE number = ?1", source, end,
      forms.count)
  }

  /// Replaces a record, and its text in the search index if that has changed.
  fileprivate mutating func replace(
    _ form: BatchPlan.Form, at date: Date
  ) throws(SQLiteFailure) {
    let text = form.text.stored
    let old = try row("SELECT folded FROM records WHERE position = ?1", form.position) {
      $0.text(0)
    }
    if let old = old ?? nil, old != text {
      // The index can only delete an entry if it is given the old text.
      try run(
        "INSERT INTO search (search, rowid, folded) VALUES ('delete', ?1, ?2)", form.position, old)
      try run("INSERT INTO search (rowid, folded) VALUES (?1, ?2)", form.position, text)
      try run("UPDATE records SET folded = ?2 WHERE position = ?1", form.position, text)
    }
    try run(
      "UPDATE records SET json = ?2, saved = ?3 WHERE position = ?1", form.position, form.json,
      date)
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
      """, source, StoreLimit.pages)
  }

  fileprivate mutating func checkpoint(
    _ name: String, of source: Int64
  ) throws(SQLiteFailure) -> String? {
    try row("SELECT value FROM checkpoints WHERE source = ?1 AND name = ?2", source, name) {
      $0.text(0)
    } ?? nil
  }

  /// Moves or deletes a checkpoint.
  fileprivate mutating func apply(
    _ update: CheckpointUpdate, of source: Int64
  ) throws(SQLiteFailure) {
    guard let to = update.to else {
      try run("DELETE FROM checkpoints WHERE source = ?1 AND name = ?2", source, update.name)
      return
    }
    try run(
      """
      INSERT INTO checkpoints (source, name, value) VALUES (?1, ?2, ?3)
      ON CONFLICT (source, name) DO UPDATE SET value = excluded.value
      """, source, update.name, to)
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
