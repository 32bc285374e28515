import AggregatorKit

/// Help texts, made from the command tree.
struct Help {
  private let tree: CommandTree
  private let width: Int

  /// Lines longer than this are hard to read.
  private static let mostCells = 100

  init(_ tree: CommandTree, width: Int) {
    self.tree = tree
    self.width = min(max(width, 1), Self.mostCells)
  }

  /// What a node is and what can be typed there.
  func text(of node: CommandTree.Node) -> String {
    var sections = [node.path.isEmpty ? overview : wrapped("\(node.summary).")]
    sections.append("Usage:\n" + usage(of: node).map(hanging).joined())
    if node.path.isEmpty {
      sections.append(rows("Sources", tree.root.children.filter { isSource($0) }))
      sections.append(rows("Verbs of every source", commonVerbs))
      sections.append(rows("Commands", tree.root.children.filter { !isSource($0) }))
    } else if !node.children.isEmpty {
      sections.append(rows(isSource(node) ? "Verbs" : "Commands", node.children))
    }
    if let command = node.command, !node.path.isEmpty {
      let own = command.options.filter { !Option.common.contains($0) }
      if !own.isEmpty { sections.append(rows("Options", own.map { ($0.synopsis, $0.about) })) }
      sections += command.notes.map(wrapped)
      if !command.examples.isEmpty {
        sections.append(
          rows("Examples", command.examples.map { ("\(tree.program) \($0.arguments)", $0.about) }))
      }
    }
    sections.append(wrapped(footer(of: node)))
    return sections.joined(separator: "\n")
  }

  private var overview: String {
    wrapped("\(tree.root.summary).")
  }

  private func usage(of node: CommandTree.Node) -> [String] {
    if node.path.isEmpty {
      return ["\(tree.program) SOURCE VERB [ARGUMENT…] [OPTION…]", "\(tree.program) COMMAND …"]
    }
    var lines: [String] = []
    let word = isSource(node) ? "VERB" : "COMMAND"
    if let command = node.command {
      lines.append(
        [tree.program, node.path, command.arguments, "[OPTION…]"].filter { !$0.isEmpty }
          .joined(separator: " "))
    }
    if !node.children.isEmpty { lines.append("\(tree.program) \(node.path) \(word) …") }
    return lines
  }

  private func footer(of node: CommandTree.Node) -> String {
    if node.path.isEmpty {
      return "\(tree.program) help SOURCE, help SOURCE VERB and help COMMAND tell more; so do "
        + HelpTopic.allCases.map { "help \($0.rawValue)" }.joined(separator: ", ") + "."
    }
    return isSource(node) || node.command == nil
      ? "\(tree.program) help \(node.path) \(isSource(node) ? "VERB" : "COMMAND") tells more."
      : "Every command also takes "
        + Option.common.map(\.spelling).joined(separator: ", ") + ": \(tree.program) help options."
  }

  private func isSource(_ node: CommandTree.Node) -> Bool { tree.sources.contains(node.path) }

  /// The verbs that all sources have, with what they do.
  private var commonVerbs: [(String, String)] {
    tree.commonVerbs.map { verb, summary in
      (
        [verb.word, verb.command?.arguments ?? ""].filter { !$0.isEmpty }.joined(separator: " "),
        summary
      )
    }
  }

  private func rows(_ title: String, _ nodes: [CommandTree.Node]) -> String {
    rows(
      title,
      nodes.map { node in
        let arguments = node.command?.arguments ?? ""
        return (arguments.isEmpty ? node.word : "\(node.word) \(arguments)", node.summary)
      })
  }

  /// A title, and two columns; where the width is too small for two, what it is stands below.
  func rows(_ title: String, _ rows: [(String, String)]) -> String {
    let longest = rows.map(\.0.displayWidth).max() ?? 0
    let isBeside = longest + 20 <= width
    var text = "\(title):\n"
    for (left, right) in rows {
      let margin = isBeside ? longest + 4 : 6
      let lines = Wrap(width - margin).lines(of: right)
      let pad = String(repeating: " ", count: margin)
      if isBeside {
        let gap = String(repeating: " ", count: longest - left.displayWidth + 2)
        text += "  \(left)\(gap)\(lines.joined(separator: "\n" + pad))\n"
      } else {
        text += hanging(left) + lines.map { "\(pad)\($0)\n" }.joined()
      }
    }
    return text
  }

  /// Something to type, indented; what does not fit goes on below, further in.
  private func hanging(_ text: String) -> String {
    "  \(Wrap(width - 2, rest: width - 4).lines(of: text).joined(separator: "\n    "))\n"
  }

  /// A paragraph.
  func wrapped(_ text: String) -> String {
    Wrap(width).lines(of: text).map { "\($0)\n" }.joined()
  }
}

extension CommandTree.Node {
  /// `aggregator help [SOURCE [VERB] | COMMAND | TOPIC]`.
  static let help = CommandTree.Node(
    "help", "Explain a source, a verb, a command, or a topic", .help)
}

extension Command {
  /// `aggregator` alone.
  static let overview = Command(options: [.version]) { invocation, session in
    let help = Help(session.tree, width: session.terminal.width)
    try session.output.write(help.text(of: session.tree.root))
    return .success
  }

  fileprivate static let help = Command(
    "[SOURCE [VERB] | COMMAND | TOPIC]",
    words: { arguments, tree in
      let (node, rest) = tree.find(arguments)
      guard rest.isEmpty else { return .none }
      let topics = HelpTopic.allCases.map { Candidate($0.rawValue, $0.summary) }
      return .choice(
        node.children.map { Candidate($0.word, $0.summary) } + (node.path.isEmpty ? topics : []))
    },
    notes: ["The topics are \(HelpTopic.allCases.map(\.rawValue).joined(separator: ", "))."],
    examples: [("help heroes search", "one verb"), ("help exit-codes", "a topic")]
  ) { invocation, session in
    let help = Help(session.tree, width: session.terminal.width)
    let words = invocation.arguments
    if words.count == 1, let topic = HelpTopic(rawValue: words[0]) {
      try session.output.write(topic.text(help, tree: session.tree))
      return .success
    }
    let (node, rest) = session.tree.find(words)
    guard rest.isEmpty else {
      var failure = session.tree.unknown(rest[0], under: node, rest: rest)
      let topics = HelpTopic.allCases.map(\.rawValue)
      if node.path.isEmpty, let topic = nearest(to: rest[0], in: topics) {
        failure.suggestion = failure.suggestion ?? "help \(topic)"
      }
      throw failure
    }
    try session.output.write(help.text(of: node))
    return .success
  }
}

/// What there is to know beside the commands.
enum HelpTopic: String, CaseIterable {
  case options
  case exitCodes = "exit-codes"
  case environment
  case man

  /// What it is about, in one line.
  var summary: String {
    switch self {
    case .options: "All options, and what they mean everywhere"
    case .exitCodes: "What the exit codes mean"
    case .environment: "Settings, and where they come from"
    case .man: "All of this as a manual page, for man -l -"
    }
  }

  /// The whole topic.
  func text(_ help: Help, tree: CommandTree) -> String {
    switch self {
    case .options:
      return help.rows("Options", tree.options.map { ($0.synopsis, $0.about) })
        + "\n"
        + help.wrapped(Self.spelling)
    case .exitCodes:
      return help.rows("Exit codes", ExitCode.allCases.map { ("\($0.rawValue)", $0.about) })
        + "\n"
        + help.wrapped(Self.lastResort)
    case .environment:
      return help.rows("Settings", Self.settings(of: tree)) + "\n"
        + help.rows("Other variables", Self.variables) + "\n"
        + help.wrapped(Self.order(tree.program))
    case .man:
      return ManualPage(tree).text
    }
  }

  /// How options are written.
  static let spelling =
    "An option may stand anywhere before --, as --option VALUE or --option=VALUE. "
    + "Names cannot be shortened."

  /// When failures decide about the exit code.
  static let lastResort =
    "69, 75, 76 and 77 are seen only when nothing else could answer, with --no-fallback, or by sync and sources check."

  /// What can be set, and what it is for.
  static func settings(of tree: CommandTree) -> [(String, String)] {
    tree.settings.map { setting in
      let standard = setting.defaultValue.map { "; \($0) by default" } ?? ""
      return (setting.key, setting.about + standard)
    }
  }

  /// Variables of the environment that are no settings.
  static let variables = [
    ("AGGREGATOR_CONFIG", "one more settings file, as --config"),
    ("XDG_CONFIG_HOME", "where aggregator/config.xcconfig is, instead of ~/.config"),
    ("XDG_DATA_HOME", "where aggregator/store.sqlite is, instead of ~/.local/share"),
    ("XDG_STATE_HOME", "where aggregator/positions is, instead of ~/.local/state"),
    ("XDG_CACHE_HOME", "where aggregator/images is, instead of ~/.cache"),
    ("http_proxy, https_proxy, no_proxy", "as for curl"),
    ("COLUMNS", "how wide the output is"),
    ("NO_COLOR", "no colour if it is not empty"),
    (
      "FORCE_HYPERLINK",
      "1: addresses in cards are links; 0: never; else where terminals can"
    ),
    ("AGGREGATOR_FORCE_TTY", "as if on a terminal of so many columns"),
  ]

  /// Where settings come from.
  static func order(_ program: String) -> String {
    "A setting is looked for in this order: an environment variable of its name; the file of "
      + "--config or AGGREGATOR_CONFIG; Configuration/Debug.xcconfig or Release.xcconfig in the "
      + "working directory, as the program was built; ~/.config/aggregator/config.xcconfig; its "
      + "default. '\(program) config' shows what is set, and where."
  }
}
