public import AggregatorKit
import Foundation

/// A command line over sources: `aggregator`, or a program of your own.
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

  /// A program.
  ///
  /// - Parameters:
  ///   - name: What it is called, in help and hints.
  ///   - version: What `--version` says after the name; this package's version by default.
  ///   - plugins: The sources that it offers, in the order of its help.
  public init(_ name: String, version: String? = nil, plugins: [any Plugin]) {
    self.name = name
    self.version = version ?? Version.current
    self.plugins = plugins
  }

  /// Runs the command line of this process, and ends the process with its exit code.
  ///
  /// Call it first thing: it arranges what happens on signals, which holds for threads made later.
  ///
  /// It is not asynchronous on purpose: on Linux the main thread of an asynchronous `main` ends up in
  /// `dispatch_main`, which lets all signals in again, and they would end the process without a
  /// clean-up.
  public func main() -> Never {
    StandardDescriptors.fill()
    Interruption.watch()
    // The task ends the process; there is nobody to wait for it.
    Task {
      let code = await run(
        Array(CommandLine.arguments.dropFirst()), variables: ProcessInfo.processInfo.environment)
      exit(code.rawValue)
    }
    while true { pause() }
  }

  /// Runs a command line, and says what went wrong.
  private func run(_ arguments: [String], variables: [String: String]) async -> ExitCode {
    let tree = CommandTree(name, plugins: plugins)
    let parser = ArgumentParser(tree)
    // Before anything is said, `--color` counts.
    var session = Session(parser.options(of: arguments), tree: tree, variables: variables)
    do {
      if arguments.first == CompletionAnswer.command {
        let answer = CompletionAnswer(arguments.dropFirst(), tree, variables: variables)
        try? session.output.write(answer?.text ?? "")
        return .success
      }
      switch try parser.parse(arguments) {
      case .version:
        try session.output.write("\(name) \(version)\n")
        return .success
      case .help(let node):
        try session.output.write(Help(tree, width: session.terminal.width).text(of: node))
        return .success
      case .run(let command, let invocation):
        session = Session(invocation, tree: tree, variables: variables)
        let drawing = session.progress.begin()
        defer {
          drawing?.cancel()
          ProgressLine.close()
        }
        do {
          return try await Now.$current.withValue(
            Now { [date = session.currentDate] in date.value }
          ) {
            try await command.run(invocation, session)
          }
        } catch var failure as CommandError
          where failure.code == .usage && failure.hint == nil
        {
          failure.hint = .command("help \(tree.find(arguments).node.path)")
          throw failure
        }
      }
    } catch is Output.ClosedPipe {
      return .success
    } catch let failure as CommandError {
      session.diagnostics.error(failure)
      return failure.code
    } catch {
      session.diagnostics.error(
        CommandError(.bug, "\(error)", hint: "please report this, with what you typed"))
      return .bug
    }
  }
}
