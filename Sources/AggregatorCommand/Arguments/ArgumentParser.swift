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

/// The words and the options of a command line, before it is known what they mean together.
struct ArgumentScan {
  /// What is no option: the words of a command, and its arguments.
  private(set) var words: [String] = []

  /// The values of each option that was given; an empty text for one that takes none.
  private(set) var options: [Option: [String]] = [:]

  /// The options in the order of their coming.
  private(set) var order: [Option] = []

  /// The option whose value is still to come.
  private(set) var pending: Option?

  /// Whether there was a `--`, after which nothing is an option.
  private(set) var isPastOptions = false

  private let tree: CommandTree

  init(_ tree: CommandTree) { self.tree = tree }

  /// Reads a whole command line.
  ///
  /// - Parameter arguments: What was typed after the program's name.
  /// - Throws: ``CommandError`` with code `usage`. What was read before stays.
  mutating func read(_ arguments: [String]) throws(CommandError) {
    try begin(arguments, checksValues: true)
    if let pending {
      throw CommandError(.usage, "\(pending.spelling) wants a value: \(pending.synopsis)")
    }
  }

  /// Reads a command line that may go on.
  ///
  /// - Parameters:
  ///   - arguments: What was typed after the program's name.
  ///   - checksValues: Whether the values of options must make sense.
  /// - Throws: ``CommandError`` with code `usage`. What was read before stays.
  mutating func begin(_ arguments: [String], checksValues: Bool) throws(CommandError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        isPastOptions = true
        words += rest
        break
      }
      guard argument.hasPrefix("-"), argument != "-" else {
        words.append(argument)
        continue
      }
      var (option, value) = try split(argument)
      if let kind = option.value {
        // What follows is the value, even if it begins with a dash: `--limit -1` is a wrong number.
        if value == nil { value = rest.popFirst() }
        guard let value else {
          pending = option
          return
        }
        if checksValues { try kind.check(value, of: option) }
      } else if let others = value, !argument.hasPrefix("--"), others.first != "=" {
        // `-qv` is `-q -v`.
        value = nil
        rest = ["-" + others] + rest
      } else if let value {
        throw CommandError(.usage, "\(option.spelling) takes no value, but was given '\(value)'")
      }
      options[option, default: []].append(value ?? "")
      order.append(option)
    }
  }

  /// `--limit=5`, `--limit`, `-L5`, `-L=5`, `-L`, `-qv`.
  private func split(_ argument: String) throws(CommandError) -> (Option, String?) {
    if argument.hasPrefix("--") {
      let parts = argument.dropFirst(2).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard let option = tree.option(named: name) else { throw unknown(argument, name) }
      return (option, parts.count > 1 ? String(parts[1]) : nil)
    }
    let letter = argument[argument.index(after: argument.startIndex)]
    guard let option = tree.option(lettered: letter) else {
      throw unknown(argument, String(argument.dropFirst()))
    }
    let tail = argument.dropFirst(2)
    if tail.isEmpty { return (option, nil) }
    return (option, String(tail.first == "=" && option.value != nil ? tail.dropFirst() : tail))
  }

  private func unknown(_ argument: String, _ name: String) -> CommandError {
    let node = tree.find(words).node
    let options = node.command?.options ?? tree.options
    return CommandError(
      .usage, "unknown option '\(argument)'",
      suggestion: meant(by: name, among: options.map(\.name)).map { "--\($0)" },
      hint: node.command?.takesArguments == true && !argument.hasPrefix("--")
        ? "what begins with a dash and is no option goes after --"
        : .command(node.path.isEmpty ? "help options" : "help \(node.path)"))
  }
}

extension Option.Value {
  /// Refuses a value that makes no sense.
  fileprivate func check(_ text: String, of option: Option) throws(CommandError) {
    switch self {
    case .count(let range):
      guard text.utf8.count < 20, let count = Int(text), range.contains(count) else {
        throw CommandError(
          .usage,
          "\(option.spelling) wants a whole number from \(range.lowerBound) to \(range.upperBound), "
            + "not '\(text)'")
      }
    case .duration:
      guard Duration(typed: text) != nil else {
        throw CommandError(
          .usage, "\(option.spelling) wants a time such as 500ms, 10s or 2m, not '\(text)'")
      }
    case .choice(let words):
      guard words.contains(text) else {
        throw CommandError(
          .usage, "\(option.spelling) wants one of \(words.joined(separator: ", ")), not '\(text)'",
          suggestion: nearest(to: text, in: words).map { "\(option.spelling) \($0)" })
      }
    case .list, .text, .session, .file, .directory:
      guard text.contains(where: { !$0.isWhitespace }) else {
        throw CommandError(.usage, "\(option.spelling) wants a value: \(option.synopsis)")
      }
    }
  }
}
