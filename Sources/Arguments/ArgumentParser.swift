import AggregatorKit
package import AggregatorQueries
package import AggregatorSavedQueries
package import AggregatorTerminal

/// Parses a command line: options anywhere before `--`, the words of a command, its arguments.
package struct ArgumentParser {
  private let tree: CommandTree

  package init(_ tree: CommandTree) { self.tree = tree }

  package enum Action: Sendable {
    case run(Command)
    case help(CommandTree.Node)
    case version
  }

  /// What a command line asks for, or an error with code `usage`.
  ///
  /// Not a `Result`, whose type is made at run time.
  package enum Outcome: Sendable {
    case success(Action)
    case failure(CommandError)

    init(_ action: () throws(CommandError) -> Action) {
      do { self = .success(try action()) } catch { self = .failure(error) }
    }

    package func get() throws(CommandError) -> Action {
      switch self {
      case .success(let action): return action
      case .failure(let error): throw error
      }
    }
  }

  package struct CommandLine: Sendable {
    /// The arguments and options; those before the error if there is one.
    package let invocation: Invocation

    package var action: Outcome
    package let path: String

    /// The saved queries of which it is made; `nil` if there are none.
    package var expansion: SavedQueries.Expansion?

    /// The command that runs; `nil` for help, the version and errors.
    package var command: Command? {
      guard case .success(.run(let command)) = action else { return nil }
      return command
    }
  }

  /// A saved query that a command line names, and the options beside the name.
  struct NamedQuery {
    let name: String
    let options: Set<Option>
  }

  /// Parses a command line, which may name a saved query.
  package func parse(_ arguments: [String]) -> CommandLine {
    if let name = tree.queryToExplain(in: arguments) { return parse(words: ["help", name]) }
    let expansion: SavedQueries.Expansion?
    do { expansion = try tree.expansion(of: arguments) } catch {
      return CommandLine(
        invocation: Invocation(arguments: [], values: [:]), action: .failure(error), path: "")
    }
    let query = expansion?.names.first.map { name -> NamedQuery in
      var typed = ArgumentScan(tree: tree, command: nil)
      try? typed.begin(arguments, checksValues: false)
      return NamedQuery(name: name, options: Set(typed.order))
    }
    var line = parse(words: expansion?.words ?? arguments, of: query)
    line.expansion = expansion
    if case .failure(let error) = line.action, let names = expansion?.names {
      line.action = .failure(located(error, in: names))
    }
    if let command = line.command {
      do { try checkRepetition(in: arguments, of: command, at: line.path) } catch {
        line.action = .failure(error)
      }
    }
    return line
  }

  /// An error with the saved query that has it without what is typed beside its name, and how to mend that.
  private func located(_ error: CommandError, in names: [String]) -> CommandError {
    let faulty = names.last { name in
      let alone = try? tree.expansion(of: [name], missing: .isKept)
      guard let alone, case .failure(let found) = parse(words: alone.words).action else {
        return false
      }
      return found.message == error.message
    }
    guard let faulty else { return error }
    var error = error
    error.message = "in the saved query \"\(faulty)\": \(error.message)"
    error.hint = .command("query edit \(faulty)")
    return error
  }

  /// Refuses an option of one value that is given twice; the value of a saved query may be replaced.
  func checkRepetition(
    in words: [String], of command: Command?, at path: String
  ) throws(CommandError) {
    var scan = ArgumentScan(tree: tree, command: command)
    try? scan.begin(words, checksValues: false)
    guard let option = scan.order.first(where: { scan.options[$0]?.count ?? 0 > 1 && $0.isSingle })
    else { return }
    throw CommandError(
      .usage, "\(option.spelling) is given twice",
      hint: option.value == .list
        ? "separate its names with commas" : .command("help \(path)"))
  }

  /// - Parameter query: The saved query that some of the words are from.
  func parse(
    words arguments: [String], of query: NamedQuery? = nil, checksValues: Bool = true
  ) -> CommandLine {
    let likely = tree.find(arguments.filter { !$0.hasPrefix("-") }).node
    let asksForHelp = asksForHelp(arguments, of: likely.command)
    var scan = ArgumentScan(tree: tree, command: likely.command)
    do { try scan.read(arguments, checksValues: checksValues) } catch {
      // Help wins over every error, but that of a word which names nothing.
      return CommandLine(
        invocation: Invocation(arguments: [], values: scan.options),
        action: Outcome { () throws(CommandError) in
          guard asksForHelp else { throw error }
          let node = try explained(scan.words)
          return .help(likely.path.isEmpty ? node : likely)
        }, path: likely.path)
    }
    if let query { scan.replaceOptions(by: query.options) }
    let (node, rest) = tree.find(scan.words)
    return CommandLine(
      invocation: Invocation(arguments: rest, values: scan.options, order: scan.order),
      action: Outcome { () throws(CommandError) in
        try action(at: node, rest, scan, of: query, asksForHelp: asksForHelp)
      }, path: node.path)
  }

  /// True for `--help` and `-h` anywhere, also among other flags of the command (`-qh`), but not for the values of
  /// options, as in `-ohero.jpg`, or for a word such as `-dash`.
  private func asksForHelp(_ arguments: [String], of command: Command?) -> Bool {
    var isValue = false
    for argument in arguments.prefix(while: { $0 != "--" }) {
      if argument == "-h" || argument == "--help" { return true }
      if isValue {
        isValue = false
      } else if argument.hasPrefix("--") {
        if argument.hasPrefix("--help=") { return true }
        isValue = tree.option(named: String(argument.dropFirst(2)), of: command)?.value != nil
      } else if argument.hasPrefix("-") {
        var letters = argument.dropFirst()
        var (hasHelp, isAccepted) = (false, true)
        while let letter = letters.popFirst() {
          let option = tree.option(lettered: letter, of: command)
          isAccepted = isAccepted && option.map { command?.options.contains($0) ?? true } ?? false
          hasHelp = hasHelp || option == .help
          guard option?.value == nil else {
            isValue = letters.isEmpty
            break
          }
        }
        if hasHelp, isAccepted { return true }
      }
    }
    return false
  }

  private func action(
    at node: CommandTree.Node, _ rest: [String], _ scan: ArgumentScan, of query: NamedQuery?,
    asksForHelp: Bool
  ) throws(CommandError) -> Action {
    if asksForHelp { return .help(try explained(scan.words)) }
    if scan.options.keys.contains(.version) { return .version }
    // `heroes help list`: where a word must follow, and no argument can.
    if rest.first == "help", !node.children.isEmpty, !scan.isPastOptions {
      return .help(try explained(scan.words.filter { $0 != "help" }))
    }
    if let error = fieldsAfterFormat(at: node, rest, scan) { throw error }
    if let error = conditionInWords(at: node, rest, scan) { throw error }
    if let error = fieldsInWords(at: node, rest, scan) { throw error }
    guard let command = node.command, rest.isEmpty || command.takesArguments else {
      guard let word = rest.first else {
        // A text for people is no answer to `heroes --json`.
        let given = scan.given
        guard let option = given.first(where: { !Option.common.contains($0.option) }) else {
          try tree.catalog.plugins.first { $0.name == node.path }?.checkManifest()
          return .help(node)
        }
        throw tree.refused(option, by: node, beside: given)
      }
      var error = tree.unknown(word, under: node, rest: rest)
      if let query, node.children.isEmpty {
        error.suggestion = word == "help" ? "help \(query.name)" : nil
        error.hint = .command("query show \(query.name)")
      }
      throw error
    }
    let given = scan.given
    for option in given where !command.options.contains(option.option) {
      throw tree.refused(option, by: node, with: rest, beside: given)
    }
    for options in Option.exclusive {
      let given = options.filter(scan.options.keys.contains)
      guard given.count < 2 else {
        var error = CommandError.exclusive(given[0].spelling, given[1].spelling)
        error.hint = .command(query.map { "query show \($0.name)" } ?? "help \(node.path)")
        if Set(given) == [.groupBy, .count] {
          error.hint = .words("\(Option.groupBy.spelling) alone counts the records of each value")
        }
        throw error
      }
    }
    return .run(command)
  }

  /// The node that words name in help; `man --help` must not show the help of the program: there is no command `man`.
  private func explained(_ words: [String]) throws(CommandError) -> CommandTree.Node {
    let (node, rest) = tree.explained(by: words)
    if let word = rest.first, !node.children.isEmpty {
      throw tree.unknown(word, under: node, rest: rest)
    }
    return node
  }

  /// An error for `--json name,id`, which other programs accept.
  private func fieldsAfterFormat(
    at node: CommandTree.Node, _ rest: [String], _ scan: ArgumentScan
  ) -> CommandError? {
    guard let (option, word) = scan.wordAfterFormat, rest.contains(word) else { return nil }
    let names = word.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    let fields = node.command?.fields.map(\.id) ?? []
    // Beside an ID, too: `heroes show 1443 --json name`.
    let isBesideID = rest.count > 1 && node.command?.arguments.contains("ID") == true
    guard names.count > 1 || node.command?.takesArguments == false || isBesideID,
      names.allSatisfy(fields.contains)
    else { return nil }
    return CommandError(
      .usage, "unexpected argument \"\(word)\" after \(option.spelling)",
      suggestion: "\(option.spelling) \(Option.fields.spelling) \(word)",
      hint: .command("help \(node.path)"))
  }

  /// An error for a condition without quotes, `--where region = EU`, or without its option, `list region=EU`, also after the word
  /// `where` and for a source without its verb.
  private func conditionInWords(
    at node: CommandTree.Node, _ rest: [String], _ scan: ArgumentScan
  ) -> CommandError? {
    let isSource = tree.catalog.sources.contains(node.path)
    let list = isSource ? tree.find([node.path, "list"]).node : node
    guard let command = list.command, !command.takesArguments,
      command.options.contains(.condition), let word = rest.first
    else { return nil }
    let signs = "=!<>~"
    var words = rest
    let isNamed = word.lowercased() == Option.condition.name && rest.count > 1
    // A condition without a sign, or without what follows it, goes on in the next words.
    if isNamed {
      words.removeFirst()
    } else if let start = scan.options[.condition]?.last,
      !start.contains(where: signs.contains) || start.last.map(signs.contains) ?? false
    {
      words = [start] + rest
    } else {
      let isCondition = command.fields.contains { field in
        word.hasPrefix(field.id)
          && word.dropFirst(field.id.count).first.map(signs.contains) ?? false
      }
      guard isCondition else { return nil }
    }
    let option = "\(Option.condition.spelling) \(words.joined(separator: " ").typed)"
    return CommandError(
      .usage, "unexpected argument \"\(word)\"",
      suggestion: isNamed || isSource ? "\(list.path) \(option)" : option,
      hint: .command("help \(list.path)"))
  }

  /// An error for fields without commas, `--fields name code`, and for an order as in SQL, `--sort name desc`.
  private func fieldsInWords(
    at node: CommandTree.Node, _ rest: [String], _ scan: ArgumentScan
  ) -> CommandError? {
    guard let command = node.command, !command.takesArguments, let word = rest.first,
      let option = scan.order.last(where: [Option.fields, .order, .groupBy].contains)
    else { return nil }
    func names(in texts: [String]) -> [String] {
      texts.flatMap { $0.split(separator: ",").map(String.init) }
    }
    var fields = names(in: scan.options[option] ?? [])
    switch (word.lowercased(), fields.last) {
    case ("asc", _) where option == .order && rest.count == 1: break
    case ("desc", let last?) where option == .order && rest.count == 1:
      fields[fields.count - 1] = last.hasPrefix("-") ? last : "-\(last)"
    default:
      let others = names(in: rest)
      guard others.allSatisfy(command.fields.map(\.id).contains) else { return nil }
      fields += others
    }
    return CommandError(
      .usage, "unexpected argument \"\(word)\"",
      suggestion: "\(option.spelling) \(fields.joined(separator: ","))",
      hint: .command("help \(node.path)"))
  }
}

/// An option on a command line.
package struct TypedOption: Sendable {
  let option: Option

  /// The name as typed: `-o`, `--output`.
  let spelling: String

  var value: String?

  var words: [String] { [spelling] + [typedValue].compactMap(\.self) }

  /// The value as it is typed: it may begin with a hyphen.
  private var typedValue: String? {
    value.map { value in
      let (sign, rest) = value.first == "-" ? ("-", String(value.dropFirst())) : ("", value)
      return sign + (rest.argument ?? rest.shellQuoted)
    }
  }
}

struct ArgumentScan {
  private(set) var words: [String] = []

  /// The values of each option given; an empty string for an option without a value.
  private(set) var options: [Option: [String]] = [:]
  private(set) var order: [Option] = []

  /// The options as typed, without their values: `-o`, `--output`.
  private(set) var typed: [Option: String] = [:]

  /// The options in their order, with their values.
  var given: [TypedOption] {
    var values = options.mapValues { $0[...] }
    return order.map { option in
      let value = values[option]?.popFirst()
      return TypedOption(
        option: option, spelling: typed[option] ?? option.spelling,
        value: option.value == nil ? nil : value)
    }
  }

  /// The last option, if its value is missing.
  private(set) var pending: Option?
  private(set) var isPastOptions = false

  /// The first word that directly follows a format: `name,id` of `--json name,id`.
  private(set) var wordAfterFormat: (option: Option, word: String)?

  let tree: CommandTree

  /// The command that the words probably name, whose options are tried first.
  let command: Command?

  /// After an error, whose code is `usage`, everything before it is kept.
  mutating func read(
    _ arguments: [String], checksValues: Bool = true
  ) throws(CommandError) {
    try begin(arguments, checksValues: checksValues)
    if let pending {
      // `--header`, which other commands have, for `--headers`.
      if let error = refusal(of: pending) { throw error }
      throw CommandError(
        .usage, "missing value for \(pending.spelling)",
        hint: pending == .condition
          ? .command("help \(HelpTopic.filters.rawValue)") : fieldHint(for: pending))
    }
  }

  /// The fields of the command, for an option whose value names some of them.
  private func fieldHint(for option: Option) -> Hint? {
    guard ([.fields, .order] + Option.summarizing).contains(option),
      let fields = command?.fields, !fields.isEmpty
    else { return nil }
    return .words("available fields: \(fields.map(\.id).joined(separator: ", "))")
  }

  /// The error for an option that the command does not accept, whatever its value; `nil` for one that it does.
  private func refusal(of option: Option, _ value: String? = nil) -> CommandError? {
    guard command?.options.contains(option) == false else { return nil }
    let spelling = typed[option] ?? option.spelling
    return tree.refused(
      TypedOption(option: option, spelling: spelling, value: value), by: tree.find(words).node)
  }

  /// Like ``read(_:checksValues:)``, for a command line that may continue.
  mutating func begin(_ arguments: [String], checksValues: Bool) throws(CommandError) {
    var rest = arguments[...]
    var format: Option?
    while let argument = rest.popFirst() {
      let last = format
      format = nil
      if argument == "--" {
        isPastOptions = true
        words += rest
        break
      }
      guard argument.hasPrefix("-"), argument != "-" else {
        words.append(argument)
        if let last, wordAfterFormat == nil { wordAfterFormat = (last, argument) }
        continue
      }
      var (option, value) = try split(argument, before: rest.first)
      typed[option] = argument.hasPrefix("--") ? option.spelling : String(argument.prefix(2))
      if let kind = option.value {
        // The next argument is the value even if it begins with a dash: `--limit -1` is an invalid number. An option of this
        // command is none.
        if value == nil, !isOption(rest.first) { value = rest.popFirst() }
        guard let value else {
          pending = option
          return
        }
        if checksValues {
          do throws(CommandError) { try kind.check(value, of: option) } catch {
            throw refusal(of: option, value) ?? error
          }
        }
      } else if let others = value, !argument.hasPrefix("--"), others.first != "=" {
        // `-qv` is `-q -v`.
        value = nil
        rest = ["-" + others] + rest
      } else if let value {
        let names = command?.fields.map(\.id) ?? []
        throw CommandError(
          .usage,
          value.isEmpty
            ? "\(option.spelling) takes no value"
            : "unexpected value \"\(value)\" for \(option.spelling)",
          suggestion: value == "true" || value.isEmpty
            ? option.spelling
            : Option.formats.contains(option)
              && value.split(separator: ",").map(String.init).allSatisfy(names.contains)
              ? "\(option.spelling) \(Option.fields.spelling) \(value)" : nil)
      }
      if Option.formats.contains(option) { format = option }
      options[option, default: []].append(value ?? "")
      order.append(option)
    }
  }

  /// Removes the options of a saved query that exclude one which was typed beside its name.
  mutating func replaceOptions(by typed: Set<Option>) {
    for options in Option.exclusive + [[.format] + Option.formats]
    where !typed.isDisjoint(with: options) {
      for option in options where !typed.contains(option) {
        self.options[option] = nil
        order.removeAll { $0 == option }
      }
    }
  }

  private func isOption(_ argument: String?) -> Bool {
    guard let argument, argument.hasPrefix("--") else { return false }
    let name = String(argument.dropFirst(2).prefix { $0 != "=" })
    return tree.option(named: name, of: command) != nil
  }

  /// Splits `--limit=5`, `--limit`, `-L5`, `-L=5`, `-L` and `-qv`.
  private func split(
    _ argument: String, before next: String?
  ) throws(CommandError) -> (Option, String?) {
    if argument.hasPrefix("--") {
      let parts = argument.dropFirst(2).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard let option = tree.option(named: name, of: command) else {
        let value = next.flatMap { $0.hasPrefix("-") ? nil : $0 }
        throw unknown(argument, name, parts.count > 1 ? String(parts[1]) : value)
      }
      return (option, parts.count > 1 ? String(parts[1]) : nil)
    }
    let letter = argument[argument.index(after: argument.startIndex)]
    let name = String(argument.dropFirst())
    // `-offline` is no `-o ffline`.
    let isName = name.count > 1 && command?.options.contains { $0.name == name } == true
    guard !isName, let option = tree.option(lettered: letter, of: command) else {
      throw unknown(argument, name, nil)
    }
    let tail = argument.dropFirst(2)
    if tail.isEmpty { return (option, nil) }
    return (option, String(tail.first == "=" && option.value != nil ? tail.dropFirst() : tail))
  }

  /// - Parameter value: The text that would be the value of the option.
  private func unknown(_ argument: String, _ name: String, _ value: String?) -> CommandError {
    let node = tree.find(words).node
    let names = (node.command?.options ?? tree.options).map(\.name)
    let isLetter = !argument.hasPrefix("--")
    // `-x` is an option of another program rather than an argument, unlike `-1`.
    let isArgument = isLetter && (name.count > 1 || name.first?.isLetter == false)
    let suggestion =
      (isLetter
        ? tree.option(meantByLetter: name, among: names)
        : tree.argument(meantBy: name, value, at: node)
          ?? tree.condition(meantBy: name, value, at: node)
          ?? tree.command(meantBy: name, at: node))
      ?? tree.option(meant: name, among: names).map { option in
        let format = value.flatMap { option == Option.format.name ? Format(rawValue: $0) : nil }
        return "--\(option)" + (format.map { " \($0.rawValue)" } ?? "")
      }
    // One that other commands have.
    let near =
      isLetter || suggestion != nil
      ? nil : nearest(to: name, in: tree.options.map(\.name).filter { !names.contains($0) })
    let other = near.flatMap { name in tree.options.first { $0.name == name } }
    let takers = other.map { tree.takers(of: $0, beside: node) } ?? []
    // `--url` of a URL among other arguments.
    let words = (node.command?.arguments ?? "").split(separator: " ")
    let place = words.firstIndex(of: name.uppercased()[...]) ?? 0
    let isAmongOthers = !isLetter && place > 0 && !words[place - 1].hasPrefix("-")
    // The value may be a secret.
    let shown =
      isLetter ? argument : argument.prefix { $0 != "=" } + (argument.contains("=") ? "=…" : "")
    return CommandError(
      .usage, "unknown option \"\(shown)\"",
      suggestion: isAmongOthers ? nil : suggestion,
      hint: isAmongOthers
        ? .steps(
          .words("\(name.uppercased()) has no option before it"), .command("help \(node.path)"))
        : node.command?.takesArguments == true && isArgument && suggestion == nil
          ? "put -- before arguments that begin with a dash"
          : other != nil && !takers.isEmpty
            ? .words("\(other?.spelling ?? "") is an option of \(takers.listText)")
            : .command(node.path.isEmpty ? "help options" : "help \(node.path)"))
  }
}

extension Option.Value {
  fileprivate func check(_ text: String, of option: Option) throws(CommandError) {
    func invalid(_ requirement: String, suggestion: String? = nil) -> CommandError {
      CommandError(
        .usage, "invalid value \"\(text)\" for \(option.spelling): must be \(requirement)",
        suggestion: suggestion)
    }
    switch self {
    case .count(let range):
      guard text.utf8.count < 20, let count = Int(text), range.contains(count) else {
        throw invalid(range.requirement(for: text))
      }
    case .duration:
      guard Duration(typed: text) != nil else {
        throw invalid("a duration such as 10, 500ms or 2m")
      }
    case .span:
      guard Duration(span: text) != nil else {
        throw invalid("a span of time such as 90m, 2h or 3d")
      }
    case .size:
      guard Int(size: text) != nil else { throw invalid("a size such as 500m or 4g") }
    case .choice(let words):
      guard words.contains(Format(named: text)?.rawValue ?? text) else {
        // `jsonl` is another name for `ndjson`, and not for `json`.
        let format = Format.allCases.first { $0.fileEndings.contains(text.lowercased()) }?.rawValue
        let near = format.flatMap { words.contains($0) ? $0 : nil } ?? nearest(to: text, in: words)
        var error = invalid(
          "\(words.dropLast().joined(separator: ", ")) or \(words.last ?? "")",
          suggestion: near.map { "\(option.spelling) \($0)" })
        if option == .format, text.wholeMatch(of: /(csv|tsv|json|ndjson)\.gz|parquet/) != nil {
          error.hint = .command("export SOURCE -o FILE.\(text)")
        }
        throw error
      }
    case .store:
      _ = try CommandError.wrapping(try StoreLocation(text, for: option.spelling))
    case .list, .text, .session, .file, .directory:
      guard text.contains(where: { !$0.isWhitespace }) else {
        throw CommandError(.usage, "missing value for \(option.spelling)")
      }
      guard self == .list else { return }
      let words = text.split(separator: ",", omittingEmptySubsequences: false)
      let named = words.filter { !$0.allSatisfy(\.isWhitespace) }
      // A comma at the end is mostly one of words with blanks between them.
      guard named.isEmpty || named.count >= words.count - (words.last == "" ? 1 : 0) else {
        throw invalid("names separated by single commas", suggestion: named.joined(separator: ","))
      }
    }
  }
}

extension ClosedRange<Int> {
  /// The condition that an invalid number does not meet: `a positive integer`.
  func requirement(for text: String) -> String {
    guard upperBound >= 1_000_000_000 else {
      return "an integer from \(lowerBound) to \(upperBound)"
    }
    let isTooLarge =
      !text.isEmpty && text.utf8.allSatisfy { 0x30...0x39 ~= $0 }
      && Int(text).map { $0 > upperBound } ?? true
    if isTooLarge { return "at most \(upperBound)" }
    return lowerBound == 0 ? "a non-negative integer" : "a positive integer"
  }
}
