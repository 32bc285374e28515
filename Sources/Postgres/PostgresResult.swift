package import AggregatorFoundation
import CAggregatorPostgres

/// The rows that a statement returned, in PostgreSQL's binary format unless the statement asked for text.
package final class PostgresResult {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { cpq_clear(handle) }

  var status: Int32 { cpq_result_status(handle) }

  /// The failure of the statement.
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

  package var count: Int { Int(cpq_row_count(handle)) }

  package var columns: [(name: String, type: UInt32)] {
    (0..<cpq_column_count(handle)).map { column in
      let name = cpq_column_name(handle, column).map { String(cString: $0) } ?? ""
      return (name, cpq_column_type(handle, column))
    }
  }

  package func isNull(_ row: Int, _ column: Int) -> Bool {
    cpq_is_null(handle, Int32(row), Int32(column))
  }

  package func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: cpq_value(handle, Int32(row), Int32(column)),
      count: Int(cpq_length(handle, Int32(row), Int32(column))))
  }

  /// The integer or boolean in a column; 0 for null.
  package func integer(_ row: Int, _ column: Int) -> Int64 {
    bytes(row, column).reduce(0) { $0 << 8 | Int64($1) }
  }

  package func data(_ row: Int, _ column: Int) -> Data { Data(bytes(row, column)) }

  /// The text in a column; `nil` for null.
  package func text(_ row: Int, _ column: Int) -> String? {
    isNull(row, column) ? nil : String(nulEscaped: bytes(row, column))
  }

  /// The time in a column; `nil` for null, or for a time that cannot be one.
  package func date(_ row: Int, _ column: Int) -> Date? {
    guard !isNull(row, column) else { return nil }
    let milliseconds = integer(row, column)
    guard milliseconds.magnitude < 1 << 53 else { return nil }
    return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  package func rows<Row>(_ read: (_ row: Int) -> Row) -> [Row] { (0..<count).map(read) }
}
