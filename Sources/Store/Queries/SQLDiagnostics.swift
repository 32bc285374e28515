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
    SourceError(
      .invalidRequest, message, remedy: remedy, cause: word.map { SQLMistake(nearest: $0) })
  }

  /// The error for a mistake in the query.
  ///
  /// - Parameters:
  ///   - message: That of the database.
  ///   - subject: The unknown or forbidden part.
  ///   - prefix: The text before the mistake; `nil` if it is not known where it is.
  package func mistake(
    _ message: String, about subject: Subject? = nil, after prefix: String? = nil
  ) -> SourceError {
    var error = explained(message, about: subject, after: prefix)
    let nearest = (error.cause as? SQLMistake)?.nearest
    if let prefix { error.cause = SQLMistake(nearest: nearest, offset: prefix.count) }
    return error
  }

  private func explained(
    _ message: String, about subject: Subject?, after prefix: String?
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
        name, message, after: prefix ?? "",
        isQuoted: prefix.map { text.dropFirst($0.count).first == "\"" } ?? false)
    case .function(let name, let known):
      let median =
        name.lowercased() == "median"
        ? named.first.map { Remedy("\($0.name) list --stats FIELD", .command) } : nil
      return Self.error(
        message, remedy: median,
        suggesting: Self.functionsElsewhere[name.lowercased()] ?? nearest(to: name, in: known))
    case nil:
      return Self.error(
        message, remedy: remedyOfStatement ?? remedyOfHyphen,
        suggesting: castMeant(after: prefix) ?? statementMeant
          ?? prefix.flatMap { message.contains("syntax error") ? keywordMeant(after: $0) : nil })
    }
  }

  /// Functions of other databases by their names in lower case, each with the SQLite function or expression to write instead.
  private static let functionsElsewhere = [
    "now": "datetime('now')", "getdate": "datetime('now')", "curdate": "date('now')",
    "len": "length", "char_length": "length", "concat": "a || b", "concat_ws": "a || ',' || b",
    "string_agg": "group_concat", "isnull": "ifnull", "nvl": "ifnull", "greatest": "max",
    "least": "min", "strpos": "instr", "year": "strftime('%Y', date)",
    "month": "strftime('%m', date)", "to_char": "strftime", "date_format": "strftime",
  ]

  /// The remedy for the name of a table with a hyphen that is not in quotes.
  private var remedyOfHyphen: Remedy? {
    let unquoted = text.replacing(/"[^"]*"|'[^']*'/, with: "").lowercased()
    let name = tables.filter { $0.contains("-") && unquoted.contains($0.lowercased()) }
      .max { $0.count < $1.count }
    return name.map { Remedy("quote the name: \"\($0)\"") }
  }

  /// The keyword nearest to a misspelled one, which is the word before the place of an error or the one at it: the parser
  /// takes `grop` for the name of the table before it, and fails at `by`.
  private func keywordMeant(after prefix: String) -> String? {
    let keywords = [
      "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "OFFSET", "JOIN", "INNER", "UNION",
      "SELECT", "DISTINCT", "BETWEEN", "LIKE", "AND", "DESC", "VALUES",
    ]
    func isWord(_ character: Character) -> Bool { character.isLetter || character == "_" }
    // A keyword in the place of a table: `FROM order`.
    let place = prefix.split(whereSeparator: \.isWhitespace).last?.uppercased()
    if place == "FROM" || place == "JOIN" {
      let word = String(text.dropFirst(prefix.count).prefix(while: isWord))
      if let table = nearest(to: word, in: tables) { return table }
    }
    let before = prefix.trimmed.reversed().prefix(while: isWord).reversed()
    let names = Set((tables + named.flatMap(\.columns)).map { $0.uppercased() } + keywords)
    for word in [String(before), String(text.dropFirst(prefix.count).prefix(while: isWord))]
    where word.count > 2 && !names.contains(word.uppercased()) {
      if let keyword = nearest(to: word, in: keywords) { return keyword }
    }
    return nil
  }

  /// `CAST(id AS TEXT)` for `id::text`, if an error is there.
  private func castMeant(after prefix: String?) -> String? {
    guard let prefix, text.dropFirst(prefix.count).hasPrefix("::") else { return nil }
    func isWord(_ character: Character) -> Bool {
      character.isLetter || character.isNumber || "_.\"".contains(character)
    }
    let value = String(prefix.reversed().prefix(while: isWord).reversed())
    let type = text.dropFirst(prefix.count + 2).prefix(while: isWord).uppercased()
    return value.isEmpty || type.isEmpty ? nil : "CAST(\(value) AS \(type))"
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
    case "select" where words.count > 2 && words[1] == "top" && Int(words[2]) != nil:
      Remedy("write LIMIT \(words[2]) at the end")
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

  private func unknownColumn(
    _ name: String, _ message: String, after prefix: String, isQuoted: Bool
  ) -> SourceError {
    let columns = named.flatMap(\.columns) + [SourceView.row]
    // Without quotes, vendor.name is a column "name" of a table "vendor".
    if !isQuoted,
      let whole = columns.first(where: {
        $0.contains(".") && ".\(name)".lowercased().hasSuffix(".\($0)".lowercased())
      })
    {
      return Self.error(
        message, remedy: Remedy("a name with a dot needs double quotes: \"\(whole)\""))
    }
    // A column of that name in another table is no correction.
    let word = isQuoted ? name : name.lastNamePart
    let others = columns.filter { $0 != word }
    let start = prefix.trimmed.lowercased()
    let operators = ["=", "<", ">", " like"]
    let near = nearest(to: name, in: others) ?? nearest(to: word, in: others)
    if near == nil, isQuoted, name.contains(".") {
      return Self.error(message, remedy: "a field that the source does not list is in _row")
    }
    let isText = isQuoted || word == name && operators.contains(where: start.hasSuffix)
    return Self.error(
      message,
      remedy: isText ? Remedy("use single quotes for a text: '\(name)'") : remedyOfHyphen,
      suggesting: near)
  }

  /// The views whose names occur in the query.
  private var named: [SQLView] {
    let text = text.lowercased()
    return views.filter { text.contains($0.name.lowercased()) }
  }
}

/// A mistake in a query.
package struct SQLMistake: Error {
  /// The known name nearest to a misspelled one.
  package let nearest: String?
  /// The number of characters before the mistake; `nil` if it is not known where it is.
  package var offset: Int?
}

extension String {
  /// `name` of `heroes.name`.
  package var lastNamePart: String { split(separator: ".").last.map(String.init) ?? self }
}
