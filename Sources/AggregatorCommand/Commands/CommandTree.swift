package import AggregatorKit
package import DeclaredSource

package struct CommandTree: Sendable {
  package struct Node: Sendable {
    let word: String

    /// The words up to this one: `heroes list`.
    let path: String

    /// The description, without a full stop.
    var summary: String { content.value().summary }

    /// The command if no further word follows; `nil` if one must.
    var command: Command? { content.value().command }

    var children: [Node] { content.value().children }

    private let content: Lazy<Content, Never>

    private struct Content: Sendable {
      let summary: String
      let command: Command?
      let children: [Node]
    }

    init(_ path: String, _ summary: String, _ command: Command?, children: [Node] = []) {
      self.init(path, Lazy { Content(summary: summary, command: command, children: children) })
    }

    /// Creates a node that is made when it is needed: most runs need one of many.
    init(lazily path: String, _ make: @escaping @Sendable () -> Node) {
      self.init(
        path,
        Lazy {
          let node = make()
          return Content(summary: node.summary, command: node.command, children: node.children)
        })
    }

    private init(_ path: String, _ content: Lazy<Content, Never>) {
      self.path = path
      self.word = path.split(separator: " ").last.map(String.init) ?? ""
      self.content = content
    }
  }

  let root: Node
  let catalog: SourceCatalog
  let groups: [(title: String, nodes: [Node])]

  package init(_ program: String, plugins: [any Plugin], manifests: ManifestFolder? = nil) {
    self.init(Self.catalog(program, plugins: plugins, manifests: manifests))
  }

  /// The sources of a program with these commands.
  static func catalog(
    _ program: String, plugins: [any Plugin], manifests: ManifestFolder?
  ) -> SourceCatalog {
    let name = ProgramName(program)
    return SourceCatalog(
      of: name, compiled: plugins, adding: manifests,
      reserving: Self.groups([], of: name).flatMap(\.nodes).map(\.word))
  }

  init(_ catalog: SourceCatalog) {
    self.catalog = catalog
    let plugins = catalog.plugins
    groups = Self.groups(plugins, of: catalog.name)
    root = Node(
      "", "Query web APIs from the terminal, even when they are down", .overview(plugins),
      children: plugins.map { plugin in Node(lazily: plugin.name) { plugin.node } }
        + groups.flatMap(\.nodes))
  }

  private static func groups(
    _ plugins: [any Plugin], of name: ProgramName
  ) -> [(title: String, nodes: [Node])] {
    let program = name.text
    return [
      (
        "Commands across sources",
        [
          Node(lazily: "search") { .search(plugins) },
          Node(lazily: "sources") { .sources(plugins) },
          Node(lazily: "sql") { .sql(plugins, program) },
          Node(lazily: "export") { .export(plugins) },
          Node(lazily: "watch") { .watch(plugins) },
          Node(lazily: "serve") { .serve(plugins) },
        ]
      ),
      (
        "Local data and settings",
        [
          Node(lazily: "store") { .store(plugins) },
          Node(lazily: "config") { .config(plugins, of: name) },
        ]
      ),
      ("Shell and help", [.completions(program), .help]),
    ]
  }

  /// Every option, with its general description, sorted by name.
  var options: [Option] {
    var byName: [String: Option] = [:]
    for option in root.commands.flatMap(\.options) where byName[option.name] == nil {
      byName[option.name] = option
    }
    return byName.values.sorted { $0.name < $1.name }
  }

  /// The option with this name; that of `command` if it has one, for which no other command is made.
  func option(named name: String, of command: Command? = nil) -> Option? {
    option(of: command) { $0.name == name }
  }

  func option(lettered letter: Character, of command: Command? = nil) -> Option? {
    option(of: command) { $0.letter == letter }
  }

  /// The first option of the command, or else in the order of help.
  ///
  /// The verbs of added sources are asked last: they have the options of all verbs, and their manifests need
  /// not be read for them.
  private func option(of command: Command?, _ fits: @escaping (Option) -> Bool) -> Option? {
    if let option = command?.options.first(where: fits) { return option }
    func first(in node: Node) -> Option? {
      node.command?.options.first(where: fits) ?? node.children.lazy.compactMap(first).first
    }
    let added = Set(catalog.added)
    let own = root.children.filter { !added.contains($0.word) }
    let others = root.children.filter { added.contains($0.word) }
    return root.command?.options.first(where: fits) ?? (own + others).lazy.compactMap(first).first
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
      let nodes = catalog.plugins.compactMap { plugin in
        root.children.first { $0.word == plugin.name }?.children
          .first { $0.word == verb.rawValue }
      }
      let node = nodes.first { $0.command?.examples.isEmpty == false } ?? nodes.first
      return node.map { ($0, verb.summary(noun)) }
    }
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
  case list, next, search, show, sync, diff, delete, restore, open, image

  func summary(_ noun: RecordNoun, isEndless: Bool = false) -> String {
    switch self {
    case .list: "List \(noun.plural)"
    case .next: "Show the next page"
    case .search: "Search \(noun.plural)"
    case .show: "Show full details"
    case .sync:
      isEndless
        ? "Download the next pages of \(noun.plural)"
        : "Download all records; resumes if interrupted"
    case .diff: "Show changes since a sync or a date"
    case .delete: "Hide \(noun.plural) locally until restored"
    case .restore: "Restore deleted \(noun.plural)"
    case .open: "Open \(noun.withArticle)'s page in the browser"
    case .image: "Show or save \(noun.withArticle)'s image"
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
        missing.map { "Not available: \(name) have no \($0)" }
          ?? verb.summary(noun, isEndless: policy.isEndless),
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
    case .diff: diffCommand
    case .delete: deleteCommand
    case .restore: restoreCommand
    case .open: openCommand
    case .image: imageCommand
    }
  }
}
