package import AggregatorKit
package import AggregatorQueries
import DeclaredSource

package struct CommandTree: Sendable {
  package struct Node: Sendable {
    package let word: String

    /// The words up to this one: `heroes list`.
    package let path: String

    /// The description, without a full stop.
    package var summary: String { content.value().summary }

    /// The command if no further word follows; `nil` if one must.
    package var command: Command? { content.value().command }

    package var children: [Node] { content.value().children }

    private let content: Lazy<Content, Never>

    private struct Content: Sendable {
      let summary: String
      let command: Command?
      let children: [Node]
    }

    package init(_ path: String, _ summary: String, _ command: Command?, children: [Node] = []) {
      self.init(path, Lazy { Content(summary: summary, command: command, children: children) })
    }

    /// Creates a node that is made when it is needed: most runs need one of many.
    package init(lazily path: String, _ make: @escaping @Sendable () -> Node) {
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

  package let root: Node
  package let catalog: SourceCatalog
  package let groups: [(title: String, nodes: [Node])]

  /// The verbs of every source, each with a summary for any source.
  private let verbs: [(word: String, summary: String)]

  /// - Parameters:
  ///   - overview: The command of the program alone.
  ///   - verbs: The verbs of every source, each with a summary for any source.
  ///   - source: Returns the node of a source.
  package init(
    of catalog: SourceCatalog, overview: Command, verbs: [(word: String, summary: String)],
    groups: [(title: String, nodes: [Node])], source: @escaping @Sendable (any Plugin) -> Node
  ) {
    self.catalog = catalog
    self.verbs = verbs
    self.groups = groups
    root = Node(
      "", "Query web APIs from the terminal, even when they are down", overview,
      children: catalog.plugins.map { plugin in Node(lazily: plugin.name) { source(plugin) } }
        + groups.flatMap(\.nodes))
  }

  /// Every option, with its general description, sorted by name.
  package var options: [Option] {
    var byName: [String: Option] = [:]
    for option in root.commands.flatMap(\.options) where byName[option.name] == nil {
      byName[option.name] = option
    }
    return byName.values.sorted { $0.name < $1.name }
  }

  /// The option with this name; that of `command` if it has one, for which no other command is made.
  package func option(named name: String, of command: Command? = nil) -> Option? {
    option(of: command) { $0.name == name }
  }

  package func option(lettered letter: Character, of command: Command? = nil) -> Option? {
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

  package func find(_ words: [String]) -> (node: Node, rest: [String]) {
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
    verbs.compactMap { word, summary in
      let nodes = catalog.plugins.compactMap { plugin in
        root.children.first { $0.word == plugin.name }?.children
          .first { $0.word == word }
      }
      let node = nodes.first { $0.command?.examples.isEmpty == false } ?? nodes.first
      return node.map { ($0, summary) }
    }
  }
}

extension CommandTree.Node {
  func visit(_ body: (CommandTree.Node) -> Void) {
    body(self)
    for child in children { child.visit(body) }
  }

  package var commands: [Command] {
    var commands: [Command] = []
    visit { if let command = $0.command { commands.append(command) } }
    return commands
  }
}
