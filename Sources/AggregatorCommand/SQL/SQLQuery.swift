package import AggregatorKit
import CAggregatorSQLite

/// A query, a page of its rows at a time, on a thread of its own.
package actor SQLQuery {
  /// The names of the columns, as SQLite gives them; some may be the same.
  package private(set) var columns: [String] = []

  private var query: SQLCursor?
  /// A reader alone cannot make the files that readers share, or tidy them up.
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
    query = consume made
  }

  /// The next rows, each with a value for every column; `nil` after the last.
  ///
  /// - Throws: ``SourceError`` with code `badUsage` for what shows only with the data, `timedOut`,
  ///   `cancelled` or `storage`.
  package func page() throws(SourceError) -> [[SQLValue]]? {
    guard !Task.isCancelled else { throw .cancelled }
    return try query?.page()
  }
}

extension SQLiteStore {
  /// Asks in SQL, of a text that may be hostile.
  ///
  /// - Parameters:
  ///   - text: One statement that reads.
  ///   - views: The tables that it sees.
  ///   - time: How long SQLite may work on it, all pages together.
  /// - Returns: The query, compiled.
  /// - Throws: ``SourceError`` with code `badUsage`, `timedOut`, `cancelled`, `storage` or `busy`.
  package func query(
    _ text: String, over views: [SQLView], within time: Duration
  ) async throws(SourceError) -> SQLQuery {
    let query = SQLQuery()
    try await query.begin(text, over: views, in: file, within: time)
    return query
  }

  /// Bounds the memory that SQLite takes for everything in this process.
  ///
  /// - Parameter bytes: The most bytes; what needs more fails.
  package static func boundMemory(to bytes: Int) { sqlite3_hard_heap_limit64(Int64(bytes)) }
}

/// What a query sees of a source: a table of its stored fields, without what was deleted or has vanished.
package struct SQLView: Sendable {
  /// The source's name, which is the table's.
  package let name: String

  /// The names of the columns, those of the fields.
  package let columns: [String]

  private let paths: [String]

  /// The stored fields of a source.
  package init<P: Plugin>(_ plugin: P) {
    name = plugin.name
    let stored = plugin.fields.compactMap { field in field.path.map { (field.name, $0) } }
    columns = stored.map(\.0)
    paths = stored.map(\.1)
  }

  /// The statements that define it.
  ///
  /// It has two layers, because SQLite tells the ``SQLAuthorizer`` who reads a table only by name, and a
  /// query may give a name of its own (`WITH heroes AS …`) to what it reads itself. A name that cannot
  /// be guessed cannot be given.
  ///
  /// - Parameters:
  ///   - number: The source's number in the store; `nil` where nothing of it is stored.
  ///   - inner: The name of the layer that reads the tables of the store.
  /// - Returns: SQL.
  func definition(of number: Int64?, over inner: String) -> String {
    let names = columns.map(\.sqlName)
    let list = names.joined(separator: ", ")
    let body: String
    if let number {
      let values = zip(paths, names).map { path, name in
        let members = path.split(separator: ".").map { ".\"\($0)\"" }.joined()
        return "json_extract(json, \("$\(members)".sqlText)) AS \(name)"
      }
      // It must read some column of `records`, as it does `position`: of a table of which no column is
      // read (`SELECT count(*) FROM heroes`) SQLite does not tell the guard which view reads it.
      let first = number << Schema.positionBits
      body = """
        SELECT \(values.joined(separator: ", ")) FROM main.records
        WHERE position BETWEEN \(first) AND \(first + (1 << Schema.positionBits) - 1)
        AND vanished IS NULL AND id NOT IN (SELECT id FROM main.tombstones WHERE source = \(number))
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
  /// This text as a name in SQL.
  fileprivate var sqlName: String { "\"\(replacing("\"", with: "\"\""))\"" }

  /// This text as a text in SQL.
  fileprivate var sqlText: String { "'\(replacing("'", with: "''"))'" }
}

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
