import AggregatorKit

/// What can come next on a command line, by the same commands and options that the parser knows.
struct Completer {
  /// What can be said of the word at the cursor.
  enum Offer: Equatable {
    /// It is one of these; `isPart` if more can follow in the same word.
    case words([Candidate], isPart: Bool = false)
    /// It is a file.
    case file
    /// It is a directory.
    case directory
  }

  /// What only this machine knows.
  struct CompletionContext {
    /// Ids of a source that begin with a text.
    var ids: (_ source: String, _ beginning: String, _ areDeleted: Bool) -> [Candidate]
    /// The names of sessions.
    var sessions: () -> [String]
  }

  private let tree: CommandTree
  private let memory: CompletionContext

  init(_ tree: CommandTree, _ memory: CompletionContext) {
    self.tree = tree
    self.memory = memory
  }

  /// What can stand at the cursor.
  ///
  /// A line in which something is wrong already gets no help.
  func offer(_ line: TypedLine) -> Offer {
    guard !line.words.isEmpty else { return .words([]) }
    var scan = ArgumentScan(tree)
    do { try scan.begin(Array(line.words.dropFirst()), checksValues: false) } catch {
      return .words([])
    }
    let place = Place(scan, tree)
    guard place.isPossible else { return .words([]) }
    let offer = offer(line.last, at: place)
    guard case .words(let candidates, let isPart) = offer else { return offer }
    return .words(
      candidates.filter { $0.word.begins(with: line.last) && $0.word.isSafe }, isPart: isPart)
  }

  /// Where on a command line the cursor is.
  private struct Place {
    let scan: ArgumentScan
    let node: CommandTree.Node
    let arguments: [String]

    init(_ scan: ArgumentScan, _ tree: CommandTree) {
      self.scan = scan
      (node, arguments) = tree.find(scan.words)
    }

    /// Whether the words that are there make sense.
    var isPossible: Bool { arguments.isEmpty || node.command?.takesArguments == true }

    /// Whether a command takes every option that was given.
    func fits(_ command: Command) -> Bool { scan.order.allSatisfy(command.options.contains) }

    /// The commands that the line can still become.
    var commands: [Command] {
      (arguments.isEmpty ? node.commands : [node.command].compactMap(\.self)).filter(fits)
    }
  }

  private func offer(_ typed: String, at place: Place) -> Offer {
    if let option = place.scan.pending { return values(of: option, typed, after: "", at: place) }
    guard typed.hasPrefix("-"), !place.scan.isPastOptions else {
      let offer = words(typed, at: place)
      // Where there is no further word, only options can follow.
      guard offer == nil, typed.isEmpty, !place.scan.isPastOptions else {
        return offer ?? .words([])
      }
      return .words(options(at: place))
    }
    guard let equals = typed.firstIndex(of: "=") else { return .words(options(at: place)) }
    guard let option = tree.option(named: String(typed[..<equals].dropFirst(2))),
      typed.hasPrefix("--"), options(at: place).contains(where: { $0.word == option.spelling })
    else { return .words([]) }
    let head = String(typed[...equals])
    return values(of: option, String(typed[typed.index(after: equals)...]), after: head, at: place)
  }

  // MARK: - Options

  private func options(at place: Place) -> [Candidate] {
    let commands = place.commands
    var seen: Set<Option> = []
    return commands.flatMap(\.options)
      .filter { !$0.isRefused(beside: place.scan.options) && seen.insert($0).inserted }
      .map { Candidate($0.spelling, $0.about) }
  }

  /// What can be the value of an option.
  ///
  /// - Parameters:
  ///   - option: The option.
  ///   - typed: What there is of the value.
  ///   - head: What stands before it in the same word: `--format=`.
  ///   - place: Where it is.
  /// - Returns: The whole words.
  private func values(
    of option: Option, _ typed: String, after head: String, at place: Place
  ) -> Offer {
    let candidates: [Candidate]
    switch option.value {
    case .choice(let words): candidates = words.map { Candidate($0) }
    case .session: candidates = memory.sessions().map { Candidate($0) }
    case .list:
      return .words(
        list(typed, of: entries(of: option, at: place))
          .map { Candidate(head + $0.word, $0.about) }, isPart: true)
    case .file: return .file
    case .directory: return .directory
    default: return .words([])
    }
    return .words(candidates.map { Candidate(head + $0.word, $0.about) })
  }

  /// What an option that takes a list can name.
  private func entries(of option: Option, at place: Place) -> [Candidate] {
    switch option {
    case .fields:
      place.commands.flatMap(\.fields).map { Candidate($0.id, $0.about) }
        + [Candidate("help", "list them all")]
    case .source: tree.plugins.map { Candidate($0.name, $0.summary) }
    default: []
    }
  }

  /// Each word of a list that can come next, after those that are there already.
  private func list(_ typed: String, of entries: [Candidate]) -> [Candidate] {
    let before = typed.split(separator: ",", omittingEmptySubsequences: false).dropLast()
    var seen = Set(before.map(String.init))
    // Help stands alone.
    if !before.isEmpty { seen.insert("help") }
    let head = before.map { "\($0)," }.joined()
    return entries.filter { seen.insert($0.word).inserted }
      .map { Candidate(head + $0.word, $0.about) }
  }

  // MARK: - Words

  /// The words that can follow; `nil` if none can.
  private func words(_ typed: String, at place: Place) -> Offer? {
    var candidates: [Candidate] = []
    if place.arguments.isEmpty {
      candidates = place.node.children.filter { $0.commands.contains(where: place.fits) }
        .map { Candidate($0.word, $0.summary) }
    }
    guard let command = place.node.command, place.fits(command) else { return .words(candidates) }
    switch command.words(place.arguments, tree) {
    case .none: return candidates.isEmpty ? nil : .words(candidates)
    case .anything: return .words(candidates)
    case .choice(let words): return .words(candidates + words)
    case .directory: return .directory
    case .ids(let source, let areDeleted):
      let ids = memory.ids(source, typed, areDeleted).filter { id in
        // What begins with a dash would be taken for an option.
        !place.arguments.contains(id.word)
          && (place.scan.isPastOptions || !id.word.hasPrefix("-"))
      }
      return .words(candidates + ids)
    }
  }
}

extension Option {
  /// Whether it is not to be given beside others.
  fileprivate func isRefused(beside given: [Option: [String]]) -> Bool {
    func isGiven(_ option: Option) -> Bool { given[option] != nil }
    if isGiven(self) { return true }
    let formats = Option.formats + [.format]
    if formats.contains(self) { return formats.contains(where: isGiven) }
    if self == .csvRaw {
      let others = Option.formats.filter { $0 != .csv }
      return others.contains(where: isGiven) || given[.format].map { $0.last != "csv" } ?? false
    }
    return Option.exclusive.contains { $0.contains(self) && $0.contains(where: isGiven) }
  }
}

extension String {
  /// Whether this begins with a text, byte by byte.
  fileprivate func begins(with beginning: String) -> Bool { utf8.starts(with: beginning.utf8) }

  /// Whether a person sees what it is, and a line holds it.
  fileprivate var isSafe: Bool { !isEmpty && utf8.elementsEqual(safeLine.utf8) }
}

/// A word that can be typed, and what it is.
struct Candidate: Hashable, Sendable {
  /// The whole word, not quoted.
  let word: String

  /// What it is, in a few words; empty if there is nothing to say.
  let about: String

  init(_ word: String, _ about: String = "") {
    self.word = word
    self.about = about
  }
}

/// What a word of a command line can be, as far as that can be told beforehand.
enum CompletionSource: Sendable {
  /// Nothing: there is no further word.
  case none
  /// Anything.
  case anything
  /// One of these.
  case choice([Candidate])
  /// The id of a record of a source, which is or is not deleted.
  case ids(of: String, areDeleted: Bool = false)
  /// The path of a directory.
  case directory

  /// A word that is an id, and after it more of them.
  static func severalIDs(of source: String) -> Following { { _, _ in .ids(of: source) } }

  /// What the next word can be, after the arguments that are there.
  typealias Following = @Sendable (_ arguments: [String], _ tree: CommandTree) -> CompletionSource
}

extension CompletionSource {
  /// A single word.
  static func one(_ words: CompletionSource) -> Following {
    { arguments, _ in arguments.isEmpty ? words : .none }
  }

  /// A single word that is the name of a source.
  static func source(_ plugins: [any Plugin]) -> Following {
    one(.choice(plugins.map { Candidate($0.name, $0.summary) }))
  }

  /// Words that are names of sources, each once.
  static func severalSources(_ plugins: [any Plugin]) -> Following {
    { arguments, _ in
      .choice(
        plugins.filter { !arguments.contains($0.name) }.map { Candidate($0.name, $0.summary) })
    }
  }

  /// A single word that is the key of a setting.
  static let setting: Following = { arguments, tree in
    arguments.isEmpty ? .choice(tree.settings.map { Candidate($0.key, $0.about) }) : .none
  }
}
