import AggregatorKit

extension CommandTree.Node {
  /// `aggregator sql QUERY…`.
  static func sql(_ plugins: [any Plugin]) -> CommandTree.Node {
    CommandTree.Node("sql", "Ask in SQL for what is stored; it only reads", .sql(plugins))
  }
}

extension Command {
  /// How long SQLite may work on a query where nobody says.
  private static let usualTime = Duration.seconds(30)

  /// The most memory that SQLite takes, in bytes: a few large values, and what sorting needs.
  private static let mostMemory = 64 << 20

  fileprivate static func sql(_ plugins: [any Plugin]) -> Command {
    let first = plugins.first?.name ?? "SOURCE"
    return Command(
      "QUERY…", options: [.timeout] + Option.output.filter { $0 != .fields },
      notes: [
        "Each source is a table of what is stored of it, without what was deleted; no service is asked. "
          + "Lists are JSON text, for json_each; yes and no are 1 and 0; bytes are shown in "
          + "hexadecimal digits. With - the query is read from standard input. SQLite (sqlite.org) may "
          + "work on it for 30 s, or --timeout."
      ] + views(of: plugins).map { "\($0.name): \($0.columns.joined(separator: ", "))" },
      examples: [
        ("sql \"SELECT count(*) FROM \(first)\"", "how many are stored"),
        ("sql \"SELECT * FROM \(first)\" --csv", "all of them, for a spreadsheet"),
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
    guard !invocation.arguments.isEmpty else { throw CommandError(.usage, "a QUERY is missing") }
    let text =
      invocation.arguments == ["-"]
      ? try SQLInput.read() : invocation.arguments.joined(separator: " ")
    let output = try OutputOptions(invocation, in: session)
    guard let store = try session.scenarioEnvironment().requiredStore() as? SQLiteStore else {
      throw CommandError(.notFound, "this store cannot be asked in SQL")
    }
    SQLiteStore.boundMemory(to: mostMemory)
    session.progress.say { "sql: asking the store" }
    do {
      let query = try await store.query(
        text, over: views, within: invocation.duration(.timeout) ?? usualTime)
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
        // What was printed is a whole document all the same.
        let warning = SourceWarning(nil, Warning(error.code.description, error.message))
        try printer.finish(ListingSummary(count: count, warnings: [warning]))
        throw error
      }
      try printer.finish(ListingSummary(count: count, total: count))
      if count == 0, output.isForPeople { session.diagnostics.note("no rows") }
    } catch let error as SourceError {
      throw CommandError(error, suggestion: (error.cause as? SQLTypo)?.nearest)
    }
    return .success
  }
}

/// A row of a query's answer.
struct SQLRow: Record {
  /// The same for all rows, and like no value: a table takes no column for that of the ids.
  var id: String { "\u{0}" }

  private let values: [SQLValue]

  /// A row.
  init(_ values: [SQLValue]) { self.values = values }

  /// The columns of an answer.
  ///
  /// - Parameters:
  ///   - names: Their names. The second `name` becomes `name_2`.
  ///   - rows: The first rows, which say whether a column has numbers.
  /// - Returns: A field for each column.
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
