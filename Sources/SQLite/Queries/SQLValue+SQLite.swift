import AggregatorFoundation
import AggregatorStore
import CAggregatorSQLite

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
