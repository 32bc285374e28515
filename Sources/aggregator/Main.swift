import Core
import Foundation

@main
enum Main {
  static func main() async {
    StandardDescriptors.fill()
    Interruption.watch()
    let code = await run(
      Array(CommandLine.arguments.dropFirst()), variables: ProcessInfo.processInfo.environment)
    exit(code.rawValue)
  }

  /// Runs a command line, and says what went wrong.
  static func run(_ arguments: [String], variables: [String: String]) async -> ExitCode {
    let tree = CommandTree.standard
    var session = Session(
      Invocation(arguments: [], values: [:]), tree: tree, variables: variables)
    do {
      switch try ArgumentParser(tree).parse(arguments) {
      case .version:
        try session.output.write("aggregator \(Version.current)\n")
        return .success
      case .help(let node):
        try session.output.write(Help(tree, width: session.terminal.width).text(of: node))
        return .success
      case .run(let command, let invocation):
        session = Session(invocation, tree: tree, variables: variables)
        return try await command.run(invocation, session)
      }
    } catch is Output.ReaderGone {
      return .success
    } catch let failure as Failure {
      session.diagnostics.error(failure)
      return failure.code
    } catch {
      session.diagnostics.error(
        Failure(.bug, "\(error)", hint: "please report this, with what you typed"))
      return .bug
    }
  }
}
