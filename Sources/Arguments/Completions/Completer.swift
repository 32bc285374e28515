import AggregatorFilters
package import AggregatorKit
import AggregatorQueries
import AggregatorSavedQueries
import AggregatorSelection
import AggregatorTerminal
import DeclaredSource

struct Completer {
  enum Offer: Equatable {
    /// One of these words; `isPart` if more can follow within the same word.
    case words([Candidate], isPart: Bool = false)
    case file
    case directory
  }

  struct CompletionContext {
    var ids: (_ source: String, _ beginning: String, _ areDeleted: Bool) -> [Candidate]
    var sessions: () -> [String]
    /// The values that a field often has, or those that begin as typed.
    var values: (_ source: String, _ field: String, _ beginning: String) -> [String]
    /// The names of the statistics of the values that a field is known to have; none if there are no values.
    var statistics: (_ source: String, _ field: String) -> [String] = { _, _ in [] }
  }

  private let tree: CommandTree
  private let context: CompletionContext
  private let endsWords: Bool

  /// - Parameter endsWords: True for a shell that ends a word after its only completion, whatever it is told.
  init(_ tree: CommandTree, _ context: CompletionContext, endsWords: Bool = false) {
    self.tree = tree
    self.context = context
    self.endsWords = endsWords
  }

  /// Offers nothing on a line that already has an error.
  func offer(_ line: TypedLine) -> Offer {
    guard !line.words.isEmpty else { return .words([]) }
    let offer = offer(line.last, after: Array(line.words.dropFirst()))
    guard case .words(let candidates, let isPart) = offer else { return offer }
    let safe = candidates.filter(\.word.isSafe)
    let beginning = safe.filter { $0.word.begins(with: line.last) }
    return .words(beginning.isEmpty ? safe.filter(\.replacesTyped) : beginning, isPart: isPart)
  }

  private func offer(_ typed: String, after words: [String]) -> Offer {
    let position: Position
    let field: String?
    do throws(CommandError) {
      let expansion = try tree.expansion(of: words, missing: .endsWords)
      field = expansion?.field
      // The arguments of a script may be anything.
      if expansion?.command != nil { return .file }
      var scan = ArgumentScan(tree: tree, command: nil)
      try scan.begin(words, checksValues: false)
      let typed = scan.options
      if let expansion {
        scan = ArgumentScan(tree: tree, command: nil)
        try scan.begin(expansion.words, checksValues: false)
        scan.replaceOptions(by: Set(typed.keys))
      }
      position = Position(scan, typed: typed, tree)
    } catch {
      return .words([])
    }
    if let field, position.scan.pending == nil, !typed.hasPrefix("-"),
      let source = source(at: position)
    {
      let values = context.values(source, field, typed).filter { !$0.hasPrefix("-") }
      if !values.isEmpty { return .words(values.map { Candidate($0) }) }
    }
    return position.isValid ? offer(typed, at: position) : .words(sources(at: position))
  }

  /// The sources that have a verb which comes before them: `list countries` is `countries list`.
  private func sources(at position: Position) -> [Candidate] {
    guard position.node.path.isEmpty, position.arguments.count == 1, position.scan.pending == nil,
      !position.scan.isPastOptions
    else { return [] }
    return tree.catalog.plugins.filter { plugin in
      let (node, rest) = tree.find([position.arguments[0], plugin.name])
      return rest.isEmpty && node.command.map(position.fits) ?? false
    }.map { Candidate($0.name, $0.summary) }
  }

  private struct Position {
    let scan: ArgumentScan
    /// The options without those of a saved query, which may be given again.
    let typed: [Option: [String]]
    let node: CommandTree.Node
    let arguments: [String]

    init(_ scan: ArgumentScan, typed: [Option: [String]], _ tree: CommandTree) {
      (self.scan, self.typed) = (scan, typed)
      (node, arguments) = tree.find(scan.words)
    }

    var isValid: Bool { arguments.isEmpty || node.command?.takesArguments == true }

    func fits(_ command: Command) -> Bool { scan.order.allSatisfy(command.options.contains) }

    var commands: [Command] {
      (arguments.isEmpty ? node.commands : [node.command].compactMap(\.self)).filter(fits)
    }
  }

  private func offer(_ typed: String, at position: Position) -> Offer {
    if let option = position.scan.pending {
      return values(of: option, typed, after: "", at: position)
    }
    guard typed.hasPrefix("-"), !position.scan.isPastOptions else {
      let offer = words(typed, at: position)
      // Without further arguments, only options can follow.
      guard offer == nil, typed.isEmpty, !position.scan.isPastOptions else {
        return offer ?? .words([])
      }
      return .words(options(at: position))
    }
    guard let equals = typed.firstIndex(of: "=") else { return .words(options(at: position)) }
    guard let option = tree.option(named: String(typed[..<equals].dropFirst(2))),
      typed.hasPrefix("--"), options(at: position).contains(where: { $0.word == option.spelling })
    else { return .words([]) }
    let head = String(typed[...equals])
    return values(
      of: option, String(typed[typed.index(after: equals)...]), after: head, at: position)
  }

  // MARK: - Options

  private func options(at position: Position) -> [Candidate] {
    let commands = position.commands
    var seen: Set<Option> = []
    return commands.flatMap(\.options)
      .filter { option in
        !option.conflicts(with: position.typed, of: position.scan.options)
          && seen.insert(option).inserted
      }
      .map { Candidate($0.spelling, $0.about) }
  }

  /// `head` is the text before the value in the same word: `--format=`.
  private func values(
    of option: Option, _ typed: String, after head: String, at position: Position
  ) -> Offer {
    let candidates: [Candidate]
    var isPart = false
    // A command may have choices of its own.
    guard let option = position.commands.lazy.flatMap(\.options).first(where: { $0 == option })
    else { return .words([]) }
    switch option.value {
    case .choice(let words): candidates = words.map { Candidate($0) }
    case .session: candidates = context.sessions().map { Candidate($0) }
    case .text where option.name == "method":
      candidates = HTTPRequest.Method.common.map { Candidate($0.rawValue) }
    case .text where option == .since:
      candidates = HistoryStart.words.map { Candidate($0.word, $0.about) }
    case .text where Option.summarizing.contains(option): candidates = fields(at: position)
    case .text where option == .condition:
      (candidates, isPart) = conditions(at: position).offer(typed)
    case .text where option == .template:
      (candidates, isPart) = (placeholders(typed, at: position), true)
    case .list:
      // Units come after a colon.
      let isDivided = typed.split(separator: ",").last?.contains(":") ?? false
      let entries = entries(of: option, at: position).filter { isDivided || !$0.word.contains(":") }
      (candidates, isPart) = (list(typed, of: entries), true)
    case .file, .store: return .file
    case .directory: return .directory
    default: return .words([])
    }
    return .words(
      candidates.map { Candidate(head + $0.word, $0.about, replacesTyped: $0.replacesTyped) },
      isPart: isPart)
  }

  private func entries(of option: Option, at position: Position) -> [Candidate] {
    switch option {
    case .fields:
      summary(at: position) ?? fields(at: position) + [Candidate("help", "list all fields")]
    case .groupBy: fields(at: position) + units(at: position)
    case .order: orders(at: position)
    case .source: tree.catalog.plugins.map { Candidate($0.name, $0.summary) }
    default: []
    }
  }

  private func source(at position: Position) -> String? {
    (position.node.path.split(separator: " ").map(String.init) + position.arguments)
      .first(where: tree.catalog.sources.contains)
  }

  private func conditions(at position: Position) -> ConditionCompleter {
    let source = source(at: position)
    var completer = ConditionCompleter(position.commands.flatMap(\.fields)) { field, beginning in
      source.map { context.values($0, field, beginning) } ?? []
    }
    completer.endsWords = endsWords
    return completer
  }

  /// The fields that can have dates, by each unit of time.
  private func units(at position: Position) -> [Candidate] {
    position.commands.flatMap(\.fields).flatMap { field in
      [FieldKind.text.rawValue, FieldKind.any.rawValue].contains(field.kind)
        ? DateUnit.allCases.map { Candidate("\(field.id):\($0.rawValue)") } : []
    }
  }

  private func fields(at position: Position) -> [Candidate] {
    position.commands.flatMap(\.fields).map { Candidate($0.id, $0.about) }
  }

  /// The fields of records; of groups, those by which records are counted, and their number or statistics.
  private func orders(at position: Position) -> [Candidate] {
    let groups = groups(at: position)
    guard !groups.isEmpty else { return fields(at: position) }
    return fields(at: position).filter { groups.contains($0.word) } + numbers(at: position)
  }

  /// The fields of the rows of a summary; `nil` for records.
  private func summary(at position: Position) -> [Candidate]? {
    let options = position.scan.options
    if let fields = options[.distinct] { return fields.map { Candidate($0) } }
    let groups = groups(at: position)
    guard !groups.isEmpty || options[.stats] != nil else { return nil }
    return groups.map { Candidate($0) } + numbers(at: position)
  }

  private func groups(at position: Position) -> [String] {
    (position.scan.options[.groupBy] ?? []).flatMap { $0.split(separator: ",").map(String.init) }
  }

  /// The numbers that groups have: statistics, those of the known values of a field, or those of records.
  private func numbers(at position: Position) -> [Candidate] {
    guard let field = position.scan.options[.stats]?.last else {
      return [Candidate("count", "The number of records.")]
    }
    let known = source(at: position).map { context.statistics($0, field) } ?? []
    return (known.isEmpty ? FieldValues.statisticNames : known).map { Candidate($0) }
  }

  /// The fields for a brace that is open at the end of a template.
  private func placeholders(_ typed: String, at position: Position) -> [Candidate] {
    guard let brace = typed.lastIndex(of: "{"), !typed[brace...].contains("}"),
      !typed[..<brace].hasSuffix("\\")
    else { return [] }
    return fields(at: position).map { Candidate("\(typed[...brace])\($0.word)}", $0.about) }
  }

  /// A dash before an entry, as in `--sort -name`, stays.
  private func list(_ typed: String, of entries: [Candidate]) -> [Candidate] {
    let parts = typed.split(separator: ",", omittingEmptySubsequences: false)
    let before = parts.dropLast()
    var seen = Set(before.map { String($0.trimmingPrefix("-")) })
    // `help` is valid only alone.
    if !before.isEmpty { seen.insert("help") }
    let dash = parts.last?.hasPrefix("-") == true ? "-" : ""
    let head = before.map { "\($0)," }.joined() + dash
    return entries.filter { seen.insert($0.word).inserted }
      .map { Candidate(head + $0.word, $0.about) }
  }

  // MARK: - Words

  private func words(_ typed: String, at position: Position) -> Offer? {
    var candidates: [Candidate] = []
    if position.arguments.isEmpty {
      candidates = position.node.children.filter { $0.commands.contains(where: position.fits) }
        .map { Candidate($0.word, $0.summary) }
      if position.node.path.isEmpty { candidates += tree.shownCandidates }
    }
    guard let command = position.node.command, position.fits(command) else {
      return .words(candidates)
    }
    switch command.words(position.arguments, tree) {
    case .none: return candidates.isEmpty ? nil : .words(candidates)
    case .anything: return .words(candidates)
    case .choice(let words): return .words(candidates + words)
    case .file: return .file
    case .directory: return .directory
    case .statement:
      // Options are more likely before a statement has begun.
      guard !typed.isEmpty || !position.arguments.isEmpty else { return nil }
      return .words(statements(typed, after: position.arguments), isPart: true)
    case .commandLine(let words): return offer(typed, after: words)
    case .ids(let source, let areDeleted):
      let ids = context.ids(source, typed, areDeleted).filter { id in
        // A leading dash would make it an option.
        !position.arguments.contains(id.word)
          && (position.scan.isPastOptions || !id.word.hasPrefix("-"))
      }
      return .words(candidates + ids)
    }
  }
}

extension Completer {
  /// The statements in SQL that arguments can become by the last one; tables are those that help names.
  private func statements(_ typed: String, after arguments: [String]) -> [Candidate] {
    let views = tree.catalog.plugins.flatMap { SQLView.all(of: $0) }
    var words = SQLWords(views.map { SQLTable(schema: nil, name: $0.name, columns: $0.columns) })
    words.statement = arguments.joined(separator: " ")
    return words.completions(ofStatement: typed).map { Candidate($0) }
  }
}

extension Option {
  /// - Parameters:
  ///   - typed: The options that stay.
  ///   - given: All options, of which another one replaces those of a saved query that it excludes.
  fileprivate func conflicts(
    with typed: [Option: [String]], of given: [Option: [String]]
  ) -> Bool {
    func isTyped(_ option: Option) -> Bool { typed[option] != nil }
    func isGiven(_ option: Option) -> Bool { given[option] != nil }
    if isTyped(self) { return true }
    let formats = Option.formats + [.format]
    if formats.contains(self) { return formats.contains(where: isTyped) }
    if self == .jq {
      return Option.formats.contains { ![.json, .ndjson].contains($0) && isGiven($0) }
        || given[.format]?.last.map { !["json", "ndjson"].contains($0) } ?? false
    }
    if self == .csvRaw {
      let others = Option.formats.filter { $0 != .csv }
      return others.contains(where: isGiven) || given[.format].map { $0.last != "csv" } ?? false
    }
    if [Option.headers, .noHeaders].contains(self) {
      let isOther = given[.format]?.last.map { !["csv", "tsv"].contains($0) } ?? false
      if isOther || [Option.json, .ndjson].contains(where: isGiven) { return true }
    }
    return Option.exclusive.contains { $0.contains(self) && $0.contains(where: isTyped) }
  }
}

extension String {
  /// Compares byte by byte.
  func begins(with beginning: String) -> Bool { utf8.starts(with: beginning.utf8) }

  /// `true` if the text is visible as it is, and fits on one line.
  var isSafe: Bool { !isEmpty && utf8.elementsEqual(safeLine.utf8) }
}

package struct Candidate: Hashable, Sendable {
  /// Unquoted.
  package let word: String

  /// May be empty.
  package let about: String

  /// True if it is meant by another text, which it replaces.
  let replacesTyped: Bool

  package init(_ word: String, _ about: String = "") {
    self.init(word, about, replacesTyped: false)
  }

  init(_ word: String, _ about: String, replacesTyped: Bool) {
    self.word = word
    self.about = about
    self.replacesTyped = replacesTyped
  }
}

package enum CompletionSource: Sendable {
  case none
  case anything
  case choice([Candidate])
  case ids(of: String, areDeleted: Bool = false)
  case file
  case directory
  /// A statement in SQL, in one argument or several.
  case statement
  /// A command line that begins with these words.
  case commandLine([String])

  package static func severalIDs(of source: String) -> Following { { _, _ in .ids(of: source) } }

  package typealias Following =
    @Sendable (_ arguments: [String], _ tree: CommandTree) -> CompletionSource

  package static func one(_ words: CompletionSource) -> Following {
    { arguments, _ in arguments.isEmpty ? words : .none }
  }

  package static func source(_ plugins: [any Plugin]) -> Following {
    one(.choice(plugins.map { Candidate($0.name, $0.summary) }))
  }

  /// Names of sources, each once.
  package static func severalSources(_ plugins: [any Plugin]) -> Following {
    { arguments, _ in
      .choice(
        plugins.filter { !arguments.contains($0.name) }.map { Candidate($0.name, $0.summary) })
    }
  }

  package static let addedSource = added { $0.names }

  package static let addedSourceOrService = added { $0.names + $0.services }

  /// Names of added sources and services, each once.
  package static let severalAddedSources: Following = { arguments, tree in
    let names = tree.catalog.manifests.map { $0.names + $0.services } ?? []
    return .choice(names.filter { !arguments.contains($0) }.map { Candidate($0) })
  }

  private static func added(
    _ names: @escaping @Sendable (ManifestFolder) -> [String]
  ) -> Following {
    { arguments, tree in
      arguments.isEmpty
        ? .choice((tree.catalog.manifests.map(names) ?? []).map { Candidate($0) }) : .none
    }
  }

  package static let setting: Following = { arguments, tree in
    arguments.isEmpty ? .choice(tree.catalog.settings.map { Candidate($0.key, $0.about) }) : .none
  }
}
