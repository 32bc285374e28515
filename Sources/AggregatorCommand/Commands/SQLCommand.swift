import AggregatorKit

extension CommandTree.Node {
  static func sql(_ plugins: [any Plugin]) -> CommandTree.Node {
    CommandTree.Node("sql", "Query cached data with SQL (read-only)", .sql(plugins))
  }
}

extension Command {
  private static let defaultTime = Duration.seconds(30)

  /// The memory limit of SQLite in bytes, enough for sorting and a few large values.
  private static let maxMemory = 64 << 20

  /// More than SQLite accepts, so that SQLite reports the error.
  private static let maxInput = 200_000

  fileprivate static func sql(_ plugins: [any Plugin]) -> Command {
    let first = plugins.first?.name ?? "SOURCE"
    return Command(
      "QUERY…",
      options: [.timeout.with(about: "time limit of the query (default 30s)")]
        + Option.output.filter { $0 != .fields },
      notes: [
        "Each source is a table of its cached records, without deleted ones; no service is contacted. "
          + "Lists are JSON text, for json_each; Booleans are 1 and 0; blobs are shown in hexadecimal. "
          + "With - the query is read from standard input. The SQL dialect is that of SQLite."
      ] + views(of: plugins).map { "\($0.name): \($0.columns.joined(separator: ", "))" },
      examples: [
        ("sql \"SELECT count(*) FROM \(first)\"", "the number of cached \(first)"),
        ("sql \"SELECT * FROM \(first)\" --csv", "all cached \(first) as CSV"),
      ]
    ) { invocation, session in
      try await sql(over: views(of: plugins), invocation, session)
    }
  }

  private static func views(of plugins: [any Plugin]) -> [SQLView] {
    plugins.map { SQLView($0) }
  }

  private static func sql(
    over views: [SQLView], _ invocation: Invocation, _ session: Session
  ) async throws -> ExitCode {
    guard !invocation.arguments.isEmpty else { throw CommandError.missingArgument("QUERY") }
    let text =
      invocation.arguments == ["-"]
      ? String(decoding: try StandardInput.read(atMost: maxInput), as: UTF8.self)
      : invocation.arguments.joined(separator: " ")
    let output = try OutputOptions(invocation, in: session)
    guard let store = try session.localEnvironment().requiredStore() as? SQLiteStore else {
      throw CommandError(.notFound, "this store does not support SQL")
    }
    SQLiteStore.boundMemory(to: maxMemory)
    session.progress.say { "Running query…" }
    do {
      let query = try await store.query(
        text, over: views, within: invocation.duration(.timeout) ?? defaultTime)
      let columns = await query.columns
      var rows = try await query.page()
      let listing = output.listing(of: text, SQLRow.fields(columns, like: rows ?? []))
      var printer = RecordPrinter(listing, output, in: session)
      var count = 0
      do {
        while let page = rows {
          try printer.print(page.map { SQLRow($0) })
          count += page.count
          rows = try await query.page()
        }
      } catch let error as SourceError {
        // The document is complete even if the records are not.
        let warning = SourceWarning(nil, Warning(error.code.description, error.message))
        try printer.finish(ListingSummary(count: count, warnings: [warning]))
        throw error
      }
      try printer.finish(ListingSummary(count: count, total: count))
      if count == 0, output.isForPeople { session.diagnostics.note("No rows") }
    } catch let error as SourceError {
      throw CommandError(error, suggestion: (error.cause as? SQLTypo)?.nearest)
    }
    return .success
  }
}

struct SQLRow: Record {
  /// A constant that equals no value, so that a table treats no column as the IDs.
  var id: String { "\u{0}" }

  private let values: [SQLValue]

  init(_ values: [SQLValue]) { self.values = values }

  /// The second column `name` becomes `name_2`; the first rows decide whether a column is numeric.
  static func fields(_ names: [String], like rows: [[SQLValue]]) -> [Field<SQLRow>] {
    unique(names).enumerated().map { index, name in
      let values = rows.lazy.map { $0[index] }.filter { $0 != .null }
      let isNumeric = !values.isEmpty && values.allSatisfy(\.isNumber)
      return Field(name, name, isNumeric ? .number : .text, about: "A column.") {
        $0.values[index].json
      }
    }
  }

  private static func unique(_ names: [String]) -> [String] {
    var used = Set(names)
    var seen: Set<String> = []
    return names.map { name in
      if seen.insert(name).inserted { return name }
      var number = 2
      while !used.insert("\(name)_\(number)").inserted { number += 1 }
      return "\(name)_\(number)"
    }
  }
}

extension SQLValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .number: true
    case .null, .text: false
    }
  }
}
