import AggregatorCore
import AggregatorStore
import CAggregatorSQLite

/// The function of the operator `REGEXP`: of a pattern and a text.
final class SQLPatterns {
  private let compile: SQLStatement.Patterns
  private let authorizer: SQLAuthorizer
  /// The pattern of the last call, compiled: most queries have no other.
  private var last: (pattern: String, matching: SQLStatement.Matching)?

  init(_ compile: @escaping SQLStatement.Patterns, under authorizer: SQLAuthorizer) {
    self.compile = compile
    self.authorizer = authorizer
  }

  /// Defines the function, which the connection retains.
  func define(on connection: borrowing Connection) throws(SQLiteFailure) {
    let code = sqlite3_create_function_v2(
      connection.database, "regexp", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
      Unmanaged.passRetained(self).toOpaque(),
      { context, count, values in
        guard let context, count == 2, let values, let pointer = sqlite3_user_data(context) else {
          return
        }
        Unmanaged<SQLPatterns>.fromOpaque(pointer).takeUnretainedValue()
          .call(context, SQLPatterns.text(values[0]), SQLPatterns.text(values[1]))
      }, nil, nil,
      // SQLite also calls this if the function cannot be defined.
      { pointer in
        guard let pointer else { return }
        Unmanaged<SQLPatterns>.fromOpaque(pointer).release()
      })
    guard code == SQLITE_OK else { throw SQLiteFailure(code, on: connection.database) }
  }

  private static func text(_ value: OpaquePointer?) -> String? {
    guard let start = sqlite3_value_text(value) else { return nil }
    // After `sqlite3_value_text`, which may convert the value.
    let count = Int(sqlite3_value_bytes(value))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  private func call(_ context: OpaquePointer, _ pattern: String?, _ text: String?) {
    guard let pattern, let text else { return sqlite3_result_null(context) }
    do throws(SourceError) {
      let matching = try matching(of: pattern)
      // SQLite checks the time only between calls.
      guard let matches = matching(text, { authorizer.isOver }) else {
        return sqlite3_result_error_code(context, SQLITE_INTERRUPT)
      }
      sqlite3_result_int(context, matches ? 1 : 0)
    } catch {
      authorizer.refuse(.pattern(error))
      sqlite3_result_error(context, error.message, -1)
    }
  }

  private func matching(of pattern: String) throws(SourceError) -> SQLStatement.Matching {
    if let last, last.pattern == pattern { return last.matching }
    let matching = try compile(pattern)
    last = (pattern, matching)
    return matching
  }
}
