import AggregatorKit
import AggregatorSQL
import AggregatorTerminal

/// A file that is no text, and that lists alone can be: its name is the value of `format`, and the ending of the file.
package enum ListFile: String, CaseIterable, Sendable {
  case sqlite
  /// Only where the program `duckdb` is installed.
  case parquet

  // https://www.iana.org/assignments/media-types/application/vnd.sqlite3
  // https://www.iana.org/assignments/media-types/application/vnd.apache.parquet
  var mediaType: String {
    switch self {
    case .sqlite: "application/vnd.sqlite3"
    case .parquet: "application/vnd.apache.parquet"
    }
  }

  package var label: String { self == .sqlite ? "SQLite" : "Parquet" }
  package var ending: String { self == .sqlite ? "db" : rawValue }
}

extension ServedSource {
  /// The files that a list of the source can be.
  package var files: [ListFile] { hasParquet ? ListFile.allCases : [.sqlite] }
}

/// The contents of such a file, while its records are read.
enum ListFileContents<Item: SourceRecord> {
  case sqlite(Database)
  case parquet(ParquetColumns<Item>)

  struct Database {
    let path: String
    let file: SQLiteFile
    let table: SQLiteTable<Item>
    /// Removed with the last copy of this.
    private let directory: TemporaryDirectory

    init(_ name: String, _ fields: [Field<Item>]) throws {
      directory = try TemporaryDirectory()
      path = "\(directory.path)/list.db"
      // It is written into a file that is there.
      try Data().write(to: URL(filePath: path))
      file = try SQLiteFile(path)
      table = try SQLiteTable(name, in: file, columns: fields)
    }
  }

  /// - Parameter name: The name of the table of a database.
  init(_ kind: ListFile, named name: String, _ fields: [Field<Item>]) throws {
    self = kind == .sqlite ? .sqlite(try Database(name, fields)) : .parquet(ParquetColumns(fields))
  }

  mutating func add(_ records: [Item]) throws {
    switch self {
    case .sqlite(let database): try database.table.insert(records)
    case .parquet(var columns):
      columns.add(records)
      self = .parquet(columns)
    }
  }

  /// The bytes of the file.
  ///
  /// - Parameter text: The same records as NDJSON.
  func bytes(of text: String, by duckDB: DuckDB?) async throws -> [UInt8] {
    switch self {
    case .sqlite(let database):
      try database.table.finish()
      try database.file.finish()
      return Array(try Data(contentsOf: URL(filePath: database.path)))
    case .parquet(let columns):
      guard let duckDB else {
        throw Problem(
          501, "unsupported", "Parquet requires the program duckdb, which the server does not find",
          hint: "install it (\(DuckDB.installation)), or choose another format")
      }
      let rows = try TemporaryFile()
      try rows.output.write(text)
      return try await duckDB.parquet(of: rows, columns)
    }
  }
}
