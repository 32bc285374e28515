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
struct ListFileContents<Item: SourceRecord> {
  private var columns: ParquetColumns<Item>
  private let database: Database?

  private struct Database {
    let directory: TemporaryDirectory
    let file: SQLiteFile
    let table: SQLiteTable<Item>

    var path: String { Self.path(in: directory) }

    init(_ name: String, _ fields: [Field<Item>]) throws {
      directory = try TemporaryDirectory()
      // It is written into a file that is there.
      try Data().write(to: URL(filePath: Self.path(in: directory)))
      file = try SQLiteFile(Self.path(in: directory))
      table = try SQLiteTable(name, in: file, columns: fields)
    }

    private static func path(in directory: TemporaryDirectory) -> String {
      "\(directory.path)/list.db"
    }
  }

  /// - Parameter name: The name of the table of a database.
  init(_ kind: ListFile, named name: String, _ fields: [Field<Item>]) throws {
    columns = ParquetColumns(fields)
    database = kind == .sqlite ? try Database(name, fields) : nil
  }

  mutating func add(_ records: [Item]) throws {
    if let database { try database.table.insert(records) } else { columns.add(records) }
  }

  /// The bytes of the file.
  ///
  /// - Parameter text: The same records as NDJSON.
  func bytes(of text: String, by duckDB: DuckDB?) async throws -> [UInt8] {
    if let database {
      try database.table.finish()
      try database.file.finish()
      return Array(try Data(contentsOf: URL(filePath: database.path)))
    }
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
