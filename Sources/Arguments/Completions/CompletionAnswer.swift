import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorSelection
import AggregatorTerminal

/// The program's answer to a shell that completes a command line.
///
/// `aggregator __complete SHELL --line TEXT-UP-TO-THE-CURSOR` prints a line `word<TAB>description`
/// for each completion. A line that begins with a tab is an instruction in the shell's own terms:
/// complete files, or add no space after the word. Errors print nothing.
package struct CompletionAnswer {
  package static let command = "__complete"

  private static let maxDescriptionWidth = 60

  private let shell: Shell
  private let line: TypedLine
  private let offer: Completer.Offer
  /// True if bash would close the quote at the cursor after the only completion.
  private let mayCloseQuote: Bool

  /// Reads the arguments after the hidden command; `nil` for anything but a shell and a line.
  package init?(
    _ arguments: some Collection<String>, _ tree: CommandTree, variables: [String: String]
  ) {
    let arguments = Array(arguments)
    guard arguments.count == 3, arguments[1] == "--line", let shell = Shell(rawValue: arguments[0])
    else { return nil }
    self.shell = shell
    let breaks = variables["COMP_WORDBREAKS"] ?? TypedLine.standardBreaks
    line = TypedLine(arguments[2], in: shell, breaks: breaks)
    // 63, a question mark, only lists the completions.
    mayCloseQuote = shell == .bash && line.quote != nil && variables["COMP_TYPE"] != "63"
    let typed = ArgumentParser(tree).parse(Array(line.words.dropFirst())).invocation
    let context = CommandContext(typed, of: tree.catalog, variables: variables)
    offer = Completer(tree, .local(context), endsWords: shell == .fish).offer(line)
  }

  /// The complete words of the command line that is typed, without the program.
  package static func words(of arguments: [String]) -> [String] {
    guard arguments.count == 4, let shell = Shell(rawValue: arguments[1]) else { return [] }
    return Array(TypedLine(arguments[3], in: shell).words.dropFirst())
  }

  package var text: String { lines.map { "\($0)\n" }.joined() }

  private var lines: [String] {
    switch offer {
    case .words(let candidates, let isPart):
      let lines = candidates.compactMap(line(for:))
      guard isPart, let first = lines.first else { return lines }
      // Nothing else keeps bash from closing the quote: of two completions it inserts what they have in common.
      let isClosed = mayCloseQuote && lines.count == 1
      let word = first.prefix { $0 != "\t" }
      return noSpace + lines + (isClosed ? ["\(word) "] : [])
    case .file:
      return ["\t" + (shell == .bash ? "default" : shell == .zsh ? "_files" : "file")]
    case .directory:
      return ["\t" + (shell == .bash ? "dirnames" : shell == .zsh ? "_files -/" : "directory")]
    }
  }

  /// Fish has no such instruction.
  private var noSpace: [String] { shell == .fish ? [] : ["\tnospace"] }

  private func line(for candidate: Candidate) -> String? {
    var word = candidate.word
    // Fish does not escape it, and would read it as a home directory.
    if shell == .fish, word.hasPrefix("~") { return nil }
    if shell == .bash {
      word = BashWord.quoted(
        String(word.unicodeScalars.dropFirst(line.unreplacedPrefix.unicodeScalars.count)),
        inside: line.quote)
      guard !word.isEmpty else { return nil }
    }
    let about = candidate.about.safeLine.fitted(to: Self.maxDescriptionWidth)
    return about.isEmpty ? word : "\(word)\t\(about)"
  }
}

/// The most records whose values or names are read.
private enum CompletionLimit {
  static let records = 2000
  static let names = 1000
}

extension Completer.CompletionContext {
  private static let maxCount = 200
  /// The longest time for reading records.
  private static let maxTime = Duration.milliseconds(30)

  /// Records and session names, read without waiting for locks; none if they cannot be read.
  static func local(_ context: CommandContext) -> Self {
    func settings() -> SourceSettings? { try? context.loadSettings().settings }
    func store() -> SQLiteStore? {
      // Nobody waits for a server at the press of a key.
      guard let settings = settings(), case .file(let path)? = try? context.storeLocation(settings)
      else { return nil }
      return SQLiteStore(at: path, busyTimeout: .zero)
    }
    func values(of field: String, in source: String, from beginning: String = "") -> [JSON] {
      let plugin = try? context.catalog.plugin(named: source)
      return plugin?.values(of: field, in: store(), from: beginning, until: .now + maxTime) ?? []
    }
    return Self { source, beginning, areDeleted in
      let plugin = try? context.catalog.plugin(named: source)
      let ids =
        plugin?.candidates(
          in: store(), from: beginning, areDeleted: areDeleted, atMost: maxCount) ?? []
      guard !areDeleted, !beginning.isEmpty else { return ids }
      let names = plugin?.names(
        in: store(), from: beginning, atMost: CompletionLimit.names, until: .now + maxTime)
      let room = maxCount - ids.count
      return ids
        + (names?.candidates(from: beginning, atMost: room, besideOthers: !ids.isEmpty) ?? [])
    } sessions: {
      guard let settings = settings(), let state = try? context.directories(settings).state else {
        return []
      }
      let names = try? FileManager.default.contentsOfDirectory(atPath: "\(state)/positions")
      return (names ?? []).filter(SessionPositionKey.isSession).sorted().prefix(maxCount).map(
        \.self)
    } values: { source, field, beginning in
      values(of: field, in: source, from: beginning).texts(from: beginning, atMost: maxCount)
    } statistics: { source, field in
      var all = FieldValues()
      let known = values(of: field, in: source)
      for value in known { all.add(value) }
      return known.isEmpty ? [] : all.statistics.map(\.name)
    }
  }
}

extension Plugin {
  /// The values of a field in the records of which a text begins as typed, and in the first ones; those of hundreds of records
  /// if there is no time for more.
  fileprivate func values(
    of name: String, in store: SQLiteStore?, from beginning: String,
    until end: ContinuousClock.Instant
  ) -> [JSON] {
    guard let field = fields.first(where: { $0.name == name }) else { return [] }
    var values: [JSON] = []
    let begun =
      beginning.isEmpty
      ? [] : known(to: store, named: FoldedText(beginning), atMost: CompletionLimit.names)
    let records = begun + known(to: store, atMost: CompletionLimit.records)
    for (index, record) in records.enumerated() {
      guard index < 500 || ContinuousClock.now < end else { break }
      if let item = record.item() { values.append(field[item]) }
    }
    return values
  }

  fileprivate func candidates(
    in store: SQLiteStore?, from beginning: String, areDeleted: Bool, atMost count: Int
  ) -> [Candidate] {
    let names = fields.filter(\.isShown)
    return known(to: store, from: beginning, areDeleted: areDeleted, atMost: count).compactMap {
      guard Item.ID($0.id)?.description == $0.id else { return nil }
      return Candidate($0.id, $0.item().flatMap(names.name(of:)) ?? "")
    }
  }

  /// The names that begin as typed, in lower case where that is typed, with their records.
  fileprivate func names(
    in store: SQLiteStore?, from typed: String, atMost count: Int,
    until end: ContinuousClock.Instant
  ) -> NamesBegun {
    let shown = fields.filter(\.isShown)
    let isLowercase = typed == typed.lowercased()
    let records = known(to: store, named: FoldedText(typed), atMost: count + 1)
    var names = NamesBegun()
    names.isPart = records.count > count
    for (index, record) in records.prefix(count).enumerated() {
      guard index < 500 || ContinuousClock.now < end else {
        names.isPart = true
        break
      }
      guard let name = record.item().flatMap(shown.name(of:)) else { continue }
      // A shell replaces only what follows the word.
      let word = isLowercase ? name.lowercased() : name
      if word.begins(with: typed), name != record.id {
        names.ids[word, default: []].append(record.id)
      }
    }
    return names
  }

  /// The cached records, each decoded when it is used; the bundled ones if none are cached, as in lists.
  private func known(
    to store: SQLiteStore?, from beginning: String = "", named name: FoldedText? = nil,
    areDeleted: Bool = false, atMost count: Int
  ) -> [(id: String, item: () -> Item?)] {
    func read(
      _ beginning: String, _ areDeleted: Bool, _ count: Int, named name: FoldedText? = nil
    ) -> [StoredID]? {
      guard let store else { return nil }
      return store.readWithoutWaiting(
        self.name, idsFrom: beginning, named: name, areDeleted: areDeleted, atMost: count)
    }
    let stored = read(beginning, areDeleted, count, named: name) ?? []
    guard stored.isEmpty, !areDeleted, let bundled = bundled as? BundledSource<Item>,
      read("", false, 1)?.isEmpty == true
    else {
      return stored.map { record in
        (record.id, { record.json.flatMap { try? JSONText($0)?.read(Item.self) } })
      }
    }
    let deleted = Set((read(beginning, true, .max) ?? []).map(\.id))
    return bundled.records.lazy.map { ($0.id.description, $0) }
      .filter { $0.0.hasPrefix(beginning) && !deleted.contains($0.0) }
      .prefix(count).map { id, item in (id, { item }) }
  }
}

/// The names of records that begin as typed.
private struct NamesBegun {
  var ids: [String: [String]] = [:]
  /// True if not all records were read.
  var isPart = false

  /// The names with the IDs of their records; none that several records have, or beside which there is no room.
  ///
  /// A shell inserts what all that is offered has in common, so the common beginning of names that are left out is offered
  /// as well; what is typed, if some of them are not known.
  func candidates(from typed: String, atMost count: Int, besideOthers: Bool) -> [Candidate] {
    let words = ids.keys.sorted()
    let own = words.filter { ids[$0]?.count == 1 }
    var offered = own.prefix(max(0, count)).map { Candidate($0, ids[$0]?.first ?? "") }
    guard isPart || offered.count < words.count, besideOthers || !offered.isEmpty,
      let first = words.first, let last = words.last
    else { return offered }
    let common = String(zip(first, last).prefix { $0 == $1 }.map(\.0))
    let word = isPart || !common.isSafe || !common.begins(with: typed) ? typed : common
    if ids[word]?.count != 1 {
      let count = ids.values.reduce(0) { $0 + $1.count }
      offered.insert(Candidate(word, isPart ? "and more" : count.grouped("record")), at: 0)
    }
    return offered
  }
}
