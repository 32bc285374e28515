package import AggregatorKit

/// The words that Tab offers in a statement of SQL.
package struct SQLWords: Sendable {
  /// The lines before the one that is typed.
  package var statement = ""

  private let tables: [SQLTable]
  private let commands: [String]
  /// The words that can follow a command.
  private let arguments: [String: [String]]

  /// The words of queries, which are offered where no name begins as typed.
  private static let keywords = """
    SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET JOIN LEFT INNER CROSS ON USING AS AND OR NOT IN IS NULL LIKE \
    BETWEEN CASE WHEN THEN ELSE END DISTINCT UNION ALL EXCEPT INTERSECT WITH RECURSIVE ASC DESC VALUES EXISTS \
    CAST COLLATE REGEXP MATCHES
    """.split(separator: " ").map(String.init)

  /// The words after which tables are named, and those after which columns are.
  private static let tableClauses: Set<String> = ["from", "join", "into", "update"]
  private static let columnClauses: Set<String> = [
    "select", "where", "on", "by", "having", "and", "or", "not", "using", "set", "when", "then",
  ]

  package init(
    _ tables: [SQLTable], commands: [String] = [], arguments: [String: [String]] = [:]
  ) {
    self.tables = tables
    self.commands = commands
    self.arguments = arguments
  }

  /// A place in a statement.
  private enum Place {
    case unknown, table, column
    /// After the name of a table or an operand, where a keyword or an operator follows.
    case end
  }

  private static func words(of text: String) -> [String] {
    text.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
  }

  private static func place(after text: String) -> Place {
    let text = text.trimmed.lowercased()
    if text.hasPrefix(".schema") || text.hasPrefix("\\d") { return .table }
    let words = words(of: text)
    guard let last = words.last,
      let clause = words.last(where: { tableClauses.contains($0) || columnClauses.contains($0) })
    else { return .unknown }
    let endsWord = text.last.map { $0.isLetter || $0.isNumber || "_\"')".contains($0) } ?? false
    let isOperand = last != clause && !keywords.contains(last.uppercased())
    if endsWord && isOperand || text.hasSuffix("select *") || text.hasSuffix(".*") { return .end }
    return tableClauses.contains(clause) ? .table : .column
  }

  /// The table with a name, or with one of its own in the statement: `heroes h`, `heroes AS h`.
  private func table(called name: some StringProtocol, in words: [String]) -> SQLTable? {
    let name = name.lowercased()
    func table(_ name: String) -> SQLTable? { tables.first { $0.name.lowercased() == name } }
    for index in words.indices.dropFirst() where words[index] == name {
      let isAfterAs = words[index - 1] == "as" && index > 1
      if let found = table(words[isAfterAs ? index - 2 : index - 1]) { return found }
    }
    return table(name)
  }

  /// The words that begin as one does, in any case: `c.na`, `"maker.`, `.sch`.
  ///
  /// After FROM and JOIN they are tables, after WHERE, SELECT and the like the columns of the tables that the statement names,
  /// unless none of these begins so. Keywords follow where a name has ended.
  ///
  /// - Parameter start: The number of Unicode scalars before the word in its line; `nil` to look for its last place.
  package func completions(
    of word: String, in line: String = "", from start: Int? = nil
  ) -> [String] {
    if word.hasPrefix(".") { return commands.filter { $0.hasPrefix(word) } }
    let typed = line.split(whereSeparator: \.isWhitespace).map(String.init)
    if statement.isEmpty, let command = typed.first, let words = arguments[command] {
      return typed.count > (word.isEmpty ? 1 : 2) ? [] : words.filter { $0.hasPrefix(word) }
    }
    // A quoted name may contain dots.
    let end = word.firstIndex(of: "\"") ?? word.lastIndex(of: ".").map(word.index(after:))
    let head = word[..<(end ?? word.startIndex)]
    let beginning = word[head.endIndex...].lowercased()
    let isQuoted = beginning.hasPrefix("\"")
    func matches(_ names: [String]) -> [String] {
      var seen: Set<String> = []
      return names.compactMap { name in
        let text = isQuoted ? name.sqlName : name
        guard text.lowercased().hasPrefix(beginning), name.safeLine == name,
          seen.insert(name).inserted
        else { return nil }
        return head + (isQuoted ? text : name.typedSQLName)
      }
    }
    let words = Self.words(of: "\(statement) \(line)")
    if head.hasSuffix("."), let table = table(called: head.dropLast(), in: words) {
      return matches(table.columns + [SourceView.row])
    }
    let place = Self.place(after: "\(statement) \(Self.beginning(of: line, before: word, start))")
    // In the case of the word; the function begins an operand.
    let keywords = Self.keywords.filter { place != .end || $0 != "MATCHES" }
      .map { word == word.lowercased() ? $0.lowercased() : $0 }
      .filter { head.isEmpty && $0.lowercased().hasPrefix(beginning) }
    let names = tables.flatMap { [$0.schema, $0.name].compactMap(\.self) }
    let named = tables.filter { table in
      let name = table.name.lowercased()
      // The line may lack its last letter.
      return words.contains { $0 == name || $0 == name.dropLast() }
    }
    var offers: [String] = []
    switch place {
    case .table: offers = matches(names)
    case .column:
      offers = matches((named.isEmpty ? tables : named).flatMap(\.columns) + [SourceView.row])
    case .end: offers = keywords
    case .unknown: break
    }
    if offers.isEmpty {
      let all = tables.flatMap { [$0.schema, $0.name].compactMap(\.self) + $0.columns }
      offers = matches(all + [SourceView.row])
    }
    return offers.isEmpty && !word.isEmpty ? keywords : offers
  }

  /// The text of a line before a word.
  private static func beginning(of line: String, before word: String, _ start: Int?) -> String {
    if let start { return String(String.UnicodeScalarView(line.unicodeScalars.prefix(start))) }
    // The line may lack its last letter.
    let range = line.ranges(of: word).last ?? line.ranges(of: word.dropLast()).last
    return word.isEmpty ? line : range.map { String(line[..<$0.lowerBound]) } ?? line
  }

  /// The statements that a text can become by its last word; it is all of them up to the cursor.
  package func completions(ofStatement text: String) -> [String] {
    let isQuoted = !text.count { $0 == "\"" }.isMultiple(of: 2)
    let start =
      isQuoted
      ? text.lastIndex(of: "\"")
      : text.lastIndex { Self.breaks.contains($0) }.map(text.index(after:))
    let head = text[..<(start ?? text.startIndex)]
    return completions(
      of: String(text[head.endIndex...]), in: text, from: head.unicodeScalars.count
    ).map { head + $0 }
  }

  /// The characters before a word, as the line editor of the console has them.
  private static let breaks = Set(" \t\n'`();,=<>+*/%|")
}

extension String {
  /// This name as it is typed in SQL: in quotes if it needs them.
  package var typedSQLName: String {
    wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) == nil ? sqlName : self
  }
}
