import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import CAggregatorSQLite

/// The function of the computed columns of a view: of a record's JSON and the number of a column.
final class SQLFunction: Sendable {
  private let view: SQLView

  init(of view: SQLView) { self.view = view }

  /// Defines the function, which the connection retains.
  func define(
    as name: String, on connection: borrowing Connection
  ) throws(SQLiteFailure) {
    // Innocuous: without side effects, so that views may call it.
    let code = sqlite3_create_function_v2(
      connection.database, name, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
      Unmanaged.passRetained(self).toOpaque(),
      { context, count, values in
        guard let context, count == 2, let values, let pointer = sqlite3_user_data(context) else {
          return
        }
        let function = Unmanaged<SQLFunction>.fromOpaque(pointer).takeUnretainedValue()
        guard let text = sqlite3_value_text(values[0]) else { return sqlite3_result_null(context) }
        // After `sqlite3_value_text`, which may convert the value.
        let size = Int(sqlite3_value_bytes(values[0]))
        let column = Int(sqlite3_value_int64(values[1]))
        function.view.compute(column, Data(bytes: text, count: size)).setResult(of: context)
      }, nil, nil,
      // SQLite also calls this if the function cannot be defined.
      { pointer in
        guard let pointer else { return }
        Unmanaged<SQLFunction>.fromOpaque(pointer).release()
      })
    guard code == SQLITE_OK else { throw SQLiteFailure(code, on: connection.database) }
  }
}

extension JSON {
  /// The value in the form that `json_extract` gives it.
  fileprivate func setResult(of context: OpaquePointer) {
    switch self {
    case .null: sqlite3_result_null(context)
    case .bool(let bool): sqlite3_result_int(context, bool ? 1 : 0)
    case .integer(let integer): sqlite3_result_int64(context, Int64(integer))
    case .number(let number): sqlite3_result_double(context, number)
    case .string(let string):
      csqlite_result_text(context, string, Int32(clamping: string.utf8.count))
    case .array, .object: csqlite_result_text(context, text, Int32(clamping: text.utf8.count))
    }
  }
}
