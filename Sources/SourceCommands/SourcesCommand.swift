package import AggregatorArguments
package import AggregatorKit
import AggregatorQueries
import AggregatorTerminal
import DeclaredSource

extension CommandTree.Node {
  package static func sources(_ plugins: [any Plugin]) -> CommandTree.Node {
    CommandTree.Node(
      "sources", "List sources", .sources,
      children: [
        .init("sources list", "List sources", .sources),
        .init(
          "sources show", "Show a source's verbs, fields, settings and operator chain",
          .showSource(plugins)),
        .init("sources add", "Add a source for a JSON API", .addSource),
        .init("sources edit", "Change the manifest of an added source", .editSource),
        .init("sources rename", "Give an added source another name", .renameSource),
        .init("sources export", "Write an added source as a Swift module", .exportSource),
        .init("sources remove", "Remove added sources", .removeSource),
        .init(
          "sources check", "Check each service's health",
          .checkSources(plugins)),
      ])
  }
}

extension Command {
  fileprivate static let sources = Command(
    options: Option.formatting, fields: SourceEntry.fields,
    examples: [("sources", "list sources")]
  ) { invocation, context in
    let output = try OutputOptions(invocation, in: context)
    // Sources are listed whatever the state of the store, and without asking a server.
    let environment = try? context.localEnvironment()
    let settings = try environment?.settings ?? context.settings()
    let store = environment?.store.flatMap { $0.isShared ? nil : $0 }
    var entries: [SourceEntry] = []
    for plugin in context.catalog.plugins {
      var entry = SourceEntry(plugin: plugin, settings: settings)
      if let store { await entry.read(store) }
      entries.append(entry)
    }
    var listing = try output.plainListing("sources", SourceEntry.self)
    listing.prefersCards = true
    try RecordPrinter.print(entries, as: listing, output, in: context)
    let partial = entries.filter { $0.isComplete == false }.map(\.id)
    if !partial.isEmpty, context.diagnostics.isForPeople {
      context.diagnostics.note("Possibly not all cached: \(partial.joined(separator: ", "))")
    }
    let bundled = entries.compactMap { entry in entry.bundled.map(entry.plugin.noun.count) }
    if !bundled.isEmpty, context.diagnostics.isForPeople {
      context.diagnostics.note("Bundled, while none are cached: \(bundled.joined(separator: ", "))")
    }
    return .success
  }

  fileprivate static func showSource(_ plugins: [any Plugin]) -> Command {
    Command(
      "SOURCE", words: CompletionSource.source(plugins),
      options: [.timeout] + Option.formatting,
      fields: SourceDetail.fields,
      examples: plugins.prefix(1).map {
        ("sources show \($0.name)", "show details of a source")
      },
      run: showSource)
  }

  private static func showSource(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let name = try invocation.argument("SOURCE")
    let plugin = try context.catalog.plugin(named: name)
    let output = try OutputOptions(invocation, in: context)
    let folder = plugin is DeclaredPlugin ? context.catalog.manifests : nil
    let manifest = try folder?.json(of: name).withoutSecrets.text
    let environment = try context.environment()
    let entry = SourceDetail(
      plugin: plugin, lastSync: try await plugin.lastSync(in: environment.store),
      settings: plugin.shownSettings(environment.settings),
      chain: try plugin.chain(in: environment, SourceOptions(invocation)),
      file: folder?.file(of: name), manifest: manifest)
    try RecordPrinter.print(
      [entry], as: output.plainListing("show", SourceDetail.self, shape: .cards), output,
      in: context)
    return .success
  }
}

extension Plugin {
  /// The state of the API key, or of all secrets: `set`, `missing` or `not needed`.
  func keyState(_ settings: SourceSettings) -> String {
    let secrets = self.settings.filter(\.isSecret)
    if secrets.isEmpty { return "not needed" }
    return secrets.contains { settings.secret($0) == nil } ? "missing" : "set"
  }

  /// The number of bundled records; `nil` if there are none.
  fileprivate func bundledCount() async -> Int? {
    try? await bundled.page(PageRequest(limit: 1)).total
  }

  fileprivate func chain(
    in environment: PluginEnvironment, _ options: SourceOptions
  ) throws(CommandError) -> String {
    "\(try options.source(of: self, in: environment))"
  }

  /// The times of the last complete syncs; `nil` without a store.
  package func lastSync(in store: (any SourceStore)?) async throws(SourceError) -> LastSync? {
    guard let store else { return nil }
    return try await recordStore(in: store).lastSync()
  }

  /// The settings of this source with their origins, secrets redacted.
  func shownSettings(_ settings: SourceSettings) -> [String] {
    self.settings.map { setting in
      "\(setting.key) = \(settings.shown(setting)) (\(settings.origin(of: setting)))"
    }
  }
}

private struct SourceEntry: Entry {
  let plugin: any Plugin
  let settings: SourceSettings
  /// `nil` if it is not known.
  var records: Int?
  var bundled: Int?
  /// `nil` if that is not known, or it has no end.
  var isComplete: Bool?
  var lastSync: Date?

  var id: String { plugin.name }
  var summary: String { plugin.summary }
  var kind: String { plugin is DeclaredPlugin ? "added" : "built-in" }
  var key: String { plugin.keyState(settings) }

  /// Takes note of what is cached; other commands tell of a store that cannot be read.
  mutating func read(_ store: any SourceStore) async {
    records = try? await store.status(of: plugin.name).records
    lastSync = try? await plugin.lastSync(in: store)?.completed
    if records == 0 { bundled = await plugin.bundledCount() }
    guard records != 0, !plugin.policy.isEndless else { return }
    do { isComplete = try await plugin.gap(in: store) == nil } catch {}
  }

  static let fields: [Field<SourceEntry>] = [
    Field("name", "Name", \.id, about: "The name on the command line."),
    Field("summary", "Summary", \.summary, about: "The description."),
    Field("key", "Key", \.key, about: "The API key: set, missing or not needed."),
    Field(
      "records", "Records", .integer,
      about: "The number of cached records; null if the store cannot be read, or is on a server."
    ) { $0.records.map(JSON.integer) ?? .null },
    Field(
      "lastSync", "Last sync", \.lastSync?.iso8601, about: "Time of the last complete sync."),
    Field("kind", "Kind", \.kind, about: "built-in or added."),
    Field(
      "bundled", "Bundled", .integer,
      about: "The number of bundled records that stand in for cached ones; null if any are cached.",
      isShown: false
    ) { $0.bundled.map(JSON.integer) ?? .null },
    Field(
      "complete", "Complete", .bool,
      about: "True if all records are cached, as far as is known; null for none or no end.",
      isShown: false
    ) { $0.isComplete.map(JSON.bool) ?? .null },
  ]
}

private struct SourceDetail: Entry {
  let plugin: any Plugin
  let lastSync: LastSync?
  let settings: [String]
  let chain: String
  let file: String?
  let manifest: String?

  var id: String { plugin.name }
  var summary: String { plugin.summary }
  var verbs: [String] { plugin.verbNames }
  var fieldNames: [String] { plugin.fieldEntries.map(\.id) }

  static let fields: [Field<SourceDetail>] = [
    Field("name", "Name", \.id, about: "The name on the command line."),
    Field("summary", "Summary", \.summary, about: "The description."),
    Field("verbs", "Verbs", \.verbs, about: "The verbs."),
    Field("fields", "Fields", \.fieldNames, about: "The fields of a record."),
    Field("settings", "Settings", \.settings, about: "The settings and their origins."),
    Field(
      "lastFull", "Last full sync", \.lastSync?.full?.iso8601,
      about: "Time of the last full sync, if it was complete."),
    Field(
      "lastIncremental", "Last incremental sync", \.lastSync?.incremental?.iso8601,
      about: "Time of the last incremental sync since then."),
    Field("chain", "Operators", \.chain, about: "The chain of operators, the service first."),
    Field("file", "File", \.file, about: "The path of the manifest of an added source."),
    Field("manifest", "Manifest", \.manifest, about: "The manifest, with literal secrets masked."),
  ]
}

extension JSON {
  /// A manifest whose author wrote secrets into it, without them.
  fileprivate var withoutSecrets: JSON {
    guard case .object(let members) = self, case .string(let url)? = self["url"] else {
      return self
    }
    var request = SourceRequest(url: url)
    if case .object(let headers)? = self["headers"] {
      request.headers = headers.compactMap { header in
        if case .string(let value) = header.value {
          .init(name: header.name, value: value)
        } else {
          nil
        }
      }
    }
    let secrets = request.extractSecrets(of: "masked", avoiding: [])
    func masked(_ text: String) -> JSON {
      .string(secrets.reduce(text) { $0.replacing("${\($1.setting)}", with: "…") })
    }
    return .object(
      members.map { member in
        switch member.name {
        case "url": JSON.Member("url", masked(request.url))
        case "headers":
          JSON.Member(
            "headers", .object(request.headers.map { JSON.Member($0.name, masked($0.value)) }))
        default: member
        }
      })
  }
}
