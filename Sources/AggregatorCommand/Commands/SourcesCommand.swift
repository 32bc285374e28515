import AggregatorKit

extension CommandTree.Node {
  static func sources(_ plugins: [any Plugin]) -> CommandTree.Node {
    CommandTree.Node(
      "sources", "List sources", .sources,
      children: [
        .init(
          "sources show", "Show a source's verbs, fields, settings and operator chain",
          .showSource(plugins)),
        .init(
          "sources check", "Check each service's health",
          .checkSources(plugins)),
      ])
  }
}

extension Command {
  fileprivate static let sources = Command(
    options: Option.output, fields: SourceEntry.fields,
    examples: [("sources", "list sources")]
  ) { invocation, session in
    try invocation.refuseArguments()
    let output = try OutputOptions(invocation, in: session)
    let settings = try session.settings()
    let entries = session.tree.plugins.map { SourceEntry($0, settings) }
    try RecordPrinter.print(
      entries, as: output.plainListing("sources", SourceEntry.self), output, in: session)
    return .success
  }

  fileprivate static func showSource(_ plugins: [any Plugin]) -> Command {
    Command(
      "NAME", words: CompletionSource.source(plugins), options: Option.reading + Option.output,
      fields: SourceDetail.fields,
      examples: plugins.prefix(1).map {
        ("sources show \($0.name)", "show details of a source")
      },
      run: showSource)
  }

  private static func showSource(
    _ invocation: Invocation, _ session: Session
  ) async throws -> ExitCode {
    let name = try invocation.argument("NAME")
    let plugin = try session.tree.plugin(named: name)
    let output = try OutputOptions(invocation, in: session)
    let entry = try SourceDetail(
      plugin, session.environment(), SourceOptions(invocation))
    try RecordPrinter.print(
      [entry], as: output.plainListing("show", SourceDetail.self, shape: .cards), output,
      in: session)
    return .success
  }
}

extension Plugin {
  /// The state of the API key: `set`, `missing` or `not needed`.
  func keyState(_ settings: Settings) -> String {
    let secret = self.settings.first(where: \.isSecret)
    return secret.map { settings.secret($0) == nil ? "missing" : "set" } ?? "not needed"
  }

  /// The settings of this source with their origins, secrets redacted.
  func shownSettings(_ settings: Settings) -> [String] {
    self.settings.map { setting in
      "\(setting.key) = \(settings.shown(setting)) (\(settings.origin(of: setting)))"
    }
  }
}

private struct SourceEntry: Entry {
  let id: String
  let summary: String
  let key: String

  init(_ plugin: some Plugin, _ settings: Settings) {
    id = plugin.name
    summary = plugin.summary
    key = plugin.keyState(settings)
  }

  static let fields: [Field<SourceEntry>] = [
    Field("name", "Name", \.id, about: "The name on the command line."),
    Field("summary", "Summary", \.summary, about: "The description."),
    Field("key", "Key", \.key, about: "The API key: set, missing or not needed."),
  ]
}

private struct SourceDetail: Entry {
  let id: String
  let summary: String
  let verbs: [String]
  let fieldNames: [String]
  let settings: [String]
  let chain: String

  init<P: Plugin>(
    _ plugin: P, _ environment: PluginEnvironment, _ options: SourceOptions
  ) throws(CommandError) {
    id = plugin.name
    summary = plugin.summary
    verbs = plugin.node.children.map(\.word)
    fieldNames = plugin.fields.map(\.name)
    settings = plugin.shownSettings(environment.settings)
    chain = "\(try options.source(of: plugin, in: environment))"
  }

  static let fields: [Field<SourceDetail>] = [
    Field("name", "Name", \.id, about: "The name on the command line."),
    Field("summary", "Summary", \.summary, about: "The description."),
    Field("verbs", "Verbs", \.verbs, about: "The verbs."),
    Field("fields", "Fields", \.fieldNames, about: "The fields of a record."),
    Field("settings", "Settings", \.settings, about: "The settings and their origins."),
    Field("chain", "Operators", \.chain, about: "The chain of operators, the service first."),
  ]
}
