package import AggregatorKit
package import AggregatorQueries
package import AggregatorTerminal

/// The full-screen browser of a terminal, and the picker of records amid another command.
package struct RecordBrowser {
  private let sources: [any BrowsedSource]
  private let plugins: [any Plugin]
  private let environment: PluginEnvironment
  private let context: CommandContext
  private let session: BrowseSession
  private let hasPictures: Bool
  private let reading: Reading
  /// The reason for which records end with the session; `nil` if the store keeps them.
  private let refusal: SourceError?

  /// The records that are shown, and whether the service may be asked for them.
  enum Reading { case service, local, deleted }

  /// Fails with code `usage` without a terminal, or on one that cannot be drawn on.
  package init(
    of plugins: [any Plugin], in environment: PluginEnvironment, _ context: CommandContext
  ) async throws(CommandError) {
    try Self.requireTerminal(context)
    try await self.init(
      of: plugins, in: environment, context, on: .standard,
      context.invocation.has(.offline) ? .local : .service)
  }

  init(
    of plugins: [any Plugin], in environment: PluginEnvironment, _ context: CommandContext,
    on device: BrowseDevice, _ reading: Reading
  ) async throws(CommandError) {
    self.plugins = plugins
    self.environment = environment
    self.context = context
    self.reading = reading
    let chafa = try? Chafa(
      context.invocation, context, requiredBy: "a picture", using: device.output)
    hasPictures = chafa != nil
    let session = try BrowseSession(
      Theme(hasColor: context.hasColorOnTerminal, hasUTF8: context.terminal.hasUTF8), on: device,
      hasKitty: chafa?.format == .kitty, now: environment.now)
    self.session = session
    var sources: [any BrowsedSource] = []
    var refusal: SourceError?
    for plugin in plugins {
      var environment = environment
      environment.observer = environment.observer.also(
        Self.pauses(of: plugin.name, now: environment.now) { session.post($0) })
      let failure = await environment.replaceStore(
        of: plugin.name, ifUnwritable: reading == .service, knowing: refusal)
      refusal = refusal ?? failure
      var source = try Self.source(of: plugin, environment, context, chafa, reading)
      source.refusal = failure
      sources.append(source)
    }
    self.sources = sources
    self.refusal = refusal
  }

  private static func source(
    of plugin: some Plugin, _ environment: PluginEnvironment, _ context: CommandContext,
    _ chafa: Chafa?, _ reading: Reading
  ) throws(CommandError) -> any BrowsedSource {
    try BrowsedPlugin(
      plugin, in: environment, context, chafa: chafa, areDeleted: reading == .deleted)
  }

  /// Posts the responses, the waits for a rate limit, and the times before which a service is not asked again.
  static func pauses(
    of name: String, now: @escaping @Sendable () -> Date,
    post: @escaping @Sendable (BrowseEvent) -> Void
  ) -> @Sendable (Event) -> Void {
    { event in
      switch event {
      case .waiting(let time, let reason):
        let end = now().addingTimeInterval(time / .seconds(1))
        post(.paused(name, Pause(until: end, "\(name): \(reason), waiting", isWait: true)))
      case .sent: post(.paused(name, nil))
      case .received: post(.received(name))
      case .fellBack(let error), .failed(_, _, let error):
        guard let time = error.retryAfter, let reason = error.pauseWords else { return }
        let end = now().addingTimeInterval(time / .seconds(1))
        post(.paused(name, Pause(until: end, "\(name): \(reason)", isWait: false)))
      default: break
      }
    }
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
  ///   - change: Changes the first request.
  package func run(
    opening name: String?, _ change: (inout ListRequest) -> Void
  ) async throws -> ExitCode {
    var state = state
    for line in EffectRunner.history(named: EffectRunner.columns, in: context)?.lines ?? [] {
      guard let (source, names) = EffectRunner.columns(in: line) else { continue }
      state.show(names, of: source)
    }
    for kind in [BrowseState.Prompt.filter, .condition, .query] {
      var lines = EffectRunner.history(named: EffectRunner.file(of: kind), in: context)?.lines ?? []
      if kind == .query { lines.removeAll { !LineInput.isStatement($0) } }
      var seen: Set<String> = []
      let newest = lines.reversed().filter { seen.insert($0).inserted }
      state.history[kind] = Array(newest.reversed())
    }
    let first = state.start(name, change)
    do throws(CommandError) {
      try sources.first { $0.name == state.source.name }?.check(state.source.list.request)
    } catch {
      var error = error
      // Nobody has named it.
      if name == nil { error.message = "\(state.source.name): \(error.message)" }
      throw error
    }
    try await show(state, first)
    return .success
  }

  /// The IDs of the records that the person picks; `nil` if they leave without one.
  func pick(
    _ picking: BrowseState.Picking, matching query: String, where condition: String
  ) async throws -> [String]? {
    var state = state
    let first = state.start(picking, matching: query, where: condition)
    try await show(state, first)
    return session.picked
  }

  private var state: BrowseState {
    BrowseState(
      sources.map { source in
        var shown = BrowseState.Source(
          source.name, fields: source.fields, syncPages: source.isEndless ? 10 : nil,
          scannedPages: source.scannedPages
        ) { request in
          do { try source.check(request) } catch { return EffectRunner.words(of: error) }
          return nil
        }
        shown.linkCommand = plugins.first { $0.name == source.name }?.linkCommand
        return shown
      },
      isOffline: reading != .service, hasPictures: hasPictures, now: environment.now())
  }

  private func show(_ state: BrowseState, _ first: [BrowseEffect]) async throws {
    let runner = EffectRunner(sources, plugins, environment, context) { session.post($0) }
    // The loop has a thread of its own: reading and drawing wait for the terminal.
    let (effects, continuation) = AsyncStream<BrowseEffect>.makeStream()
    for effect in first { continuation.yield(effect) }
    if let refusal {
      let words = "\(refusal.message); records are kept until you leave"
      session.post(.notice(Notice(.warning, words)))
    }
    SystemThread.start { [session] in
      session.run(state) { continuation.yield($0) }
      continuation.finish()
    }
    for await effect in effects { runner.perform(effect) }
    for name in await runner.finish() where refusal == nil {
      let command = context.diagnostics.command("\(name) sync")
      context.diagnostics.note("Interrupted; progress saved. Resume with: \(command)")
    }
    try session.failure?.get()
  }
}

extension SourceError {
  /// Why the service is not asked for a time, which is counted down after them; `nil` for other failures.
  var pauseWords: String? {
    guard retryAfter != nil else { return nil }
    return switch code {
    case .circuitOpen: "the service failed repeatedly, paused for"
    case .rateLimited: "\(message), paused for"
    default: nil
    }
  }
}
