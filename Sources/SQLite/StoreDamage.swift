import CAggregatorSQLite

extension Connection {
  /// True if the file is damaged, given the failure of one of the store's own statements.
  ///
  /// Most damage has a code of its own. A missing table, invalid JSON or a broken constraint has one that
  /// other failures share, so the file is checked.
  mutating func isDamaged(after failure: SQLiteFailure) -> Bool {
    if failure.isDamage { return true }
    guard [SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH].contains(failure.primary) else {
      return false
    }
    do throws(SQLiteFailure) { return try !isSound() } catch {
      return error.isDamage || error.primary == SQLITE_ERROR
    }
  }

  /// Fails with `SQLITE_ERROR` if a table or a column is missing.
  private mutating func isSound() throws(SQLiteFailure) -> Bool {
    try execute(
      """
      SELECT number, name, last, records, removed_upstream, last_fetched FROM sources LIMIT 0;
      SELECT position, source, id, saved, first_seen, folded, json, removed_upstream
        FROM records LIMIT 0;
      SELECT source, id, deleted FROM tombstones LIMIT 0;
      SELECT number, source, key, fetched, positions, page FROM pages LIMIT 0;
      SELECT source, name, value FROM checkpoints LIMIT 0;
      SELECT key, value FROM shared LIMIT 0;
      SELECT number, source, reconciliation, positions FROM seen LIMIT 0;
      SELECT source, start, trimmed, last FROM history LIMIT 0;
      SELECT number, position, kind, changed, json FROM changes LIMIT 0;
      SELECT number, source, position, change, completed FROM syncs LIMIT 0;
      SELECT id, block FROM search_data LIMIT 0;
      SELECT segid, term, pgno FROM search_idx LIMIT 0;
      SELECT id, sz FROM search_docsize LIMIT 0;
      SELECT k, v FROM search_config LIMIT 0;
      SELECT rowid FROM search WHERE search MATCH 'any' LIMIT 1;
      """)
    let isConsistent = try row(
      """
      SELECT NOT EXISTS (SELECT 1 FROM seen WHERE NOT json_valid(positions))
        AND NOT EXISTS (SELECT 1 FROM pages WHERE NOT json_valid(positions))
        AND NOT EXISTS (
          SELECT 1 FROM records r LEFT JOIN sources s ON s.number = r.source
          WHERE r.position > coalesce(s.last, 0))
      """
    ) { $0.integer(0) != 0 }
    guard isConsistent == true else { return false }
    return try row("PRAGMA integrity_check(1)") { $0.text(0) } == "ok"
  }
}
