import AggregatorKit
import AggregatorQueries
import AggregatorSavedQueries
package import AggregatorTerminal

/// The only candidate with this prefix, or else the nearest one, of those with the prefix if there are any; `nil` if there is
/// none.
func meant(by word: String, among candidates: [String]) -> String? {
  let longer = begun(by: word, among: candidates)
  if longer.count == 1 { return longer.first }
  if !longer.isEmpty { return nearest(to: word, in: longer) }
  // Every word of three letters is near to one of two.
  return word.count > 2 ? nearest(to: word, in: candidates) : nil
}

/// The candidates that begin with a word of at least two letters, each once.
private func begun(by word: String, among candidates: [String]) -> [String] {
  guard word.count > 1 else { return [] }
  var longer: [String] = []
  for candidate in candidates where candidate.hasPrefix(word) && !longer.contains(candidate) {
    longer.append(candidate)
  }
  return longer
}

extension CommandTree {
  /// Words of other programs for the words of this one: suggested, but not accepted.
  private static let synonyms = table(
    """
    ls dir all index: list
    find query grep lookup: search
    get view cat describe details: show
    info: show, status
    print: show, get
    rm remove del: delete, unset, clear, remove
    hide: delete
    forget: delete, clear
    undelete unhide recover undo: restore
    more continue: next
    browse web visit: open
    fetch pull refresh: sync, load
    update: sync, load, edit, set
    login auth settings preferences: config
    changes changelog changed log compare: diff
    poll monitor follow: watch
    download: image, sync, load
    picture: image
    random: deal
    choose select fzf: pick
    delete: unset, clear, remove
    reset: unset, clear
    empty: clear
    show: list, status
    add: set, save
    edit: set
    new create: add, save
    set: save
    test verify: check
    change modify: edit, set
    prev previous: next --back
    where file: path
    stats: status
    db database cache: store
    plugins: sources
    console repl: sql
    gz gzip: export
    completion: completions
    alias aliases queries: query
    """)

  /// Options of other programs for those of this one, with the value that they stand for: the first that a command has.
  private static let optionSynonyms = table(
    """
    reload no-cache live: refresh
    force: refresh, replace, yes
    overwrite: replace
    cached local: offline
    top per-page first head: limit
    columns select field: fields
    and filter: where
    or: where 'A or B'
    silent: quiet
    debug trace: verbose
    no-color no-colour: color never
    interval: every
    from: since
    prev previous: back
    order order-by sort-by: sort
    reverse desc: sort -FIELD
    data data-raw: input -, body JSON
    user: basic
    token bearer auth: header
    average avg mean min sum: stats
    unique: distinct
    in: source, input
    plain: format tsv
    output-format: format
    pretty raw: json
    md: format markdown
    yml: format yaml
    jsonl: ndjson
    path items: rows
    """)

  /// A literal of a dictionary would be ten times as much code.
  ///
  /// - Parameter text: Lines of words, a colon, and the meanings of each of them with commas between.
  private static func table(_ text: String) -> [String: [String]] {
    var table: [String: [String]] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      for word in parts[0].split(separator: " ") {
        table[String(word)] = parts[1].split(separator: ",").map { $0.trimmed }
      }
    }
    return table
  }

  private static let letterSynonyms: [Character: [String]] = [
    "n": ["limit"], "d": ["input -", "body JSON"], "u": ["basic"],
    "t": ["template"], "s": ["quiet"], "j": ["json"], "a": ["all"], "?": ["help"], "w": ["where"],
    "I": ["method HEAD"],
  ]

  /// Options of other programs for verbs of a source.
  private static let verbSynonyms = [
    "page": "next", "offset": "next", "skip": "next", "search": "search", "query": "search",
    "web": "open",
  ]

  /// The letter's option, with its value if there is one: `--limit 5` for `-n5`.
  package func option(meantByLetter text: String, among names: [String]) -> String? {
    // `-5` of `head` and `tail`.
    if text.allSatisfy(\.isNumber), names.contains(Option.limit.name) {
      return "\(Option.limit.spelling) \(text)"
    }
    guard let letter = text.first,
      let option = Self.first(of: Self.letterSynonyms[letter], among: names)
    else { return nil }
    let value = text.dropFirst()
    guard let first = value.first else { return "--\(option)" }
    // `-all` is no `-a`.
    guard first == "=" || first.isNumber else { return nil }
    return "--\(option) \(value.drop { $0 == "=" })"
  }

  /// The word that is typed like an option, `heroes list` for `--list`, or the verb that does what an option of a list does
  /// elsewhere: `heroes next` for `--page`.
  package func command(meantBy name: String, at node: Node) -> String? {
    if let child = node.children.first(where: { $0.word == name }) { return child.path }
    if node.path.isEmpty, let topic = HelpTopic(rawValue: name) { return "help \(topic.rawValue)" }
    guard let source = node.path.split(separator: " ").first.map(String.init),
      catalog.sources.contains(source), let command = node.command,
      let verb = Self.verbSynonyms[name], verb == "open" || command.options.contains(.limit)
    else { return nil }
    return "\(source) \(verb)"
  }

  /// The condition that an option named like a field stands for: `--where 'region=EU'` for `--region EU`.
  package func condition(meantBy name: String, _ value: String?, at node: Node) -> String? {
    guard let command = node.command, command.options.contains(.condition),
      let field = command.fields.first(where: { $0.id == name })
    else { return nil }
    return "\(Option.condition.spelling) \("\(field.id)=\(value ?? "VALUE")".typed)"
  }

  /// The command with the only argument that it has, which an option is named after: `heroes show 1` for `--id 1`.
  package func argument(meantBy name: String, _ value: String?, at node: Node) -> String? {
    let words = node.command?.arguments.split { !$0.isLetter }.filter { $0 == $0.uppercased() }
    guard let value, let words, Set(words) == [name.uppercased()[...]] else { return nil }
    return "\(node.path) \(value.typed)"
  }

  /// - Parameter isWhole: True if the name cannot be the beginning of another one.
  package func option(
    meant name: String, among names: [String], isWhole: Bool = false
  ) -> String? {
    let word = name.lowercased()
    // `--yaml` for `--format yaml`: only some formats are options, too.
    let format = Format(rawValue: word).map { ["\(Option.format.name) \($0.rawValue)"] }
    guard let synonyms = Self.optionSynonyms[word] ?? format else {
      return isWhole ? nearest(to: name, in: names) : meant(by: name, among: names)
    }
    return Self.first(of: synonyms, among: names)
  }

  private static func first(of synonyms: [String]?, among names: [String]) -> String? {
    synonyms?.first { names.contains(String($0.prefix { $0 != " " })) }
  }

  package func unknown(_ word: String, under node: Node, rest: [String]) -> CommandError {
    if let error = quoted(word, under: node, rest) { return error }
    if node.path.isEmpty { return unknownAtFirst(word, rest: rest) }
    let words = node.children.map(\.word)
    let hint = Hint.command("help \(node.path)")
    if node.word == "next", let source = node.path.split(separator: " ").first {
      return CommandError(
        .usage, "unexpected argument \"\(word)\": next continues the last listing",
        hint: .command("\(source) search \(word.argument ?? "QUERY")"))
    }
    if words.isEmpty {
      var error = CommandError(.usage, "unexpected argument \"\(word)\"", hint: hint)
      let path = node.path.split(separator: " ").map(String.init)
      // An editor has made a dash of two hyphens: `—limit 3`.
      let name = String(word.drop { "–—".contains($0) })
      if word == "help" {
        error.suggestion = "help \(node.path)"
      } else if name != word {
        error.suggestion = option(
          meant: name, among: node.command?.options.map(\.name) ?? []
        ).map { "--\($0)" }
      } else if node.command?.options.contains(.since) == true,
        (try? HistoryStart(typed: word, now: Date())) != nil
      {
        error.suggestion = "\(Option.since.spelling) \(word)"
      } else if word.hasPrefix("."), node.command?.options.contains(.jq) == true {
        // `-q .items` of gh.
        error.suggestion = "\(Option.jq.spelling) \(word.typed)"
      } else if node.path == "serve", Int(word) != nil {
        error.suggestion = "--port \(word)"
      } else if Int(word) != nil, node.command?.options.contains(.limit) == true {
        error.suggestion = "\(Option.limit.spelling) \(word)"
      } else if let option = node.command?.options.first(where: { $0.name == word }),
        option.value == nil
      {
        // `heroes list all` for `heroes list --all`.
        error.suggestion = option.spelling
      } else if node.word == "list", word.first != "-", path.count == 2 {
        // `heroes list spider` for `heroes search spider`, `query list euro` for `query show euro`.
        let verbs = find([path[0]]).node.children.map(\.word)
        error.suggestion = ["search", "show", "get"].first(where: verbs.contains).map {
          "\(path[0]) \($0) \(word.typed)"
        }
      }
      return error
    }
    if node.path == "config", let error = settingAsCommand(rest, hint) { return error }
    let isSource = catalog.sources.contains(node.path)
    let near: String?
    if catalog.sources.contains(word) && words.contains("show")
      || catalog.savedQueries[word] != nil && node.path == "query"
    {
      // `sources heroes` for `sources show heroes`.
      near = "\(node.path) show \(word)"
    } else if node.path == "query", word == "run", rest.count > 1,
      let name = catalog.savedQueries[rest[1]]?.name
        ?? nearest(to: rest[1], in: catalog.savedQueries.names)
    {
      // A saved query is a command.
      near = ([name] + rest.dropFirst(2).map(\.typed)).joined(separator: " ")
    } else if isSource, self.word(named: word, under: node) == nil,
      groups.flatMap(\.nodes).contains(where: { $0.word == word })
    {
      // `heroes sql` for `sql`.
      near = word
    } else if isSource, self.word(named: word, under: node) == nil,
      find(["sources"]).node.children.contains(where: { $0.word == word })
    {
      // `heroes check` for `sources check heroes`.
      near = "sources \(word) \(node.path)"
    } else if let child = self.word(meant: word, under: node) {
      near = "\(node.path) \(child)"
    } else if node.command != nil, Self.names(word, for: "list") {
      // `sources list` for `sources`.
      near = node.path
    } else {
      near = nil
    }
    let isShell = node.path == "completions"
    let kind = isSource ? "verb" : isShell ? "shell" : "command"
    var error = CommandError(
      .usage,
      isShell ? "unsupported shell \"\(word)\"" : "unknown \(kind) \"\(word)\" for \(node.path)",
      suggestion: near, hint: hint)
    if node.path == "query", word == "run" {
      error.hint = .words(
        "a saved query is a command of its own name: \(catalog.program) NAME; "
          + "\(catalog.program) query lists them")
    } else if near == nil {
      let choices = (isShell ? words.sorted() : words).joined(separator: ", ")
      error.hint = "\(isShell ? "supported" : "available") \(kind)s: \(choices)"
      // `countries france`.
      if isSource, let hint = error.hint {
        let query = word.argument ?? "QUERY"
        let search = Hint.command("\(node.path) search \(query)")
        // An ID or a name.
        let show = Hint.command("\(node.path) show \(word.argument ?? "ID")")
        error.hint = .steps(hint, words.contains("show") ? .steps(show, search) : search)
      }
    }
    return error
  }

  /// An error for words that quotes have joined: `'heroes list'`.
  private func quoted(_ word: String, under node: Node, _ rest: [String]) -> CommandError? {
    let parts = word.split(whereSeparator: \.isWhitespace).map(String.init)
    let path = node.path.split(separator: " ").map(String.init)
    guard parts.count > 1, find(path + parts.prefix(1)).rest.isEmpty else { return nil }
    let words = (path + parts + rest.dropFirst()).map(\.typed).joined(separator: " ")
    return CommandError(
      .usage, "the quotes join \"\(word)\" into one word",
      hint: .words("without them: \(catalog.program) \(words)"))
  }

  /// An error for `config KEY` and `config KEY=VALUE`, without the value, which may be a secret.
  private func settingAsCommand(_ words: [String], _ hint: Hint) -> CommandError? {
    let key = words.first?.prefix { $0 != "=" } ?? ""
    guard let setting = catalog.settings.first(where: { $0.key == key.uppercased() }) else {
      return nil
    }
    let hasValue = words.count > 1 || words[0] != key
    return CommandError(
      .usage, "unknown command \"\(key)\" for config",
      suggestion: hasValue
        ? "config set \(setting.key)\(setting.isSecret ? "" : " VALUE")"
        : "config get \(setting.key)", hint: hint)
  }

  private func unknownAtFirst(_ word: String, rest: [String]) -> CommandError {
    var error = CommandError(
      .usage, "unknown source or command \"\(word)\"", hint: .command("help"))
    if let suggestion = commandOfGroup(rest) {
      error.suggestion = suggestion
      return error
    }
    // `aggregator heroes list` within a command line, and `run euro` for a saved query.
    let others = rest.dropFirst()
    let saved = others.first.flatMap { catalog.savedQueries[$0] }
    if word == catalog.program || word == "run" && saved != nil {
      error.suggestion = others.isEmpty ? "help" : others.map(\.typed).joined(separator: " ")
      return error
    }
    // `show 1 heroes` for `heroes show 1`.
    if let suggestion = sourceFirst(rest, where: { catalog.sources.contains($0) ? $0 : nil }) {
      if catalog.sources.contains(where: { find([$0, word]).rest.isEmpty }) {
        error.message = "the source comes before \"\(word)\""
      }
      error.suggestion = suggestion
      return error
    }
    // `find spider` for `search spider`.
    if let command = self.word(named: word, under: root) {
      error.suggestion = command
      return error
    }
    // `ls` alone is for what there is.
    if rest.count == 1, Self.synonyms[word.lowercased()] == ["list"] {
      error.suggestion = "sources"
      return error
    }
    // `list` without a source.
    let verbs = catalog.sources.lazy.compactMap { source in
      self.word(named: word, under: find([source]).node).map { (source, $0) }
    }
    if let (source, verb) = verbs.first {
      if verb == word {
        error.message = "\"\(word)\" requires a source: \(catalog.program) SOURCE \(word)"
      }
      // `list heros` for `heroes list`.
      error.suggestion =
        sourceFirst(rest, where: { meant(by: $0, among: catalog.sources) })
        ?? (verb == word ? nil : "\(source) \(verb)")
      let sources = catalog.availableSources()
      error.hint =
        error.suggestion == nil ? .steps(sources, .command("\(source) \(verb)")) : sources
      return error
    }
    let candidates = root.children.map(\.word) + shownCandidates.map(\.word)
    error.suggestion =
      if word == Option.version.name {
        Option.version.spelling
      } else if let topic = HelpTopic(rawValue: word) {
        "help \(topic.rawValue)"
      } else {
        commandOfOne(word)
          ?? meant(by: word, among: candidates)
          ?? catalog.sources.lazy.compactMap { name in
            nearest(to: word, in: find([name]).node.children.map(\.word)).map { "\(name) \($0)" }
          }.first
      }
    // `hero list` for `heroes list`.
    if let source = error.suggestion, rest.count > 1,
      rest.count == 2 || catalog.sources.contains(source),
      find([source]).node.children.contains(where: { $0.word == rest[1] })
    {
      error.suggestion = ([source] + rest.dropFirst().map(\.typed)).joined(separator: " ")
    }
    let longer = begun(by: word, among: candidates)
    if error.suggestion == nil, 2...8 ~= longer.count {
      error.hint = .words("names that begin with \"\(word)\": \(longer.joined(separator: ", "))")
    }
    return error
  }

  /// A command line whose verb comes before its source, in their order; `nil` if no word after the first is a source.
  private func sourceFirst(_ words: [String], where source: (String) -> String?) -> String? {
    var others = words.dropFirst()
    guard let index = others.firstIndex(where: { source($0) != nil }),
      let source = source(others.remove(at: index)),
      let verb = word(meant: words[0], under: find([source]).node)
    else { return nil }
    return ([source, verb] + others.map(\.typed)).joined(separator: " ")
  }

  /// `sources show heroes` for `show sources heroes`.
  private func commandOfGroup(_ words: [String]) -> String? {
    guard words.count > 1,
      let group = groups.flatMap(\.nodes).first(where: { $0.word == words[1] }),
      !group.children.isEmpty
    else { return nil }
    let others = Array(words.dropFirst(2))
    guard let word = word(meant: words[0], under: group) else {
      return unknown(words[0], under: group, rest: [words[0]] + others).suggestion
    }
    // A value may be a secret, as in `set config KEY VALUE`.
    let isShown = others.count == 1 && !others[0].contains(where: "=:".contains)
    return ([group.path, word] + (isShown ? others.map(\.typed) : [])).joined(separator: " ")
  }

  /// The only word of the program whose commands have the option of this name: `completions` for `widget`.
  func onlyCommand(with name: String) -> String? {
    let nodes = root.children.filter { node in
      node.commands.contains { $0.options.contains { $0.name == name } }
    }
    return nodes.count == 1 ? nodes.first?.path : nil
  }

  /// The only command that has a word like this one: `sources add` for `add`.
  private func commandOfOne(_ word: String) -> String? {
    let nodes = groups.flatMap(\.nodes).flatMap(\.children).filter { $0.word == word }
    return nodes.count == 1 ? nodes.first?.path : nil
  }

  private func word(meant word: String, under node: Node) -> String? {
    self.word(named: word, under: node) ?? meant(by: word, among: node.children.map(\.word))
  }

  /// The word under a node that is this one or a synonym.
  private func word(named word: String, under node: Node) -> String? {
    let words = node.children.map(\.word)
    if word.lowercased() == Option.count.name, catalog.sources.contains(node.path) {
      return "list \(Option.count.spelling)"
    }
    return words.contains(word)
      ? word : Self.first(of: Self.synonyms[word.lowercased()], among: words)
  }

  private static func names(_ word: String, for verb: String) -> Bool {
    word == verb || synonyms[word.lowercased()]?.contains(verb) == true
  }

  package func refused(
    _ refused: TypedOption, by node: Node, with rest: [String] = [],
    beside given: [TypedOption] = []
  ) -> CommandError {
    let (option, typed, value) = (refused.option, refused.spelling, refused.value)
    guard !node.path.isEmpty else {
      return CommandError(
        .usage, "\(typed) requires a source or command", hint: .command("help"))
    }
    var error = CommandError(
      .usage, "\"\(node.path)\" does not accept \(typed)", hint: .command("help \(node.path)"))
    let accepted = node.command?.options ?? []
    let names = accepted.map(\.name)
    let isFile = option == .outputFile && names.contains(Option.format.name)
    let own =
      argument(meantBy: option.name, value, at: node)
      ?? (option.value == nil ? nil : condition(meantBy: option.name, value, at: node))
      ?? command(meantBy: option.name, at: node)
      ?? self.option(meant: option.name, among: names, isWhole: true).map { "--\($0)" }
    if rest.count > 1, node.command?.arguments.contains(" -- ") == true {
      // `query save two heroes list -L 2` for `query save two -- heroes list -L 2`.
      let before = given.filter { accepted.contains($0.option) }.flatMap(\.words)
      let after = given.filter { !accepted.contains($0.option) }.flatMap(\.words)
      let words = rest.map(\.typed)
      error.suggestion =
        ([node.path] + before + [words[0], "--"] + words.dropFirst() + after).joined(separator: " ")
    } else if node.path == "help", option == .condition {
      error.suggestion = "help \(HelpTopic.filters.rawValue)"
    } else if node.path == "sql", [.offline, .refresh].contains(option) {
      error.hint = "sql never contacts a service"
    } else if node.path == "sql", typed == "-f" {
      error.hint = "redirect standard input: \(catalog.program) sql < FILE"
    } else if node.path == "sql", [.selection, .paging].contains(option.group) {
      error.hint = "say it in the query: WHERE, ORDER BY, LIMIT 20"
    } else if node.path == "api", option == .format || Format(rawValue: option.name) != nil {
      error.hint = "api prints the response as it is; --jq filters it"
    } else if isFile, let value, Format(rawValue: value) != nil {
      // `-o json` for `--format json`.
      error.suggestion = "\(Option.format.spelling) \(value)"
    } else if let (words, command) = elsewhere(
      option, for: node, rest, beside: [refused] + given, isOther: own == nil)
    {
      let others = given.filter { command.options.contains($0.option) }.flatMap(\.words)
      error.suggestion = (words.map(\.typed) + others).joined(separator: " ")
      error.hint =
        isFile ? redirection(of: node) : .command("help \(find(words).node.path)")
    } else {
      let takers = takers(of: option, beside: node)
      if !takers.isEmpty {
        error.message += "; \(takers.listText) \(takers.count == 1 ? "does" : "do")"
      }
      error.suggestion = own
      if isFile { error.hint = redirection(of: node) }
    }
    return error
  }

  private func redirection(of node: Node) -> Hint {
    .words("redirect standard output: \(catalog.program) \(node.path) > FILE")
  }

  /// The words and the command of a line that accepts an option which another one refuses.
  ///
  /// - Parameters:
  ///   - given: All options of the line.
  ///   - isOther: True if it may be `export` or the list of a source, too, not only the command of the same name.
  private func elsewhere(
    _ option: Option, for node: Node, _ rest: [String], beside given: [TypedOption], isOther: Bool
  ) -> (words: [String], command: Command)? {
    let path = node.path.split(separator: " ").map(String.init)
    var lines: [[String]] = []
    if catalog.sources.contains(path[0]) {
      // `users sync --for 1s` for `sync users --for 1s`.
      if path.count == 2, find([path[1]]).node.takesSource {
        lines.append([path[1], path[0]] + rest)
      }
      if path.count == 1, isOther { lines.append([path[0], "list"]) }
      let isList = path.count == 1 || node.command?.options.contains(.condition) == true
      if option == .outputFile, isList, rest.isEmpty { lines.append(["export", path[0]]) }
    } else if let source = rest.first, catalog.sources.contains(source) {
      // `sync heroes --max-pages 2` for `heroes sync --max-pages 2`.
      lines.append([source, node.path] + rest.dropFirst())
      if node.takesSource, rest.count == 1, isOther { lines.append([source, "list"]) }
    } else if rest.isEmpty || !node.takesSource {
      // `search lamp --all` for that of a source: the first one that `--source` names.
      let named = given.first { $0.option == .source }?.value?.split(separator: ",").map(
        String.init
      )
      .first(where: catalog.sources.contains)
      lines = (named.map { [$0] } ?? catalog.sources).map { [$0, node.path] + rest }
        .filter { find(Array($0.prefix(2))).rest.isEmpty }
    }
    return lines.lazy.compactMap { words in
      find(words).node.command.flatMap { $0.options.contains(option) ? (words, $0) : nil }
    }.first
  }

  /// The commands that accept an option: siblings of a node, or else others; none if too many.
  func takers(of option: Option, beside node: Node) -> [String] {
    let limit = 6
    let parent =
      node.children.isEmpty
      ? find(node.path.split(separator: " ").dropLast().map(String.init)).node : node
    let siblings = parent.children.filter { $0.command?.options.contains(option) == true }
    if !siblings.isEmpty { return siblings.count > limit ? [] : siblings.map(\.word) }
    var takers: [String] = []
    root.visit {
      if $0.command?.options.contains(option) == true { takers.append("\"\($0.path)\"") }
    }
    return takers.count > limit ? [] : takers
  }
}
