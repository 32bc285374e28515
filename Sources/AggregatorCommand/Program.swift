public import AggregatorKit
import Foundation

/// A command line over sources: `aggregator`, or your own program.
///
/// ```swift
/// @main
/// enum Main {
///   static func main() { Program("planets", plugins: [PlanetsPlugin()]).main() }
/// }
/// ```
public struct Program: Sendable {
  private let name: String
  private let version: String
  private let plugins: [any Plugin]

  /// A program with these sources, in the order of its help.
  ///
  /// - Parameter version: The version for `--version`; this package's by default.
  public init(_ name: String, version: String? = nil, plugins: [any Plugin]) {
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
    Interruption.watch()
    // Not awaited: the task exits.
    Task {
      let code = await run(
        Array(CommandLine.arguments.dropFirst()), variables: ProcessInfo.processInfo.environment)
      exit(code.rawValue)
    }
    while true { pause() }
  }

  private func run(_ arguments: [String], variables: [String: String]) async -> ExitCode {
    let tree = CommandTree(name, plugins: plugins)
    if arguments.first == CompletionAnswer.command {
      let answer = CompletionAnswer(arguments.dropFirst(), tree, variables: variables)
      try? Output(descriptor: STDOUT_FILENO).write(answer?.text ?? "")
      return .success
    }
    let line = ArgumentParser(tree).parse(arguments)
    let session = Session(line.invocation, tree: tree, variables: variables)
    do {
      switch try line.action.get() {
      case .version:
        try session.output.write("\(name) \(version)\n")
        return .success
      case .help(let node):
        try session.output.write(Help(tree, width: session.terminal.width).text(of: node))
        return .success
      case .run(let command):
        let drawing = session.progress.begin()
        defer {
          drawing?.cancel()
          ProgressLine.close()
        }
        do {
          return try await Now.$current.withValue(
            Now { [date = session.currentDate] in date.value }
          ) {
            try await command.run(line.invocation, session)
          }
        } catch var error as CommandError where error.code == .usage && error.hint == nil {
          error.hint = .command("help \(line.path)")
          throw error
        }
      }
    } catch is Output.ClosedPipe {
      return .success
    } catch let error as CommandError {
      session.diagnostics.error(error)
      return error.code
    } catch {
      session.diagnostics.error(
        CommandError(.bug, "\(error)", hint: "please report this with your command line"))
      return .bug
    }
  }
}
