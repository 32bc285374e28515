import AggregatorCore
import AggregatorStore
import CAggregatorSQLite

/// The tables of the store and their migrations.
///
/// A position is a source's number, shifted, plus a count. So the records of one source are adjacent, in
/// first-seen order, both in the table and in the search index, and paging needs no further index.
package enum SQLiteSchema {
  /// Marks a file as a store: `aggr`.
  static let applicationID: Int64 = 0x6167_6772

  /// The tables whose names a source could have, too.
  ///
  /// Names of later tables must begin with an underscore, which no name of a source does: the file has a view of each
  /// source, and of each list in its records, such as `orders_lines`.
  package static let tables = Set(CopyTable.all.map(\.name) + ["search"])

  /// Statements that upgrade a file from one version to the next; append only.
  static let migrations: [StaticString] = [
    """
    PRAGMA application_id = 0x61676772;
    CREATE TABLE sources (
      number INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      last INTEGER NOT NULL,     -- the position given last
      records INTEGER NOT NULL   -- how many there are, deleted ones too
    ) STRICT;
    CREATE TABLE records (
      position INTEGER PRIMARY KEY,
      source INTEGER NOT NULL,
      id TEXT NOT NULL,
      saved INTEGER NOT NULL,       -- times are milliseconds since 1970
      first_seen INTEGER NOT NULL,
      folded TEXT NOT NULL,
      json TEXT NOT NULL,
      UNIQUE (source, id)
    ) STRICT;
    CREATE VIRTUAL TABLE search USING fts5 (
      folded, content='records', content_rowid='position', tokenize='trigram case_sensitive 1'
    );
    CREATE TABLE tombstones (
      source INTEGER NOT NULL,
      id TEXT NOT NULL,
      deleted INTEGER NOT NULL,
      PRIMARY KEY (source, id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE pages (
      number INTEGER PRIMARY KEY,
      source INTEGER NOT NULL,
      key TEXT NOT NULL,
      fetched INTEGER NOT NULL,
      positions TEXT NOT NULL,      -- a JSON array
      page TEXT NOT NULL,           -- its metadata, as JSON
      UNIQUE (source, key)
    ) STRICT;
    CREATE INDEX pages_by_age ON pages (source, fetched);
    CREATE TABLE places (
      source INTEGER NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (source, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE shared (
      key TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    PRAGMA user_version = 1;
    """,
    """
    ALTER TABLE records ADD COLUMN vanished INTEGER;  -- time a sync no longer found it
    ALTER TABLE sources ADD COLUMN vanished INTEGER NOT NULL DEFAULT 0;  -- number of such records
    ALTER TABLE sources ADD COLUMN walked INTEGER;    -- time the last page was fetched
    CREATE INDEX records_vanished ON records (position) WHERE vanished IS NOT NULL;
    CREATE TABLE met (
      number INTEGER PRIMARY KEY,
      source INTEGER NOT NULL,
      census TEXT NOT NULL,         -- the name of the place
      positions TEXT NOT NULL       -- those of one step, a JSON array
    ) STRICT;
    CREATE INDEX met_by_census ON met (source, census);
    PRAGMA user_version = 2;
    """,
    """
    -- Twice as many parts of the search index before they are merged: 7 % less time for a sync, and less
    -- than 0.1 ms more for a query.
    INSERT INTO search (search, rank) VALUES ('automerge', 8);
    PRAGMA user_version = 3;
    """,
    """
    ALTER TABLE places RENAME TO checkpoints;
    ALTER TABLE met RENAME TO seen;
    ALTER TABLE seen RENAME COLUMN census TO reconciliation;
    DROP INDEX met_by_census;
    CREATE INDEX seen_by_reconciliation ON seen (source, reconciliation);
    ALTER TABLE records RENAME COLUMN vanished TO removed_upstream;
    DROP INDEX records_vanished;
    CREATE INDEX records_removed_upstream ON records (position) WHERE removed_upstream IS NOT NULL;
    ALTER TABLE sources RENAME COLUMN vanished TO removed_upstream;
    ALTER TABLE sources RENAME COLUMN walked TO last_fetched;
    PRAGMA user_version = 4;
    """,
    """
    -- The rules of folding have changed.
    UPDATE records SET folded = refolded(folded) WHERE folded <> refolded(folded);
    INSERT INTO search (search) VALUES ('rebuild');
    PRAGMA user_version = 5;
    """,
    """
    CREATE TABLE history (
      source INTEGER PRIMARY KEY,
      start INTEGER,             -- time since which changes are known, null for never
      trimmed INTEGER NOT NULL,  -- number of the last change that was removed
      last INTEGER NOT NULL      -- number given last
    ) STRICT;
    CREATE TABLE changes (
      number INTEGER PRIMARY KEY,  -- the source's number, shifted, plus a count
      position INTEGER NOT NULL,
      kind TEXT NOT NULL,          -- changed, removed or returned
      changed INTEGER NOT NULL,
      json TEXT                    -- the record before the change
    ) STRICT;
    CREATE INDEX changes_by_record ON changes (position, number);
    CREATE TABLE syncs (
      number INTEGER PRIMARY KEY,
      source INTEGER NOT NULL,
      position INTEGER NOT NULL,   -- the last one at its end
      change INTEGER NOT NULL,
      completed INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX syncs_by_source ON syncs (source, number);
    PRAGMA user_version = 6;
    """,
    """
    -- A lookup in a table without row numbers reads the whole of each text that it passes, such as the digests of the 100 000
    -- rows of a file.
    CREATE TEMP TABLE former AS SELECT source, name, value FROM checkpoints;
    DROP TABLE checkpoints;
    CREATE TABLE checkpoints (
      source INTEGER NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (source, name)
    ) STRICT;
    INSERT INTO checkpoints (source, name, value) SELECT source, name, value FROM temp.former;
    DROP TABLE temp.former;
    PRAGMA user_version = 7;
    """,
  ]

  /// The version of the files that this program writes.
  static var version: Int64 { Int64(migrations.count) }
}

extension Connection {
  /// The number of a source; `nil` if nothing of it was ever saved.
  ///
  /// - Throws: ``SQLiteFailure``, also for a number that only damage explains, because positions are
  ///   computed from it.
  package mutating func number(of source: String) throws(SQLiteFailure) -> Int64? {
    let found = try row(
      """
      SELECT number, number BETWEEN 1 AND ?2 AND last >> ?3 = number
      FROM sources WHERE name = ?1
      """, source, PositionRange.maxSources, PositionRange.bits
    ) { (number: $0.integer(0), isSound: $0.integer(1) != 0) }
    guard let found else { return nil }
    guard found.isSound else { throw SQLiteFailure(SQLITE_CORRUPT, on: nil) }
    return found.number
  }

  /// The number of a source, assigned if it has none.
  mutating func numbered(_ source: String) throws(SQLiteFailure) -> Int64 {
    if let number = try number(of: source) { return number }
    try run(
      """
      INSERT INTO sources (number, name, last, records)
      SELECT n, ?1, n << ?2, 0 FROM (SELECT coalesce(max(number), 0) + 1 AS n FROM sources)
      """, source, PositionRange.bits)
    return try number(of: source) ?? 0
  }
}

extension Sequence<String> {
  /// A JSON array, for SQLite's `json_each`.
  var jsonArray: String { JSON.array(map(JSON.string)).text }
}

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
    for table in CopyTable.all {
      try execute(quoted: "SELECT \(table.columnNames) FROM \(table.name) LIMIT 0")
    }
    try execute(
      """
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
