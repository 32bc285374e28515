package import AggregatorKit
package import AggregatorQueries
package import AggregatorTerminal
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

    /// All but the path is made when it is needed: most runs need one node of many.
    package init(
      _ path: String, _ summary: @autoclosure @escaping @Sendable () -> String,
      _ command: @autoclosure @escaping @Sendable () -> Command?,
      children: @autoclosure @escaping @Sendable () -> [Node] = []
    ) {
      self.path = path
      // Each start makes a node of each command, and a split would take longer than the rest of it.
      word =
        path.utf8.lastIndex(of: UInt8(ascii: " ")).map { String(path[path.index(after: $0)...]) }
        ?? path
      content = Lazy { Content(summary: summary(), command: command(), children: children()) }
    }
  }

  package let root: Node
  package let catalog: SourceCatalog
  package let groups: [(title: String, nodes: [Node])]

  private let verbs: [(word: String, summary: String)]

  /// - Parameter overview: The command of the program alone.
  package init(
    of catalog: SourceCatalog, overview: Command, verbs: [(word: String, summary: String)],
    groups: [(title: String, nodes: [Node])], source: @escaping @Sendable (any Plugin) -> Node
  ) {
    self.catalog = catalog
    self.verbs = verbs
    self.groups = groups
    root = Node(
      "", "Query web APIs from the terminal, even when they are down", overview,
      children: catalog.plugins.map(source) + groups.flatMap(\.nodes))
  }

  /// Every option, with its general description, sorted by name.
  package var options: [Option] {
    let byName = root.commands.flatMap(\.options).map { ($0.name, $0) }
    return Dictionary(byName) { first, _ in first }.values.sorted { $0.name < $1.name }
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

  /// The node of the most words, and those after it; `diff countries` is `countries diff`, and `countries watch` is
  /// `watch countries`.
  package func find(_ words: [String]) -> (node: Node, rest: [String]) {
    var node = root
    var rest = inOrder(words)[...]
    while let word = rest.first, let child = node.children.first(where: { $0.word == word }) {
      node = child
      rest = rest.dropFirst()
    }
    return (node, Array(rest))
  }

  private func inOrder(_ words: [String]) -> [String] {
    guard words.count > 1 else { return words }
    func child(_ word: String, of node: Node?) -> Node? {
      node?.children.first { $0.word == word }
    }
    let (first, second) = (child(words[0], of: root), child(words[1], of: root))
    let isSwapped =
      if let first {
        catalog.sources.contains(words[0]) && child(words[1], of: first) == nil
          && second?.takesSource == true
      } else {
        catalog.sources.contains(words[1]) && child(words[0], of: second) != nil
      }
    return isSwapped ? [words[1], words[0]] + words.dropFirst(2) : words
  }

  /// The node that words name in help, where a verb needs no source: `list` is that of every source.
  func explained(by words: [String]) -> (node: Node, rest: [String]) {
    let (node, rest) = find(words)
    // `help countries watch`.
    if node.takesSource, rest.count == 1, catalog.sources.contains(rest[0]) { return (node, []) }
    guard node.path.isEmpty, rest.count == 1, let word = rest.first else { return (node, rest) }
    if let (verb, summary) = commonVerbs.first(where: { $0.node.word == word }) {
      return (Node("SOURCE \(word)", summary, verb.command), [])
    }
    let verb = catalog.sources.lazy.map { find([$0, word]) }.first { $0.rest.isEmpty }
    return verb ?? (node, rest)
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
  /// True for a command of the program whose first argument is the name of a source.
  var takesSource: Bool {
    command?.arguments.firstMatch(of: /^\[?SOURCE\b/) != nil
  }

  func visit(_ body: (CommandTree.Node) -> Void) {
    body(self)
    for child in children { child.visit(body) }
  }

  package var commands: [Command] {
    [command].compactMap(\.self) + children.flatMap(\.commands)
  }
}

/// Parser, help and completions derive from it; texts and options are closures, because a run needs
/// those of one command out of sixty.
package struct Command: Sendable {
  package struct Example: Sendable {
    /// The command line without the program's name.
    package let arguments: String
    /// The description, without a full stop.
    package let about: String
  }

  /// Resources of the process that only some commands need.
  package struct Needs: Hashable, Sendable {
    /// The fewest file descriptors; 0 if those of every command are enough.
    package var descriptors = 0

    /// True if its threads allocate side by side for long, which is faster with arenas of their own.
    package var ownArenas = false

    /// True if it changes what it reads, or continues there: standbys of the store, which are behind, cannot answer.
    package var newest = false

    package init(descriptors: Int = 0, ownArenas: Bool = false, newest: Bool = false) {
      self.descriptors = descriptors
      self.ownArenas = ownArenas
      self.newest = newest
    }
  }

  /// The arguments: `QUERY…`; empty for none.
  package let arguments: String
  package let words: CompletionSource.Following
  package let needs: Needs

  /// Its own come first, which may describe one of every command in other words.
  package var options: [Option] { allOptions.value() }

  /// The fields for `--fields`; empty if the command outputs no records.
  package var fields: [FieldEntry] { makeFields() }

  package var notes: [String] { makeNotes() }

  package var examples: [Example] { makeExamples().map { Example(arguments: $0, about: $1) } }

  private let allOptions: Lazy<[Option], Never>
  private let makeFields: @Sendable () -> [FieldEntry]
  private let makeNotes: @Sendable () -> [String]
  private let makeExamples: @Sendable () -> [(String, String)]
  private let body: @Sendable (Invocation, CommandContext) async throws -> ExitCode
  private var failure: @Sendable (SourceError) -> CommandError = { CommandError($0) }
  private var kinds: @Sendable (CommandContext) async -> [String: String] = { _ in [:] }

  var takesArguments: Bool { !arguments.isEmpty }

  package init(
    _ arguments: String = "", words: CompletionSource.Following? = nil, needs: Needs = Needs(),
    options: @escaping @Sendable @autoclosure () -> [Option] = [],
    fields: @escaping @Sendable @autoclosure () -> [Field<some Any>] = [Field<Never>](),
    notes: @escaping @Sendable @autoclosure () -> [String] = [],
    examples: @escaping @Sendable @autoclosure () -> [(String, String)] = [],
    run: @escaping @Sendable (Invocation, CommandContext) async throws -> ExitCode
  ) {
    self.arguments = arguments
    self.words = words ?? { _, _ in arguments.isEmpty ? .none : .anything }
    self.needs = needs
    allOptions = Lazy {
      let own = options()
      return own + Option.common.filter { !own.contains($0) }
    }
    makeFields = { fields().map { FieldEntry($0) } }
    makeNotes = notes
    makeExamples = examples
    body = run
  }

  /// This command, whose failures are those of a source, and whose fields have the kinds of its records.
  package func attributed(to plugin: some Plugin) -> Command {
    var command = self
    command.failure = { CommandError($0, of: plugin) }
    command.kinds = { await $0.kinds(of: plugin) }
    return command
  }

  package func run(_ invocation: Invocation, _ context: CommandContext) async throws -> ExitCode {
    guard invocation.list(.fields) == ["help"] else {
      do { return try await body(invocation, context) } catch let error as SourceError {
        throw failure(error)
      }
    }
    let output = try OutputOptions(invocation, in: context)
    var fields = fields
    let kinds = await kinds(context)
    for index in fields.indices where fields[index].kind == FieldKind.any.rawValue {
      fields[index].kind = kinds[fields[index].id] ?? FieldKind.any.rawValue
    }
    try RecordPrinter.print(
      fields, as: output.plainListing("fields", FieldEntry.self, namesFields: false), output,
      in: context)
    return .success
  }
}
