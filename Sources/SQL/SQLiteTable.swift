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

/// A table of records in a new database file.
package final class SQLiteTable<Item> {
  private let file: SQLiteFile
  private let insertion: OpaquePointer
  private let fields: [Field<Item>]

  /// Creates the table; its name and those of its columns may come from a manifest, so they are quoted.
  package init(
    _ name: String, in file: SQLiteFile, columns fields: [Field<Item>]
  ) throws(SourceError) {
    self.file = file
    self.fields = fields
    let columns = fields.map { "\($0.name.sqlName) \($0.kind.sqlType)" }.joined(separator: ", ")
    do throws(SQLiteFailure) {
      try file.connection.execute(quoted: "CREATE TABLE \(name.sqlName) (\(columns))")
      insertion = try file.connection.insertion(into: name.sqlName, columns: fields.count)
    } catch {
      throw SQLiteFile.error(error)
    }
  }

  deinit { sqlite3_finalize(insertion) }

  package func insert(_ records: [Item]) throws(SourceError) {
    for record in records {
      for (index, field) in fields.enumerated() {
        try check(field[record].bind(to: insertion, at: Int32(index + 1)), SQLITE_OK)
      }
      try check(sqlite3_step(insertion), SQLITE_DONE)
      try check(sqlite3_reset(insertion), SQLITE_OK)
    }
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
