package import AggregatorFoundation
import AggregatorStore
import CAggregatorSQLite

/// A prepared statement and its present row.
package struct Statement: ~Copyable {
  let handle: OpaquePointer
  private let database: OpaquePointer
  /// True if it is used once; otherwise it is reset for its next use when it goes out of scope.
  private let isTemporary: Bool

  init(_ handle: OpaquePointer, of database: OpaquePointer, isTemporary: Bool = false) {
    self.handle = handle
    self.database = database
    self.isTemporary = isTemporary
  }

  /// Compiles a statement that contains no names but those of the store's own tables.
  init(quoted text: String, on connection: borrowing Connection) throws(SQLiteFailure) {
    var made: OpaquePointer?
    let code = sqlite3_prepare_v2(connection.database, text, -1, &made, nil)
    guard code == SQLITE_OK, let made else { throw SQLiteFailure(code, on: connection.database) }
    self.init(made, of: connection.database, isTemporary: true)
  }

  deinit {
    if isTemporary {
      sqlite3_finalize(handle)
    } else {
      sqlite3_reset(handle)
      sqlite3_clear_bindings(handle)
    }
  }

  /// Binds the values of `?1`, `?2` ….
  borrowing func bind(_ values: [any SQLiteValue]) throws(SQLiteFailure) {
    for (index, value) in values.enumerated() {
      let code = value.bind(to: handle, at: Int32(index + 1))
      guard code == SQLITE_OK else { throw SQLiteFailure(code, on: database) }
    }
  }

  /// Runs it, not for the first time, to its end.
  borrowing func run(_ values: [any SQLiteValue]) throws(SQLiteFailure) {
    sqlite3_reset(handle)
    try bind(values)
    while try step() {}
  }

  /// Advances to the next row; `false` after the last.
  borrowing func step() throws(SQLiteFailure) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw SQLiteFailure(code, on: database)
    }
  }
}

extension Statement: StoreRow {
  package func integer(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

  package func isNull(_ column: Int) -> Bool {
    sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL
  }

  /// The bytes of a text, which stay where they are until the next row.
  private func bytes(_ column: Int) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, Int32(column))
    let count = start == nil ? 0 : sqlite3_column_bytes(handle, Int32(column))
    return UnsafeRawBufferPointer(start: start, count: Int(count))
  }

  package func data(_ column: Int) -> Data { Data(bytes(column)) }

  package func holds(_ data: Data, in column: Int) -> Bool {
    let bytes = bytes(column)
    guard data.count == bytes.count else { return false }
    guard let start = bytes.baseAddress else { return true }
    return data.withUnsafeBytes {
      $0.baseAddress.map { memcmp($0, start, bytes.count) == 0 } ?? true
    }
  }

  package func text(_ column: Int) -> String? {
    guard let start = sqlite3_column_text(handle, Int32(column)) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, Int32(column)))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  package func date(_ column: Int) -> Date? {
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
