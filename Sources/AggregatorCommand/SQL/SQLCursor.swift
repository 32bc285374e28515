import AggregatorKit
import CAggregatorSQLite
import Foundation

/// A compiled query on a connection of its own, which can do nothing but read some views.
struct SQLCursor: ~Copyable {
  /// The names of the columns, as SQLite gives them.
  let columns: [String]

  private let connection: Connection
  private let rules: SQLAuthorizer
  private let statement: SQLStatement
  private let complaints: SQLDiagnostics
  private var timeLeft: Duration
  private var isOver = false

  /// The most bytes of a query's text.
  static let longestText = 100_000

  /// A page of rows ends after so many of them, or after so many bytes.
  private static let pageRows = 200
  private static let pageBytes = 256 << 10

  /// What SQLite refuses to go beyond.
  ///
  /// It looks at the clock only between its steps, and one step may compare all places of one value with
  /// another: two values of 1 MB take it seconds, of 16 MB half an hour.
  private static let limits: [(Int32, Int32)] = [
    (SQLITE_LIMIT_LENGTH, 1 << 20), (SQLITE_LIMIT_SQL_LENGTH, Int32(longestText)),
    (SQLITE_LIMIT_COLUMN, 200), (SQLITE_LIMIT_EXPR_DEPTH, 100),
    (SQLITE_LIMIT_COMPOUND_SELECT, 50), (SQLITE_LIMIT_VDBE_OP, 100_000),
    (SQLITE_LIMIT_FUNCTION_ARG, 100), (SQLITE_LIMIT_ATTACHED, 0),
    (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000), (SQLITE_LIMIT_VARIABLE_NUMBER, 0),
    (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_WORKER_THREADS, 0),
  ]

  /// Compiles a query.
  ///
  /// - Parameters:
  ///   - text: One statement.
  ///   - views: The tables that it sees.
  ///   - path: The store's file; `nil` where there is none, and the tables are empty.
  ///   - patience: How long to wait for others who keep the file locked.
  ///   - time: How long SQLite may work on it, all pages together.
  /// - Throws: ``SourceError`` with code `badUsage`, `timedOut`, `cancelled`, `storage` or `busy`.
  init(
    _ text: String, over views: [SQLView], in path: String?, busyTimeout: Duration,
    within time: Duration
  ) throws(SourceError) {
    let complaints = SQLDiagnostics(text, views: views, path: path)
    var opened = try Self.telling(complaints) { () throws(SQLiteFailure) in
      try Connection.forQueries(path, busyTimeout: busyTimeout)
    }
    let rules = try Self.telling(complaints) { () throws(SQLiteFailure) in
      try opened.define(views, isEmpty: path == nil)
    }
    for (kind, most) in Self.limits { sqlite3_limit(opened.database, kind, most) }
    rules.watch(opened)
    rules.allow(time)
    let made = try SQLStatement(text, on: opened, rules, complaints)
    columns = made.columns
    statement = made
    connection = opened
    self.rules = rules
    self.complaints = complaints
    timeLeft = time
  }

  private static func telling<Answer: ~Copyable>(
    _ complaints: SQLDiagnostics, _ body: () throws(SQLiteFailure) -> Answer
  ) throws(SourceError) -> Answer {
    do { return try body() } catch { throw complaints.error(error) }
  }

  /// The next rows; `nil` after the last.
  ///
  /// - Throws: ``SourceError`` as for the initializer.
  mutating func page() throws(SourceError) -> [[SQLValue]]? {
    // After the end SQLite would begin again.
    guard !isOver else { return nil }
    let start = ContinuousClock.now
    rules.allow(timeLeft)
    defer { timeLeft -= ContinuousClock.now - start }
    var rows: [[SQLValue]] = []
    var size = 0
    while rows.count < Self.pageRows, size < Self.pageBytes {
      switch sqlite3_step(statement.handle) {
      case SQLITE_ROW:
        let row = (0..<Int32(columns.count)).map { SQLValue(statement.handle, $0) }
        size += row.reduce(0) { $0 + $1.size }
        rows.append(row)
      case SQLITE_DONE:
        isOver = true
        return rows.isEmpty ? nil : rows
      case let code:
        isOver = true
        throw complaints.error(SQLiteFailure(code, on: connection.database), rules.refusal)
      }
    }
    return rows
  }
}

/// The one statement of a query; finalized when it goes away.
struct SQLStatement: ~Copyable {
  /// What SQLite calls it.
  let handle: OpaquePointer

  /// Compiles a text.
  ///
  /// - Parameters:
  ///   - text: One statement that reads.
  ///   - connection: Where.
  ///   - rules: What watches the connection.
  ///   - complaints: What to say if it is no such statement.
  /// - Throws: ``SourceError`` with code `badUsage`, or that of a failure to read.
  init(
    _ text: String, on connection: borrowing Connection, _ rules: SQLAuthorizer,
    _ complaints: SQLDiagnostics
  ) throws(SourceError) {
    guard !text.utf8.contains(0) else { throw complaints.error("there is a NUL in the query") }
    let database = connection.database
    let bytes = Array(text.utf8CString)
    var start = 0
    var first: SQLStatement?
    while start < bytes.count - 1 {
      var made: OpaquePointer?
      var end = start
      let code = bytes.withUnsafeBufferPointer { bytes in
        guard let base = bytes.baseAddress else { return SQLITE_MISUSE }
        var tail: UnsafePointer<CChar>?
        let code = sqlite3_prepare_v3(
          database, base + start, Int32(bytes.count - start), 0, &made, &tail)
        end = tail.map { $0 - base } ?? bytes.count
        return code
      }
      let isSecond = first != nil
      if let made {
        if isSecond {
          sqlite3_finalize(made)
        } else {
          first = SQLStatement(made)
        }
      }
      if isSecond, made != nil || code != SQLITE_OK {
        throw complaints.error("there is more than one statement in the query")
      }
      guard code == SQLITE_OK else {
        let offset = sqlite3_error_offset(database)
        throw complaints.error(
          SQLiteFailure(code, on: database), rules.refusal,
          at: offset < 0 ? nil : start + Int(offset))
      }
      guard end > start else { break }
      start = end
    }
    guard let first else { throw complaints.error("the query is blank") }
    // What gives no rows, as BEGIN, and what tells how it would be done, as EXPLAIN, is no reading.
    guard sqlite3_stmt_readonly(first.handle) != 0, sqlite3_stmt_isexplain(first.handle) == 0,
      sqlite3_column_count(first.handle) > 0
    else { throw complaints.onlyReads }
    self = first
  }

  private init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { sqlite3_finalize(handle) }

  /// The names of its columns, as SQLite gives them.
  var columns: [String] {
    (0..<sqlite3_column_count(handle)).map { column in
      sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
    }
  }
}

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
