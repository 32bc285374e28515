import Core

/// Reads a command line: options anywhere before `--`, the words of a command, its arguments.
struct ArgumentParser {
  private let tree: CommandTree

  init(_ tree: CommandTree) { self.tree = tree }

  /// What is to be run.
  enum Parsed {
    case run(Command, Invocation)
    case help(CommandTree.Node)
    case version
  }

  /// Reads what was typed after the program's name.
  ///
  /// - Throws: ``Failure`` with code `usage`.
  func parse(_ arguments: [String]) throws(Failure) -> Parsed {
    let asksForHelp = arguments.prefix { $0 != "--" }.contains {
      // Also among other letters: `-qh`.
      $0.hasPrefix("--") ? $0 == "--help" || $0.hasPrefix("--help=") : $0.contains(/^-[A-Za-z]*h/)
    }
    let scan: Scan
    do { scan = try self.scan(arguments) } catch {
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
      if node.path.isEmpty {
        throw Failure(
          .usage, "\(option.spelling) needs a source or a command", hint: .command("help"))
      }
      throw Failure(
        .usage, "'\(node.path)' does not take \(option.spelling)",
        suggestion: nearest(to: option.name, in: command.options.map(\.name)).map { "--\($0)" },
        hint: .command("help \(node.path)"))
    }
    return .run(command, Invocation(arguments: rest, values: scan.options))
  }

  /// The words and the options, before it is known what they mean together.
  private struct Scan {
    var words: [String] = []
    var options: [Option: [String]] = [:]
    /// The options in the order of their coming.
    var order: [Option] = []

    mutating func add(_ option: Option, _ value: String?) {
      options[option, default: []].append(value ?? "")
      order.append(option)
    }
  }

  private func scan(_ arguments: [String]) throws(Failure) -> Scan {
    var scan = Scan()
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        scan.words += rest
        break
      }
      guard argument.hasPrefix("-"), argument != "-" else {
        scan.words.append(argument)
        continue
      }
      var (option, value) = try split(argument, after: scan.words)
      if let kind = option.value {
        // What follows is the value, even if it begins with a dash: `--limit -1` is a wrong number.
        if value == nil { value = rest.popFirst() }
        guard let value else {
          throw Failure(.usage, "\(option.spelling) wants a value: \(option.synopsis)")
        }
        try kind.check(value, of: option)
      } else if let others = value, !argument.hasPrefix("--"), others.first != "=" {
        // `-qv` is `-q -v`.
        value = nil
        rest = ["-" + others] + rest
      } else if let value {
        throw Failure(.usage, "\(option.spelling) takes no value, but was given '\(value)'")
      }
      scan.add(option, value)
    }
    return scan
  }

  /// `--limit=5`, `--limit`, `-L5`, `-L=5`, `-L`, `-qv`.
  private func split(
    _ argument: String, after words: [String]
  ) throws(Failure) -> (Option, String?) {
    if argument.hasPrefix("--") {
      let parts = argument.dropFirst(2).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard let option = tree.option(named: name) else { throw unknown(argument, name, words) }
      return (option, parts.count > 1 ? String(parts[1]) : nil)
    }
    let letter = argument[argument.index(after: argument.startIndex)]
    guard let option = tree.option(lettered: letter) else {
      throw unknown(argument, String(argument.dropFirst()), words)
    }
    let tail = argument.dropFirst(2)
    if tail.isEmpty { return (option, nil) }
    return (option, String(tail.first == "=" && option.value != nil ? tail.dropFirst() : tail))
  }

  private func unknown(_ argument: String, _ name: String, _ words: [String]) -> Failure {
    let node = tree.find(words).node
    let options = node.command?.options ?? tree.options
    return Failure(
      .usage, "unknown option '\(argument)'",
      suggestion: nearest(to: name, in: options.map(\.name)).map { "--\($0)" },
      hint: node.command?.takesArguments == true && !argument.hasPrefix("--")
        ? "what begins with a dash and is no option goes after --"
        : .command(node.path.isEmpty ? "help options" : "help \(node.path)"))
  }
}

extension Option.Value {
  /// Refuses a value that makes no sense.
  fileprivate func check(_ text: String, of option: Option) throws(Failure) {
    switch self {
    case .count(let range):
      guard text.utf8.count < 20, let count = Int(text), range.contains(count) else {
        throw Failure(
          .usage,
          "\(option.spelling) wants a whole number from \(range.lowerBound) to \(range.upperBound), "
            + "not '\(text)'")
      }
    case .duration:
      guard Duration(typed: text) != nil else {
        throw Failure(
          .usage, "\(option.spelling) wants a time such as 500ms, 10s or 2m, not '\(text)'")
      }
    case .choice(let words):
      guard words.contains(text) else {
        throw Failure(
          .usage, "\(option.spelling) wants one of \(words.joined(separator: ", ")), not '\(text)'",
          suggestion: nearest(to: text, in: words).map { "\(option.spelling) \($0)" })
      }
    case .list, .text:
      guard text.contains(where: { !$0.isWhitespace }) else {
        throw Failure(.usage, "\(option.spelling) wants a value: \(option.synopsis)")
      }
    }
  }
}
