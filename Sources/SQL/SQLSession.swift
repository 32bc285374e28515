package import AggregatorKit
package import AggregatorQueries
package import AggregatorTerminal
import Synchronization

/// The tables and options of the queries of a run.
package struct SQLSession: Sendable {
  package let views: [SQLView]
  package let attached: AttachedFiles
  package let invocation: Invocation

  /// The values of parameters, by their names.
  package var parameters: [String: SQLValue] = [:]

  /// The text of null in tables and cards.
  package var nullText: String?

  /// The gaps whose remedies queries have named, and the times of fetches.
  private let said = SaidMessages()

  /// The width of tables in cells; `nil` for that of the terminal.
  package var width: Int?

  /// True or false if CSV and TSV have a line with the names of the columns; `nil` for what the options say.
  package var hasHeader: Bool?

  /// Those of the file into which several results go; `nil` for one of its own.
  var fileColumns: FileColumns?

  /// The time limit of each query.
  package let limit: Duration
  /// That of the first query, which began with reading the files.
  package let time: QueryTime

  package init(_ invocation: Invocation, in context: CommandContext) throws(CommandError) {
    views = context.catalog.plugins.flatMap { SQLView.all(of: $0) }
    limit = invocation.duration(.timeout) ?? SQLRun.defaultTime
    time = QueryTime(limit)
    attached = try AttachedFiles(
      invocation.texts(.attach), beside: views.map(\.name), within: time, in: context)
    self.invocation = invocation
    for text in invocation.texts(.parameter) {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else {
        throw CommandError(
          .usage, "invalid value \"\(text)\" for --param: must be NAME=VALUE",
          hint: "such as --param age=30")
      }
      try set(String(parts[0]), to: String(parts[1]))
    }
  }

  /// Refuses a parameter that a query, which names no other one, does not have: it would change nothing.
  package func checkParameters(of query: String) throws(CommandError) {
    let names = SQLStatement(query).parameterNames
    // SQLite knows parameters by other marks, too.
    guard let unused = parameters.keys.sorted().first(where: { !names.contains($0) }),
      names.allSatisfy(parameters.keys.contains), !query.contains(where: "?@$".contains)
    else { return }
    throw CommandError(
      .usage, "the query has no parameter \"\(unused)\"",
      hint: .words("leave it out, or name it in the query: :\(unused)"))
  }

  /// Sets a parameter, whose name may have its mark, as a person types its value.
  package mutating func set(_ name: String, to value: String) throws(CommandError) {
    parameters[try Self.parameter(name)] = SQLValue(typed: value)
  }

  /// The name of a parameter without its mark.
  package static func parameter(_ text: String) throws(CommandError) -> String {
    let name = String(text.trimmingPrefix(/[:@$]/))
    guard SQLStatement.isParameterName(name) else {
      throw CommandError(
        .usage, "invalid name \"\(text)\" of a parameter", hint: "use letters, digits and _")
    }
    return name
  }

  package func tables(in context: CommandContext) async throws(CommandError) -> [SQLTable] {
    let store = try store(in: try context.localEnvironment())
    let sources = views.map { view in
      var table = SQLTable(schema: nil, name: view.name, columns: store.columns(of: view))
      table.kinds = view.source.kinds
      return table
    }
    guard !attached.files.isEmpty else { return sources }
    do {
      let query = try await store.query(
        SQLStatement("SELECT 1"), over: [], and: attached.files, within: limit)
      return sources + (await query.attachedTables)
    } catch {
      throw CommandError(error)
    }
  }

  /// The number of records that tell the kinds of undeclared columns.
  package static let sampleSize = 1000

  /// The kinds of the columns of a table that declare none, as its first records have them; without those of which the records have
  /// none or several, and empty if the store has texts for all.
  package func sampledKinds(
    of table: SQLTable, in context: CommandContext
  ) async -> [String: FieldKind] {
    let names = table.columns.filter { table.kinds[$0] ?? .any == .any }
    guard !names.isEmpty, let environment = try? context.localEnvironment(),
      (try? store(in: environment))?.joinsOtherTables == true
    else { return [:] }
    let types = names.map { "group_concat(DISTINCT typeof(\($0.sqlName)))" }
    let name = [table.schema, table.name].compactMap { $0?.sqlName }.joined(separator: ".")
    let text =
      "SELECT \(types.joined(separator: ", ")) FROM (SELECT * FROM \(name) LIMIT \(Self.sampleSize))"
    let run = try? await SQLRun(
      SQLStatement(text), of: context.catalog.plugins, and: attached.files, in: environment,
      within: QueryTime(limit))
    let row = try? await run?.result.page(within: limit)?.first
    var kinds: [String: FieldKind] = [:]
    for (name, value) in zip(names, row ?? []) {
      guard case .text(let text) = value else { continue }
      switch Set(text.split(separator: ",")).subtracting(["null"]) {
      case ["text"]: kinds[name] = .text
      case ["integer"]: kinds[name] = .integer
      case ["real"], ["integer", "real"]: kinds[name] = .number
      default: break
      }
    }
    return kinds
  }

  private func store(in environment: PluginEnvironment) throws(CommandError) -> any DatabaseStore {
    let store = try environment.databaseStore()
    guard store.joinsOtherTables || attached.files.isEmpty else {
      throw CommandError(
        .usage,
        "\(Option.attach.spelling) does not work with a store in \(store.databaseName)",
        hint: .words(
          "copy the file into a table of its database, or export the source and use DuckDB"))
    }
    return store
  }

  /// Runs a statement, and prints its rows in a format: that of the options, by default.
  ///
  /// - Parameter count: The number of characters before the statement in the text of which it is a part.
  package func run(
    _ text: String, after count: Int = 0, as format: Format? = nil, within limit: QueryTime,
    in context: CommandContext
  ) async throws -> ExitCode {
    let output =
      try format.map { OutputOptions($0, invocation, in: context) }
      ?? OutputOptions(invocation, in: context)
    let environment =
      invocation.has(.sync) ? try context.environment() : try context.localEnvironment()
    let store = try store(in: environment)
    let records = try environment.requiredStore()
    var time = limit
    var statement = SQLStatement(text, parameters)
    statement.charactersBefore = count
    var failures: [SourceWarning] = []
    var isPartial = false
    do {
      if invocation.has(.sync) {
        try await records.prepare(views, for: text)
        let names = try await store.query(
          statement.withPatterns, over: views, and: attached.files, within: time.left
        ).sources
        // A download has limits of its own.
        failures = await time.pausing { await sync(names, in: environment, records, context) }
      }
      context.progress.say { "Running query…" }
      let run = try await SQLRun(
        statement, of: context.catalog.plugins, and: attached.files, in: environment, within: time)
      let query = run.result
      let sources = await query.sources
      let interruption = await query.cancellation.map { Interruption.atEnd($0) }
      defer { interruption?.cancel() }
      let omissions = run.doubts + run.omissions
      for omission in omissions {
        context.diagnostics.warning("\(omission.source ?? ""): \(omission.warning.message)")
      }
      var warnings = omissions + failures + run.gaps.map(\.warning)
      var rows = try await query.page(within: time.left)
      var listing = try output.listing(ofQuery: text, run.columns, like: rows ?? [])
      listing.nullText = nullText ?? listing.nullText
      listing.hasHeader = hasHeader ?? listing.hasHeader
      if let fileColumns, listing.hasHeader ?? (output.format == .csv), output.format.isSeparated {
        let earlier = fileColumns.exchange(for: run.columns)
        listing.followsHead = earlier == run.columns
        if !earlier.isEmpty, !listing.followsHead {
          context.diagnostics.warning(
            "the file has a result with other columns already, so their names are in it again",
            hint: "write another file with .output or .once")
        }
      }
      var layout = context.terminalLayout
      if let width, layout.isRead {
        if width > layout.width {
          // The cursor does not move beyond the edge.
          layout.isTerminal = false
          context.listingOutput.widen()
        }
        layout.width = width
      }
      var printer = RecordPrinter(listing, output, in: context, on: layout)
      var count = 0
      var redacted: [SourceWarning] = []
      do {
        while let page = rows {
          if redacted.isEmpty { redacted = run.warnings(on: page) }
          try printer.print(page.map { SQLRow(values: $0) })
          count += page.count
          rows = try await query.page(within: time.left)
        }
      } catch let error as SourceError {
        // The document is complete even if the records are not.
        let warning = SourceWarning(nil, Warning(Warning.Code(error.code), error.message))
        try printer.finish(ListingSummary(count: count, warnings: warnings + redacted + [warning]))
        throw error
      }
      warnings += redacted
      try printer.finish(ListingSummary(count: count, total: count, warnings: warnings))
      for warning in redacted {
        context.diagnostics.warning("\(warning.source ?? ""): \(warning.warning.message)")
      }
      if printer.omittedColumns > 0 {
        let remedy =
          format == nil
          ? "\(Option.format.spelling) cards shows all"
          : ".mode cards shows all, and .width N allows a table of N cells"
        context.diagnostics.note(
          "note: \(printer.omittedColumns.of("column")) left out; \(remedy)")
      }
      if context.diagnostics.isForPeople {
        for name in sources {
          // A role that may read the views only does not read the status.
          guard let plugin = context.catalog.plugins.first(where: { $0.name == name }),
            let date = try? await plugin.oldestFetch(in: records),
            said.isFirst("\(name) \(date.timeIntervalSince1970)")
          else { continue }
          let age = date.age(at: environment.now())
          context.diagnostics.note("note: \(name): cached, fetched \(age)")
        }
      }
      isPartial =
        !failures.isEmpty || run.doubts.contains { !$0.warning.isOfValues } || !run.gaps.isEmpty
      if count == 0, output.isForPeople {
        // Columns of added sources have the kinds of their values, and a text equals no number.
        let mayDiffer =
          store.joinsOtherTables
          && context.catalog.plugins.contains {
            sources.contains($0.name) && $0.hasUndeclaredKinds
          }
        let number = mayDiffer ? text.firstMatch(of: /=\s*'(-?\d+)'/)?.1 : nil
        context.diagnostics.note(
          "No rows\(number.map { "; a number has no quotes: = \($0)" } ?? "")")
      }
      // Each number needs its warning; the remedy is known after the first.
      for gap in run.gaps {
        let words = "\(gap.warning.source ?? ""): \(gap.warning.warning.message)"
        context.diagnostics.warning(words, hint: said.isFirst(words) ? gap.hint : nil)
      }
    } catch let error as SourceError {
      throw Self.failure(error, of: text, in: context)
    }
    return isPartial ? .partial : .success
  }

  private static func failure(
    _ error: SourceError, of text: String, in context: CommandContext
  ) -> CommandError {
    let mistake = error.cause as? SQLMistake
    var failure = CommandError(error, suggestion: mistake?.nearest)
    failure.excerpt =
      mistake?.offset.map { text.excerpt(at: $0, width: context.terminal.width) } ?? []
    if let name = (error.cause as? SQLMissingParameter)?.name {
      failure.hint = .words("--param \(name)=VALUE, or .parameter set \(name) VALUE in the console")
    }
    return failure
  }

  /// Compiles the query of a command line that is saved, and throws what is wrong with it; parameters may have no values.
  ///
  /// Scripts, queries of files and those of a server, which would begin to run them, are not examined.
  package static func check(
    _ invocation: Invocation, in context: CommandContext
  ) async throws(CommandError) {
    // It is as it is written.
    let text = invocation.arguments.joined(separator: " ").replacing("$$", with: "$")
    guard text.contains(where: \.isLetter), !invocation.has(.attach), !SQLConsole.isScript(text)
    else { return }
    let session: SQLSession
    do throws(CommandError) { session = try SQLSession(invocation, in: context) } catch {
      if error.code == .usage { throw error }
      return
    }
    try await session.check(text, in: context)
  }

  /// Compiles a statement that is saved, and throws what is wrong with it.
  func check(_ text: String, in context: CommandContext) async throws(CommandError) {
    // A damaged store stays where it is.
    guard let environment = try? context.localEnvironment(isStrict: true),
      environment.store?.capabilities.database?.joinsOtherTables == true
    else { return }
    do {
      _ = try await SQLRun(
        SQLStatement(text, parameters), of: context.catalog.plugins, and: attached.files,
        in: environment, within: QueryTime(limit))
    } catch let error as SourceError
      where error.code == .invalidRequest && !(error.cause is SQLMissingParameter)
    {
      throw Self.failure(error, of: text, in: context)
    } catch let error as CommandError where error.code == .usage {
      throw error
    } catch {
      // Faults of the store or a source are none of the query.
    }
  }

  /// Downloads sources before a query, and returns what has failed.
  private func sync(
    _ names: [String], in environment: PluginEnvironment, _ store: any SourceStore,
    _ context: CommandContext
  ) async -> [SourceWarning] {
    var failures: [SourceWarning] = []
    for plugin in context.catalog.plugins where names.contains(plugin.name) {
      guard let failure = await plugin.complete(in: environment, store, context) else {
        continue
      }
      context.diagnostics.warning(failure.message, hint: failure.hint)
      failures.append(SourceWarning(plugin.name, Warning(.syncFailed, failure.message)))
    }
    return failures
  }
}

/// The messages of a console that are said once, with their remedies, until another number of records is cached, or they are fetched again.
private final class SaidMessages: Sendable {
  private let messages = Mutex<Set<String>>([])

  func isFirst(_ message: String) -> Bool { messages.withLock { $0.insert(message).inserted } }
}

extension Plugin {
  /// True if a field may have values of any kind.
  fileprivate var hasUndeclaredKinds: Bool { fields.contains { $0.kind == .any } }
}
