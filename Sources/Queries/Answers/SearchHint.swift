import AggregatorFilters
package import AggregatorKit
import AggregatorTerminal

/// A part of a search that elsewhere is an operator, and here is searched for as any other text.
package struct SearchHint: Hashable, Sendable {
  package let message: String

  /// The search without the part; `nil` if nothing else is left of it.
  package let rest: String?

  /// The filter that does what may be meant; `nil` if there is none.
  package let condition: String?

  package init(message: String, rest: String?, condition: String?) {
    (self.message, self.rest, self.condition) = (message, rest, condition)
  }

  /// A part of a search is no operator.
  var warning: Warning { Warning(Warning.Code("searchWords"), message) }

  func command(of source: String) -> Hint? {
    condition.map { condition in
      .command(
        "\(source) \(rest.map { "search \($0.typed)" } ?? "list") --where \(condition.typed)")
    }
  }
}

extension SearchQuery {
  /// Hints about words that may be meant as operators, with filters of the fields; five at most.
  package func hints<Item>(_ fields: [Field<Item>]) -> [SearchHint] {
    let words = text.split(separator: " ").map(String.init)
    let searched = fields.filter(\.isSearchable)
    let title = (searched.first { !$0.name.namesCodes } ?? searched.first)?.name
    var hints: [SearchHint] = []
    let maxHints = 5
    func add(_ message: String, _ filter: TypedFilter?, without part: Range<Int>) {
      guard hints.count < maxHints, !hints.contains(where: { $0.message == message }) else {
        return
      }
      let rest = words.indices.filter { !part.contains($0) }.map { words[$0] }
      hints.append(
        SearchHint(
          message: message, rest: rest.isEmpty ? nil : rest.joined(separator: " "),
          condition: filter?.quoted))
    }
    func contains(_ word: some StringProtocol, isNegated: Bool = false) -> TypedFilter? {
      guard let title else { return nil }
      let filter = TypedFilter.condition(TypedCondition(title, .contains, String(word)))
      return isNegated ? .not(filter) : filter
    }
    var phrase: Int?
    for (index, word) in words.enumerated() where hints.count < maxHints {
      let scalars = word.unicodeScalars
      if phrase == nil, scalars.first?.isQuotationMark == true, scalars.count > 1 { phrase = index }
      guard phrase == nil else {
        if scalars.last?.isQuotationMark == true { phrase = nil }
        continue
      }
      let next = words.indices.contains(index + 1) ? words[index + 1] : nil
      if word.hasPrefix("-"), word.dropFirst().first?.isLetter == true {
        add(
          "\"\(word)\" excludes nothing: - has no meaning before a word",
          contains(word.dropFirst(), isNegated: true), without: index..<index + 1)
      } else if let next, word == "NOT" || index > 0 && ["AND", "OR"].contains(word) {
        // A phrase in quotation marks is more than a word.
        let isPlain = ![words[max(0, index - 1)], next].contains { word in
          word.unicodeScalars.contains(where: \.isQuotationMark)
        }
        var filter = word == "NOT" && isPlain ? contains(next, isNegated: true) : nil
        if word == "OR", isPlain, let one = contains(words[index - 1]), let other = contains(next) {
          filter = .any([one, other])
        }
        add(
          "\"\(word)\" is searched for as a word, and all words have to occur", filter,
          without: (word == "OR" ? index - 1 : index)..<(word == "AND" ? index + 1 : index + 2))
      } else if let filter = fields.filter(typed: word),
        !scalars.contains(where: \.isQuotationMark)
      {
        add(
          "\"\(word)\" is searched for as a word, not as a filter", filter,
          without: index..<index + 1)
      }
    }
    if let phrase {
      let words = words[phrase...].joined(separator: " ").dropFirst()
      add(
        "the quotation mark has no end: \"\(words)\" is searched for as one text", nil,
        without: 0..<0)
    }
    return hints
  }
}

extension Array {
  /// The filter that a word such as `name:x` or `price>3` stands for; `nil` if it begins with no name or label of a field.
  fileprivate func filter<Item>(typed word: String) -> TypedFilter? where Element == Field<Item> {
    guard let start = word.firstIndex(where: { ":=!<>~".contains($0) }) else { return nil }
    let rest = word[start...]
    let symbol = rest.prefix { ":=!<>~".contains($0) }
    let value = String(rest.dropFirst(symbol.count))
    let name = word[..<start].lowercased()
    guard !value.isEmpty,
      let field = first(where: { $0.name.lowercased() == name || $0.label.lowercased() == name }),
      let condition = TypedCondition(
        field.name, operator: symbol == ":" ? "~" : String(symbol), value)
    else { return nil }
    return .condition(condition)
  }
}
