import AggregatorKit
import Foundation
import Synchronization

/// One run of the program: what it was started with, and where its output goes.
struct Session: Sendable {
  /// The commands that there are.
  let tree: CommandTree

  /// The variables of the process.
  let variables: [String: String]

  /// The terminal.
  let terminal: Terminal

  /// Standard output.
  let output: Output

  /// Words for people.
  let diagnostics: Diagnostics

  /// What takes so long.
  let progress: Progress

  /// What the calendar says.
  let calendar = SessionCalendar()

  private let invocation: Invocation

  /// A run of a command.
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

  /// What records are laid out on.
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

  /// Reads the settings.
  var settingsLoader: SettingsLoader {
    SettingsLoader(
      tree.settingGroups, environment: variables,
      workingDirectory: FileManager.default.currentDirectoryPath, build: Self.build)
  }

  /// What is set in this run.
  func settings() throws(CommandError) -> Settings {
    let loaded: SettingsLoader.Loaded
    do { loaded = try settingsLoader.load(configFile: invocation.text(.config)) } catch {
      throw CommandError(error)
    }
    for warning in loaded.warnings { diagnostics.warning(warning.message) }
    return loaded.settings
  }

  /// Everything that a plugin may touch, for a command that asks services.
  ///
  /// - Returns: The real world with the settings of this run, recorded or replayed if they say so.
  func environment() throws(CommandError) -> PluginEnvironment {
    let scenarioEnvironment = try scenarioEnvironment()
    let environment = try RecordingOptions(invocation, scenarioEnvironment.settings).applied(
      to: scenarioEnvironment, knowing: tree.settings)
    calendar.follow(environment.now)
    return environment
  }

  /// The real world with the settings of this run, for a command that only works on what is stored.
  func scenarioEnvironment() throws(CommandError) -> PluginEnvironment {
    let settings = try settings()
    return PluginEnvironment(
      settings: settings, transport: HTTPTransport.standard,
      store: try storePath(settings).map { path in
        SQLiteStore(at: path) { [diagnostics] in diagnostics.warning($0.message) }
      },
      observer: (invocation.has(.verbose) ? Observer(tracing: diagnostics) : .silent)
        .telling(progress))
  }

  /// Where the store's file is, or would be; `nil` where there is no place for it.
  ///
  /// - Parameter settings: What is set.
  /// - Returns: An absolute path.
  /// - Throws: ``CommandError`` with code `settings` if `AGGREGATOR_HOME` is none.
  func storePath(_ settings: Settings) throws(CommandError) -> String? {
    try Directories(settings, variables: variables).storePath
  }

  /// Where images are kept.
  ///
  /// - Parameter settings: What is set.
  /// - Returns: `nil` where there is no place for them.
  /// - Throws: ``CommandError`` with code `settings` if `AGGREGATOR_HOME` is a relative path.
  func imageFiles(_ settings: Settings) throws(CommandError) -> ImageDiskCache? {
    try Directories(settings, variables: variables).cache.map { ImageDiskCache(in: "\($0)/images") }
  }

  /// Where the user's own settings file is, or would be.
  func userSettingsFile() throws(CommandError) -> String {
    guard let path = settingsLoader.userFile else {
      throw CommandError(
        .settings, "there is no place for a settings file", hint: "set HOME or XDG_CONFIG_HOME")
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

/// What the calendar says in one run: the system's date, or what a recording says.
final class SessionCalendar: Sendable {
  private let source = Mutex<@Sendable () -> Date>({ Date() })

  /// The date.
  var date: Date { source.withLock(\.self)() }

  /// Goes by another date from now on.
  func follow(_ now: @escaping @Sendable () -> Date) { source.withLock { $0 = now } }
}
