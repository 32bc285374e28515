import AggregatorKit
package import AggregatorSavedQueries
package import AggregatorTerminal
import DeclaredSource

extension SourceCatalog {
  /// True for the name of a source, a command or a verb, which comes before a saved query.
  package func isTaken(_ word: String) -> Bool { isReserved(word) || sources.contains(word) }

  /// True for the name of a compiled source, a command or a verb, which no added source can have.
  ///
  /// Those of added sources are in their folder, which changes while a server runs.
  package func isReserved(_ word: String) -> Bool {
    ownWords.contains(word) || StandardVerb(rawValue: word) != nil
      || plugins.contains { !($0 is DeclaredPlugin) && $0.verbNames.contains(word) }
  }

  /// The saved queries with the name of a source or command, which wins.
  package var hiddenQueries: [String] { savedQueries.names.filter(isTaken) }

  package func hasQuery(_ name: String) -> Bool { savedQueries.names.contains(name) }

  /// The names of the saved queries that have a word.
  package func queryNames(with word: String) -> [String] {
    savedQueries.queries.filter { query in
      query.text.split { !($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }.contains(
        word[...])
    }.map(\.name)
  }

  /// Lets the saved queries that begin with a source begin with its new name; returns their names.
  package func renameSource(_ name: String, to new: String) throws(CommandError) -> [String] {
    let followers = try savedQueries.queries.filter { $0.beginning == name }
      .map { query throws(CommandError) in try query.beginning(with: new) }
    guard !followers.isEmpty else { return [] }
    let file = try queryFile()
    try CommandError.wrapping(
      try file.edit { text throws(SourceError) in
        for follower in followers { text.set(follower) }
      })
    return followers.map(\.name)
  }

  /// Checks that a saved query can have a name.
  package func checkQueryName(_ name: String) throws(CommandError) {
    guard SavedQuery.isName(name) else {
      throw CommandError(
        .usage, "invalid name \"\(name)\"",
        hint: "use 1 to 32 letters, digits, hyphens and underscores, beginning with a letter")
    }
    guard !isTaken(name) else {
      throw CommandError(
        .usage, "\"\(name)\" is the name of a source, command or verb of \(program)",
        hint: "use another name")
    }
  }

  /// The saved queries that are one statement in SQL and nothing else, as their file has them now.
  package var savedStatements: [(name: String, text: String)] {
    savedQueries.reread.queries.compactMap { query in
      guard !query.hasParameters, let words = try? query.words(with: []), words.count == 2,
        words[0] == "sql", !words[1].hasPrefix("-")
      else { return nil }
      return (query.name, words[1])
    }
  }

  /// The file of saved queries.
  package func queryFile() throws(CommandError) -> SavedQueryFile {
    guard let file = savedQueries.file else {
      throw CommandError(
        .settings, "no directory for saved queries", hint: "set HOME or XDG_CONFIG_HOME")
    }
    return file
  }

  /// A saved query that must exist.
  package func savedQuery(_ name: String) throws(CommandError) -> SavedQuery {
    guard let query = savedQueries[name] else {
      throw CommandError(
        .notFound, "no query named \"\(name)\" was saved",
        suggestion: nearest(to: name, in: savedQueries.names), hint: .command("query"))
    }
    return query
  }
}
