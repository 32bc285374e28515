import AggregatorCore
import AggregatorStore
import CAggregatorSQLite

/// The function of the operator `REGEXP`, or `matches`.
final class SQLPatterns {
  enum Name: String {
    /// Of a pattern and a text.
    case regexp
    /// Of a value, also NULL, and a condition.
    case matches
  }

  private let name: Name
  private let compile: SQLStatement.Patterns
  private let authorizer: SQLAuthorizer
  /// The patterns of the last calls, compiled: most queries have few.
  private var compiled: [String: SQLStatement.Matching] = [:]
  private static let maxCompiled = 100

  init(_ name: Name, _ compile: @escaping SQLStatement.Patterns, under authorizer: SQLAuthorizer) {
    self.name = name
    self.compile = compile
    self.authorizer = authorizer
  }

  /// Defines the function, which the connection retains.
  func define(on connection: borrowing Connection) throws(SQLiteFailure) {
    let code = sqlite3_create_function_v2(
      connection.database, name.rawValue, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
      Unmanaged.passRetained(self).toOpaque(),
      { context, count, values in
        guard let context, count == 2, let values, let pointer = sqlite3_user_data(context) else {
          return
        }
        let function = Unmanaged<SQLPatterns>.fromOpaque(pointer).takeUnretainedValue()
        switch function.name {
        case .regexp:
          function.call(
            context, SQLPatterns.text(values[0]), SQLPatterns.text(values[1]).map(JSON.string))
        case .matches:
          function.call(context, SQLPatterns.text(values[1]), SQLPatterns.value(values[0]))
        }
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

  private static func value(_ value: OpaquePointer?) -> JSON {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: .integer(Int(sqlite3_value_int64(value)))
    case SQLITE_FLOAT: .number(sqlite3_value_double(value))
    default: text(value).map(JSON.string) ?? .null
    }
  }

  private func call(_ context: OpaquePointer, _ pattern: String?, _ value: JSON?) {
    guard let pattern, let value else { return sqlite3_result_null(context) }
    do throws(SourceError) {
      let matching = try matching(of: pattern)
      // SQLite checks the time only between calls.
      guard let matches = matching(value, { authorizer.isOver }) else {
        return sqlite3_result_error_code(context, SQLITE_INTERRUPT)
      }
      sqlite3_result_int(context, matches ? 1 : 0)
    } catch {
      authorizer.refuse(.pattern(error))
      sqlite3_result_error(context, error.message, -1)
    }
  }

  private func matching(of pattern: String) throws(SourceError) -> SQLStatement.Matching {
    if let matching = compiled[pattern] { return matching }
    let matching = try compile(pattern)
    if compiled.count == Self.maxCompiled { compiled = [:] }
    compiled[pattern] = matching
    return matching
  }
}
