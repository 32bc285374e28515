package import AggregatorKit
import CAggregatorSQLite

/// A new database file, whose tables are complete with ``finish()``.
package final class SQLiteFile {
  /// The endings of its name.
  package static let endings = ["db", "sqlite", "sqlite3"]

  fileprivate let connection: Connection

  /// Begins to write into an empty file.
  package init(_ path: String) throws(SourceError) {
    do throws(SQLiteFailure) {
      let connection = try Connection(path, busyTimeout: .zero)
      // The file gets its name once it is complete.
      try connection.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN")
      self.connection = connection
    } catch {
      throw Self.error(error)
    }
  }

  package func finish() throws(SourceError) {
    do throws(SQLiteFailure) { try connection.execute("COMMIT") } catch { throw Self.error(error) }
  }

  fileprivate static func error(_ failure: SQLiteFailure) -> SourceError {
    SourceError(.storage, "cannot write the database: \(failure.cause ?? failure.words)")
  }
}

/// A table of records in a new database file, which is there with ``finish()``.
package struct SQLiteTable<Item: Identifiable> where Item.ID: CustomStringConvertible {
  private let rows: SQLiteRows
  private let fields: [Field<Item>]

  package init(
    _ name: String, in file: SQLiteFile, columns fields: [Field<Item>]
  ) throws(SourceError) {
    rows = try SQLiteRows(name, in: file, fields.map { ($0.name, $0.kind) })
    self.fields = fields
  }

  package func insert(_ records: [Item]) throws(SourceError) {
    for record in records {
      try rows.insert(fields.map { $0[record] }, of: record.id.description)
    }
  }

  package func finish() throws(SourceError) { try rows.finish() }
}

/// The rows of a table: no code of each kind of records.
///
/// They wait in a temporary table: only all values of a field of any kind tell the type of its column.
private final class SQLiteRows {
  private let file: SQLiteFile
  private let name: String
  private let fields: [(name: String, kind: FieldKind)]
  private let insertion: OpaquePointer
  /// The types of the values of each field.
  private var types: [Set<String>]
  /// The fields that are the ID of every record; `nil` without a record.
  private var keys: Set<Int>?

  /// The name of the table and those of its columns may come from a manifest, so they are quoted.
  init(
    _ name: String, in file: SQLiteFile, _ fields: [(name: String, kind: FieldKind)]
  ) throws(SourceError) {
    self.file = file
    self.name = name.sqlName
    self.fields = fields.map { ($0.name.sqlName, $0.kind) }
    types = fields.map { _ in [] }
    let columns = self.fields.map(\.name).joined(separator: ", ")
    do throws(SQLiteFailure) {
      try file.connection.execute(quoted: "CREATE TEMP TABLE \(self.name) (\(columns))")
      insertion = try file.connection.insertion(into: "temp.\(self.name)", columns: fields.count)
    } catch {
      throw SQLiteFile.error(error)
    }
  }

  deinit { sqlite3_finalize(insertion) }

  func insert(_ values: [JSON], of id: String) throws(SourceError) {
    keys = (keys ?? Set(fields.indices)).filter { values[$0].cell == id }
    for (index, value) in values.enumerated() {
      try check(value.bind(to: insertion, at: Int32(index + 1)), SQLITE_OK)
      if fields[index].kind == .any, let type = value.sqlType { types[index].insert(type) }
    }
    try check(sqlite3_step(insertion), SQLITE_DONE)
    try check(sqlite3_reset(insertion), SQLITE_OK)
  }

  /// Creates the table, whose primary key is the ID unless an ID is repeated or missing.
  func finish() throws(SourceError) {
    do throws(SQLiteFailure) {
      do throws(SQLiteFailure) { try create(key: keys?.min()) } catch {
        guard error.code & 0xFF == SQLITE_CONSTRAINT else { throw error }
        try file.connection.execute(quoted: "DROP TABLE main.\(name)")
        try create(key: nil)
      }
      try file.connection.execute(quoted: "DELETE FROM temp.\(name)")
    } catch {
      throw SQLiteFile.error(error)
    }
  }

  private func create(key: Int?) throws(SQLiteFailure) {
    let columns = fields.enumerated().map { index, field in
      let type = field.kind == .any ? types[index].commonType : field.kind.sqlType
      guard index == key else { return "\(field.name) \(type)" }
      // An INTEGER PRIMARY KEY would be the number of the row, and so sort the table.
      return "\(field.name) \(type == "INTEGER" ? "INT" : type) NOT NULL PRIMARY KEY"
    }.joined(separator: ", ")
    try file.connection.execute(
      quoted: """
        CREATE TABLE main.\(name) (\(columns));
        INSERT INTO main.\(name) SELECT * FROM temp.\(name) ORDER BY rowid
        """)
  }

  private func check(_ code: Int32, _ expected: Int32) throws(SourceError) {
    guard code == expected else {
      throw SQLiteFile.error(SQLiteFailure(code, on: file.connection.database))
    }
  }
}

extension Connection {
  /// The statement that inserts a row of as many values into a table, whose name is quoted.
  borrowing func insertion(
    into table: String, columns: Int
  ) throws(SQLiteFailure) -> OpaquePointer {
    let values = (0..<columns).map { "?\($0 + 1)" }.joined(separator: ", ")
    let text = "INSERT INTO \(table) VALUES (\(values))"
    var made: OpaquePointer?
    let code = sqlite3_prepare_v2(database, text, -1, &made, nil)
    guard code == SQLITE_OK, let made else { throw SQLiteFailure(code, on: database) }
    return made
  }
}

extension JSON {
  /// Binds the value as `sql` shows it: Booleans as 1 and 0, lists and objects as JSON text.
  fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch self {
    case .null: sqlite3_bind_null(statement, index)
    case .bool(let bool): sqlite3_bind_int(statement, index, bool ? 1 : 0)
    case .integer(let integer): sqlite3_bind_int64(statement, index, Int64(integer))
    case .number(let number): sqlite3_bind_double(statement, index, number)
    case .string(let string): string.bind(to: statement, at: index)
    case .array, .object: text.bind(to: statement, at: index)
    }
  }

  /// The type of the value, or `nil` for null; `BIGINT` is that of integers that would change beside other numbers.
  fileprivate var sqlType: String? {
    switch self {
    case .null: nil
    case .bool: "INTEGER"
    case .integer(let integer): abs(Double(integer)) < 0x1p53 ? "INTEGER" : "BIGINT"
    case .number: "REAL"
    case .string, .array, .object: "TEXT"
    }
  }
}

extension Set<String> {
  /// The type with which no value of a column changes; empty for values of several kinds.
  fileprivate var commonType: String {
    switch self {
    case ["INTEGER", "REAL"]: "REAL"
    case ["INTEGER", "BIGINT"]: "INTEGER"
    default: count == 1 ? first ?? "" : ""
    }
  }
}

extension FieldKind {
  /// The type of a column; none for values of any kind, which keep theirs.
  fileprivate var sqlType: String {
    switch self {
    case .text, .list: "TEXT"
    case .integer, .bool: "INTEGER"
    case .number: "REAL"
    case .any: ""
    }
  }
}
