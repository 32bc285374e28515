package import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import AggregatorText
import CAggregatorSQLite
import Synchronization

/// A connection to a database, closed when it goes out of scope.
///
/// Statements are prepared once. Their text is a literal, so no untrusted text can get into it, but for
/// ``execute(quoted:)``.
package struct Connection: ~Copyable {
  package let database: OpaquePointer
  private static let lastNumber = Atomic(0)
  /// No other connection of the process has the same.
  let number = Connection.lastNumber.add(1, ordering: .relaxed).newValue

  /// The statements by the address of their text: a few dozen, fewer than a dictionary is worth.
  private var prepared: [(text: UnsafePointer<UInt8>, handle: OpaquePointer)] = []

  var recentMatches = RecentMatches()

  /// The file as it was when this connection was opened without locks; `nil` if it has locks.
  var idleFile: IdleFile?
  private let log = LogLength()
  private let busyWait: BusyWait

  /// Opens an existing database.
  ///
  /// `path` may be a `file:` URI; `flags` are those of `sqlite3_open_v2`.
  package init(
    _ path: String, busyTimeout: Duration, flags: Int32 = SQLITE_OPEN_READWRITE
  ) throws(SQLiteFailure) {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(
      path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let opened else {
      let failure = SQLiteFailure(code, on: opened)
      sqlite3_close_v2(opened)
      throw failure
    }
    database = opened
    busyWait = BusyWait(atMost: busyTimeout)
    busyWait.limit(database)
    // The file may be hostile: none of its views and triggers may call a function with side effects.
    csqlite_switch(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    csqlite_switch(database, SQLITE_DBCONFIG_DEFENSIVE, 1)
    // The file and its log stay untouched until they are known to be a store.
    csqlite_switch(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    log.count(database)
  }

  /// Opens an immutable database for reading: takes no lock and creates no file.
  package init(unchanging path: String, busyTimeout: Duration) throws(SQLiteFailure) {
    let name = path.percentEncoded
    try self.init(
      "file:\(name)?immutable=1", busyTimeout: busyTimeout,
      flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
  }

  deinit {
    for statement in prepared { sqlite3_finalize(statement.handle) }
    sqlite3_close_v2(database)
  }

  /// The number of pages in the write-ahead log after the last transaction, 0 before the first.
  var logLength: Int { log.pages.load(ordering: .relaxed) }

  var isReadOnly: Bool { sqlite3_db_readonly(database, "main") == 1 }

  /// True if the file has been renamed or deleted.
  var hasMoved: Bool {
    var answer: Int32 = 0
    let code = sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &answer)
    return code == SQLITE_OK && answer != 0
  }

  /// True if the file is no longer the one that was opened without locks: anything may have been read from it.
  var isOutdated: Bool { idleFile?.isUnchanged == false }

  /// Adds the SQL function `refolded`, for migrations: folded text, folded by the rules of this version.
  borrowing func addRefolding() throws(SQLiteFailure) {
    let code = sqlite3_create_function_v2(
      database, "refolded", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nil,
      { context, _, values in
        guard let text = values?[0].flatMap({ sqlite3_value_text($0) }) else {
          return sqlite3_result_null(context)
        }
        var folded = FoldedText(String(cString: text)).searchable
        folded.withUTF8 { utf8 in
          utf8.withMemoryRebound(to: CChar.self) {
            csqlite_result_text(context, $0.baseAddress, Int32(clamping: $0.count))
          }
        }
      }, nil, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteFailure(code, on: database) }
  }

  /// Runs statements, separated by semicolons, that return no rows.
  package borrowing func execute(_ sql: StaticString) throws(SQLiteFailure) {
    try execute(quoted: sql.description)
  }

  /// Runs statements that contain names, which must be quoted; see ``Swift/String/sqlName``.
  package borrowing func execute(quoted text: String) throws(SQLiteFailure) {
    let code = sqlite3_exec(database, text, nil, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteFailure(code, on: database) }
  }

  /// Binds the values of `?1`, `?2` … to a statement, which must not outlive the connection.
  private mutating func statement(
    _ sql: StaticString, _ values: [any SQLiteValue]
  ) throws(SQLiteFailure) -> Statement {
    let handle: OpaquePointer
    if let known = prepared.first(where: { $0.text == sql.utf8Start }) {
      handle = known.handle
    } else {
      var made: OpaquePointer?
      let text = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
      let code = sqlite3_prepare_v3(
        database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
      guard code == SQLITE_OK, let made else { throw SQLiteFailure(code, on: database) }
      prepared.append((sql.utf8Start, made))
      handle = made
    }
    let statement = Statement(handle, of: database)
    try statement.bind(values)
    return statement
  }

  package mutating func run(_ sql: StaticString, _ values: any SQLiteValue...) throws(SQLiteFailure)
  {
    let statement = try statement(sql, values)
    while try statement.step() {}
  }

  package mutating func rows<Row>(
    _ sql: StaticString, _ values: any SQLiteValue..., read: (borrowing Statement) -> Row
  ) throws(SQLiteFailure) -> [Row] {
    let statement = try statement(sql, values)
    var rows: [Row] = []
    while try statement.step() { rows.append(read(statement)) }
    return rows
  }

  /// Runs one statement and reads its first row; `nil` if there is none.
  package mutating func row<Row>(
    _ sql: StaticString, _ values: any SQLiteValue..., read: (borrowing Statement) -> Row
  ) throws(SQLiteFailure) -> Row? {
    let statement = try statement(sql, values)
    return try statement.step() ? read(statement) : nil
  }

  /// Runs `body` in a transaction.
  ///
  /// It takes the write lock at once, so that nothing changes between its reads and its writes.
  mutating func transaction<Answer>(
    _ body: (inout Connection) throws(SQLiteFailure) -> Answer
  ) throws(SQLiteFailure) -> Answer {
    try enclosed("BEGIN IMMEDIATE") { connection throws(SQLiteFailure) in
      connection.busyWait.hasEnded()
      return try body(&connection)
    }
  }

  mutating func snapshot<Answer>(
    _ body: (inout Connection) throws(SQLiteFailure) -> Answer
  ) throws(SQLiteFailure) -> Answer { try enclosed("BEGIN", body) }

  private mutating func enclosed<Answer>(
    _ begin: StaticString, _ body: (inout Connection) throws(SQLiteFailure) -> Answer
  ) throws(SQLiteFailure) -> Answer {
    try execute(begin)
    do throws(SQLiteFailure) {
      let answer = try body(&self)
      try execute("COMMIT")
      return answer
    } catch {
      // This fails if the failure has rolled the transaction back already.
      try? execute("ROLLBACK")
      throw error
    }
  }
}

/// The wait for a lock of another process.
///
/// Like `sqlite3_busy_timeout`, but a cancelled task stops waiting, and once the lock was not free in time, later
/// calls hardly wait until it was: a command of many writes would wait for a stopped process in each of them.
private final class BusyWait: Sendable {
  private struct State {
    var start = ContinuousClock.now
    var isOver = false
  }

  /// Between two attempts.
  private static let pause = Duration.milliseconds(5)

  private let limit: Duration
  private let state = Mutex(State())

  init(atMost limit: Duration) { self.limit = limit }

  /// Limits the waits of a connection, which must not outlive this object.
  func limit(_ database: OpaquePointer) {
    sqlite3_busy_handler(
      database,
      { wait, count in
        guard let wait, !Task.isCancelled,
          Unmanaged<BusyWait>.fromOpaque(wait).takeUnretainedValue().goesOn(after: count)
        else { return 0 }
        usleep(UInt32(BusyWait.pause / .microseconds(1)))
        return 1
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func goesOn(after count: Int32) -> Bool {
    state.withLock { state in
      if count == 0 { state.start = .now }
      // Other processes that work hold the lock for milliseconds.
      guard .now - state.start >= (state.isOver ? limit / 50 : limit) else { return true }
      state.isOver = true
      return false
    }
  }

  /// The lock was free.
  func hasEnded() { state.withLock { $0.isOver = false } }
}

/// A call to SQLite that failed (https://sqlite.org/rescode.html).
package struct SQLiteFailure: Error {
  /// The extended result code.
  package let code: Int32

  /// SQLite's message: `database disk image is malformed`.
  package let words: String

  /// The system's message if a system call failed: `Permission denied`.
  package let cause: String?

  package init(_ code: Int32, on database: OpaquePointer?) {
    self.code = code
    words = String(cString: database.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
    let number = database.map { sqlite3_system_errno($0) } ?? 0
    // For other codes the number belongs to an earlier failure.
    let isOfSystem = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF)
    cause = isOfSystem && number != 0 ? String(cString: strerror(number)) : nil
  }

  /// The primary result code, without the extension.
  package var primary: Int32 { code & 0xFF }

  /// True if the file is corrupt or not a database.
  package var isDamage: Bool { primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB }

  /// An error with code `storage` or `busy`; `cancelled` if the task was cancelled while it waited.
  package func error(of path: String) -> SourceError {
    switch primary {
    case SQLITE_BUSY where Task.isCancelled: .cancelled
    case SQLITE_BUSY, SQLITE_LOCKED:
      SourceError(
        .busy, "\(path) is locked by another process", remedy: "try again in a moment")
    case SQLITE_FULL:
      SourceError(
        .storage, "cannot write \(path): the disk is full",
        remedy: "free some space and try again")
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_CANTOPEN, SQLITE_AUTH:
      .inaccessible(path, cause ?? words)
    default:
      SourceError(
        .storage, "cannot use \(path): \(cause ?? words)",
        remedy: "check that the disk has free space and works")
    }
  }
}

extension SourceError {
  static func inaccessible(_ path: String, _ reason: String) -> SourceError {
    SourceError(
      .storage, "cannot open or write \(path): \(reason)",
      remedy: Remedy("check the permissions of the file and its directory", .moveStore))
  }
}
