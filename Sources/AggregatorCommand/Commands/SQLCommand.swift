import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorSQL
import AggregatorTerminal

extension Command {
  /// More than SQLite accepts, so that SQLite reports the error.
  private static let maxInput = 200_000

  static func sql(_ plugins: [any Plugin], _ program: String) -> Command {
    let first = plugins.first?.name ?? "SOURCE"
    return Command(
      "[QUERY…]",
      options: [.sync, .attach, .timeout.with(about: "time limit of the query (default 30s)")]
        + Option.formatting.filter { $0 != .fields },
      notes: [
        "Each source is a table of its cached records, without deleted ones, or of its bundled records while "
          + "nothing is cached: the column _origin, which * leaves out, is cached or bundled. No service is "
          + "contacted unless --sync is given; a note says if records are missing.",
        "Without a query on a terminal, a console reads queries that end with a semicolon: .help lists its "
          + "commands.",
        "--attach joins other data, also several files. A .csv or .tsv file is a table with the name of the "
          + "file, whose first line names the columns; tables of a database are NAME.TABLE.",
        "Lists are stored as JSON text; expand them with json_each. Booleans are 1 and 0; blobs are "
          + "shown in hexadecimal. With - the query is read from standard input. The SQL dialect is "
          + "that of SQLite, with all its functions except those that access files or load extensions.",
        "--timeout limits reading the files of --attach, the query and the output of its rows together, "
          + "but not the download of --sync, nor the time in which a pager or another reader waits.",
        "A store in PostgreSQL is queried in its own dialect: columns have types, Booleans are true and "
          + "false, values of added sources are text, and bundled records are not included. Superusers are refused: \"\(program) store "
          + "init-sql-role\" creates a role that may only read.",
      ] + plugins.map { SQLView($0) }.map { "\($0.name): \($0.columns.joined(separator: ", "))" },
      examples: [
        ("sql \"SELECT count(*) FROM \(first)\"", "the number of cached \(first)"),
        ("sql \"SELECT * FROM \(first)\" --csv", "all cached \(first) as CSV"),
        ("sql \"SELECT * FROM \(first)\" --sync", "download missing \(first) first"),
        ("sql --attach sales.csv \"SELECT * FROM sales\"", "query a CSV file, too"),
      ], run: sql)
  }

  private static func sql(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    guard !invocation.arguments.isEmpty else {
      guard SQLConsole.isPossible(invocation) else {
        throw CommandError.missingArgument(
          "QUERY", hint: .words("pass - to read the query from standard input"))
      }
      return try await SQLConsole(SQLSession(invocation, in: context), in: context).run()
    }
    let session = try SQLSession(invocation, in: context)
    var time = session.time
    let text =
      invocation.arguments == ["-"]
      ? try await time.pausing {
        String(decoding: try StandardInput.read(atMost: maxInput), as: UTF8.self)
      } : invocation.arguments.joined(separator: " ")
    return try await session.run(text, within: time, in: context)
  }
}
