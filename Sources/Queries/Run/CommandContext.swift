package import AggregatorKit
import AggregatorTelemetry
package import AggregatorTerminal
import Synchronization

/// A run of the program: its command line, environment variables and output.
package final class CommandContext: Sendable {
  package let catalog: SourceCatalog
  package let variables: [String: String]
  package let terminal: Terminal
  package let output: Output
  /// Standard output for records.
  package let listingOutput: ListingOutput
  /// True if the output goes to a file, whatever standard output is.
  private let isRedirected: Bool
  package let diagnostics: Diagnostics
  package let progress: Progress

  package let currentDate: CurrentDate

  /// The signing in of this run, which ends before the process does.
  package let signIns: SignIns

  package let invocation: Invocation

  package init(
    _ invocation: Invocation, of catalog: SourceCatalog, variables: [String: String],
    _ signIns: SignIns = SignIns()
  ) {
    let terminal = Terminal(variables, of: catalog.name)
    let output = Output(descriptor: STDOUT_FILENO)
    let listingOutput = ListingOutput(
      output,
      through: terminal.height == nil || !terminal.obeysEscapes || invocation.has(.noPager)
        || invocation.text(.jq) != nil || invocation.has(.image)
        ? nil : Pager(variables, of: catalog.name),
      size: (terminal.height ?? 0, terminal.width))
    var diagnostics = Diagnostics(
      of: catalog.name, isQuiet: invocation.has(.quiet),
      hasColor: Self.hasColor(invocation, terminal, isTerminal: terminal.isError),
      width: terminal.isError ? terminal.width : nil, after: listingOutput)
    diagnostics.isJSON = invocation.text(.logFormat) == "json"
    self.catalog = catalog
    self.variables = variables
    self.terminal = terminal
    self.output = output
    self.listingOutput = listingOutput
    isRedirected = false
    self.diagnostics = diagnostics
    progress = Progress(on: terminal, isQuiet: invocation.has(.quiet))
    currentDate = CurrentDate()
    self.signIns = signIns
    self.invocation = invocation
  }

  /// The same run with other diagnostics, or with its output in a file.
  private init(_ other: CommandContext, _ diagnostics: Diagnostics, writingTo file: Output? = nil) {
    catalog = other.catalog
    variables = other.variables
    terminal = other.terminal
    output = file ?? other.output
    listingOutput =
      file.map { ListingOutput($0, through: nil, size: (0, 0)) } ?? other.listingOutput
    isRedirected = file != nil || other.isRedirected
    self.diagnostics = diagnostics
    progress = other.progress
    currentDate = other.currentDate
    signIns = other.signIns
    invocation = other.invocation
  }

  /// This run with a new pager, and the size that the terminal has now.
  package func renewed() -> CommandContext {
    CommandContext(invocation, of: catalog, variables: variables, signIns)
  }

  /// This run with the sources that the folder of added sources has now.
  package func rereadingSources() -> CommandContext {
    CommandContext(invocation, of: catalog.reread, variables: variables, signIns)
  }

  /// This run without notes and warnings.
  package var quiet: CommandContext {
    CommandContext(self, Diagnostics(of: catalog.name, isQuiet: true, hasColor: false))
  }

  /// This run with its output in a file.
  package func writing(to output: Output) -> CommandContext {
    CommandContext(self, diagnostics, writingTo: output)
  }

  package var terminalLayout: TerminalLayout {
    if isRedirected {
      return TerminalLayout(width: terminal.width, isTerminal: false, hasColor: false)
    }
    // Without color the output is plain text, to be logged or searched: the cursor does not move.
    let hasColor = Self.hasColor(invocation, terminal, isTerminal: terminal.isOutput)
    return TerminalLayout(
      width: terminal.width,
      isTerminal: terminal.isOutput && terminal.obeysEscapes && hasColor,
      hasColor: hasColor, hasLinks: terminal.hasLinks, isRead: terminal.isOutput)
  }

  /// True if what is drawn on a terminal has colors, whatever standard output is.
  package var hasColorOnTerminal: Bool {
    Self.hasColor(invocation, terminal, isTerminal: true)
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

  func settingsLoader(knowing others: [Setting] = []) -> SettingsLoader {
    SettingsLoader(
      catalog.settingGroups + [others], environment: variables,
      workingDirectory: FileManager.default.currentDirectoryPath, build: Self.build,
      program: catalog.program)
  }

  /// The settings of this run, also those of a source that is being added, and warnings about them.
  package func loadSettings(
    knowing others: [Setting] = []
  ) throws(SourceError) -> SettingsLoader.Loaded {
    let store = StoreLocation.setting(of: catalog.name).key
    return try settingsLoader(knowing: others).load(
      options: invocation.text(.store).map { [store: $0] } ?? [:],
      configFile: invocation.text(.config))
  }

  /// The settings of this run, also those of a source that is being added; prints their warnings.
  package func settings(knowing others: [Setting] = []) throws(CommandError) -> SourceSettings {
    let loaded = try CommandError.wrapping(try loadSettings(knowing: others))
    for warning in loaded.warnings { diagnostics.warning(warning.message) }
    return loaded.settings
  }

  /// For commands that may send requests; recorded or replayed on demand.
  package func environment() throws(CommandError) -> PluginEnvironment {
    let local = try localEnvironment()
    let environment = try RecordingOptions(invocation, local.settings, of: catalog.name).applied(
      to: local, knowing: catalog.settingGroups.flatMap(\.self))
    currentDate.follow(environment.now)
    return environment
  }

  /// The environment of plugins, for commands that use only the local store.
  package func localEnvironment(
    knowing others: [Setting] = [], isStrict: Bool = false
  ) throws(CommandError) -> PluginEnvironment {
    let settings = try settings(knowing: others)
    var environment = PluginEnvironment(
      settings: settings, transport: HTTPTransport.standard,
      store: try store(settings, isStrict: isStrict),
      observer: Tracer.observing(tracingObserver.reporting(to: progress)))
    environment.tokenDirectory = try directories(settings).state.map {
      URL(filePath: "\($0)/tokens")
    }
    environment.sources = { [plugins = catalog.plugins] in plugins }
    environment.downloadDirectory = try directories(settings).cache.map {
      URL(filePath: "\($0)/downloads")
    }
    environment.maxSize = invocation.size(.maxSize)
    environment.readsChangedFiles = !invocation.has(.offline)
    environment.overridesPauses = invocation.has(.refresh)
    signIns.add(environment.authorizer)
    return environment
  }

  /// Prints what `--verbose` says of requests.
  package var tracingObserver: Observer {
    invocation.has(.verbose) ? Observer(tracing: diagnostics) : .silent
  }

  package func directories(_ settings: SourceSettings) throws(CommandError) -> Directories {
    try Directories(of: catalog.name, settings, variables: variables)
  }

  package func imageFiles(_ settings: SourceSettings) throws(CommandError) -> ImageDiskCache? {
    try directories(settings).cache.map { ImageDiskCache(in: "\($0)/images") }
  }

  package func userSettingsFile() throws(CommandError) -> String {
    guard let path = settingsLoader().userFile else {
      // A relative directory.
      _ = try directories(settings())
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

/// The renewals of tokens in a run.
///
/// A service may have replaced a refresh token already, and the process must not exit before it has the new one.
package final class SignIns: Sendable {
  private let authorizers = Mutex<[Authorizer]>([])

  func add(_ authorizer: Authorizer) { authorizers.withLock { $0.append(authorizer) } }

  /// Waits for the renewals in flight, 30 s at most.
  package func finish() async {
    for authorizer in authorizers.withLock(\.self) { await authorizer.finish() }
  }
}

/// The date of a run: the system's, or that of the recording being replayed.
package final class CurrentDate: Sendable {
  private let source = Mutex<@Sendable () -> Date>({ Date() })

  package var value: Date { source.withLock(\.self)() }

  package func follow(_ now: @escaping @Sendable () -> Date) { source.withLock { $0 = now } }
}
