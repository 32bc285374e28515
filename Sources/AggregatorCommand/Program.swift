import AggregatorArguments
import AggregatorFiles
public import AggregatorKit
import AggregatorQueries
import AggregatorSavedQueries
import AggregatorSinger
import AggregatorTelemetry
import AggregatorTerminal
import DeclaredSource

/// A command line over sources: `aggregator`, or your own program.
///
/// ```swift
/// @main
/// enum Main {
///   static func main() { Program("planets", plugins: [PlanetsPlugin()]).main() }
/// }
/// ```
/// Its directories and environment variables are named after it: `planets` keeps its store in
/// `~/.local/share/planets` and its settings in `~/.config/planets`, and reads `PLANETS_HOME`. The
/// variables of its settings keep their names.
public struct Program: Sendable {
  private let name: String
  private let version: String
  private let plugins: @Sendable () -> [any Plugin]

  /// A program with these sources, in the order of its help.
  ///
  /// - Parameters:
  ///   - name: ASCII letters, digits, `-` and `_`.
  ///   - version: The version for `--version`; this package's by default.
  ///   - plugins: The sources, which are made when they are needed.
  public init(
    _ name: String, version: String? = nil,
    plugins: @escaping @autoclosure @Sendable () -> [any Plugin]
  ) {
    self.name = name
    self.version = version ?? Version.current
    self.plugins = plugins
  }

  /// Runs the command line of this process, and exits.
  ///
  /// Call it first, because it blocks signals for threads created later.
  ///
  /// Not asynchronous, because on Linux the main thread of an asynchronous `main` ends up in `dispatch_main`,
  /// which unblocks all signals; they would then end the process without cleanup.
  public func main() -> Never {
    StandardDescriptors.fill()
    Interruption.ignoreClosedPipes()
    if printsVersion() { exit(ExitCode.success.rawValue) }
    do { try ProcessResources.prepare() } catch {
      Diagnostics(of: ProgramName(name), isQuiet: false, hasColor: false).error(error)
      exit(error.code.rawValue)
    }
    let signals = Interruption.block()
    start(CommandLine.words, CommandLine.variables)
    Interruption.wait(for: signals)
  }

  /// Starts the task that runs the command line and exits.
  private func start(_ arguments: [String], _ variables: [String: String]) {
    let isCompletion = arguments.first == CompletionAnswer.command
    let tree = CommandTree(
      name, version: version, plugins: plugins(),
      manifests: ManifestFolder(
        of: ProgramName(name), variables: variables,
        arguments: isCompletion ? CompletionAnswer.words(of: arguments) : arguments
      )?.startingTaps(
        ifSameAs: SettingsLoader.userDirectory(of: ProgramName(name), variables: variables).map {
          "\($0)/sources"
        }, variables: variables),
      savedQueries: SavedQueries(of: ProgramName(name), variables: variables))
    var line = isCompletion ? nil : ArgumentParser(tree).parse(arguments)
    if let expansion = line?.expansion, let command = expansion.command,
      CommandLine.firstInvalidWord == nil
    {
      // In this process, so that signals, job control and the exit code are those of the script.
      var variables = variables
      let variable = SavedQueries.variable(of: ProgramName(name))
      variables[variable] = ([variables[variable]].compactMap(\.self) + expansion.names).joined(
        separator: ":")
      line?.action = .failure(ExternalProgram.become(command, variables))
    }
    ProcessResources.shareArena(
      unlessFasterOtherwise: line?.command?.needs.ownArenas ?? false)
    // Not awaited: it exits.
    Task { [line] in
      guard let line else {
        let answer = CompletionAnswer(arguments.dropFirst(), tree, variables: variables)
        try? Output(descriptor: STDOUT_FILENO).write(answer?.text ?? "")
        exit(ExitCode.success.rawValue)
      }
      let code = await run(line, of: tree, variables: variables)
      Interruption.cleanUp()
      exit(code.rawValue)
    }
  }

  /// Prints the version if nothing else was asked for, which needs neither sources nor threads.
  ///
  /// False if that fails, too: the failure is reported like all others.
  private func printsVersion() -> Bool {
    guard CommandLine.argc == 2, ["--version", "-V"].contains(CommandLine.arguments[1]) else {
      return false
    }
    return (try? printVersion(to: Output(descriptor: STDOUT_FILENO))) != nil
  }

  private func printVersion(to output: Output) throws { try output.write("\(name) \(version)\n") }

  private func run(
    _ line: ArgumentParser.CommandLine, of tree: CommandTree, variables: [String: String]
  ) async -> ExitCode {
    let context = CommandContext(line.invocation, of: tree.catalog, variables: variables)
    let tracer = context.tracer(version)
    let code = await Tracer.$current.withValue(tracer) { await run(line, in: context, of: tree) }
    await context.signIns.finish()
    if let tracer {
      let error = code == .success ? nil : "exit code \(code.rawValue)"
      let loss = await tracer.finish(
        "\(tree.catalog.name.text) \(line.path)".trimmed, failing: error)
      if let loss { context.diagnostics.warning(loss) }
    }
    return code
  }

  private func run(
    _ line: ArgumentParser.CommandLine, in context: CommandContext, of tree: CommandTree
  ) async -> ExitCode {
    // Where they matter: the path is empty if a name was not found, and doctor has findings of its own.
    if ["", "help", "query"].contains(line.path.prefix { $0 != " " }) {
      for problem in tree.catalog.savedQueries.problems {
        context.diagnostics.warning(problem.message, hint: problem.remedy.map { Hint($0) })
      }
    }
    context.explain(line.expansion)
    do {
      if let argument = CommandLine.firstInvalidWord {
        throw CommandError(.usage, "argument \"\(argument)\" is not valid UTF-8")
      }
      try context.checkManifestFolder(for: line)
      switch try line.action.get() {
      case .version:
        try printVersion(to: context.output)
        return .success
      case .help(let node):
        try context.output.write(Help(tree, in: context).text(of: node))
        return .success
      case .run(let command):
        try ProcessResources.requireDescriptors(command.needs.descriptors)
        context.warnOfHiddenSources(at: line.path, among: tree)
        context.warnOfHiddenQueries(at: line.path)
        context.warnOfVisiblePassword()
        let drawing = context.progress.begin()
        defer {
          drawing?.cancel()
          ProgressLine.close()
        }
        do {
          return try await Now.$current.withValue(
            Now { [date = context.currentDate] in date.value }
          ) {
            if let expression = line.invocation.text(.jq) {
              return try await JQ(
                expression, hasJSON: command.options.contains(.json), context
              ).filter { context in
                try await command.run(line.invocation, context)
              }
            }
            let preference = command.needs.newest ? ReadPreference.primary : .standard
            return try await context.listingOutput.run(ended: .success) {
              try await ReadPreference.$current.withValue(preference) {
                try await command.run(line.invocation, context)
              }
            }
          }
        } catch var error as CommandError where error.code == .usage && error.hint == nil {
          let lacksSource =
            command.arguments.hasPrefix("SOURCE") && line.invocation.arguments.isEmpty
          error.hint =
            lacksSource
            ? tree.catalog.availableSources() : .command("help \(line.path)")
          throw error
        }
      }
    } catch is Output.ClosedPipe {
      return .success
    } catch let error as CommandError {
      context.diagnostics.error(error)
      return error.code
    } catch {
      context.diagnostics.error(
        CommandError(.bug, "\(error)", hint: "please report this with your command line"))
      return .bug
    }
  }
}

extension CommandContext {
  /// The tracer that the variables of OpenTelemetry ask for; `nil` if they do not.
  fileprivate func tracer(_ version: String) -> Tracer? {
    do {
      return try Collector(variables, program: catalog.name.text).map {
        Tracer($0, version: version, sendingBy: HTTPTransport.standard)
      }
    } catch {
      // A fault of tracing does not keep a command from running.
      diagnostics.warning("no traces: \(error.message)", hint: error.remedy.map(Hint.init))
      return nil
    }
  }

  /// Prints what a saved query stands for, with the options that say what a command does.
  fileprivate func explain(_ expansion: SavedQueries.Expansion?) {
    guard let expansion, [Option.verbose, .explain, .dryRun].contains(where: invocation.has) else {
      return
    }
    let line = diagnostics.command(ShellWords.line(of: expansion.words))
    diagnostics.trace("\(expansion.names.joined(separator: " → ")): \(line)")
  }

  /// Refuses a folder of added sources that was named and is not there, and warns of one that cannot be read: its sources would
  /// silently be unknown.
  fileprivate func checkManifestFolder(for line: ArgumentParser.CommandLine) throws(CommandError) {
    guard let folder = catalog.manifests else {
      // Why an added source is unknown, such as a relative path.
      if case .failure = line.action { _ = try directories(settings()) }
      return
    }
    if let failure = folder.failure {
      // It says so itself.
      guard line.path != "doctor" else { return }
      return diagnostics.warning(
        "added sources are missing: \(failure)", hint: "make it a directory that you can read")
    }
    // Adding a source creates the folder.
    guard invocation.has(.manifests), line.path != "sources add",
      OpenFile.isDirectory(folder.path) == nil
    else { return }
    throw CommandError(
      .usage, "\(Option.manifests.spelling): there is no directory \(folder.path)",
      hint: "create it, or name another")
  }

  /// Warns of saved queries that a source or command hides, where queries are listed.
  fileprivate func warnOfHiddenQueries(at path: String) {
    let words = path.split(separator: " ").map(String.init)
    let listsAll = words.first == "query" && [nil, "list"].contains(words.dropFirst().first)
    guard listsAll else { return }
    for name in catalog.hiddenQueries {
      let names = catalog.savedQueries.names
      let free = (2...).lazy.map { "\(name)-\($0)" }.first { name in
        !names.contains(name) && !catalog.isTaken(name)
      }
      diagnostics.warning(
        "the saved query \"\(name)\" is hidden by the source or command of the same name",
        hint: .command("query rename \(name) \(free ?? name)"))
    }
  }

  /// Warns of added sources that the command hides; the list of sources hides them all.
  fileprivate func warnOfHiddenSources(at path: String, among tree: CommandTree) {
    guard let folder = catalog.manifests else { return }
    let words = path.split(separator: " ").map(String.init)
    let listsAll = words.first == "sources" && [nil, "list"].contains(words.dropFirst().first)
    for name in catalog.hiddenSources where listsAll || words.first == name {
      let names = folder.names + tree.root.children.map(\.word)
      let free = (2...).lazy.map { "\(name)-\($0)" }.first { !names.contains($0) } ?? name
      let file = folder.file(of: name).typed
      diagnostics.warning(
        "the added source \"\(name)\" is hidden by the source or command of the same name",
        hint: .words(
          folder.service(of: name) == nil
            ? "rename it: mv \(file) \(folder.file(of: free).typed)" : "rename it in \(file)"))
    }
  }
}
