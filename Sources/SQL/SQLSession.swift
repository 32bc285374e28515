import AggregatorKit
import AggregatorPostgres
package import AggregatorQueries
package import AggregatorTerminal

/// The tables and options of the queries of a run.
package struct SQLSession: Sendable {
  package let views: [SQLView]
  package let attached: AttachedFiles
  package let invocation: Invocation

  /// The time limit of each query.
  package let limit: Duration
  /// That of the first query, which began with reading the files.
  package let time: QueryTime

  private let program: ProgramName

  private static let defaultTime = Duration.seconds(30)

  /// The memory limit of SQLite in bytes, enough for sorting and a few large values.
  private static let maxMemory = 64 << 20

  package init(_ invocation: Invocation, in context: CommandContext) throws(CommandError) {
    views = context.catalog.plugins.map { SQLView($0) }
    limit = invocation.duration(.timeout) ?? Self.defaultTime
    time = QueryTime(limit)
    attached = try AttachedFiles(
      invocation.texts(.attach), beside: views.map(\.name), within: time, in: context)
    self.invocation = invocation
    program = context.catalog.name
  }

  /// The tables of sources and attached files.
  package func tables(in context: CommandContext) async throws(CommandError) -> [SQLTable] {
    let database = try database(in: try context.localEnvironment())
    let sources = database.tables(of: views)
    guard case .file(let store, _) = database, !attached.files.isEmpty else { return sources }
    do {
      let query = try await store.query(
        "SELECT 1", over: [], and: attached.files, within: limit)
      return sources + (await query.attachedTables)
    } catch {
      throw CommandError(error)
    }
  }

  /// The tables of sources for a query: of bundled records where none are cached, if the store is a file.
  private func views(
    for text: String, of plugins: [any Plugin], in environment: PluginEnvironment,
    _ database: SQLDatabase
  ) async throws(SourceError) -> [SQLView] {
    guard case .file = database else { return views }
    var made: [SQLView] = []
    for plugin in plugins {
      made.append(try await SQLView(plugin, for: text, in: environment))
    }
    return made
  }

  private func database(in environment: PluginEnvironment) throws(CommandError) -> SQLDatabase {
    let database = try SQLDatabase(
      environment.requiredStore(),
      queriesTo: SQLAddress.chosen(by: environment.settings, of: program))
    if case .server = database, !attached.files.isEmpty {
      throw CommandError(
        .usage, "\(Option.attach.spelling) does not work with a store in PostgreSQL",
        hint: .words(
          "copy the file into a table of its database, or export the source and use DuckDB"))
    }
    return database
  }

  /// Prints the rows of a query.
  package func run(
    _ text: String, within limit: QueryTime, in context: CommandContext
  ) async throws -> ExitCode {
    let output = try OutputOptions(invocation, in: context)
    let environment =
      invocation.has(.sync) ? try context.environment() : try context.localEnvironment()
    let database = try database(in: environment)
    var time = limit
    var failures: [SourceWarning] = []
    var isPartial = false
    do {
      // A query reads the file itself.
      for view in views where text.lowercased().contains(view.name) {
        try await database.prepare(view.name)
      }
      if invocation.has(.sync) {
        let names = try await database.query(
          text, over: views, and: attached.files, within: time.left
        ).sources
        // A download has limits of its own.
        failures = await time.pausing { await sync(names, in: environment, database, context) }
      }
      SQLiteStore.boundMemory(to: Self.maxMemory)
      context.progress.say { "Running query…" }
      let views = try await views(for: text, of: context.catalog.plugins, in: environment, database)
      let query = try await database.query(
        text, over: views, and: attached.files, within: time.left)
      let bundled = views.filter { $0.bundled != nil }.map(\.name)
      let gaps = try await database.gaps(of: query.sources, among: context.catalog.plugins).map {
        bundled.contains($0.warning.source ?? "") ? $0.filledByBundledRecords : $0
      }
      let doubts = await database.warningsOfUnknownSecrets(query.sources)
      let columns = await query.columns
      let omissions = doubts + (await query.omissions)
      for omission in omissions {
        context.diagnostics.warning("\(omission.source ?? ""): \(omission.warning.message)")
      }
      let warnings = omissions + failures + gaps.map(\.warning)
      var rows = try await query.page(within: time.left)
      var listing = output.listing(of: text, SQLRow.fields(columns, like: rows ?? []))
      listing.prefersCards = true
      var printer = RecordPrinter(listing, output, in: context)
      var count = 0
      do {
        while let page = rows {
          try printer.print(page.map { SQLRow($0) })
          count += page.count
          rows = try await query.page(within: time.left)
        }
      } catch let error as SourceError {
        // The document is complete even if the records are not.
        let warning = SourceWarning(nil, Warning(Warning.Code(error.code), error.message))
        try printer.finish(ListingSummary(count: count, warnings: warnings + [warning]))
        throw error
      }
      try printer.finish(ListingSummary(count: count, total: count, warnings: warnings))
      isPartial = !failures.isEmpty || !doubts.isEmpty
      if count == 0, output.isForPeople { context.diagnostics.note("No rows") }
      for gap in gaps {
        context.diagnostics.note(
          "note: \(gap.warning.warning.message) · \(context.diagnostics.command(gap.command))")
      }
    } catch let error as SourceError {
      throw CommandError(error, suggestion: (error.cause as? SQLTypo)?.nearest)
    }
    return isPartial ? .partial : .success
  }

  /// Downloads sources before a query, and returns what has failed.
  private func sync(
    _ names: [String], in environment: PluginEnvironment, _ database: SQLDatabase,
    _ context: CommandContext
  ) async -> [SourceWarning] {
    var failures: [SourceWarning] = []
    for plugin in context.catalog.plugins where names.contains(plugin.name) {
      guard let failure = await plugin.complete(in: environment, database.store, context) else {
        continue
      }
      context.diagnostics.warning(failure.message, hint: failure.hint)
      failures.append(SourceWarning(plugin.name, Warning(.syncFailed, failure.message)))
    }
    return failures
  }
}

extension SQLResult {
  /// Warns of the records that are too large for a query.
  fileprivate var omissions: [SourceWarning] {
    tooLarge.sorted { $0.key < $1.key }.map { name, count in
      SourceWarning(
        name, Warning(.tooLarge, "\(count.of("record")) larger than 1 MB left out of the query"))
    }
  }
}
