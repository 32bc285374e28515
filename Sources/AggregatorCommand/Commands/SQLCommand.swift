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
      "[QUERY…]", words: { _, _ in .statement },
      options: [
        .sync, .attach, .parameter, .timeout.with(about: "time limit of the query (default 30s)"),
      ]
        + Option.formatting.filter { $0 != .fields },
      notes: [
        "Each source is a table of its cached records, without deleted ones, or of its bundled records while "
          + "nothing is cached: the column _origin, which * leaves out, is cached or bundled. No service is "
          + "contacted unless --sync is given; if records are missing, a warning says so, and the exit code is 3.",
        "The column _row, which * leaves out as well, has all of a record as the service has sent it, as JSON "
          + "text, in which whole numbers beyond 64 bits are rounded. A list in the records that a manifest declares is a table of its own, such as orders_lines: its "
          + "first columns are orders.id, the ID of the record, and position, from 0.",
        "IDs of added sources are numbers where the service sends numbers; numbers in IDs that are text compare "
          + "as such with CAST(id AS INTEGER).",
        "Without a query on a terminal, a console reads queries that end with a semicolon: \"\(program) sql .help\" "
          + "lists its commands.",
        "--attach joins other data, also several files. A .csv or .tsv file is a table with the name of the "
          + "file, whose first line names the columns, as \"export --headers\" writes it; tables of a database are NAME.TABLE.",
        "Lists are stored as JSON text; expand them with json_each. Booleans are 1 and 0; blobs are "
          + "shown in hexadecimal. Without an argument, or with -, the query is read from standard input. Several statements, and commands "
          + "of the console, run one after the other up to the first error. With --format table a table is cut where it does not fit, without it cards are printed. The SQL dialect is "
          + "that of SQLite, with all its functions except those that access files or load extensions. REGEXP takes the "
          + "regular expressions of filters, name REGEXP '^Fr', and matches() their conditions, matches(name, '~aland'). EXPLAIN QUERY PLAN shows how a query is run; in PostgreSQL, EXPLAIN.",
        "--param gives a value to a parameter of the query, which is never read as SQL: :NAME, in SQLite also @NAME and $NAME. A number is "
          + "one unless it is in single quotes, and NULL is no text; the console has .parameter.",
        "--timeout limits reading the files of --attach, the query and the output of its rows together, "
          + "but not the download of --sync, nor the time in which a pager or another reader waits.",
        "A store in PostgreSQL is queried in its own dialect, with its ~ for regular expressions: columns have types, "
          + "Booleans are true and false, values of added sources are text, and bundled records are not included. Superusers are refused: \"\(program) store "
          + "init-sql-role\" creates a role that may only read.",
      ] + columns(of: plugins),
      examples: [
        ("sql \"SELECT count(*) FROM \(first)\"", "the number of cached \(first)"),
        ("sql \"SELECT * FROM \(first)\" --csv", "all cached \(first) as CSV"),
        ("sql \"SELECT * FROM \(first)\" --sync", "download missing \(first) first"),
        ("sql \"SELECT * FROM \(first) WHERE name > :from\" --param from=M", "with a parameter"),
        ("sql --attach sales.csv \"SELECT * FROM sales\"", "query a CSV file, too"),
      ], run: sql)
  }

  /// A line for each table.
  private static func columns(of plugins: [any Plugin]) -> [String] {
    plugins.flatMap { SQLView.all(of: $0) }
      .map { "\($0.name): \($0.columns.joined(separator: ", "))" }
  }

  private static func sql(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    if invocation.arguments.isEmpty, SQLConsole.isPossible(invocation) {
      var console = SQLConsole(try SQLSession(invocation, in: context), in: context)
      return try await console.run()
    }
    if let file = invocation.arguments.first, invocation.arguments.count == 1,
      file.hasSuffix(".sql"), !file.contains(" ")
    {
      let path = String(file.trimmingPrefix("@")).typed
      throw CommandError(.usage, "\"\(file)\" is no query", hint: .command("sql < \(path)"))
    }
    let session = try SQLSession(invocation, in: context)
    var time = session.time
    let isRead =
      invocation.arguments.isEmpty && isatty(STDIN_FILENO) == 0 || invocation.arguments == ["-"]
    let text =
      isRead
      ? try await time.pausing {
        String(decoding: try StandardInput.read(atMost: maxInput), as: UTF8.self)
      } : invocation.arguments.joined(separator: " ")
    guard text.nonBlank != nil else {
      throw isRead
        ? CommandError(.usage, "standard input is empty", hint: "it must have a query")
        : .missingArgument("QUERY", hint: "pass it on standard input, or as an argument")
    }
    if !invocation.has(.jq), SQLConsole.isScript(text) {
      var console = SQLConsole(session, in: context)
      return try await console.run(script: text)
    }
    try session.checkParameters(of: text)
    return try await session.run(text, within: time, in: context)
  }

  static let initSQLRole = Command(
    "NAME", options: [.dryRun],
    notes: [
      "For a store in PostgreSQL. The role may read the tables that sql shows, also those of sources that "
        + "are added later, and nothing else of the store. It has no password yet. Creating a role needs "
        + "the right to (CREATEROLE): --dry-run prints the statements for an administrator.",
      "Then set the URL by which sql logs in as this role.",
    ],
    examples: [
      ("store init-sql-role reader", "create the role reader"),
      ("store init-sql-role reader --dry-run", "print the statements instead"),
    ],
    run: createRole)

  private static func createRole(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let name = try invocation.argument("NAME")
    let store = try context.localEnvironment().requiredStore()
    guard let roles = store.capabilities.roles else {
      throw CommandError(.usage, "this store has no roles: it is not in PostgreSQL")
    }
    let role = try await roles.sqlRole(name)
    guard !invocation.has(.dryRun) else {
      try context.output.write(role.script)
      return .success
    }
    do throws(SourceError) { try await roles.create(role) } catch {
      guard let reason = error.missingRight else { throw error }
      context.diagnostics.error(
        CommandError(
          .io, "cannot create the role \"\(name)\": \(reason)",
          hint: "run these statements as an administrator"))
      try context.output.write(role.script)
      return .io
    }
    let setting = SQLAddress.setting(of: context.catalog.name).key
    context.diagnostics.note(
      "The role \(name) may read the tables of sql, and nothing else of the store.")
    context.diagnostics.note(
      "Next: give it a password, with \\password in psql, and its URL to "
        + context.diagnostics.command("config set \(setting)"))
    return .success
  }
}

extension SQLRole {
  fileprivate var script: String { statements.map { "\($0);\n" }.joined() }
}
