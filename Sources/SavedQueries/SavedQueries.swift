package import AggregatorKit
package import AggregatorTerminal

/// The saved queries of a person.
package struct SavedQueries: Sendable {
  /// `nil` if there is no directory for it.
  package let file: SavedQueryFile?

  /// In the order of the file.
  package private(set) var queries: [SavedQuery] = []

  /// The errors in the file, whose other lines can be used.
  package let problems: [SourceError]

  /// The queries whose scripts run this program.
  private let callers: [String]

  /// The variable that names the queries whose scripts run a program.
  package static func variable(of program: ProgramName) -> String {
    program.variable("SAVED_QUERIES")
  }

  /// None, and no place for any.
  package init() { (file, problems, callers) = (nil, [], []) }

  /// Those in the directory of the settings file.
  package init(of program: ProgramName, variables: [String: String]) {
    self.init(
      in: SettingsLoader.userDirectory(of: program, variables: variables).map {
        SavedQueryFile("\($0)/queries")
      },
      calledBy: (variables[Self.variable(of: program)] ?? "").split(separator: ":")
        .map(String.init))
  }

  private init(in file: SavedQueryFile?, calledBy callers: [String]) {
    (self.file, self.callers) = (file, callers)
    guard let file else {
      problems = []
      return
    }
    do throws(SourceError) {
      let text = try file.read()
      queries = text.queries
      problems = file.problems(with: text)
    } catch {
      problems = [error]
    }
  }

  /// Those that the file has now.
  package var reread: SavedQueries { SavedQueries(in: file, calledBy: callers) }

  package var names: [String] { queries.map(\.name) }

  package subscript(name: String) -> SavedQuery? { queries.first { $0.name == name } }

  /// These queries with another one, in the place of that of its name.
  package func with(_ query: SavedQuery) -> SavedQueries {
    var others = self
    others.queries.removeAll { $0.name == query.name }
    others.queries.append(query)
    return others
  }

  /// The command line that runs in the place of a saved query.
  package struct Expansion: Sendable {
    /// The names of the queries, the first one first.
    package let names: [String]

    /// The words of the command line, without the program; empty for a script.
    package let words: [String]

    /// The words that start a shell.
    package let command: [String]?

    /// The field whose value the next argument is, while a line is typed; `nil` for any other argument.
    package var field: String?
  }

  /// The command line that a query stands for, and the queries that it calls; `nil` if none is named.
  ///
  /// - Parameters:
  ///   - isTaken: True for a word that is no name of a query.
  ///   - operands: The positions of the words that are neither options nor values of options, also as `sql` has them.
  /// - Throws: ``CommandError`` with code `usage` for a missing argument, or queries that call each other.
  package func expansion(
    of arguments: [String], missing: SavedQuery.Missing = .isRefused,
    isTaken: (String) -> Bool = { _ in false },
    operands: (_ words: [String], _ isSQL: Bool) -> [Int]
  ) throws(CommandError) -> Expansion? {
    var names: [String] = []
    var words = arguments
    var field: String?
    while let place = operands(words, false).first, !isTaken(words[place]),
      let query = self[words[place]]
    {
      guard !(callers + names).contains(query.name) else {
        let chain = callers + names + [query.name]
        throw CommandError(
          .usage,
          "the saved query \"\(query.name)\" calls itself: \(chain.joined(separator: " → "))",
          hint: "begin \"\(chain[chain.count - 2])\" with a source, a command or another query")
      }
      names.append(query.name)
      let rest = Array(words[(place + 1)...])
      if let command = query.command(with: rest) {
        guard place == 0 else {
          throw CommandError(
            .usage, "no option can come before \"\(query.name)\", which runs in sh",
            hint: "put options after it")
        }
        return Expansion(names: names, words: [], command: command)
      }
      let isChecked = missing == .isRefused || missing == .isKept
      let statement = isChecked ? statement(of: query, isTaken: isTaken, operands: operands) : []
      // While a line is typed, its words stay in their order where arguments are words.
      let isParted =
        missing == .isRefused && (query.hasParameters || !statement.isEmpty)
        || missing == .endsWords && query.fillsWords
      let typed = isParted ? operands(rest, !statement.isEmpty) : Array(rest.indices)
      let options = rest.indices.filter { !typed.contains($0) }
      field = query.field(ofArgument: typed.count + 1)
      words =
        try words[..<place]
        + query.words(
          with: typed.map { rest[$0] }, and: options.map { rest[$0] }, statement: statement,
          missing: missing)
    }
    return names.isEmpty
      ? nil : Expansion(names: names, words: words, command: nil, field: field)
  }

  /// The positions of the words of a query that are a statement for `sql`; none if a query that it calls has the statement, or if
  /// that is an argument as a whole.
  private func statement(
    of query: SavedQuery, isTaken: (String) -> Bool,
    operands: (_ words: [String], _ isSQL: Bool) -> [Int]
  ) -> Set<Int> {
    // A loop is found by the expansion itself.
    func expanded(_ words: [String]) -> Expansion {
      (try? expansion(
        of: words, missing: .isKeptUnchecked, isTaken: isTaken, operands: operands))
        ?? Expansion(names: [], words: words, command: nil)
    }
    func isWritten(_ word: String) -> Bool {
      word != "--" && word.wholeMatch(of: /\$[1-9@]/) == nil
    }
    let whole = expanded(query.words)
    let command = operands(whole.words, true).first.map { whole.words[$0] }
    // The command may be an argument, too.
    guard whole.command == nil, command.map({ $0 == "sql" || $0.contains("$") }) ?? true else {
      return []
    }
    let own = operands(query.words, true)
    let called = expanded(own.first.map { Array(query.words[...$0]) } ?? query.words).words
    guard !operands(called, true).dropFirst().contains(where: { isWritten(called[$0]) }) else {
      return []
    }
    let statement = own.dropFirst().filter { query.words[$0] != "--" }
    return statement.contains { isWritten(query.words[$0]) } ? Set(statement) : []
  }
}
