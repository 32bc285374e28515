package import AggregatorKit
import CAggregatorSQLite

/// A running query, read one page of rows at a time on a thread of its own.
package actor SQLQuery {
  /// The names of the columns, as SQLite gives them; they need not be unique.
  package private(set) var columns: [String] = []

  private var cursor: SQLCursor?
  /// A read-only connection cannot create or remove SQLite's `-shm` and `-wal` files; this one can.
  private var keeper: Connection?
  private let executor = QueueExecutor("store.query")

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  fileprivate init() {}

  fileprivate func begin(
    _ text: String, over views: [SQLView], in file: StoreFile, within time: Duration
  ) throws(SourceError) {
    var path: String?
    if let opened = try file.open(for: .reading) {
      keeper = consume opened
      path = file.path
    }
    let made = try SQLCursor(
      text, over: views, in: path, busyTimeout: file.busyTimeout, within: time)
    columns = made.columns
    cursor = consume made
  }

  /// `nil` after the last; throws `badUsage` for a mistake that only the data reveals, `timedOut`,
  /// `cancelled` or `storage`.
  package func page() throws(SourceError) -> [[SQLValue]]? {
    guard !Task.isCancelled else { throw .cancelled }
    return try cursor?.page()
  }
}

extension SQLiteStore {
  /// Compiles one `SELECT`, which may be hostile, with a time limit for all pages together; throws
  /// `badUsage`, `timedOut`, `cancelled`, `storage` or `busy`.
  package func query(
    _ text: String, over views: [SQLView], within time: Duration
  ) async throws(SourceError) -> SQLQuery {
    let query = SQLQuery()
    try await query.begin(text, over: views, in: file, within: time)
    return query
  }

  /// Limits the memory that SQLite may use in this process; operations that need more fail.
  package static func boundMemory(to bytes: Int) { sqlite3_hard_heap_limit64(Int64(bytes)) }
}

/// A source as a table of its stored fields, without records that are deleted or removed upstream.
package struct SQLView: Sendable {
  package let name: String
  package let columns: [String]

  private let paths: [String]

  package init<P: Plugin>(_ plugin: P) {
    name = plugin.name
    let stored = plugin.fields.compactMap { field in field.path.map { (field.name, $0) } }
    columns = stored.map(\.0)
    paths = stored.map(\.1)
  }

  /// Two layers, because SQLite passes the reader of a table to the ``SQLAuthorizer`` only by name:
  /// a query may use any name in `WITH heroes AS …`, but cannot guess `inner`.
  ///
  /// `number` is `nil` if nothing is stored.
  func definition(of number: Int64?, over inner: String) -> String {
    let names = columns.map(\.sqlName)
    let list = names.joined(separator: ", ")
    let body: String
    if let number {
      let values = zip(paths, names).map { path, name in
        let members = path.split(separator: ".").map { ".\"\($0)\"" }.joined()
        return "json_extract(json, \("$\(members)".sqlText)) AS \(name)"
      }
      // It must read some column of `records`, here `position`: if no column of a table is read
      // (`SELECT count(*) FROM heroes`), SQLite does not tell the authorizer which view reads it.
      let first = number << Schema.positionBits
      body = """
        SELECT \(values.joined(separator: ", ")) FROM main.records
        WHERE position BETWEEN \(first) AND \(first + (1 << Schema.positionBits) - 1)
        AND removed_upstream IS NULL
        AND id NOT IN (SELECT id FROM main.tombstones WHERE source = \(number))
        """
    } else {
      body = "SELECT \(names.map { "NULL AS \($0)" }.joined(separator: ", ")) WHERE 0"
    }
    return """
      CREATE TEMP VIEW \(inner.sqlName) AS \(body);
      CREATE TEMP VIEW \(name.sqlName) AS SELECT \(list) FROM temp.\(inner.sqlName);
      """
  }
}

extension String {
  fileprivate var sqlName: String { "\"\(replacing("\"", with: "\"\""))\"" }

  fileprivate var sqlText: String { "'\(replacing("'", with: "''"))'" }
}

package enum SQLValue: Hashable, Codable, Sendable {
  case null
  case integer(Int)
  case number(Double)
  /// Text, or a blob as hexadecimal digits.
  case text(String)

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

  package var json: JSON {
    switch self {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .number(let number): .number(number)
    case .text(let text): .string(text)
    }
  }

  /// The approximate size in bytes.
  var size: Int { if case .text(let text) = self { text.utf8.count } else { 8 } }
}
