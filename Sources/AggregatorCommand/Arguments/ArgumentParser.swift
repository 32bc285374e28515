import AggregatorKit

/// Reads a command line: options anywhere before `--`, the words of a command, its arguments.
package struct ArgumentParser {
  private let tree: CommandTree

  package init(_ tree: CommandTree) { self.tree = tree }

  /// What is to be run.
  package enum Parsed {
    case run(Command, Invocation)
    case help(CommandTree.Node)
    case version
  }

  /// Reads what was typed after the program's name.
  ///
  /// - Throws: ``CommandError`` with code `usage`.
  package func parse(_ arguments: [String]) throws(CommandError) -> Parsed {
    let asksForHelp = arguments.prefix { $0 != "--" }.contains { $0.asksForHelp }
    var scan = ArgumentScan(tree)
    do { try scan.read(arguments) } catch {
      // Help wins over everything that is wrong.
      guard asksForHelp else { throw error }
      return .help(tree.find(arguments.filter { !$0.hasPrefix("-") }).node)
    }
    let (node, rest) = tree.find(scan.words)
    if asksForHelp || scan.options.keys.contains(.help) { return .help(node) }
    if scan.options.keys.contains(.version) { return .version }
    guard let command = node.command, rest.isEmpty || command.takesArguments else {
      guard let word = rest.first else { return .help(node) }
      throw tree.unknown(word, under: node, rest: rest)
    }
    for option in scan.order where !command.options.contains(option) {
      throw tree.refused(option, by: node)
    }
    for options in Option.exclusive {
      let given = options.filter(scan.options.keys.contains)
      guard given.count < 2 else {
        throw CommandError(
          .usage, "\(given[0].spelling) and \(given[1].spelling) exclude each other",
          hint: .command("help \(node.path)"))
      }
    }
    return .run(command, Invocation(arguments: rest, values: scan.options))
  }

  /// The options that were read before something made no sense; all, if nothing did.
  func options(of arguments: [String]) -> Invocation {
    var scan = ArgumentScan(tree)
    try? scan.read(arguments)
    return Invocation(arguments: [], values: scan.options)
  }
}

extension String {
  /// Whether an argument is `--help` or `-h`, which may stand among other letters: `-qh`.
  fileprivate var asksForHelp: Bool {
    if hasPrefix("--") { return self == "--help" || hasPrefix("--help=") }
    guard hasPrefix("-") else { return false }
    return dropFirst().prefix { $0.isASCII && $0.isLetter }.contains("h")
  }
}
