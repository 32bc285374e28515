import AggregatorKit
package import AggregatorSavedQueries
package import AggregatorTerminal
import DeclaredSource

extension SourceCatalog {
  /// True for the name of a source, a command or a verb, which comes before a saved query.
  package func isTaken(_ word: String) -> Bool {
    ownWords.contains(word) || sources.contains(word) || StandardVerb(rawValue: word) != nil
      || plugins.contains { !($0 is DeclaredPlugin) && $0.verbNames.contains(word) }
  }

  /// The saved queries with the name of a source or command, which wins.
  package var hiddenQueries: [String] { savedQueries.names.filter(isTaken) }

  /// The names of the saved queries whose first word is this one.
  package func queryNames(beginningWith word: String) -> [String] {
    savedQueries.queries.filter { $0.beginning == word }.map(\.name)
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
