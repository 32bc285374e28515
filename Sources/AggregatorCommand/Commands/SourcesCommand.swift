import AggregatorKit

extension CommandTree.Node {
  /// `aggregator sources [show NAME | check [NAME…]]`.
  static func sources(_ plugins: [any Plugin]) -> CommandTree.Node {
    CommandTree.Node(
      "sources", "Show which sources there are", .sources,
      children: [
        .init(
          "sources show", "Show a source's settings, fields, verbs and how it answers",
          .showSource(plugins)),
        .init(
          "sources check", "Ask each service for a page, and say how it is",
          .checkSources(plugins)),
      ])
  }
}

extension Command {
  fileprivate static let sources = Command(
    options: Option.output, fields: SourceEntry.fields,
    examples: [("sources", "which sources there are")]
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
        ("sources show \($0.name)", "what there is to know about it")
      },
      run: showSource)
  }

  private static func showSource(
    _ invocation: Invocation, _ session: Session
  ) async throws -> ExitCode {
    let name = try invocation.argument("a source's NAME")
    let plugin = try session.tree.plugin(named: name)
    let output = try OutputOptions(invocation, in: session)
    let entry = try SourceDetail(
      plugin, session.environment(), ReadingOptions(invocation))
    try RecordPrinter.print(
      [entry], as: output.plainListing("show", SourceDetail.self, shape: .cards), output,
      in: session)
    return .success
  }
}

extension Plugin {
  /// Whether a key is set, missing or not needed.
  func keyState(_ settings: Settings) -> String {
    let secret = self.settings.first(where: \.isSecret)
    return secret.map { settings.secret($0) == nil ? "missing" : "set" } ?? "not needed"
  }

  /// What is set for this source, and where, a line each; nothing secret.
  func shownSettings(_ settings: Settings) -> [String] {
    self.settings.map { setting in
      "\(setting.key) = \(settings.shown(setting)) (\(settings.origin(of: setting)))"
    }
  }
}

/// A source in a list of sources.
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
    Field("name", "Name", \.id, about: "The word to type."),
    Field("summary", "Summary", \.summary, about: "What there is."),
    Field("key", "Key", \.key, about: "Whether a key is set, missing or not needed."),
  ]
}

/// All about one source.
private struct SourceDetail: Entry {
  let id: String
  let summary: String
  let verbs: [String]
  let fieldNames: [String]
  let settings: [String]
  let chain: String

  init<P: Plugin>(
    _ plugin: P, _ environment: PluginEnvironment, _ reading: ReadingOptions
  ) throws(CommandError) {
    id = plugin.name
    summary = plugin.summary
    verbs = plugin.node.children.map(\.word)
    fieldNames = plugin.fields.map(\.name)
    settings = plugin.shownSettings(environment.settings)
    chain = "\(try reading.source(of: plugin, in: environment))"
  }

  static let fields: [Field<SourceDetail>] = [
    Field("name", "Name", \.id, about: "The word to type."),
    Field("summary", "Summary", \.summary, about: "What there is."),
    Field("verbs", "Verbs", \.verbs, about: "What can be done with it."),
    Field("fields", "Fields", \.fieldNames, about: "What can be read of a record."),
    Field("settings", "Settings", \.settings, about: "What is set, and where."),
    Field("chain", "Chain", \.chain, about: "How an answer is found, the service first."),
  ]
}
