package import AggregatorCore
import AggregatorText

/// The errors of a query, which show where a mistake is and what may be meant.
package struct SQLDiagnostics: Sendable {
  private let statement: SQLStatement
  private let views: [SQLView]

  /// The tables of attached files.
  package var attached: [SQLTable] = []

  /// The size of a query in bytes.
  package static let maxTextSize = 100_000

  package init(_ statement: SQLStatement, views: [SQLView]) {
    self.statement = statement
    self.views = views
  }

  package var text: String { statement.text }

  /// The error for another statement.
  package var onlySelect: SourceError {
    Self.error(
      "only SELECT is allowed",
      remedy: remedyOfStatement ?? "the database is read-only; use SELECT")
  }

  package static let timedOut = SourceError(
    .timedOut, "the query timed out", remedy: "allow more time with --timeout")

  package static let needsTooMuchMemory = error("the query needs too much memory")

  /// Refuses a text that is no query of any database.
  package func check() throws(SourceError) {
    guard !text.utf8.contains(0) else { throw Self.error("the query contains a NUL character") }
    guard text.nonBlank != nil else { throw Self.error("the query is empty") }
    guard text.utf8.count <= Self.maxTextSize else {
      throw Self.error("the query is too large (maximum 100 kB)")
    }
  }

  package static func error(
    _ message: String, remedy: Remedy? = nil, suggesting word: String? = nil
  ) -> SourceError {
    SourceError(.invalidRequest, message, remedy: remedy, cause: word.map { SQLTypo(nearest: $0) })
  }

  /// The error for a mistake in the query.
  ///
  /// - Parameters:
  ///   - message: That of the database.
  ///   - subject: What is unknown or forbidden.
  ///   - prefix: The text before the mistake; `nil` if it is not known where it is.
  package func mistake(
    _ message: String, about subject: Subject? = nil, after prefix: String? = nil
  ) -> SourceError {
    let place = prefix.map { " (character \(statement.charactersBefore + $0.count + 1))" }
    let message = message + (place ?? "")
    switch subject {
    case .table(let name):
      return Self.error(
        message, remedy: Remedy("available tables: \(tables.joined(separator: ", "))"),
        suggesting: name.flatMap { nearest(to: $0, in: tables) })
    case .column(let name):
      return unknownColumn(
        name, message, isQuoted: prefix.map { text.dropFirst($0.count).first == "\"" } ?? false)
    case .function(let name, let known):
      return Self.error(message, suggesting: nearest(to: name, in: known))
    case nil:
      return Self.error(message, remedy: remedyOfStatement, suggesting: statementMeant)
    }
  }

  private var tables: [String] { views.map(\.name) + attached.map(\.text) }

  /// The words of the query in lower case.
  private var words: [String] {
    text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map { $0.lowercased() }
  }

  /// The remedy for a statement that other programs have.
  private var remedyOfStatement: Remedy? {
    let words = words
    return switch words.first {
    case "pragma" where words.count == 3 && ["table_info", "table_xinfo"].contains(words[1]):
      Remedy("sql .schema \(words[2])", .command)
    case "use" where words.count == 2:
      Remedy("there is one database; its tables: \(tables.joined(separator: ", "))")
    case "explain" where words.dropFirst().first == "analyze":
      "EXPLAIN takes a SELECT, without ANALYZE"
    default: nil
    }
  }

  /// The beginning of a query that is only the name of a table, or that begins with a misspelled word; `nil` for another.
  private var statementMeant: String? {
    let words = words
    if words.count == 1, let view = views.first(where: { $0.name.lowercased() == words[0] }) {
      return "SELECT * FROM \(view.name)"
    }
    let known = ["SELECT", "WITH", "VALUES"]
    guard let first = words.first, !known.contains(first.uppercased()) else { return nil }
    return nearest(to: first, in: known)
  }

  /// The subject of a mistake.
  package enum Subject: Sendable {
    /// A name without that of its schema; `nil` for one that exists, but must not be read.
    case table(String?)
    /// A name as the query has it, without quotes.
    case column(String)
    /// A name, and those of all functions.
    case function(String, of: [String])
  }

  private func unknownColumn(_ name: String, _ message: String, isQuoted: Bool) -> SourceError {
    let columns = named.flatMap(\.columns) + [SourceView.row]
    // Without quotes, vendor.name is a column "name" of a table "vendor".
    if !isQuoted,
      let whole = columns.first(where: {
        $0.contains(".") && ".\(name)".lowercased().hasSuffix(".\($0)".lowercased())
      })
    {
      return Self.error(
        message, remedy: "use double quotes for a name that contains a dot", suggesting: whole)
    }
    // A column of that name in another table is no correction.
    let word = isQuoted ? name : name.lastNamePart
    let others = columns.filter { $0 != word }
    return Self.error(
      message, remedy: isQuoted ? Remedy("use single quotes for a text: '\(name)'") : nil,
      suggesting: nearest(to: name, in: others) ?? nearest(to: word, in: others))
  }

  /// The views whose names occur in the query.
  private var named: [SQLView] {
    let text = text.lowercased()
    return views.filter { text.contains($0.name.lowercased()) }
  }
}

/// The known name nearest to a misspelled one in a query.
package struct SQLTypo: Error {
  package let nearest: String
}

extension String {
  /// `name` of `heroes.name`.
  package var lastNamePart: String { split(separator: ".").last.map(String.init) ?? self }
}
