import CAggregatorSQLite

/// A connection to an SQLite file, without anything that the store does for its safety.
final class RawDatabase {
  private struct Failure: Error {
    let words: String
  }

  private let handle: OpaquePointer

  init(_ path: String) throws {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
    guard code == SQLITE_OK, let opened else { throw Failure(words: "cannot open \(path)") }
    handle = opened
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs statements separated by semicolons.
  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
  }

  /// The first column of all rows, as texts.
  func texts(_ sql: String) throws -> [String] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
      throw failure(sql)
    }
    defer { sqlite3_finalize(statement) }
    var texts: [String] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        texts.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "null")
      case SQLITE_DONE: return texts
      default: throw failure(sql)
      }
    }
  }

  /// Whether the tables, and the search index, are in order.
  func isSound() throws -> Bool {
    do {
      try execute("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
    } catch { return false }
    return try texts("PRAGMA integrity_check") == ["ok"]
  }

  /// All that the search index is made of.
  func index() throws -> [String] {
    try texts("SELECT id || ' ' || hex(block) FROM search_data ORDER BY id")
      + texts("SELECT id || ' ' || hex(sz) FROM search_docsize ORDER BY id")
  }

  private func failure(_ sql: String) -> Failure {
    Failure(words: "\(String(cString: sqlite3_errmsg(handle))): \(sql)")
  }
}
