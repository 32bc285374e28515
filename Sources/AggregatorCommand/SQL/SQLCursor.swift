import AggregatorKit
import CAggregatorSQLite

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
