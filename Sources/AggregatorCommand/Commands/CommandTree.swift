import Core

/// All commands of the program.
struct CommandTree: Sendable {
  /// A word of a command line, and what may follow it.
  struct Node: Sendable {
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

  private let byName: [String: Option]
  private let byLetter: [Character: Option]

  /// The same verbs for every source, each source's own, and what crosses sources.
  ///
  /// - Parameters:
  ///   - program: What the program is called.
  ///   - plugins: The sources.
  init(_ program: String, plugins: [any Plugin]) {
    self.program = program
    self.plugins = plugins
    root = Node(
      "", "Read data services from a terminal: live, else from what is at hand", .overview,
      children: plugins.map { $0.node } + [
        .search(plugins), .sources(plugins), .sql(plugins), .store(plugins), .config(plugins),
        .help,
      ])
    var options: [Option] = [.version]
    root.visit { options += $0.command?.options ?? [] }
    byName = Dictionary(options.map { ($0.name, $0) }) { first, _ in first }
    byLetter = Dictionary(options.compactMap { option in option.letter.map { ($0, option) } }) {
      first, _ in first
    }
  }

  /// Every option of every command.
  var options: [Option] { byName.values.sorted { $0.name < $1.name } }

  func option(named name: String) -> Option? { byName[name] }
  func option(lettered letter: Character) -> Option? { byLetter[letter] }

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

  /// The source with this name.
  func plugin(named name: String) throws(Failure) -> any Plugin {
    guard let plugin = plugins.first(where: { $0.name == name }) else {
      throw Failure(
        .usage, "there is no source '\(name)'", suggestion: nearest(to: name, in: sources),
        hint: "the sources are \(sources.joined(separator: ", "))")
    }
    return plugin
  }

  /// What to say of a word that leads nowhere.
  func unknown(_ word: String, under node: Node, rest: [String]) -> Failure {
    let words = node.children.map(\.word)
    let hint = Hint.command(node.path.isEmpty ? "help" : "help \(node.path)")
    if node.word == "next", let source = node.path.split(separator: " ").first {
      return Failure(
        .usage, "'\(node.path)' takes no query: it goes on with the last one",
        hint: .command("\(source) search \(word.isPlainWord ? word : "WORD…")"))
    }
    if words.isEmpty {
      return Failure(.usage, "'\(node.path)' takes no '\(word)'", hint: hint)
    }
    // `list heroes` for `heroes list`.
    if node.path.isEmpty, let source = rest.dropFirst().first(where: sources.contains),
      find([source, word]).rest.isEmpty
    {
      let others = rest.filter { $0 != word && $0 != source }
      return Failure(
        .usage, "unknown source or command '\(word)'",
        suggestion: ([source, word] + others).joined(separator: " "), hint: hint)
    }
    // `list` without saying of what.
    if node.path.isEmpty, sources.contains(where: { find([$0, word]).rest.isEmpty }) {
      return Failure(
        .usage, "'\(word)' needs a source before it",
        hint: "the sources are \(sources.joined(separator: ", "))")
    }
    let what = node.path.isEmpty ? "source or command" : "verb"
    // `sources heroes` for `sources show heroes`.
    let shows = sources.contains(word) && words.contains("show")
    let near = shows ? "show \(word)" : nearest(to: word, in: words)
    return Failure(
      .usage, "unknown \(what) '\(word)'" + (node.path.isEmpty ? "" : " of \(node.path)"),
      suggestion: near.map { node.path.isEmpty ? $0 : "\(node.path) \($0)" },
      hint: near == nil && !node.path.isEmpty
        ? .words("\(node.path) can \(words.joined(separator: ", "))") : hint)
  }
}

extension CommandTree.Node {
  /// This node and all under it.
  func visit(_ body: (CommandTree.Node) -> Void) {
    body(self)
    for child in children { child.visit(body) }
  }
}
