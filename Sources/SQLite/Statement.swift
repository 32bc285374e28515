package import AggregatorFoundation
import CAggregatorSQLite

/// A prepared statement, reset for its next use when it goes out of scope.
package struct Statement: ~Copyable {
  private let handle: OpaquePointer
  private let database: OpaquePointer

  package init(_ handle: OpaquePointer, of database: OpaquePointer) {
    self.handle = handle
    self.database = database
  }

  deinit {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// Advances to the next row; `false` after the last.
  package borrowing func step() throws(SQLiteFailure) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw SQLiteFailure(code, on: database)
    }
  }

  /// The integer in a column, counted from 0; 0 for null.
  package borrowing func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  package borrowing func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// The UTF-8 text in a column; empty for null.
  package borrowing func bytes(_ column: Int32) -> Data {
    guard let start = sqlite3_column_blob(handle, column) else { return Data() }
    return Data(bytes: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  borrowing func holds(_ bytes: Data, in column: Int32) -> Bool {
    guard let start = sqlite3_column_blob(handle, column),
      Int(sqlite3_column_bytes(handle, column)) == bytes.count
    else { return false }
    return bytes.withUnsafeBytes {
      $0.elementsEqual(UnsafeRawBufferPointer(start: start, count: bytes.count))
    }
  }

  /// The text in a column; `nil` for null.
  package borrowing func text(_ column: Int32) -> String? {
    guard let start = sqlite3_column_text(handle, column) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// The date in a column of milliseconds since 1970; `nil` for null.
  borrowing func date(_ column: Int32) -> Date? {
    isNull(column) ? nil : Date(timeIntervalSince1970: Double(integer(column)) / 1000)
  }
}

/// A value that can be bound to a statement.
package protocol SQLiteValue {
  /// Binds the value to the parameter `index`, counted from 1, and returns SQLite's result code.
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32
}

extension Int64: SQLiteValue {
  package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    sqlite3_bind_int64(statement, index, self)
  }
}

extension Int: SQLiteValue {
  package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    Int64(self).bind(to: statement, at: index)
  }
}

extension Date: SQLiteValue {
  /// Binds milliseconds since 1970, rounded down, so that no stored date lies in the future.
  package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    let milliseconds = (timeIntervalSince1970 * 1000).rounded(.down)
    return (Int64(exactly: milliseconds) ?? 0).bind(to: statement, at: index)
  }
}

extension String: SQLiteValue {
  package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    var text = self
    return text.withUTF8 { UnsafeRawBufferPointer($0).bindText(to: statement, at: index) }
  }
}

extension Data: SQLiteValue {
  /// Binds the bytes as text: all data in the store is JSON.
  package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    withUnsafeBytes { $0.bindText(to: statement, at: index) }
  }
}

extension Optional: SQLiteValue where Wrapped: SQLiteValue {
  package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    self?.bind(to: statement, at: index) ?? sqlite3_bind_null(statement, index)
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func bindText(to statement: OpaquePointer, at index: Int32) -> Int32 {
    withMemoryRebound(to: CChar.self) {
      csqlite_bind_text(statement, index, $0.baseAddress, Int32(clamping: $0.count))
    }
  }
}
