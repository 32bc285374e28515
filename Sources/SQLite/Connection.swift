import CAggregatorSQLite
import Foundation

/// One connection to a database; closed when it goes away.
///
/// Statements are prepared once. The text of a statement is a literal, so that nothing foreign ever
/// gets into it.
package struct Connection: ~Copyable {
  package let database: OpaquePointer
  /// How long to wait before a locked file is tried again.
  private static let wait = Duration.milliseconds(5)

  private var prepared: [UnsafePointer<UInt8>: OpaquePointer] = [:]

  /// Opens a database that is there.
  ///
  /// - Parameters:
  ///   - path: The path, or a `file:` address.
  ///   - patience: How long to wait for others who keep it locked.
  ///   - flags: As for `sqlite3_open_v2`.
  /// - Throws: ``SQLiteFailure``.
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
    // As `sqlite3_busy_timeout` does it, but nobody waits for what is cancelled.
    let waits = Int(busyTimeout / Self.wait)
    sqlite3_busy_handler(
      database,
      { most, count in
        guard !Task.isCancelled, count < Int(bitPattern: most) else { return 0 }
        usleep(UInt32(Connection.wait / .microseconds(1)))
        return 1
      }, UnsafeMutableRawPointer(bitPattern: waits))
    // A file may be somebody else's: no view or trigger of it may call a function with effects.
    csqlite_switch(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    csqlite_switch(database, SQLITE_DBCONFIG_DEFENSIVE, 1)
    // And it stays as it is, its log beside it, until it is known to be ours.
    csqlite_switch(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
  }

  /// Opens a database that nobody changes, only to read it: it takes no lock, and makes no file.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - patience: How long to wait for others who keep it locked.
  /// - Throws: ``SQLiteFailure``.
  package init(unchanging path: String, busyTimeout: Duration) throws(SQLiteFailure) {
    let name = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
    try self.init(
      "file:\(name)?immutable=1", busyTimeout: busyTimeout,
      flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
  }

  deinit {
    for statement in prepared.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(database)
  }

  /// Whether nothing can be written.
  var isReadOnly: Bool { sqlite3_db_readonly(database, "main") == 1 }

  /// Whether the file has another name by now, or none.
  var hasMoved: Bool {
    var answer: Int32 = 0
    let code = sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &answer)
    return code == SQLITE_OK && answer != 0
  }

  /// Lets the log go into the file when the last connection is closed.
  borrowing func tidyUpWhenClosed() {
    csqlite_switch(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
  }

  /// Runs statements that give no rows.
  ///
  /// - Parameter sql: Statements separated by semicolons.
  /// - Throws: ``SQLiteFailure``.
  package borrowing func execute(_ sql: StaticString) throws(SQLiteFailure) {
    let text = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
    let code = sqlite3_exec(database, text, nil, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteFailure(code, on: database) }
  }

  /// A statement, ready to run.
  ///
  /// - Parameters:
  ///   - sql: One statement, with `?1`, `?2` … where values go.
  ///   - values: The values, in order.
  /// - Returns: The statement, which must not outlive the connection.
  /// - Throws: ``SQLiteFailure``.
  mutating func statement(
    _ sql: StaticString, _ values: [any SQLiteValue]
  ) throws(SQLiteFailure) -> Statement {
    let handle: OpaquePointer
    if let known = prepared[sql.utf8Start] {
      handle = known
    } else {
      var made: OpaquePointer?
      let text = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
      let code = sqlite3_prepare_v3(
        database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
      guard code == SQLITE_OK, let made else { throw SQLiteFailure(code, on: database) }
      prepared[sql.utf8Start] = made
      handle = made
    }
    let statement = Statement(handle, of: database)
    for (index, value) in values.enumerated() {
      let code = value.bind(to: handle, at: Int32(index + 1))
      guard code == SQLITE_OK else { throw SQLiteFailure(code, on: database) }
    }
    return statement
  }

  /// Runs a statement to its end.
  mutating func run(_ sql: StaticString, _ values: any SQLiteValue...) throws(SQLiteFailure) {
    let statement = try statement(sql, values)
    while try statement.step() {}
  }

  /// How many rows the last statement inserted, changed or deleted.
  borrowing func changeCount() -> Int { Int(sqlite3_changes(database)) }

  /// The rows of a statement.
  ///
  /// - Parameters:
  ///   - sql: One statement.
  ///   - values: The values.
  ///   - read: Reads one row.
  /// - Returns: What `read` made of each.
  /// - Throws: ``SQLiteFailure``.
  package mutating func rows<Row>(
    _ sql: StaticString, _ values: any SQLiteValue..., read: (borrowing Statement) -> Row
  ) throws(SQLiteFailure) -> [Row] {
    let statement = try statement(sql, values)
    var rows: [Row] = []
    while try statement.step() { rows.append(read(statement)) }
    return rows
  }

  /// The first row of a statement; `nil` if there is none.
  mutating func row<Row>(
    _ sql: StaticString, _ values: any SQLiteValue..., read: (borrowing Statement) -> Row
  ) throws(SQLiteFailure) -> Row? {
    let statement = try statement(sql, values)
    return try statement.step() ? read(statement) : nil
  }

  /// Does several things, all of them or none.
  ///
  /// It takes the right to write at once, so that what it reads stays true until it has written.
  mutating func transaction<Answer>(
    _ body: (inout Connection) throws(SQLiteFailure) -> Answer
  ) throws(SQLiteFailure) -> Answer { try enclosed("BEGIN IMMEDIATE", body) }

  /// Reads several things as they are at one moment.
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
      // Some failures have rolled it back already, and then this one fails.
      try? execute("ROLLBACK")
      throw error
    }
  }
}
