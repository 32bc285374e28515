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
    file = SettingsLoader.userDirectory(of: program, variables: variables).map {
      SavedQueryFile("\($0)/queries")
    }
    callers = (variables[Self.variable(of: program)] ?? "").split(separator: ":").map(String.init)
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
  }

  /// The command line that a query stands for, and the queries that it calls; `nil` if none is named.
  ///
  /// - Parameters:
  ///   - index: The position of the word that could be the name of a query.
  ///   - parted: The arguments for parameters, and the options with their values, which are appended.
  /// - Throws: ``CommandError`` with code `usage` for a missing argument, or queries that call each other.
  package func expansion(
    of arguments: [String], missing: SavedQuery.Missing = .isRefused,
    nameAt index: ([String]) -> Int?,
    parted: ([String]) -> (arguments: [String], options: [String]) = { ($0, []) }
  ) throws(CommandError) -> Expansion? {
    var names: [String] = []
    var words = arguments
    while let place = index(words), let query = self[words[place]] {
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
      // While a line is typed, its words stay in their order.
      let isParted = query.hasParameters && missing == .isRefused
      let parts = isParted ? parted(rest) : (arguments: rest, options: [])
      words =
        try words[..<place]
        + query.words(with: parts.arguments, and: parts.options, missing: missing)
    }
    return names.isEmpty ? nil : Expansion(names: names, words: words, command: nil)
  }
}
