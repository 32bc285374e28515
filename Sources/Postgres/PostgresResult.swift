package import AggregatorFoundation
import AggregatorStore
import CAggregatorPostgres

/// The rows that a statement returned, in PostgreSQL's binary format unless the statement asked for text.
package final class PostgresResult {
  fileprivate let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { cpq_clear(handle) }

  var status: Int32 { cpq_result_status(handle) }

  var failure: PostgresFailure {
    func field(_ name: Character) -> String? {
      name.asciiValue.flatMap { cpq_result_error_field(handle, Int32($0)) }
        .map { String(cString: $0) }
    }
    let message = field("M") ?? String(cString: cpq_result_error(handle))
    // The message of a broken connection has no state.
    guard let state = field("C") else { return PostgresFailure(.broken, message) }
    var failure = PostgresFailure(.refused(state: state), message)
    failure.position = field("P").flatMap(Int.init)
    return failure
  }

  var columns: [(name: String, type: UInt32)] {
    (0..<cpq_column_count(handle)).map { column in
      let name = cpq_column_name(handle, column).map { String(cString: $0) } ?? ""
      return (name, cpq_column_type(handle, column))
    }
  }

}

extension PostgresResult: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { Int(cpq_row_count(handle)) }
  package subscript(row: Int) -> PostgresRow { PostgresRow(result: self, row: Int32(row)) }
}

package struct PostgresRow {
  fileprivate let result: PostgresResult
  fileprivate let row: Int32

  func bytes(_ column: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: cpq_value(result.handle, row, Int32(column)),
      count: Int(cpq_length(result.handle, row, Int32(column))))
  }

  func bool(_ column: Int) -> Bool { integer(column) != 0 }

  /// The name in a column, which is never null and, unlike a text of the store, not encoded.
  func name(_ column: Int) -> String { String(decoding: bytes(column), as: UTF8.self) }
}

extension PostgresRow: StoreRow {
  package func isNull(_ column: Int) -> Bool { cpq_is_null(result.handle, row, Int32(column)) }

  package func integer(_ column: Int) -> Int64 { bytes(column).reduce(0) { $0 << 8 | Int64($1) } }

  package func data(_ column: Int) -> Data { Data(bytes(column)) }

  package func holds(_ data: Data, in column: Int) -> Bool {
    data.withUnsafeBytes { $0.elementsEqual(bytes(column)) }
  }

  package func text(_ column: Int) -> String? {
    isNull(column) ? nil : String(nulEscaped: bytes(column))
  }

  /// Also `nil` for a time that cannot be one.
  package func date(_ column: Int) -> Date? {
    guard !isNull(column) else { return nil }
    let milliseconds = integer(column)
    guard milliseconds.magnitude < 1 << 53 else { return nil }
    return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }
}
