package import AggregatorKit
package import AggregatorQueries
import AggregatorSavedQueries
package import AggregatorTerminal

package struct Help {
  package let tree: CommandTree
  private let width: Int
  private let style: Style

  /// Longer lines are hard to read.
  private static let maxWidth = 80

  package init(_ tree: CommandTree, width: Int, style: Style = Style(isOn: false)) {
    self.tree = tree
    self.width = min(max(width, 1), Self.maxWidth)
    self.style = style
  }

  package init(_ tree: CommandTree, in context: CommandContext) {
    self.init(tree, width: context.terminal.width, style: context.terminalLayout.style)
  }

  package func text(of node: CommandTree.Node) -> String {
    let summary = isSource(node) ? node.summary.capitalizedFirst : node.summary
    // A full stop would look like a part of an address.
    let stop = summary.contains(" ") ? "." : ""
    let sections =
      [wrapped(summary + stop), heading("Usage") + usage(of: node).map { hanging($0) }.joined()]
      + (node.path.isEmpty ? overview : details(of: node)) + [wrapped(footer(of: node))]
    return sections.joined(separator: "\n")
  }

  private var overview: [String] {
    var sections = [
      ("Sources", tree.catalog.plugins.map { ($0.name, $0.summary) }),
      ("Verbs of every source", tree.commonVerbs.map { row($0.node, $0.summary) }),
    ]
    sections += tree.groups.map { ($0.title, $0.nodes.map { row($0, $0.summary) }) }
    sections.append(("Saved queries", savedQueries))
    return examples(of: tree.root) + columns(sections)
  }

  private static let maxQueries = 12

  private var savedQueries: [(String, String)] {
    let queries = tree.shownCandidates
    let left = queries.count - Self.maxQueries
    return queries.prefix(Self.maxQueries).map { ($0.word, $0.about.safeLine.fitted(to: 60)) }
      + (left > 0 ? [("…", "\(left) more: \(tree.catalog.program) query")] : [])
  }

  /// A saved query, and the help of the command that it runs.
  func text(of query: SavedQuery) -> String {
    let usage = query.hasParameters ? "\nRun it with: \(tree.catalog.program) \(query.usage)" : ""
    let text = wrapped("Saved query: \(query.text.safeLine)\(usage)")
    guard let expansion = try? tree.expansion(of: [query.name], missing: .isKept),
      expansion.command == nil
    else { return text }
    let node = tree.find(expansion.words.filter { !$0.hasPrefix("-") }).node
    return "\(text)\n\(self.text(of: node))"
  }

  private static let cache = "data options"

  /// Common words for names and kinds of options.
  private static let synonyms = [
    "cache": cache, "cached": cache, "caching": cache, "bundled": cache, "live": cache,
    "pages": "paging", "pagination": "paging",
    "order": "sort", "sorting": "sort", "grouping": "group-by", "columns": "fields",
  ]

  /// The topic that tells of a word, or the options of this name or kind, such as `csv` or `paging`; `nil` if there are
  /// none, or only a single command has the option.
  func text(indexedBy word: String) -> String? {
    if let topic = HelpTopic(indexedBy: word), topic != .man { return topic.text(self) }
    let typed = word.lowercased()
    let word = Self.synonyms[typed] ?? typed
    let named = tree.options.filter { $0.name == word }
    let found =
      named.isEmpty
      ? tree.options.filter {
        [word, "\(word) options"].contains($0.group.rawValue.lowercased())
      } : named
    guard !found.isEmpty, tree.onlyCommand(with: word) == nil else { return nil }
    var commands = word == Self.cache ? ["sync", "store"] : []
    tree.root.visit { node in
      // All commands have the general ones, and so has the program itself, whose word is empty.
      guard let command = node.command, named.contains(where: { $0.group != .general }),
        !commands.contains(node.word),
        command.options.contains(where: { $0.name == word })
      else { return }
      commands.append(node.word)
    }
    let lines = commands.isEmpty ? [] : [wrapped("Commands: \(commands.joined(separator: ", ")).")]
    return (options(found) + lines).joined(separator: "\n")
  }

  private func details(of node: CommandTree.Node) -> [String] {
    var sections: [String] = []
    if !node.children.isEmpty {
      sections += columns([
        ("\(childWord(of: node).capitalizedFirst)s", node.children.map { row($0, $0.summary) })
      ])
    }
    if let command = node.command {
      sections += options(command.options.filter { $0.group != .general })
      sections += command.notes.map(wrapped)
      sections += examples(of: node)
    }
    return sections
  }

  private func usage(of node: CommandTree.Node) -> [String] {
    if node.path.isEmpty {
      return ["SOURCE VERB", "COMMAND"].map {
        "\(tree.catalog.program) \($0) [ARGUMENT…] [OPTION…]"
      }
    }
    var lines: [String] = []
    if let command = node.command {
      // What follows -- has options of its own.
      let arguments = command.arguments.replacing(" -- ", with: " [OPTION…] -- ")
      let options = arguments == command.arguments ? "[OPTION…]" : ""
      lines.append(
        [tree.catalog.program, node.path, arguments, options].filter { !$0.isEmpty }
          .joined(separator: " "))
    }
    if !node.children.isEmpty {
      lines.append("\(tree.catalog.program) \(node.path) \(childWord(of: node).uppercased()) …")
    }
    return lines
  }

  private func footer(of node: CommandTree.Node) -> String {
    let help = "\(tree.catalog.program) help"
    if node.path.isEmpty {
      let topics = HelpTopic.allCases.map(\.rawValue).joined(separator: ", ")
      return "Use \"\(help) COMMAND\" for more information. Further topics: \(topics)."
    }
    if isSource(node) || node.command == nil {
      let word = childWord(of: node).uppercased()
      return "Use \"\(help) \(node.path) \(word)\" for more information."
    }
    return "General options: \(Option.common.map(\.spelling).joined(separator: ", ")). "
      + "See \"\(help) options\"."
  }

  /// The noun for the words under a node.
  private func childWord(of node: CommandTree.Node) -> String {
    if isSource(node) { return "verb" }
    return node.path == "completions" ? "shell" : "command"
  }

  private func isSource(_ node: CommandTree.Node) -> Bool {
    tree.catalog.sources.contains(node.path)
  }

  private func row(_ node: CommandTree.Node, _ summary: String) -> (String, String) {
    let arguments = node.command?.arguments ?? ""
    return (arguments.isEmpty ? node.word : "\(node.word) \(arguments)", summary)
  }

  private func examples(of node: CommandTree.Node) -> [String] {
    guard let examples = node.command?.examples, !examples.isEmpty else { return [] }
    let rows = examples.map { ("\(tree.catalog.program) \($0.arguments)", $0.about) }
    return columns([("Examples", rows)], ofCommands: true)
  }

  package func options(_ options: [Option]) -> [String] {
    columns(
      Option.Group.allCases.map { group in
        let rows = options.filter { $0.group == group }.map { option in
          ((option.letter == nil ? "    " : "") + option.synopsis, option.about)
        }
        return (group.rawValue, rows)
      })
  }

  /// Sections of two aligned columns; if the width is too small, the second column is put below the first.
  ///
  /// - Parameter ofCommands: True for a first column of command lines, which can be pasted into a shell.
  package func columns(
    _ sections: [(title: String, rows: [(String, String)])], ofCommands: Bool = false
  ) -> [String] {
    let longest = sections.flatMap(\.rows).map(\.0.displayWidth).max() ?? 0
    let isBeside = longest + 36 <= width
    let margin = isBeside ? longest + 4 : 6
    let pad = String(repeating: " ", count: margin)
    return sections.filter { !$0.rows.isEmpty }.map { title, rows in
      var text = heading(title)
      for (left, right) in rows {
        let lines = Wrap(width - margin).lines(of: right)
        if isBeside {
          let gap = String(repeating: " ", count: longest - left.displayWidth + 2)
          text += "  \(style(.hint, left))\(gap)\(lines.joined(separator: "\n" + pad))\n"
        } else {
          text += hanging(left, isCommand: ofCommands) + lines.map { "\(pad)\($0)\n" }.joined()
        }
      }
      return text
    }
  }

  private func heading(_ title: String) -> String { "\(style(.heading, "\(title):"))\n" }

  /// An indented command line, its continuation lines indented further.
  private func hanging(_ text: String, isCommand: Bool = false) -> String {
    let lines =
      isCommand ? commandLines(of: text) : Wrap(width - 2, rest: width - 4).lines(of: text)
    return "  \(lines.map { style(.hint, $0) }.joined(separator: "\n    "))\n"
  }

  /// The lines of a command, which a shell joins; a word is not divided, however long it is.
  private func commandLines(of text: String) -> [String] {
    guard text.displayWidth > width - 2 else { return [text] }
    var lines: [String] = []
    for word in text.matches(of: /(?:'[^']*'|"[^"]*"|[^\s'"])+/).map({ String($0.output) }) {
      let room = width - (lines.count > 1 ? 6 : 4)
      if let last = lines.last, last.displayWidth + 1 + word.displayWidth <= room {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(word)
      }
    }
    return lines.dropLast().map { "\($0) \\" } + lines.suffix(1)
  }

  func wrapped(_ text: String) -> String {
    Wrap(width).lines(of: text).map { "\($0)\n" }.joined()
  }
}

enum HelpTopic: String, CaseIterable {
  case options
  case filters
  case template
  case exitCodes = "exit-codes"
  case environment
  case man

  /// The topic that tells of this word.
  init?(indexedBy word: String) {
    switch word.lowercased() {
    case "where", "filter", "condition", "conditions", "regex", "date", "dates",
      "time", "times", "ago", "null", "empty", "timezone", "zone", "utc":
      self = .filters
    case "templates", "placeholders": self = .template
    case "codes", "errors", "status", "exit", "exit-code", "partial", "retry", "retries":
      self = .exitCodes
    case let code where Int32(code).flatMap(ExitCode.init) != nil: self = .exitCodes
    case "env", "variables", "settings", "keys", "secrets", "proxy", "key",
      "secret", "setting", "variable", "pager":
      self = .environment
    case "manual": self = .man
    default: return nil
    }
  }

  /// The topic of almost this name, or that tells of this word or option.
  init?(meantBy word: String, among options: [Option]) {
    let near = meant(by: word.lowercased(), among: Self.allCases.map(\.rawValue)).flatMap {
      Self(rawValue: $0)
    }
    guard
      let topic = Self(indexedBy: word) ?? near
        ?? (options.contains { $0.name == word } ? .options : nil)
    else { return nil }
    self = topic
  }

  /// The description, without a full stop.
  var summary: String {
    switch self {
    case .options: "All options"
    case .filters: "Filters of --where"
    case .template: "The language of --template"
    case .exitCodes: "Exit codes"
    case .environment: "Settings and environment variables"
    case .man: "The manual page; in a pipe its source, for man -l -"
    }
  }

  func text(_ help: Help) -> String {
    let tree = help.tree
    let catalog = tree.catalog
    let sections =
      switch self {
      case .options: help.options(tree.options) + [help.wrapped(Self.syntax)]
      case .filters:
        help.columns(FilterHelp.sections) + FilterHelp.notes.map(help.wrapped)
      case .template: help.options([.template]) + [help.wrapped(Self.templates)]
      case .exitCodes:
        help.columns([("Exit codes", ExitCode.allCases.map { ("\($0.rawValue)", $0.about) })])
          + [help.wrapped(Self.lastResort)]
      case .environment:
        help.columns([("Settings", Self.settings(of: catalog))])
          + help.columns([("Other variables", Self.variables(of: catalog.name))])
          + [help.wrapped(Self.order(catalog.name))]
      case .man: [ManualPage(tree).source]
      }
    return sections.joined(separator: "\n")
  }

  static let syntax =
    "Options may appear anywhere before --, as --option VALUE or --option=VALUE. "
    + "Names cannot be abbreviated."

  /// The forms of values in `--template`.
  static let templates =
    "In --template, {name:<20}, {name:>20} and {name:^20} set a width and an alignment, {name:.10} cuts a text, "
    + "{price:.2f} has two decimals, {price:,} separates thousands, {id:05} begins with zeros, "
    + "{added:%Y-%m-%d} is a date in UTC with the letters of strftime "
    + "(YymdeHIMSpjbBaAFTDGVu), {name|upper} and {name|lower} set the case, and {name:-none} is for records without a "
    + "value. They can be combined in this order: {name|upper:<20.10:-none}, {price:>12,.2f:-none}. "
    + "A line break in a value becomes a space."

  static let lastResort =
    "69, 75, 76 and 77 occur only if cached and bundled data cannot be used either, with "
    + "--no-fallback, or in sync and sources check."

  static func settings(of catalog: SourceCatalog) -> [(String, String)] {
    catalog.settings.map { setting in
      (setting.key, setting.about + (setting.defaultValue.map { " (default \($0))" } ?? ""))
    }
  }

  /// Environment variables that are not settings.
  static func variables(of program: ProgramName) -> [(String, String)] {
    [
      (program.variable("CONFIG"), "additional settings file, like --config"),
      ("XDG_CONFIG_HOME", "parent of \(program.text)/config.xcconfig (default ~/.config)"),
      ("XDG_DATA_HOME", "parent of \(program.text)/store.sqlite (default ~/.local/share)"),
      (
        "XDG_STATE_HOME",
        "parent of \(program.text), for positions and history (default ~/.local/state)"
      ),
      ("XDG_CACHE_HOME", "parent of \(program.text)/images (default ~/.cache)"),
      ("http_proxy, https_proxy, no_proxy", "proxies, as in curl"),
      ("COLUMNS", "output width"),
      (
        "\(program.variable("PAGER")), PAGER",
        "the pager for long output, cat or empty for none (default less)"
      ),
      ("NO_COLOR", "disables color and cursor movements unless empty"),
      ("FORCE_HYPERLINK", "1: always print links, 0: never (default: if supported)"),
      (program.variable("FORCE_TTY"), "behave as if on a terminal with this many columns"),
    ]
  }

  static func order(_ program: ProgramName) -> String {
    let home = program.variable("HOME")
    return
      "A setting is looked up in this order: the option that sets it; the environment variable of the same "
      + "name; the file given by --config or \(program.variable("CONFIG")); Configuration/Debug.xcconfig or Release.xcconfig in the "
      + "working directory, depending on the build; ~/.config/\(program.text)/config.xcconfig, or "
      + "config/config.xcconfig in the directory of the environment variable \(home); the "
      + "default. \"\(program.text) config\" shows all values and their origins."
  }
}

extension Command {
  package static func overview(
    _ plugins: [any Plugin], _ tree: @escaping @Sendable (SourceCatalog) -> CommandTree
  ) -> Command {
    let second = plugins.dropFirst().first ?? plugins.first
    let examples =
      plugins.prefix(1).map {
        ("\($0.name) list --limit 5", "list the first 5 \($0.noun.word(for: 5))")
      }
      + [second].compactMap(\.self).flatMap { plugin in
        [
          (
            "\(plugin.name) show \(plugin.example.idArgument) --json",
            "show \(plugin.noun.withArticle) as JSON"
          ),
          ("search \(plugin.example.query.typed)", "search all sources"),
        ]
      }
    return Command(options: [.version], examples: examples) { _, context in
      let help = Help(tree(context.catalog), in: context)
      try context.output.write(help.text(of: help.tree.root))
      return .success
    }
  }

  package static func help(
    _ tree: @escaping @Sendable (SourceCatalog) -> CommandTree
  ) -> Command {
    Command(
      "[COMMAND | TOPIC]",
      words: { arguments, tree in
        let (node, rest) = tree.find(arguments)
        guard rest.isEmpty else { return .none }
        let topics = HelpTopic.allCases.map { Candidate($0.rawValue, $0.summary) }
        return .choice(
          node.children.map { Candidate($0.word, $0.summary) }
            + (node.path.isEmpty ? topics + tree.shownCandidates : []))
      },
      notes: [
        "Topics: \(HelpTopic.allCases.map(\.rawValue).joined(separator: ", ")). Names of options, such as group-by or csv, and "
          + "words such as paging, null or keys lead to what tells of them."
      ],
      examples: [
        ("help heroes search", "show help for a verb"), ("help exit-codes", "show a topic"),
        ("help group-by", "show an option and the commands that have it"),
      ]
    ) { invocation, context in
      let help = Help(tree(context.catalog), in: context)
      let words = invocation.arguments
      if words == ["topics"] {
        let rows = HelpTopic.allCases.map { ($0.rawValue, $0.summary) }
        try context.output.write(help.columns([("Topics", rows)]).joined())
        return .success
      }
      // `help exit codes`, too.
      if let topic = HelpTopic(rawValue: words.joined(separator: "-")) {
        if topic == .man, context.terminal.isOutput {
          try ManualPage(help.tree).show(in: context)
        } else {
          try context.output.write(topic.text(help))
        }
        return .success
      }
      if words.count == 1, let query = help.tree.shownQuery(words[0]) {
        try context.output.write(help.text(of: query))
        return .success
      }
      let (node, rest) = help.tree.explained(by: words)
      if rest.count == 1, words.count == 1, let text = help.text(indexedBy: words[0]) {
        try context.output.write(text)
        return .success
      }
      guard rest.isEmpty else { throw help.tree.unexplained(rest, under: node) }
      try context.output.write(help.text(of: node))
      return .success
    }
  }
}

extension CommandTree {
  /// An error for words of which `help` has no text; it suggests help on what they may mean.
  fileprivate func unexplained(_ rest: [String], under node: Node) -> CommandError {
    var error = unknown(rest[0], under: node, rest: rest)
    guard node.path.isEmpty else {
      let words = node.children.isEmpty ? nil : error.suggestion
      error.suggestion = "help \(words ?? node.path)"
      return error
    }
    error.suggestion =
      error.suggestion.map { helpLine(on: $0, isOneWord: rest.count == 1) }
      ?? (onlyCommand(with: rest[0])
      ?? HelpTopic(meantBy: rest[0], among: options)?.rawValue
      // A word of three letters is near to too many: `foo` to `--for`, which only `sync` has.
      ?? (rest[0].count > 3 ? nearest(to: rest[0], in: options.map(\.name)) : nil)
      .map { onlyCommand(with: $0) ?? $0 })
      .map { "help \($0)" }
    let topics = HelpTopic.allCases.map(\.rawValue).joined(separator: ", ")
    error.hint = .steps(.command("help"), .words("topics: \(topics)"))
    return error
  }

  /// The command line for help on another one: `help list` for `SOURCE list --count`.
  ///
  /// - Parameter isOneWord: True if one word was typed, so that a verb after a source is that of every source.
  private func helpLine(on line: String, isOneWord: Bool) -> String {
    var words = line.split(separator: " ").map(String.init)
    if isOneWord, words.count > 1, catalog.sources.contains(words[0]) { words.removeFirst() }
    guard let first = words.first, first != "help", !first.hasPrefix("-") else { return line }
    if shownQuery(first) != nil { return "help \(first)" }
    while !words.isEmpty, !explained(by: words).rest.isEmpty { words.removeLast() }
    return words.isEmpty ? line : "help \(words.joined(separator: " "))"
  }
}
