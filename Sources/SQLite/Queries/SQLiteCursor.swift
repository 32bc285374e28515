import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import CAggregatorSQLite

/// A compiled query on a connection of its own that can only read some views.
struct SQLiteCursor: ~Copyable {
  let columns: [String]

  /// The number of records of each source that are too large for a query, and left out.
  let tooLarge: [String: Int]

  /// The names of the views that the query reads.
  let sources: [String]

  /// The tables of attached files.
  let attached: [SQLTable]

  private let connection: Connection
  private let authorizer: SQLAuthorizer
  private let statement: Statement
  private let diagnostics: SQLiteDiagnostics
  private let memory: QueryMemory
  private var isOver = false

  /// A page ends after this many rows, or this many bytes.
  private static let pageRows = 200
  private static let pageBytes = 256 << 10

  private static let limits: [(Int32, Int32)] = [
    (SQLITE_LIMIT_LENGTH, Int32(SQLView.maxValueSize)),
    (SQLITE_LIMIT_SQL_LENGTH, Int32(SQLDiagnostics.maxTextSize)),
    (SQLITE_LIMIT_COLUMN, 200), (SQLITE_LIMIT_EXPR_DEPTH, 100),
    (SQLITE_LIMIT_COMPOUND_SELECT, 50), (SQLITE_LIMIT_VDBE_OP, 100_000),
    (SQLITE_LIMIT_FUNCTION_ARG, 100), (SQLITE_LIMIT_ATTACHED, 0),
    (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000), (SQLITE_LIMIT_VARIABLE_NUMBER, 100),
    (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_WORKER_THREADS, 0),
  ]

  /// Without `path` the tables are empty; throws `invalidRequest`, `timedOut`, `cancelled`, `storage` or
  /// `busy`.
  init(
    _ query: SQLStatement, over views: [SQLView], and attached: [SQLAttachment], in path: String?,
    busyTimeout: Duration, within time: Duration
  ) throws(SourceError) {
    let text = query.text
    let memory = QueryMemory()
    memory.begin()
    defer { memory.end() }
    var diagnostics = SQLiteDiagnostics(
      query: SQLDiagnostics(query, views: views), path: path)
    var opened: Connection
    do { opened = try Connection.forQueries(path, busyTimeout: min(busyTimeout, time)) } catch {
      throw diagnostics.error(ofStore: error)
    }
    let authorizer = SQLAuthorizer(limiting: opened, to: time)
    for file in attached { diagnostics.query.attached += try opened.attach(file, diagnostics) }
    let tooLarge: [String: Int]
    do {
      tooLarge = try opened.define(
        views, and: attached, for: text.lowercased(), isEmpty: path == nil, under: authorizer)
      if let patterns = query.patterns {
        try SQLPatterns(.regexp, patterns, under: authorizer).define(on: opened)
      }
      if let conditions = query.conditions {
        try SQLPatterns(.matches, conditions, under: authorizer).define(on: opened)
      }
    } catch {
      throw diagnostics.error(ofStore: error)
    }
    for (kind, limit) in Self.limits { sqlite3_limit(opened.database, kind, limit) }
    // Else a misspelled name in quotes is a text.
    csqlite_switch(opened.database, SQLITE_DBCONFIG_DQS_DML, 0)
    let made = try Statement(ofQuery: text, on: opened, authorizer, diagnostics)
    try made.bind(query, diagnostics)
    columns = (0..<sqlite3_column_count(made.handle)).map { column in
      sqlite3_column_name(made.handle, column).map { String(cString: $0) } ?? ""
    }
    self.tooLarge = tooLarge
    sources = views.sources(of: authorizer.viewsRead)
    self.attached = diagnostics.query.attached
    statement = made
    connection = opened
    self.authorizer = authorizer
    self.diagnostics = diagnostics
    self.memory = memory
  }

  mutating func page(within time: Duration) throws(SourceError) -> [[SQLValue]]? {
    // Stepping past the end would restart the statement.
    guard !isOver else { return nil }
    guard time > .zero else { throw SQLDiagnostics.timedOut }
    authorizer.allow(time)
    memory.begin()
    defer { memory.end() }
    var rows: [[SQLValue]] = []
    var size = 0
    while rows.count < Self.pageRows, size < Self.pageBytes {
      do throws(SQLiteFailure) { isOver = try !statement.step() } catch {
        isOver = true
        throw diagnostics.error(error, authorizer.refusal)
      }
      guard !isOver else { return rows.isEmpty ? nil : rows }
      let row = (0..<Int32(columns.count)).map { SQLValue(statement.handle, $0) }
      size += row.reduce(0) { $0 + $1.size }
      rows.append(row)
    }
    return rows
  }
}

extension Statement {
  /// Accepts exactly one statement that reads; throws `invalidRequest`, or the error of reading.
  fileprivate init(
    ofQuery text: String, on connection: borrowing Connection, _ authorizer: SQLAuthorizer,
    _ diagnostics: SQLiteDiagnostics
  ) throws(SourceError) {
    try diagnostics.query.check()
    let database = connection.database
    let bytes = Array(text.utf8CString)
    var start = 0
    var first: Statement?
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
      if let made, !isSecond { first = Statement(made, of: database, isTemporary: true) }
      if isSecond, made != nil || code != SQLITE_OK {
        sqlite3_finalize(made)
        throw SQLDiagnostics.error("only one statement is allowed")
      }
      guard code == SQLITE_OK else {
        let offset = sqlite3_error_offset(database)
        throw diagnostics.error(
          SQLiteFailure(code, on: database), authorizer.refusal,
          at: offset < 0 ? nil : start + Int(offset))
      }
      guard end > start else { break }
      start = end
    }
    guard let first else { throw SQLDiagnostics.error("the query is empty") }
    // Reject statements that return no rows, such as BEGIN. EXPLAIN is as its statement, but for the rows.
    guard sqlite3_stmt_readonly(first.handle) != 0, sqlite3_column_count(first.handle) > 0 else {
      throw diagnostics.query.onlySelect
    }
    self = first
  }
}

extension Statement {
  /// Binds the values of the parameters; throws `invalidRequest` if one is missing.
  fileprivate borrowing func bind(
    _ query: SQLStatement, _ diagnostics: SQLiteDiagnostics
  ) throws(SourceError) {
    for index in 0..<sqlite3_bind_parameter_count(handle) {
      let name = sqlite3_bind_parameter_name(handle, index + 1).map { String(cString: $0) }
      // A parameter with a number leaves out those before it.
      guard let name, !name.hasPrefix("?") else {
        throw SQLDiagnostics.error("parameters must have names, such as :name")
      }
      let value = try query.value(of: String(name.dropFirst()))
      let code = value.bind(to: handle, at: index + 1)
      guard code == SQLITE_OK else {
        throw diagnostics.error(SQLiteFailure(code, on: sqlite3_db_handle(handle)))
      }
    }
  }
}

extension SQLValue {
  fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch self {
    case .null: sqlite3_bind_null(statement, index)
    case .bool(let bool): Int64(bool ? 1 : 0).bind(to: statement, at: index)
    case .integer(let integer): integer.bind(to: statement, at: index)
    case .number(let number): sqlite3_bind_double(statement, index, number)
    case .text(let text): text.bind(to: statement, at: index)
    }
  }
}

extension Connection {
  /// Read-only; an empty database without `path`.
  fileprivate static func forQueries(
    _ path: String?, busyTimeout: Duration
  ) throws(SQLiteFailure) -> Connection {
    guard let path else {
      return try Connection(
        ":memory:", busyTimeout: busyTimeout, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI)
    }
    do throws(SQLiteFailure) {
      // The path is absolute, so it is no URI; those of attached files are.
      let connection = try Connection(
        path, busyTimeout: busyTimeout, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
      // SQLite reads the file only when a statement needs it.
      try connection.execute("SELECT count(*) FROM sqlite_schema")
      return connection
    } catch let error where error.primary == SQLITE_CANTOPEN || error.primary == SQLITE_READONLY {
      // For example in a read-only directory; see ``StoreFile``.
      return try Connection(unchanging: path, busyTimeout: busyTimeout)
    }
  }

  /// Makes the connection read-only too, and returns the number of records that are too large for a query
  /// in each source that the query, in lower case, names.
  fileprivate mutating func define(
    _ views: [SQLView], and attached: [SQLAttachment], for query: String, isEmpty: Bool,
    under authorizer: SQLAuthorizer
  ) throws(SQLiteFailure) -> [String: Int] {
    try execute("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4096")
    // The query sees a snapshot from here on.
    try execute("BEGIN")
    let randomPrefix = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
      .joined()
    let member = "\(randomPrefix)_member"
    try defineMember(as: member)
    var inner: [String] = []
    var tooLarge: [String: Int] = [:]
    // The inner view of each source whose records were checked.
    var checked: [String: String] = [:]
    for (index, view) in views.enumerated() {
      inner.append("\(randomPrefix)_\(index)")
      let source = view.source.source
      let number = isEmpty ? nil : try number(of: source)
      if view.bundled != nil {
        for statement in view.bundledTable(over: inner[index]) { try execute(quoted: statement) }
      }
      // Checking all records takes time, and a query can only read a view that it names.
      if let number, checked[source] == nil, query.contains(view.name.lowercased()) {
        try execute(
          quoted: view.tooLarge(of: number, over: inner[index], maxSize: SQLView.maxValueSize))
        checked[source] = inner[index]
        let count = Int(sqlite3_changes(database))
        if count > 0 { tooLarge[source] = count }
      }
      // Tables and functions have names of their own, so the two may be the same.
      try SQLFunction(of: view).define(as: inner[index], on: self)
      try execute(
        quoted: view.definition(
          of: number, over: inner[index], member: member,
          without: tooLarge[source] == nil ? nil : checked[source], for: query))
    }
    for file in attached { if let view = file.view { try execute(quoted: view) } }
    let tables = try rows("SELECT name FROM main.sqlite_schema") { $0.text(0) ?? "" }
    // First use writes the schema of these virtual tables, which the authorizer would refuse.
    try execute("SELECT 1 FROM json_each('[]'), json_tree('[]')")
    try execute("PRAGMA query_only = 1")
    csqlite_switch(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)
    authorizer.restrict(
      self, to: views.map(\.name), inner: inner, tables: tables, and: attached)
    return tooLarge
  }
}

extension SQLValue {
  init(_ statement: OpaquePointer, _ column: Int32) {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: self = .integer(Int(sqlite3_column_int64(statement, column)))
    case SQLITE_FLOAT: self = .number(sqlite3_column_double(statement, column))
    case SQLITE_TEXT:
      // Must come before `sqlite3_column_bytes`, because it may convert the text.
      let start = sqlite3_column_text(statement, column)
      let bytes = UnsafeBufferPointer(
        start: start, count: Int(sqlite3_column_bytes(statement, column)))
      self = .text(String(decoding: bytes, as: UTF8.self))
    case SQLITE_BLOB:
      let start = sqlite3_column_blob(statement, column)
      let bytes = UnsafeRawBufferPointer(
        start: start, count: Int(sqlite3_column_bytes(statement, column)))
      let digits = Array("0123456789ABCDEF".utf8)
      let hex = bytes.lazy.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
      self = .text(String(decoding: Array(hex), as: UTF8.self))
    default: self = .null
    }
  }
}
