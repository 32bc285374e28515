import Foundation

@testable import AggregatorKit
@testable import AggregatorSQLite

/// Direct access to the file of a store and its tables.
struct StoredFile {
  /// The absolute path.
  let path: String

  /// The integrity errors of the file and its search index.
  func faults() throws -> [String] {
    var connection = try Connection(path, busyTimeout: .seconds(5))
    var faults = try connection.rows("PRAGMA integrity_check") { $0.text(0) ?? "" }
    faults.removeAll { $0 == "ok" }
    do {
      // With a rank, it compares the index with the records.
      try connection.run("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
    } catch {
      faults.append("the search index is not that of the records")
    }
    let counts = try connection.rows(
      """
      SELECT name FROM sources
      WHERE records <> (SELECT count(*) FROM records WHERE source = sources.number)
      """
    ) { $0.text(0) ?? "" }
    return faults + counts.map { "\($0) are miscounted" }
  }

  /// Sets the time, from now, of the last change: long ago, it is read without locks, and to come, with them.
  func setModified(in seconds: Double) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: seconds)], ofItemAtPath: path)
  }

  /// False for a file that its first process has not made a store of.
  func hasTables() throws -> Bool {
    var connection = try Connection(path, busyTimeout: .seconds(5))
    return try connection.rows("SELECT 1 FROM sqlite_schema LIMIT 1") { _ in true }.first ?? false
  }

  /// The IDs of a source's records in first-seen order, including deleted ones.
  func ids(of source: String) throws -> [String] {
    var connection = try Connection(path, busyTimeout: .seconds(5))
    return try connection.rows(
      """
      SELECT id FROM records WHERE source = (SELECT number FROM sources WHERE name = ?1)
      ORDER BY position
      """, source
    ) { $0.text(0) ?? "" }
  }

  /// Every record with its position and the time at which it was written.
  func records() throws -> [String] {
    var connection = try Connection(path, busyTimeout: .seconds(5))
    return try connection.rows(
      "SELECT position || ' ' || id || ' ' || saved || ' ' || json FROM records ORDER BY position"
    ) { $0.text(0) ?? "" }
  }

  /// Makes everything fetched older.
  func age(byDays days: Int) throws {
    var connection = try Connection(path, busyTimeout: .seconds(5))
    let milliseconds = days * 86_400_000
    try connection.run("UPDATE pages SET fetched = fetched - ?1", milliseconds)
    try connection.run("UPDATE records SET saved = saved - ?1", milliseconds)
  }

  /// Makes it an unfinished copy of another store.
  func mark(unfinished origin: String) throws {
    var connection = try Connection(path, busyTimeout: .seconds(5))
    try connection.run(
      "INSERT INTO shared (key, value) VALUES ('copy', ?1)", #"{"origin":"\#(origin)"}"#)
  }

  /// Moves the write-ahead log into the file: a busy machine may end a process before SQLite does so.
  func checkpoint() throws {
    try Connection(path, busyTimeout: .seconds(5)).execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// Makes it the file of a future version.
  func makeNewer() throws {
    try Connection(path, busyTimeout: .seconds(5)).execute(
      "PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// Makes it a file of version 3.
  func makeOlder() throws {
    try Connection(path, busyTimeout: .seconds(5)).execute(
      """
      ALTER TABLE checkpoints RENAME TO places;
      ALTER TABLE seen RENAME TO met;
      ALTER TABLE met RENAME COLUMN reconciliation TO census;
      ALTER TABLE records RENAME COLUMN removed_upstream TO vanished;
      ALTER TABLE sources RENAME COLUMN removed_upstream TO vanished;
      ALTER TABLE sources RENAME COLUMN last_fetched TO walked;
      PRAGMA user_version = 3;
      PRAGMA wal_checkpoint(TRUNCATE);
      """)
  }
}
