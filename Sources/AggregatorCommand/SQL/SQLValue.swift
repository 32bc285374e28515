package import AggregatorKit
import CAggregatorSQLite

/// One value of a query's answer.
package enum SQLValue: Hashable, Codable, Sendable {
  /// Nothing.
  case null
  /// A whole number.
  case integer(Int)
  /// A number.
  case number(Double)
  /// Text; bytes are written as hexadecimal digits.
  case text(String)

  /// A value of the row that a statement stands on.
  init(_ statement: OpaquePointer, _ column: Int32) {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: self = .integer(Int(sqlite3_column_int64(statement, column)))
    case SQLITE_FLOAT: self = .number(sqlite3_column_double(statement, column))
    case SQLITE_TEXT:
      // Asked for first: it may change how many bytes there are.
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

  /// The value as JSON.
  package var json: JSON {
    switch self {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .number(let number): .number(number)
    case .text(let text): .string(text)
    }
  }

  /// About how many bytes it takes.
  var size: Int { if case .text(let text) = self { text.utf8.count } else { 8 } }
}
