package import AggregatorKit
import CAggregatorSQLite
import Foundation

/// A running query, read one page of rows at a time on a thread of its own.
package actor SQLQuery {
  /// The names of the columns, as SQLite gives them; they need not be unique.
  package private(set) var columns: [String] = []

  /// The number of records of each source that are larger than 1 MB, and left out.
  package private(set) var tooLarge: [String: Int] = [:]

  /// The names of the sources that it reads.
  package private(set) var sources: [String] = []

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
    let start = ContinuousClock.now
    var path: String?
    if let opened = try file.open(for: .reading) {
      keeper = consume opened
      path = file.path
    }
    let made = try SQLCursor(
      text, over: views, in: path, busyTimeout: file.busyTimeout,
      within: time - (ContinuousClock.now - start))
    columns = made.columns
    tooLarge = made.tooLarge
    sources = made.sources
    cursor = consume made
  }

  /// `nil` after the last; throws `invalidRequest` for a mistake that only the data reveals, `timedOut`,
  /// `cancelled` or `storage`.
  package func page() throws(SourceError) -> [[SQLValue]]? {
    guard !Task.isCancelled else { throw .cancelled }
    return try cursor?.page()
  }
}

extension SQLiteStore {
  /// Compiles one `SELECT`, which may be hostile, with a time limit for all pages together; throws
  /// `invalidRequest`, `timedOut`, `cancelled`, `storage` or `busy`.
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

/// A source as a table of its fields, without records that are deleted or removed upstream.
package struct SQLView: Sendable {
  private struct Column {
    let name: String
    let kind: FieldKind
    /// The path of the value in the record's JSON; `nil` for a computed field.
    let path: String?
  }

  package let name: String
  package var columns: [String] { fields.map(\.name) }

  private let fields: [Column]
  private let compute: @Sendable (_ column: Int, _ record: Data) -> JSON

  package init<P: Plugin>(_ plugin: P) { self.init(plugin.name, plugin.fields) }

  package init<Item: Record>(_ name: String, _ fields: [Field<Item>]) {
    self.name = name
    self.fields = fields.map { Column(name: $0.name, kind: $0.kind, path: $0.path) }
    compute = { column, record in
      guard fields.indices.contains(column), let item = try? JSONText(record)?.read(Item.self)
      else { return .null }
      return fields[column][item]
    }
  }

  /// The function of the computed columns: of a record's JSON and the number of a column.
  var computed: SQLFunction {
    SQLFunction { [compute] record, column in compute(column, record) }
  }

  /// Two layers, because SQLite passes the reader of a table to the ``SQLAuthorizer`` only by name:
  /// a query may use any name in `WITH heroes AS …`, but cannot guess `inner`.
  ///
  /// `number` is `nil` if nothing is stored; `function` is the name of ``computed``.
  ///
  /// With `hasTooLarge` the records of ``tooLarge(of:over:maxSize:)`` are left out.
  func definition(
    of number: Int64?, over inner: String, hasTooLarge: Bool, computedBy function: String
  ) -> String {
    let names = columns.map(\.sqlName)
    let list = names.joined(separator: ", ")
    let body: String
    if let number {
      // A condition of the query may be evaluated before those of the view.
      let json = hasTooLarge ? "CASE WHEN \(isTooLarge(inner)) THEN NULL ELSE json END" : "json"
      let values = zip(fields.indices, zip(fields, names)).map { index, column in
        let (field, name) = column
        guard let path = field.path else {
          return "\(function.sqlName)(\(json), \(index)) AS \(name)"
        }
        let members = path.split(separator: ".").map { ".\"\($0)\"" }.joined()
        let value = "json_extract(\(json), \("$\(members)".sqlText))"
        // The canonical JSON of 4.0 is 4.
        return "\(field.kind == .number ? "CAST(\(value) AS REAL)" : value) AS \(name)"
      }
      // It must read some column of `records`, here `position`: if no column of a table is read
      // (`SELECT count(*) FROM heroes`), SQLite does not tell the authorizer which view reads it.
      body = """
        SELECT \(values.joined(separator: ", ")) FROM main.records
        WHERE \(isShown(number))\(hasTooLarge ? " AND NOT \(isTooLarge(inner))" : "")
        """
    } else {
      body = "SELECT \(names.map { "NULL AS \($0)" }.joined(separator: ", ")) WHERE 0"
    }
    return """
      CREATE TEMP VIEW \(inner.sqlName) AS \(body);
      CREATE TEMP VIEW \(name.sqlName) AS SELECT \(list) FROM temp.\(inner.sqlName);
      """
  }

  /// Collects the positions of the records of more than `maxSize` bytes, which cannot even be read under
  /// such a limit.
  func tooLarge(of number: Int64, over inner: String, maxSize: Int) -> String {
    """
    CREATE TEMP TABLE \(Self.tooLargeName(inner)) (position INTEGER PRIMARY KEY);
    INSERT INTO temp.\(Self.tooLargeName(inner)) SELECT position FROM main.records
    WHERE \(isShown(number)) AND length(CAST(json AS BLOB)) > \(maxSize)
    """
  }

  private func isTooLarge(_ inner: String) -> String {
    "(position IN (SELECT position FROM temp.\(Self.tooLargeName(inner))))"
  }

  private static func tooLargeName(_ inner: String) -> String { "\(inner)_large".sqlName }

  private func isShown(_ number: Int64) -> String {
    let first = number << Schema.positionBits
    return """
      position BETWEEN \(first) AND \(first + (1 << Schema.positionBits) - 1)
      AND removed_upstream IS NULL
      AND id NOT IN (SELECT id FROM main.tombstones WHERE source = \(number))
      """
  }
}

extension String {
  var sqlName: String { "\"\(replacing("\"", with: "\"\""))\"" }

  var sqlText: String { "'\(replacing("'", with: "''"))'" }
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
