package import AggregatorKit
import AggregatorSQLite

/// The `duckdb` program, which writes Parquet files.
package struct DuckDB: Sendable {
  /// The commands that install it.
  package static let installation = "brew install duckdb, pip install duckdb-cli"

  private let path: String
  private let variables: [String: String]

  /// Fails with code `unavailable` if it is not installed.
  package init(_ variables: [String: String]) throws(CommandError) {
    guard let path = ExternalProgram.path(of: "duckdb", variables) else {
      throw CommandError(
        .unavailable, "a .parquet file requires duckdb, which is not installed",
        hint: "install it (\(Self.installation)), or choose another format")
    }
    self.path = path
    self.variables = variables
  }

  /// Converts a file of NDJSON; fails with code `unavailable`.
  package func convert<Item>(
    _ rows: String, to file: String, _ columns: ParquetColumns<Item>
  ) throws(CommandError) {
    let status = ExternalProgram.run(
      arguments(rows, to: file, columns), variables, descriptors: [STDOUT_FILENO: STDERR_FILENO])
    guard status == 0 else { throw Self.failure }
  }

  /// Converts NDJSON within a minute, without blocking the thread; fails with code `unavailable`.
  package func parquet<Item>(
    of rows: TemporaryFile, _ columns: ParquetColumns<Item>
  ) async throws(CommandError) -> [UInt8] {
    let file = try TemporaryFile()
    rows.rewind()
    let child = ExternalProgram.start(
      arguments("/dev/stdin", to: "/dev/stdout", columns), variables,
      descriptors: [STDIN_FILENO: rows.descriptor, STDOUT_FILENO: file.descriptor])
    guard let child, await ExternalProgram.status(of: child, within: .seconds(60)) == 0 else {
      throw Self.failure
    }
    return file.bytes
  }

  private static let failure = CommandError(.unavailable, "duckdb could not write the file")

  private func arguments<Item>(
    _ rows: String, to file: String, _ columns: ParquetColumns<Item>
  ) -> [String] {
    let types = columns.types.map { "\($0.sqlText): '\($1)'" }.joined(separator: ", ")
    let query = """
      COPY (SELECT * FROM read_json(\(rows.sqlText), format = 'newline_delimited', columns = {\(types)})) \
      TO \(file.sqlText) (FORMAT parquet)
      """
    // The settings of the user's own sessions do not apply.
    return [path, "-init", "/dev/null", "-batch", "-bail", ":memory:", query]
  }
}

/// The columns of a Parquet file: of the kinds that their fields have, or else all values of the file.
package struct ParquetColumns<Item> {
  private let fields: [Field<Item>]
  private var kinds: [FieldKind?]

  package init(_ fields: [Field<Item>]) {
    self.fields = fields
    kinds = fields.map { $0.kind == .any ? nil : $0.kind }
  }

  /// Notes the values of records that are written.
  package mutating func add(_ records: [Item]) {
    for index in fields.indices where fields[index].kind == .any {
      for record in records where kinds[index] != .any {
        guard let kind = fields[index][record].fieldKind else { continue }
        let known = kinds[index] ?? kind
        let areNumbers = Set([known, kind]) == [.integer, .number]
        kinds[index] = known == kind ? kind : areNumbers ? .number : .any
      }
    }
  }

  fileprivate var types: [(name: String, type: String)] {
    zip(fields, kinds).map { ($0.name, ($1 ?? .any).duckDBType) }
  }
}

extension FieldKind {
  fileprivate var duckDBType: String {
    switch self {
    case .text: "VARCHAR"
    case .integer: "BIGINT"
    case .number: "DOUBLE"
    case .bool: "BOOLEAN"
    case .list: "VARCHAR[]"
    case .any: "JSON"
    }
  }
}
