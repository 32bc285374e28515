package import AggregatorKit
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

  private static let defaultTime = Duration.seconds(30)

  /// The memory limit of SQLite in bytes, enough for sorting and a few large values.
  private static let maxMemory = 64 << 20

  package init(_ invocation: Invocation, in context: CommandContext) throws(CommandError) {
    views = context.catalog.plugins.flatMap { SQLView.all(of: $0) }
    limit = invocation.duration(.timeout) ?? Self.defaultTime
    time = QueryTime(limit)
    attached = try AttachedFiles(
      invocation.texts(.attach), beside: views.map(\.name), within: time, in: context)
    self.invocation = invocation
  }

  package func tables(in context: CommandContext) async throws(CommandError) -> [SQLTable] {
    let store = try store(in: try context.localEnvironment())
    let sources = views.map {
      SQLTable(schema: nil, name: $0.name, columns: store.columns(of: $0))
    }
    guard !attached.files.isEmpty else { return sources }
    do {
      let query = try await store.query(
        "SELECT 1", over: [], and: attached.files, within: limit)
      return sources + (await query.attachedTables)
    } catch {
      throw CommandError(error)
    }
  }

  private func store(in environment: PluginEnvironment) throws(CommandError) -> any DatabaseStore {
    guard let store = try environment.requiredStore().capabilities.database else {
      throw CommandError(.notFound, "this store does not support SQL")
    }
    guard store.joinsOtherTables || attached.files.isEmpty else {
      throw CommandError(
        .usage,
        "\(Option.attach.spelling) does not work with a store in \(store.databaseName)",
        hint: .words(
          "copy the file into a table of its database, or export the source and use DuckDB"))
    }
    return store
  }

  package func run(
    _ text: String, within limit: QueryTime, in context: CommandContext
  ) async throws -> ExitCode {
    let output = try OutputOptions(invocation, in: context)
    let environment =
      invocation.has(.sync) ? try context.environment() : try context.localEnvironment()
    let store = try store(in: environment)
    let records = try environment.requiredStore()
    var time = limit
    var failures: [SourceWarning] = []
    var isPartial = false
    do {
      // A query reads the file itself.
      for view in views where text.lowercased().contains(view.name) {
        try await records.prepare(view.source.source)
      }
      if invocation.has(.sync) {
        let names = try await store.query(
          text, over: views, and: attached.files, within: time.left
        ).sources
        // A download has limits of its own.
        failures = await time.pausing { await sync(names, in: environment, records, context) }
      }
      store.boundQueryMemory(to: Self.maxMemory)
      context.progress.say { "Running query…" }
      var views = views
      if store.joinsOtherTables {
        // Of bundled records where none are cached.
        views = []
        for plugin in context.catalog.plugins {
          views += try await SQLView.all(of: plugin, for: text, in: environment)
        }
      }
      let query = try await store.query(
        text, over: views, and: attached.files, within: time.left)
      let interruption = await query.cancellation.map { Interruption.atEnd($0) }
      defer { interruption?.cancel() }
      let bundled = views.filter { $0.bundled != nil }.map(\.source.source)
      let gaps = try await records.gaps(of: query.sources, among: context.catalog.plugins).map {
        bundled.contains($0.warning.source ?? "") ? $0.filledByBundledRecords : $0
      }
      let doubts = await records.warningsOfUnknownSecrets(query.sources)
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
          try printer.print(page.map { SQLRow(values: $0) })
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
        let remedy = gap.command.map { " · \(context.diagnostics.command($0))" } ?? ""
        context.diagnostics.note("note: \(gap.warning.warning.message)\(remedy)")
      }
    } catch let error as SourceError {
      throw CommandError(error, suggestion: (error.cause as? SQLTypo)?.nearest)
    }
    return isPartial ? .partial : .success
  }

  /// Downloads sources before a query, and returns what has failed.
  private func sync(
    _ names: [String], in environment: PluginEnvironment, _ store: any Store,
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

extension Store {
  /// Puts records of a source away that must not be shown; a query reads the store itself.
  fileprivate func prepare(_ source: String) async throws(SourceError) {
    try await permitted { () async throws(SourceError) in
      try await capabilities.scopes?.prepare(source)
    }
  }

  /// Warns of sources whose records may be those of another account.
  fileprivate func warningsOfUnknownSecrets(_ sources: [String]) async -> [SourceWarning] {
    var warnings: [SourceWarning] = []
    for source in sources {
      guard let warning = await warningOfUnknownSecret(source) else { continue }
      warnings.append(SourceWarning(source, warning))
    }
    return warnings
  }

  /// The gaps in the cached records of some sources.
  fileprivate func gaps(
    of sources: [String], among plugins: [any Plugin]
  ) async throws(SourceError) -> [CacheGap] {
    try await permitted { () async throws(SourceError) in
      var gaps: [CacheGap] = []
      for plugin in plugins where sources.contains(plugin.name) {
        if let gap = try await plugin.gap(in: self) { gaps.append(gap) }
      }
      return gaps
    } ?? []
  }

  /// `nil` if the role of the store may read the views, but not the store.
  private func permitted<Answer>(
    _ body: () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer? {
    do throws(SourceError) { return try await body() } catch {
      guard error.missingRight != nil else { throw error }
      return nil
    }
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

extension SQLView {
  /// The tables of a source and of its lists.
  package static func all<P: Plugin>(of plugin: P) -> [SQLView] {
    all(of: plugin.name, plugin.fields, plugin.tables)
  }

  /// The tables for a query, with bundled records if the store of the environment has none of the source.
  fileprivate static func all<P: Plugin>(
    of plugin: P, for query: String, in environment: PluginEnvironment
  ) async throws(SourceError) -> [SQLView] {
    var views = all(of: plugin)
    let query = query.lowercased()
    guard query.contains(plugin.name.lowercased()) else { return views }
    let local = try await plugin.localRecords(in: environment)
    guard !local.isCached else { return views }
    var records: [BundledRecord] = []
    do throws(SourceError) {
      let pages = local.source.pages(size: 1000).makeAsyncIterator()
      while let step = try await pages.next() {
        records += step.items.compactMap { item in
          (try? CanonicalJSON.bytes(of: item)).map {
            BundledRecord(id: item.id.description, json: $0)
          }
        }
      }
    } catch  where [.nothingCached, .offline].contains(error.code) {
      return views
    }
    for index in views.indices where query.contains(views[index].name.lowercased()) {
      views[index].bundled = records
    }
    return views
  }
}

struct SQLRow: Record {
  /// A constant that equals no value, so that a table treats no column as the IDs.
  var id: String { "\u{0}" }

  let values: [SQLValue]

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
    case .null, .bool, .text: false
    }
  }
}

/// The time limit of a query, from reading its files to its last row.
///
/// Time in which the reader of the output keeps the program waiting, such as a pager, does not count.
package struct QueryTime: Sendable {
  private var end: ContinuousClock.Instant
  private let waited = Output.timeWaited

  init(_ limit: Duration) { end = .now + limit }

  /// Zero or less once it is over.
  package var left: Duration { end - .now + (Output.timeWaited - waited) }

  /// Runs `body`, whose time does not count either.
  package mutating func pausing<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    let start = ContinuousClock.now
    defer { end += .now - start }
    return try await body()
  }
}
