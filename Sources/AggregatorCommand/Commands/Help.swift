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
