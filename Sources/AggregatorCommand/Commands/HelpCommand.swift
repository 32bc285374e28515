import AggregatorKit

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
