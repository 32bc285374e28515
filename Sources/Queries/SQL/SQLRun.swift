import AggregatorFilters
package import AggregatorKit
package import AggregatorTerminal

/// A compiled query in SQL of local data, with what is known of its completeness.
package struct SQLRun: Sendable {
  package let result: any SQLResult
  package let columns: [String]

  /// The gaps in the cached records of the sources that the query reads.
  package let gaps: [CacheGap]

  /// Warnings of sources whose records may be those of another account, or have values that are not those of the service.
  package let doubts: [SourceWarning]

  /// Warnings of records that are too large for a query.
  package let omissions: [SourceWarning]

  /// The sources that the query reads, and that have secrets.
  private let sourcesWithSecrets: [String]

  /// The time limit of a query unless another one is given.
  package static let defaultTime = Duration.seconds(30)

  package init(
    _ text: String, of plugins: [any Plugin], in environment: PluginEnvironment,
    within time: QueryTime
  ) async throws {
    try await self.init(SQLStatement(text), of: plugins, in: environment, within: time)
  }

  /// Compiles a query over the tables of plugins, with bundled records where none are cached.
  ///
  /// - Throws: ``SourceError`` of the query or the store, or ``CommandError`` without a store for queries, or
  ///   for a source whose manifest cannot be used.
  package init(
    _ statement: SQLStatement, of plugins: [any Plugin], and attached: [SQLAttachment] = [],
    in environment: PluginEnvironment, within time: QueryTime
  ) async throws {
    let text = statement.text
    let store = try environment.databaseStore()
    let records = try environment.requiredStore()
    var views = plugins.flatMap { SQLView.all(of: $0) }
    try await records.prepare(views, for: text)
    if store.joinsOtherTables {
      views = []
      for plugin in plugins {
        views += try await SQLView.all(of: plugin, for: text, in: environment)
      }
    }
    let bundled = views.filter { $0.bundled != nil }.map(\.source.source)
    // What is missing now may be stored before it is looked for again, but not be among the rows.
    let missing = try await records.gaps(of: plugins, bundled) {
      text.lowercased().contains($0.lowercased())
    }
    let query = try await store.query(
      statement.withPatterns, over: views, and: attached, within: time.left)
    let sources = await query.sources
    for plugin in plugins where sources.contains(plugin.name) { try plugin.checkManifest() }
    let later = try await records.gaps(of: plugins, bundled) {
      sources.contains($0) && missing[$0] == nil
    }
    gaps = plugins.map(\.name).filter(sources.contains).compactMap { missing[$0] ?? later[$0] }
    doubts = await records.doubts(of: sources)
    omissions = await query.omissions
    sourcesWithSecrets = plugins.filter {
      sources.contains($0.name) && $0.settings.contains { $0.isSecret }
    }.map { $0.name }
    columns = await query.columns
    result = query
  }

  /// All warnings of an answer, as documents have them.
  package var warnings: [SourceWarning] { doubts + omissions + gaps.map(\.warning) }

  /// Warns if `REDACTED` stands in one of these rows.
  package func warnings(on rows: [[SQLValue]]) -> [SourceWarning] {
    guard !sourcesWithSecrets.isEmpty,
      rows.joined().contains(where: {
        if case .text(let text) = $0 { text.hasRedacted } else { false }
      })
    else { return [] }
    return sourcesWithSecrets.map { SourceWarning($0, .redacted) }
  }
}

extension SQLStatement {
  /// This statement, in which `REGEXP` takes the regular expressions of filters, and `matches` their conditions.
  package var withPatterns: SQLStatement {
    var statement = self
    statement.patterns = { text throws(SourceError) in
      do throws(FilterError) {
        let pattern = try Pattern(text)
        return { value, isOver in pattern.matches(value.cell, until: isOver) }
      } catch { throw SourceError(error) }
    }
    statement.conditions = { [now = Date()] text throws(SourceError) in
      do throws(FilterError) {
        let condition = try ValueCondition(text, at: now)
        return { value, isOver in condition.matches(value, until: isOver) }
      } catch { throw SourceError(error) }
    }
    return statement
  }
}

extension SourceError {
  fileprivate init(_ error: FilterError) {
    self.init(.invalidRequest, error.message, remedy: error.hint.map { Remedy($0) })
  }
}

extension PluginEnvironment {
  /// The store as one that answers queries.
  package func databaseStore() throws(CommandError) -> any DatabaseStore {
    guard let store = try requiredStore().capabilities.database else {
      throw CommandError(.notFound, "this store does not support SQL")
    }
    return store
  }
}

extension SourceStore {
  /// Puts records away that must not be shown; a query reads the store itself.
  package func prepare(_ views: [SQLView], for query: String) async throws(SourceError) {
    let query = query.lowercased()
    for view in views where query.contains(view.name) {
      try await permitted { () async throws(SourceError) in
        try await capabilities.scopes?.prepare(view.source.source)
      }
    }
  }

  fileprivate func doubts(of sources: [String]) async -> [SourceWarning] {
    var warnings: [SourceWarning] = []
    for source in sources {
      warnings += await doubts(of: source).map { SourceWarning(source, $0) }
    }
    return warnings
  }

  /// The gaps in the cached records of sources, by their names; some are answered by bundled records.
  fileprivate func gaps(
    of plugins: [any Plugin], _ bundled: [String], where isRead: @Sendable (String) -> Bool
  ) async throws(SourceError) -> [String: CacheGap] {
    try await permitted { () async throws(SourceError) in
      var gaps: [String: CacheGap] = [:]
      for plugin in plugins where isRead(plugin.name) {
        let isBundled = bundled.contains(plugin.name)
        gaps[plugin.name] = isBundled ? plugin.gapOfBundledRecords : try await plugin.gap(in: self)
      }
      return gaps
    } ?? [:]
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

/// The time limit of a query, from reading its files to its last row.
///
/// Time in which the reader of the output keeps the program waiting, such as a pager, does not count.
package struct QueryTime: Sendable {
  private var end: ContinuousClock.Instant
  private let waited = Output.timeWaited

  package init(_ limit: Duration) { end = .now + limit }

  /// Zero or less once it is over.
  package var left: Duration { end - .now + (Output.timeWaited - waited) }

  /// Runs `body`, whose time does not count either.
  package mutating func pausing<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    let start = ContinuousClock.now
    defer { end += .now - start }
    return try await body()
  }
}
