import AggregatorKit
import CAggregatorSQLite
import Foundation

extension Connection {
  /// A connection for somebody else's queries, which cannot write.
  ///
  /// - Parameters:
  ///   - path: The store's file; `nil` for an empty database.
  ///   - patience: How long to wait for others who keep the file locked.
  /// - Returns: The connection.
  /// - Throws: ``SQLiteFailure``.
  static func forQueries(_ path: String?, busyTimeout: Duration) throws(SQLiteFailure) -> Connection
  {
    guard let path else {
      return try Connection(":memory:", busyTimeout: busyTimeout, flags: SQLITE_OPEN_READWRITE)
    }
    do throws(SQLiteFailure) {
      let connection = try Connection(path, busyTimeout: busyTimeout, flags: SQLITE_OPEN_READONLY)
      // The file is only read when something in it is.
      try connection.execute("SELECT count(*) FROM sqlite_schema")
      return connection
    } catch let error where error.primary == SQLITE_CANTOPEN || error.primary == SQLITE_READONLY {
      // As in a directory that nobody may write to; see ``StoreFile``.
      return try Connection(unchanging: path, busyTimeout: busyTimeout)
    }
  }

  /// Makes the tables that queries see, and gives up the right to make more.
  ///
  /// - Parameters:
  ///   - views: The tables.
  ///   - isEmpty: Whether there is no store.
  /// - Returns: What watches the queries, once it is asked to.
  /// - Throws: ``SQLiteFailure``.
  mutating func define(
    _ views: [SQLView], isEmpty: Bool
  ) throws(SQLiteFailure) -> SQLAuthorizer {
    try execute("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4096")
    // From now on all is as it is at this moment.
    try execute("BEGIN")
    let secret = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }.joined()
    var inner: [String] = []
    for (index, view) in views.enumerated() {
      inner.append("\(secret)_\(index)")
      try execute(
        text: view.definition(of: isEmpty ? nil : number(of: view.name), over: inner[index]))
    }
    let tables = try rows("SELECT name FROM main.sqlite_schema") { $0.text(0) ?? "" }
    // What these tables are made of is written down when they are first named, which no query may.
    try execute("SELECT 1 FROM json_each('[]'), json_tree('[]')")
    try execute("PRAGMA query_only = 1")
    csqlite_switch(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)
    return SQLAuthorizer(views: views.map(\.name), inner: inner, tables: tables)
  }

  /// Runs statements that are made of the names of sources and fields.
  private borrowing func execute(text: String) throws(SQLiteFailure) {
    let code = sqlite3_exec(database, text, nil, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteFailure(code, on: database) }
  }
}
