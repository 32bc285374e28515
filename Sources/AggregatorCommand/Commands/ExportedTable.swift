import AggregatorKit
import AggregatorQueries
import AggregatorSQL
import AggregatorTerminal

/// A table that `export` writes: into a file of its own, or into the database that has all tables of the export.
struct ExportedTable<Row: SourceRecord> {
  /// `nil` for a table of a database, and for standard output.
  private let file: NewFile?
  /// That of text; `nil` for a table of a database.
  private let output: Output?
  private var columns: ParquetColumns<Row>
  private var printer: RecordPrinter<Row>?
  private let table: SQLiteTable<Row>?
  /// The file that DuckDB converts to Parquet.
  private let rows: NewFile?
  private(set) var count = 0

  /// A table in a database.
  init(_ name: String, in database: SQLiteFile, columns: [Field<Row>]) throws {
    self.columns = ParquetColumns(columns)
    table = try SQLiteTable(name, in: database, columns: columns)
    (file, output, printer, rows) = (nil, nil, nil, nil)
  }

  /// A table in a file, or for none in standard output; DuckDB makes Parquet of NDJSON.
  init(
    in file: NewFile?, as format: ExportFormat, _ listing: Listing<Row>, _ output: OutputOptions,
    _ context: CommandContext
  ) throws {
    rows =
      try format == .parquet
      ? file.map { try NewFile(replacing: "\($0.path).ndjson", in: context) } : nil
    let target = (rows ?? file)?.output ?? context.output
    let text = format.isCompressed ? try target.compressed() : target
    printer = RecordPrinter(listing, output, in: context.writing(to: text))
    self.output = text
    columns = ParquetColumns(listing.chosen ?? listing.fields)
    self.file = file
    table = nil
  }

  mutating func write(_ records: [Row]) throws {
    count += records.count
    try printer?.print(records)
    try table?.insert(records)
    if rows != nil { columns.add(records) }
  }

  /// Completes the contents of the file, which gets its name with ``save()``.
  mutating func finish(_ summary: ListingSummary, _ duckDB: DuckDB?) throws {
    try printer?.finish(summary)
    try table?.finish()
    try output?.finish()
    if let rows, let file { try duckDB?.convert(rows.path, to: file.path, columns) }
  }

  /// Gives the file its name, and returns its path after a verb; `nil` for a table of a database.
  func save() throws -> String? {
    guard let file else { return nil }
    try file.finish()
    return file.summary
  }
}
