import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorSourceCommands
import AggregatorTerminal

extension CommandTree.Node {
  static func store(_ plugins: [any Plugin]) -> CommandTree.Node {
    CommandTree.Node(
      "store", "Show and clear cached records", .storeStatus,
      children: [
        .init("store status", "Show the number of cached records per source", .storeStatus),
        .init("store clear", "Remove the cached records of a source", .clearStore(plugins)),
        .init(
          "store scopes", "Show what is kept of sources with other settings", .storeScopes),
        .init("store adopt", "Show the records of another scope", .adoptScope(plugins)),
        .init("store copy", "Copy everything to another store; resumes if interrupted", .copyStore),
        .init("store path", "Print the path of the store, or its URL", .storePath),
        .init(
          "store init-sql-role", "Create a PostgreSQL role for sql that may only read", .initSQLRole
        ),
      ])
  }
}

extension Command {
  fileprivate static let storeStatus = Command(
    options: Option.formatting, fields: StoreEntry.fields,
    examples: [("store", "show the number of cached records per source")],
    run: showStatus)

  private static func showStatus(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    try invocation.refuseArguments()
    let output = try OutputOptions(invocation, in: context)
    let environment = try context.localEnvironment()
    let store = try environment.requiredStore()
    var entries: [StoreEntry] = []
    var activities: [String] = []
    var kept: [String] = []
    for plugin in context.catalog.plugins {
      entries.append(
        StoreEntry(
          id: plugin.name, status: try await store.status(of: plugin.name),
          lastSync: try await plugin.lastSync(in: store)))
      let scopes = try await store.capabilities.scopes?.scopes(of: plugin.name) ?? []
      let count = scopes.count { !$0.isShown }
      if count > 0 { kept.append("\(count) of \(plugin.name)") }
      if store.isShared, let activity = try await plugin.activity(in: environment, store) {
        activities.append(activity)
      }
    }
    var listing = try output.plainListing("store", StoreEntry.self)
    // No number but 0 is left out for want of room.
    listing.layout = StoreEntry.layout
    listing.prefersCards = output.format == .cards
    try RecordPrinter.print(entries, as: listing, output, in: context)
    for activity in activities { context.diagnostics.note(activity) }
    let syncs = entries.compactMap { $0.lastSyncText(at: environment.now()) }
    if !syncs.isEmpty { context.diagnostics.note("Last syncs: \(syncs.joined(separator: "; "))") }
    if !kept.isEmpty {
      let command = context.diagnostics.command("store scopes")
      context.diagnostics.note(
        "Kept of other scopes: \(kept.joined(separator: ", ")) · \(command)")
    }
    let files = try context.imageFiles(environment.settings)
    let sources = try await store.capabilities.scopes?.sources() ?? []
    for name in sources where !context.catalog.sources.contains(name) {
      let left = try await CachedData(of: name, in: store, files, .everything)
      if !left.isEmpty { context.note(left, keptAs: name, isKnown: false) }
    }
    for note in try await notes(on: store) { context.diagnostics.note(note) }
    if let location = try context.storeLocation(environment.settings) {
      try await context.warnOfUnfinishedCopy(into: store, at: location)
    }
    if let files {
      let usage = await files.usage()
      if usage.count > 0 {
        context.diagnostics.note(
          "\(files.path), \(usage.count.of("image")), \(usage.bytes.byteCount)")
      }
    }
    return .success
  }

  /// The location of the store, its size and its state.
  private static func notes(on store: any SourceStore) async throws(SourceError) -> [String] {
    guard let facts = try await store.capabilities.database?.facts() else { return [] }
    let missing = facts.server == nil ? "does not exist yet" : "no store yet"
    let place = [facts.location, facts.server, facts.bytes?.byteCount ?? missing]
    return [place.compactMap(\.self).joined(separator: ", "), facts.search].compactMap(\.self)
      + facts.standbys.map(\.text)
  }

  fileprivate static func clearStore(_ plugins: [any Plugin]) -> Command {
    Command(
      "SOURCE", words: CompletionSource.source(plugins), needs: .init(newest: true),
      options: [.forgetDeleted, .history, .scope, .yes, .dryRun],
      notes: [
        "The history of changes and cached images are removed too. Deleted records stay deleted unless --forget-deleted is given. "
          + "Positions of next are kept.",
        "--scope removes what is kept of another scope; see store scopes.",
      ],
      examples: plugins.prefix(1).map {
        ("store clear \($0.name) --yes", "remove all cached \($0.name)")
      }, run: clearStore)
  }

  private static func clearStore(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    try invocation.refuseArguments(after: 1)
    let name = try invocation.names("SOURCE", of: context.catalog.sources)[0]
    let plugin = context.catalog.plugins.first { $0.name == name }
    let environment = try context.localEnvironment()
    let store = try environment.requiredStore()
    if let scope = invocation.text(.scope) {
      return try await clear(scope, of: name, invocation, context)
    }
    guard !invocation.has(.history) else {
      return try await clearHistory(of: name, in: store, invocation, context)
    }
    let files = try context.imageFiles(environment.settings)
    do {
      let cached = try await CachedData(
        of: name, called: plugin?.noun, in: store, files,
        !invocation.has(.forgetDeleted) ? .records : plugin == nil ? .everything : .deletions)
      // A source that was removed may have left records.
      if cached.isEmpty { _ = try context.catalog.plugin(named: name) }
      try await context.remove(cached.text) { try await cached.remove() }
    } catch let error as SourceError {
      throw plugin.map { CommandError(error, of: $0) } ?? CommandError(error)
    }
    return .success
  }

  /// Removes what is kept of a scope that is not shown.
  private static func clear(
    _ name: String, of source: String, _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let plugin = try context.catalog.plugin(named: source)
    let store = try context.scopedStore()
    do {
      guard let scope = try await store.scopes(of: source).first(where: { $0.name == name }) else {
        throw CommandError.unknownScope(name, of: source)
      }
      guard !scope.isShown else {
        throw CommandError(
          .usage, "\(source) shows the scope \(name)", hint: .command("store clear \(source)"))
      }
      let subject =
        "\(plugin.noun.count(scope.status.records)) and \(scope.status.deleted.of("deletion"))"
      try await context.remove(subject) { _ = try await store.clearScope(name, of: source) }
      return .success
    } catch let error as SourceError {
      throw CommandError(error, of: plugin)
    }
  }

  private static func clearHistory(
    of name: String, in store: any SourceStore, _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let count = try await store.status(of: name).history?.count ?? 0
    // A source that was removed may have left changes.
    if count == 0 { _ = try context.catalog.plugin(named: name) }
    try await context.remove("\(count.of("change")) of \(name)") {
      try await store.clearHistory(of: name)
    }
    return .success
  }

  fileprivate static let storePath = Command(
    examples: [("store path", "print the path of the store")]
  ) { invocation, context in
    try invocation.refuseArguments()
    let environment = try context.localEnvironment()
    _ = try environment.requiredStore()
    let location = try context.storeLocation(environment.settings)
    try context.output.write("\(location?.description ?? "")\n")
    return .success
  }
}

extension Plugin {
  /// The present sync of this source in words: `products: web1:4711 fetches 3 pages, web2:99 2 pages · 40 of 1000 pages done`.
  fileprivate func activity(
    in environment: PluginEnvironment, _ store: any SourceStore
  ) async throws(SourceError) -> String? {
    // A source that cannot be set up is not being synced from here, but nothing is wrong with the store.
    guard let sync = try? sync(into: store, in: environment),
      let activity = try await sync.activity()
    else { return nil }
    let workers = activity.workers.sorted { $0.key < $1.key }.enumerated().map { index, worker in
      let verb = index == 0 ? " fetches" : ""
      return "\(worker.key)\(verb)\(worker.value.map { " \($0.of("page"))" } ?? " alone")"
    }
    let total = activity.pageCount.map { " of \($0)" } ?? ""
    let done = activity.pages.map { " · \($0)\(total) pages done" } ?? ""
    return "\(name): \(workers.joined(separator: ", "))\(done)"
  }
}

private struct StoreEntry: Entry {
  let id: String
  let status: StoreStatus
  let lastSync: LastSync?

  /// The times of the last syncs: `heroes 2 days ago, changes just now`.
  func lastSyncText(at now: Date) -> String? {
    lastSync?.words(at: now).map { "\(id) \($0)" }
  }

  /// The numbers that are not 0, and the age: `2 deleted · 3 pages · last fetched 5 min ago`; `nil` for none.
  private var others: String? {
    let counts = [
      (status.deleted, "deleted"), (status.removedUpstream, "removed upstream"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    let pages = [(status.pages, "page"), (status.history?.count ?? 0, "change")]
      .filter { $0.0 > 0 }.map { $0.0.of($0.1) }
    let fetched = status.fetchedAt.map { "last fetched \($0.age(at: Now.current.date))" }
    let words = counts + pages + [fetched].compactMap(\.self)
    return words.isEmpty ? nil : words.joined(separator: " · ")
  }

  /// A line or two where the columns have no room.
  static let layout = RecordLayout<StoreEntry>(
    .block(
      heading: \.id, badge: { $0.status.records.of("record") }, detail: \.others),
    card: fields.map(\.name))

  static let fields: [Field<StoreEntry>] = [
    Field("source", "Source", \.id, about: "The source."),
    Field(
      "records", "Records", \.status.records,
      about: "The number of records, without deleted and removed ones."),
    Field(
      "deleted", "Deleted", \.status.deleted, about: "The number of deleted IDs, cached or not."),
    Field(
      "removedUpstream", "Removed upstream", \.status.removedUpstream,
      about: "The number of records that a sync of all did not find any more."),
    Field("pages", "Pages", \.status.pages, about: "The number of cached pages."),
    Field(
      "fetchedAt", "Last fetched", \.status.fetchedAt?.iso8601,
      about: "Time of the newest fetched page."),
    Field(
      "lastFull", "Last full sync", \.lastSync?.full?.iso8601,
      about: "Time of the last full sync, if it was complete.", isShown: false),
    Field(
      "lastIncremental", "Last incremental sync", \.lastSync?.incremental?.iso8601,
      about: "Time of the last incremental sync since then.", isShown: false),
    Field("changes", "Changes", .integer, about: "The number of changes in the history.") {
      .integer($0.status.history?.count ?? 0)
    },
  ]
}
