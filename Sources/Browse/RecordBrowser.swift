package import AggregatorKit
package import AggregatorQueries
package import AggregatorTerminal

/// The full-screen browser of a terminal.
package struct RecordBrowser {
  private let sources: [any BrowsedSource]
  private let plugins: [any Plugin]
  private let environment: PluginEnvironment
  private let context: CommandContext
  private let hasPictures: Bool

  /// Fails with code `usage` without a terminal, or on one that cannot be drawn on.
  package init(
    of plugins: [any Plugin], in environment: PluginEnvironment, _ context: CommandContext
  ) throws(CommandError) {
    try Self.requireTerminal(context)
    self.plugins = plugins
    self.environment = environment
    self.context = context
    let chafa = try? Chafa(context.invocation, context, requiredBy: "a picture", inCells: true)
    hasPictures = chafa != nil
    sources = try plugins.map { plugin throws(CommandError) in
      try Self.source(of: plugin, environment, context, chafa)
    }
  }

  private static func source(
    of plugin: some Plugin, _ environment: PluginEnvironment, _ context: CommandContext,
    _ chafa: Chafa?
  ) throws(CommandError) -> any BrowsedSource {
    try BrowsedPlugin(plugin, in: environment, context, chafa: chafa)
  }

  /// Fails with code `usage`.
  package static func requireTerminal(_ context: CommandContext) throws(CommandError) {
    let list: Hint = "use a source's list and search"
    for (descriptor, name) in [(STDIN_FILENO, "input"), (STDOUT_FILENO, "output")]
    where isatty(descriptor) != 1 {
      throw CommandError(
        .usage, "browse requires a terminal: standard \(name) is not one", hint: list)
    }
    guard context.terminal.obeysEscapes else {
      throw CommandError(
        .usage, "browse requires a terminal with a cursor that can be moved: TERM is \"dumb\"",
        hint: list)
    }
  }

  /// Shows a source until the person leaves.
  ///
  /// - Parameters:
  ///   - name: The source to open; `nil` for the first one, with the list of sources in focus.
  ///   - change: What is asked for first.
  package func run(
    opening name: String?, _ change: (inout ListRequest) -> Void
  ) async throws -> ExitCode {
    var state = BrowseState(
      sources.map { .init($0.name, fields: $0.fields, syncPages: $0.isEndless ? 10 : nil) },
      isOffline: context.invocation.has(.offline), hasPictures: hasPictures,
      now: environment.now())
    let first = state.start(name, change)
    try sources.first { $0.name == state.source.name }?.check(state.source.list.request)
    let session = try BrowseSession(
      Theme(hasColor: context.terminalLayout.style.isOn, hasUTF8: context.terminal.hasUTF8),
      now: environment.now)
    let runner = EffectRunner(sources, plugins, environment, context) { session.post($0) }
    // The loop has a thread of its own: reading and drawing wait for the terminal.
    let (effects, continuation) = AsyncStream<BrowseEffect>.makeStream()
    for effect in first { continuation.yield(effect) }
    SystemThread.start { [state] in
      session.run(state) { continuation.yield($0) }
      continuation.finish()
    }
    for await effect in effects { runner.perform(effect) }
    await runner.finish()
    try session.failure?.get()
    return .success
  }
}
