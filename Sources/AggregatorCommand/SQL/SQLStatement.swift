import AggregatorKit
import CAggregatorSQLite

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
