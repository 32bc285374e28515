import AggregatorKit

extension CommandTree.Node {
  static func sql(_ plugins: [any Plugin], _ program: String) -> CommandTree.Node {
    CommandTree.Node("sql", "Query cached data with SQL (read-only)", .sql(plugins, program))
  }
}

extension Command {
  private static let defaultTime = Duration.seconds(30)

  /// The memory limit of SQLite in bytes, enough for sorting and a few large values.
  private static let maxMemory = 64 << 20

  /// More than SQLite accepts, so that SQLite reports the error.
  private static let maxInput = 200_000

  fileprivate static func sql(_ plugins: [any Plugin], _ program: String) -> Command {
    let first = plugins.first?.name ?? "SOURCE"
    return Command(
      "QUERY…",
      options: [.sync, .timeout.with(about: "time limit of the query (default 30s)")]
        + Option.formatting.filter { $0 != .fields },
      notes: [
        "Each source is a table of its cached records, without deleted ones. No service is contacted "
          + "unless --sync is given; a note says if records are missing. Bundled data is not included: "
          + "download records first with \"\(program) SOURCE sync\".",
        "Lists are stored as JSON text; expand them with json_each. Booleans are 1 and 0; blobs are "
          + "shown in hexadecimal. With - the query is read from standard input. The SQL dialect is "
          + "that of SQLite, with all its functions except those that access files or load extensions.",
      ] + views(of: plugins).map { "\($0.name): \($0.columns.joined(separator: ", "))" },
      examples: [
        ("sql \"SELECT count(*) FROM \(first)\"", "the number of cached \(first)"),
        ("sql \"SELECT * FROM \(first)\" --csv", "all cached \(first) as CSV"),
        ("sql \"SELECT * FROM \(first)\" --sync", "download missing \(first) first"),
      ]
    ) { invocation, context in
      try await sql(over: views(of: plugins), invocation, context)
    }
  }

  private static func views(of plugins: [any Plugin]) -> [SQLView] {
    plugins.map { SQLView($0) }
  }

  private static func sql(
    over views: [SQLView], _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    guard !invocation.arguments.isEmpty else { throw CommandError.missingArgument("QUERY") }
    let text =
      invocation.arguments == ["-"]
      ? String(decoding: try StandardInput.read(atMost: maxInput), as: UTF8.self)
      : invocation.arguments.joined(separator: " ")
    let output = try OutputOptions(invocation, in: context)
    let environment =
      invocation.has(.sync) ? try context.environment() : try context.localEnvironment()
    let checkedStore = try environment.requiredStore()
    let scoped = checkedStore as? ScopedStore<SQLiteStore>
    guard let store = scoped?.base ?? checkedStore as? SQLiteStore else {
      throw CommandError(.notFound, "this store does not support SQL")
    }
    let time = invocation.duration(.timeout) ?? defaultTime
    var failures: [SourceWarning] = []
    do {
      // A query reads the file itself.
      for view in views where text.lowercased().contains(view.name) {
        try await scoped?.prepare(view.name)
      }
      if invocation.has(.sync) {
        let names = try await store.query(text, over: views, within: time).sources
        for plugin in context.tree.plugins where names.contains(plugin.name) {
          guard let failure = await plugin.complete(in: environment, store, context) else {
            continue
          }
          context.diagnostics.warning(failure.message, hint: failure.hint)
          failures.append(SourceWarning(plugin.name, Warning("syncFailed", failure.message)))
        }
      }
      SQLiteStore.boundMemory(to: maxMemory)
      context.progress.say { "Running query…" }
      let query = try await store.query(text, over: views, within: time)
      let gaps = try await context.tree.plugins.gaps(of: query.sources, in: store)
      let columns = await query.columns
      let omissions = await query.tooLarge.sorted { $0.key < $1.key }.map { name, count in
        SourceWarning(
          name,
          Warning("tooLarge", "\(count.of("record")) larger than 1 MB left out of the query"))
      }
      for omission in omissions {
        context.diagnostics.warning("\(omission.source ?? ""): \(omission.warning.message)")
      }
      var rows = try await query.page()
      var listing = output.listing(of: text, SQLRow.fields(columns, like: rows ?? []))
      listing.prefersCards = true
      var printer = RecordPrinter(listing, output, in: context)
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
        try printer.finish(
          ListingSummary(
            count: count, warnings: omissions + failures + gaps.map(\.warning) + [warning]))
        throw error
      }
      try printer.finish(
        ListingSummary(
          count: count, total: count, warnings: omissions + failures + gaps.map(\.warning)))
      if count == 0, output.isForPeople { context.diagnostics.note("No rows") }
      for gap in gaps {
        context.diagnostics.note(
          "note: \(gap.warning.warning.message) · \(context.diagnostics.command(gap.command))")
      }
    } catch let error as SourceError {
      throw CommandError(error, suggestion: (error.cause as? SQLTypo)?.nearest)
    }
    return failures.isEmpty ? .success : .partial
  }
}

/// A source whose cache lacks records of the service, or may lack some.
struct CacheGap {
  let warning: SourceWarning

  /// The command that fetches the rest, without the program's name.
  let command: String
}

extension [any Plugin] {
  /// The gaps in the cached records of those sources that a query reads.
  fileprivate func gaps(
    of names: [String], in store: any Store
  ) async throws(SourceError) -> [CacheGap] {
    var gaps: [CacheGap] = []
    for plugin in self where names.contains(plugin.name) {
      gaps += [try await plugin.gap(in: store)].compactMap(\.self)
    }
    return gaps
  }
}

extension Plugin {
  /// `nil` if everything is cached, or if lists show no more than the cache either.
  func gap(in store: any Store) async throws(SourceError) -> CacheGap? {
    let coverage = try await store.coverage(of: name)
    let isGap =
      policy.readOrder == .localFirst ? coverage.cached == 0 : !coverage.isComplete
    guard isGap else { return nil }
    let verb = coverage.cached == 1 ? "is" : "are"
    let words =
      switch (coverage.cached, coverage.total) {
      case (0, _): "no \(name) are cached"
      case (let count, let total?): "\(count) of \(noun.count(total)) \(verb) cached"
      case (let count, nil): "\(noun.count(count)) \(verb) cached, possibly not all"
      }
    return CacheGap(
      warning: SourceWarning(name, Warning("incomplete", words)),
      command: syncArguments)
  }

  /// The arguments that fetch missing records.
  var syncArguments: String { "\(name) sync\(policy.isEndless ? " --max-pages 10" : "")" }

  /// Downloads missing records, one page of an endless source; what was fetched before a failure stays.
  func complete(
    in environment: PluginEnvironment, _ store: any Store, _ context: CommandContext
  ) async -> CommandError? {
    do {
      guard try await gap(in: store) != nil else { return nil }
      let sync = try sync(into: store, in: environment)
      let lock = try SyncLock(of: name, environment.settings, context)
      let result = try await lock.holding {
        let progress = SyncProgress(of: name, resumingWith: "\(name) sync", in: context)
        defer { progress.end() }
        return await sync.run(
          upTo: policy.isEndless ? 1 : nil, jobs: 1, waits: false, progress: progress.show)
      }
      return SyncReport(result, of: self, isWaiting: false).failure
    } catch let error as SourceError {
      return CommandError(error, of: self)
    } catch {
      return error as? CommandError ?? CommandError(.bug, "\(error)")
    }
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
