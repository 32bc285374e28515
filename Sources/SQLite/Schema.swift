/// The tables of the store, and how older files become newer ones.
///
/// A position is a source's number, shifted, plus a count: so the records of one source lie side by
/// side, in the order in which they were first seen, in the table as well as in the search index, and
/// no further index is needed to page through them.
package enum Schema {
  /// What marks a file as ours: `aggr`.
  static let applicationID: Int64 = 0x6167_6772

  /// How many low bits of a position count the records of a source.
  package static let positionBits: Int64 = 40

  /// More sources than these have no positions.
  static let mostSources: Int64 = 1 << (62 - positionBits)

  /// Each makes a file of the version before into one of its own: numbered from 1, and only added to.
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
      page TEXT NOT NULL,           -- what the service said of it, as JSON
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
    ALTER TABLE records ADD COLUMN vanished INTEGER;  -- when a census did not meet it
    ALTER TABLE sources ADD COLUMN vanished INTEGER NOT NULL DEFAULT 0;  -- how many of its records
    ALTER TABLE sources ADD COLUMN walked INTEGER;    -- when a walk through it had its last page
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
  ]

  /// The version of a file that this program writes.
  static var version: Int64 { Int64(migrations.count) }
}
