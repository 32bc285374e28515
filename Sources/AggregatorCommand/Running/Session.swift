import AggregatorKit
import Foundation
import Synchronization

/// A run of the program: its command line, environment variables and output.
struct Session: Sendable {
  let tree: CommandTree
  let variables: [String: String]
  let terminal: Terminal
  let output: Output
  let diagnostics: Diagnostics
  let progress: Progress

  let currentDate = CurrentDate()

  private let invocation: Invocation

  init(_ invocation: Invocation, tree: CommandTree, variables: [String: String]) {
    let terminal = Terminal(variables)
    self.tree = tree
    self.variables = variables
    self.terminal = terminal
    self.invocation = invocation
    output = Output(descriptor: STDOUT_FILENO)
    progress = Progress(on: terminal, isQuiet: invocation.has(.quiet))
    diagnostics = Diagnostics(
      of: tree.program, isQuiet: invocation.has(.quiet),
      hasColor: Self.hasColor(invocation, terminal, isTerminal: terminal.isError),
      width: terminal.isError ? terminal.width : nil)
  }

  var terminalLayout: TerminalLayout {
    TerminalLayout(
      width: terminal.width, isTerminal: terminal.isOutput && terminal.obeysEscapes,
      hasColor: Self.hasColor(invocation, terminal, isTerminal: terminal.isOutput),
      hasLinks: terminal.hasLinks)
  }

  private static func hasColor(
    _ invocation: Invocation, _ terminal: Terminal, isTerminal: Bool
  ) -> Bool {
    switch invocation.text(.color) {
    case "always": true
    case "never": false
    default: isTerminal && terminal.wantsColor
    }
  }

  var settingsLoader: SettingsLoader {
    SettingsLoader(
      tree.settingGroups, environment: variables,
      workingDirectory: FileManager.default.currentDirectoryPath, build: Self.build)
  }

  /// The settings of this run; prints their warnings.
  func settings() throws(CommandError) -> Settings {
    let loaded: SettingsLoader.Loaded
    do { loaded = try settingsLoader.load(configFile: invocation.text(.config)) } catch {
      throw CommandError(error)
    }
    for warning in loaded.warnings { diagnostics.warning(warning.message) }
    return loaded.settings
  }

  /// For commands that may send requests; recorded or replayed on demand.
  func environment() throws(CommandError) -> PluginEnvironment {
    let local = try localEnvironment()
    let environment = try RecordingOptions(invocation, local.settings).applied(
      to: local, knowing: tree.settings)
    currentDate.follow(environment.now)
    return environment
  }

  /// The environment of plugins, for commands that use only the local store.
  func localEnvironment() throws(CommandError) -> PluginEnvironment {
    let settings = try settings()
    return PluginEnvironment(
      settings: settings, transport: HTTPTransport.standard,
      store: try storePath(settings).map { path in
        SQLiteStore(at: path) { [diagnostics] in diagnostics.warning($0.message) }
      },
      observer: (invocation.has(.verbose) ? Observer(tracing: diagnostics) : .silent)
        .reporting(to: progress))
  }

  /// The absolute path of the store; `nil` if there is no directory for it.
  func storePath(_ settings: Settings) throws(CommandError) -> String? {
    try Directories(settings, variables: variables).storePath
  }

  func imageFiles(_ settings: Settings) throws(CommandError) -> ImageDiskCache? {
    try Directories(settings, variables: variables).cache.map { ImageDiskCache(in: "\($0)/images") }
  }

  func userSettingsFile() throws(CommandError) -> String {
    guard let path = settingsLoader.userFile else {
      throw CommandError(
        .settings, "no directory for a settings file", hint: "set HOME or XDG_CONFIG_HOME")
    }
    return path
  }

  private static var build: SettingsLoader.Build {
    #if DEBUG
      .debug
    #else
      .release
    #endif
  }
}

/// The date of a run: the system's, or that of the recording being replayed.
final class CurrentDate: Sendable {
  private let source = Mutex<@Sendable () -> Date>({ Date() })

  var value: Date { source.withLock(\.self)() }

  func follow(_ now: @escaping @Sendable () -> Date) { source.withLock { $0 = now } }
}
