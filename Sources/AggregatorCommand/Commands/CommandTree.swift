package import AggregatorKit

/// All commands of the program.
package struct CommandTree: Sendable {
  /// A word of a command line, and what may follow it.
  package struct Node: Sendable {
    /// The word: `heroes`, `list`.
    let word: String

    /// The words up to here: `heroes list`.
    let path: String

    /// What it does, in one line without a full stop.
    let summary: String

    /// What is run where no further word follows; `nil` if one must.
    let command: Command?

    /// What may follow.
    let children: [Node]

    /// A node.
    ///
    /// - Parameters:
    ///   - path: The words up to here.
    ///   - summary: What it does.
    ///   - command: What is run where no further word follows.
    ///   - children: What may follow.
    init(_ path: String, _ summary: String, _ command: Command?, children: [Node] = []) {
      self.path = path
      self.word = path.split(separator: " ").last.map(String.init) ?? ""
      self.summary = summary
      self.command = command
      self.children = children
    }
  }

  /// What stands before everything.
  let root: Node

  /// What the program is called.
  let program: String

  /// The sources; each is a child of the root.
  let plugins: [any Plugin]

  /// Everything that can be set, source by source; what is the program's own comes last.
  var settingGroups: [[Setting]] {
    plugins.map(\.settings) + [[Directories.home] + RecordingOptions.settings]
  }

  /// Everything that can be set.
  var settings: [Setting] { settingGroups.flatMap(\.self) }

  /// The names of the sources.
  var sources: [String] { plugins.map(\.name) }

  /// The same verbs for every source, each source's own, and what crosses sources.
  ///
  /// - Parameters:
  ///   - program: What the program is called.
  ///   - plugins: The sources.
  package init(_ program: String, plugins: [any Plugin]) {
    self.program = program
    self.plugins = plugins
    root = Node(
      "", "Read data services from a terminal: live, else from what is at hand", .overview,
      children: plugins.map { $0.node } + [
        .search(plugins), .sources(plugins), .sql(plugins), .store(plugins), .config(plugins),
        .completions(program),
        .help,
      ])
  }

  /// Every option of every command, each once.
  var options: [Option] {
    var byName: [String: Option] = [:]
    for option in root.commands.flatMap(\.options) where byName[option.name] == nil {
      byName[option.name] = option
    }
    return byName.values.sorted { $0.name < $1.name }
  }

  func option(named name: String) -> Option? { option { $0.name == name } }
  func option(lettered letter: Character) -> Option? { option { $0.letter == letter } }

  private func option(_ fits: (Option) -> Bool) -> Option? {
    root.commands.lazy.flatMap(\.options).first(where: fits)
  }

  /// The command that words begin with, and the words after it.
  func find(_ words: [String]) -> (node: Node, rest: [String]) {
    var node = root
    var rest = words[...]
    while let word = rest.first, let child = node.children.first(where: { $0.word == word }) {
      node = child
      rest = rest.dropFirst()
    }
    return (node, Array(rest))
  }

  /// The verbs that all sources have, and what they do, as in the first source that can do it.
  var commonVerbs: [(node: Node, summary: String)] {
    let nodes = root.children.filter { sources.contains($0.word) }
    return (nodes.first?.children ?? []).compactMap { first in
      let same = nodes.compactMap { source in
        source.children.first { $0.word == first.word }.map { verb in
          (node: verb, summary: verb.summary.replacing(source.word, with: "records"))
        }
      }
      guard same.count == nodes.count else { return nil }
      return same.first { $0.node.command?.examples.isEmpty == false } ?? same.first
    }
  }

  /// The source with this name.
  func plugin(named name: String) throws(CommandError) -> any Plugin {
    guard let plugin = plugins.first(where: { $0.name == name }) else {
      throw CommandError(
        .usage, "there is no source '\(name)'", suggestion: nearest(to: name, in: sources),
        hint: "the sources are \(sources.joined(separator: ", "))")
    }
    return plugin
  }
}

extension CommandTree.Node {
  /// This node and all under it.
  func visit(_ body: (CommandTree.Node) -> Void) {
    body(self)
    for child in children { child.visit(body) }
  }

  /// This node's command, and those of all nodes under it.
  var commands: [Command] {
    var commands: [Command] = []
    visit { if let command = $0.command { commands.append(command) } }
    return commands
  }
}

extension Plugin {
  /// This source's word, and its verbs.
  var node: CommandTree.Node {
    CommandTree.Node(
      name, summary, nil,
      children: [
        .init("\(name) list", "Show \(name) from the start", listCommand),
        .init(
          "\(name) next", "Show the \(name) after those shown last",
          nextCommand(goesOnAfterEnd: policy.readOrder == .localFirst)),
        .init("\(name) search", "Show \(name) that match words", searchCommand),
        .init("\(name) show", "Show all that is known of single \(name)", showCommand),
        .init(
          "\(name) sync", "Fetch all \(name) into the store, and go on where that stopped",
          syncCommand),
        .init("\(name) delete", "Hide \(name) here, until they are restored", deleteCommand),
        .init("\(name) restore", "Bring deleted \(name) back", restoreCommand),
        .init(
          "\(name) open",
          layout.link == nil
            ? "Not possible: \(name) have no web pages"
            : "Open a web page of \(name) in the browser",
          openCommand),
        .init(
          "\(name) image",
          layout.images == nil
            ? "Not possible: \(name) have no images" : "Save an image of \(name)",
          imageCommand),
      ] + verbs.map { .init("\(name) \($0.name)", $0.summary, command(for: $0)) })
  }
}
