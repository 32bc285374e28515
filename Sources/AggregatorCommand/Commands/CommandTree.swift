package import AggregatorKit

package struct CommandTree: Sendable {
  package struct Node: Sendable {
    let word: String

    /// The words up to this one: `heroes list`.
    let path: String

    /// The description, without a full stop.
    let summary: String

    /// The command if no further word follows; `nil` if one must.
    let command: Command?

    let children: [Node]

    init(_ path: String, _ summary: String, _ command: Command?, children: [Node] = []) {
      self.path = path
      self.word = path.split(separator: " ").last.map(String.init) ?? ""
      self.summary = summary
      self.command = command
      self.children = children
    }
  }

  let root: Node
  let program: String

  let plugins: [any Plugin]
  let groups: [(title: String, nodes: [Node])]

  /// All settings: those of each source, then those of the program.
  var settingGroups: [[Setting]] {
    plugins.map(\.settings) + [[Directories.home] + RecordingOptions.settings]
  }

  var settings: [Setting] { settingGroups.flatMap(\.self) }

  var sources: [String] { plugins.map(\.name) }

  package init(_ program: String, plugins: [any Plugin]) {
    self.program = program
    self.plugins = plugins
    groups = [
      ("Commands across sources", [.search(plugins), .sources(plugins), .sql(plugins)]),
      ("Local data and settings", [.store(plugins), .config(plugins)]),
      ("Shell and help", [.completions(program), .help]),
    ]
    root = Node(
      "", "Query web APIs from the terminal, even when they are down", .overview(plugins),
      children: plugins.map { $0.node } + groups.flatMap(\.nodes))
  }

  /// Every option, with its general description, sorted by name.
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

  func find(_ words: [String]) -> (node: Node, rest: [String]) {
    var node = root
    var rest = words[...]
    while let word = rest.first, let child = node.children.first(where: { $0.word == word }) {
      node = child
      rest = rest.dropFirst()
    }
    return (node, Array(rest))
  }

  /// The verbs of every source; the nodes are those of the first source that supports the verb.
  var commonVerbs: [(node: Node, summary: String)] {
    let noun = RecordNoun("records")
    return StandardVerb.allCases.compactMap { verb in
      let nodes = plugins.compactMap { plugin in
        root.children.first { $0.word == plugin.name }?.children
          .first { $0.word == verb.rawValue }
      }
      let node = nodes.first { $0.command?.examples.isEmpty == false } ?? nodes.first
      return node.map { ($0, verb.summary(noun)) }
    }
  }

  func plugin(named name: String) throws(CommandError) -> any Plugin {
    guard let plugin = plugins.first(where: { $0.name == name }) else {
      throw CommandError(
        .usage, "unknown source \"\(name)\"", suggestion: nearest(to: name, in: sources),
        hint: "available sources: \(sources.joined(separator: ", "))")
    }
    return plugin
  }
}

extension CommandTree.Node {
  func visit(_ body: (CommandTree.Node) -> Void) {
    body(self)
    for child in children { child.visit(body) }
  }

  var commands: [Command] {
    var commands: [Command] = []
    visit { if let command = $0.command { commands.append(command) } }
    return commands
  }
}

enum StandardVerb: String, CaseIterable {
  case list, next, search, show, sync, delete, restore, open, image

  func summary(_ noun: RecordNoun) -> String {
    switch self {
    case .list: "List \(noun.plural)"
    case .next: "Show the next page"
    case .search: "Search \(noun.plural)"
    case .show: "Show full details"
    case .sync: "Download all records; resumes if interrupted"
    case .delete: "Hide \(noun.plural) locally until restored"
    case .restore: "Restore deleted \(noun.plural)"
    case .open: "Open \(noun.withArticle)'s page in the browser"
    case .image: "Save \(noun.withArticle)'s image"
    }
  }
}

extension Plugin {
  var node: CommandTree.Node {
    let standard = StandardVerb.allCases.map { verb in
      let missing: String? =
        switch verb {
        case .open: layout.link == nil ? "web pages" : nil
        case .image: layout.images == nil ? "images" : nil
        default: nil
        }
      return CommandTree.Node(
        "\(name) \(verb.rawValue)",
        missing.map { "Not available: \(name) have no \($0)" } ?? verb.summary(noun),
        command(for: verb))
    }
    return CommandTree.Node(
      name, summary, nil,
      children: standard + verbs.map { .init("\(name) \($0.name)", $0.summary, command(for: $0)) })
  }

  private func command(for verb: StandardVerb) -> Command {
    switch verb {
    case .list: listCommand
    case .next: nextCommand
    case .search: searchCommand
    case .show: showCommand
    case .sync: syncCommand
    case .delete: deleteCommand
    case .restore: restoreCommand
    case .open: openCommand
    case .image: imageCommand
    }
  }
}
