package import AggregatorKit

/// The words that Tab offers in a statement of SQL.
package struct SQLWords: Sendable {
  /// The lines before the one that is typed.
  package var statement = ""

  private let tables: [SQLTable]
  /// Names of tables and columns, and commands of the console.
  private let names: [String]
  private let commands: [String]
  /// The words that can follow a command.
  private let arguments: [String: [String]]

  /// The words of queries, which are offered where no name begins as typed.
  private static let keywords = """
    SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET JOIN LEFT INNER CROSS ON USING AS AND OR NOT IN IS NULL LIKE \
    BETWEEN CASE WHEN THEN ELSE END DISTINCT UNION ALL EXCEPT INTERSECT WITH RECURSIVE ASC DESC VALUES EXISTS \
    CAST COLLATE
    """.split(separator: " ").map(String.init)

  package init(
    _ tables: [SQLTable], commands: [String] = [], arguments: [String: [String]] = [:]
  ) {
    self.tables = tables
    var seen: Set<String> = []
    let words = tables.flatMap { table in
      [table.schema, table.name].compactMap(\.self) + table.columns
    }
    names = (words + [SourceView.row]).filter { seen.insert($0).inserted && $0.safeLine == $0 }
    self.commands = commands
    self.arguments = arguments
  }

  /// The words that begin as one does, in any case: `c.na`, `"maker.`, `.sch`.
  ///
  /// The columns of other tables than those that the statement names are left out, unless there is nothing else.
  package func completions(of word: String, in line: String = "") -> [String] {
    if word.hasPrefix(".") { return commands.filter { $0.hasPrefix(word) } }
    let typed = line.split(whereSeparator: \.isWhitespace).map(String.init)
    if statement.isEmpty, let command = typed.first, let words = arguments[command] {
      return typed.count > (word.isEmpty ? 1 : 2) ? [] : words.filter { $0.hasPrefix(word) }
    }
    // A quoted name may contain dots.
    let start = word.firstIndex(of: "\"") ?? word.lastIndex(of: ".").map(word.index(after:))
    let beginning = word[(start ?? word.startIndex)...].lowercased()
    let head = word[..<(start ?? word.startIndex)]
    let isQuoted = beginning.hasPrefix("\"")
    func matches(without others: Set<String>) -> [String] {
      names.compactMap { name in
        let text = isQuoted ? name.sqlName : name
        guard text.lowercased().hasPrefix(beginning), !others.contains(name) else { return nil }
        return head + (isQuoted ? text : name.typedSQLName)
      }
    }
    let words = "\(statement) \(line)".lowercased()
      .split { !$0.isLetter && !$0.isNumber && $0 != "_" }
    let named = tables.filter { table in
      let name = table.name.lowercased()
      // The line may lack its last letter.
      return words.contains { $0 == name || $0 == name.dropLast() }
    }
    let columns = Set((named.isEmpty ? [] : tables).flatMap(\.columns))
    let near = matches(without: columns.subtracting(named.flatMap(\.columns)))
    let offers = near.isEmpty ? matches(without: []) : near
    guard offers.isEmpty, !word.isEmpty, start == nil else { return offers }
    let known = Self.keywords.map { word == word.lowercased() ? $0.lowercased() : $0 }
    return known.filter { $0.lowercased().hasPrefix(beginning) }
  }

  /// The statements that a text can become by its last word; it is all of them up to the cursor.
  package func completions(ofStatement text: String) -> [String] {
    let isQuoted = !text.count { $0 == "\"" }.isMultiple(of: 2)
    let start =
      isQuoted
      ? text.lastIndex(of: "\"")
      : text.lastIndex { Self.breaks.contains($0) }.map(text.index(after:))
    let head = text[..<(start ?? text.startIndex)]
    return completions(of: String(text[head.endIndex...]), in: text).map { head + $0 }
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
