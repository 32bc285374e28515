package import AggregatorKit
package import AggregatorTerminal

package struct SourceOptions {
  package let cachePolicy: CachePolicy

  /// The time limit for one page; `nil` for the source's own.
  package let deadline: Duration?

  package init(_ invocation: Invocation) {
    var cachePolicy = CachePolicy(
      mayAskService: !invocation.has(.offline), refreshes: invocation.has(.refresh),
      mayFallBack: !invocation.has(.noFallback))
    cachePolicy.overridesPauses = cachePolicy.refreshes
    self.cachePolicy = cachePolicy
    deadline = invocation.duration(.timeout)
  }

  /// By default a local-first source fetches more only if nothing is cached; an error
  /// has code `settings`.
  package func source<P: Plugin>(
    of plugin: P, in environment: PluginEnvironment, growing growth: LoadMorePolicy = .whenEmpty
  ) throws(CommandError) -> any DataSource<P.Item> {
    var cachePolicy = cachePolicy
    cachePolicy.growth = growth
    return try CommandError.wrapping(
      of: plugin,
      try plugin.source(in: environment, deadline: deadline).erased.cachePolicy(cachePolicy))
  }

  /// Fails with code `io` without a store.
  package func sync<P: Plugin>(
    of plugin: P, in environment: PluginEnvironment
  ) throws(CommandError) -> Sync<P.Item> {
    let store = try environment.requiredStore()
    return try CommandError.wrapping(
      of: plugin,
      try plugin.sync(into: store, in: environment, cachePolicy: cachePolicy, deadline: deadline))
  }

  package func upstreamLoader<P: Plugin>(
    of plugin: P, in environment: PluginEnvironment
  ) throws(CommandError) -> UpstreamLoader<P.Item>? {
    try CommandError.wrapping(
      of: plugin,
      try plugin.upstreamLoader(in: environment, cachePolicy: cachePolicy, deadline: deadline))
  }
}

package struct RecordingOptions {
  package static func settings(of program: ProgramName) -> [Setting] {
    [record(program), replay(program)]
  }

  private static func record(_ program: ProgramName) -> Setting {
    Setting(
      program.variable("RECORD"), .directory, about: "directory for recordings, like --record")
  }

  private static func replay(_ program: ProgramName) -> Setting {
    Setting(program.variable("REPLAY"), .directory, about: "recording to replay, like --replay")
  }

  private let recorded: String?
  private let replayed: String?

  /// Fails with code `usage` for both options, `settings` for a relative path in a file.
  package init(
    _ invocation: Invocation, _ settings: SourceSettings, of program: ProgramName
  ) throws(CommandError) {
    let (record, replay) = (Self.record(program), Self.replay(program))
    recorded = try Self.path(invocation.text(.record), else: record, settings)
    replayed = try Self.path(invocation.text(.replay), else: replay, settings)
    guard recorded == nil || replayed == nil else {
      func name(_ option: Option, _ setting: Setting) -> String {
        invocation.has(option) ? option.spelling : setting.key
      }
      throw .exclusive(name(.record, record), name(.replay, replay))
    }
  }

  package var isOn: Bool { recorded != nil || replayed != nil }

  /// Replays with an empty store, redacts the secrets of all `known` settings, and fails for a
  /// directory that cannot be written, or is not a recording.
  func applied(
    to environment: PluginEnvironment, knowing known: [Setting]
  ) throws(CommandError) -> PluginEnvironment {
    guard isOn else { return environment }
    var environment = environment
    environment.store = try SQLiteStore.temporary()
    if let recorded {
      return try CommandError.wrapping(
        try environment.recording(into: URL(filePath: recorded), hiding: known))
    }
    if let replayed {
      return environment.replaying(
        try CommandError.wrapping(try Recording(URL(filePath: replayed))), knowing: known)
    }
    return environment
  }

  /// An option or variable may be relative to the working directory, a file may not.
  private static func path(
    _ option: String?, else setting: Setting, _ settings: SourceSettings
  ) throws(CommandError) -> String? {
    if let option { return option }
    if settings.origin(of: setting) == .environment { return settings.text(setting) }
    return try CommandError.wrapping(try settings.directory(setting))
  }
}

extension Invocation {
  /// The sources of `--source`, or all.
  package func sources(in context: CommandContext) throws(CommandError) -> [any Plugin] {
    guard let names = list(.source) else { return context.catalog.plugins }
    guard !names.isEmpty else { throw CommandError(.usage, "missing value for --source") }
    for name in names { _ = try context.catalog.plugin(named: name) }
    return context.catalog.plugins.filter { names.contains($0.name) }
  }
}
