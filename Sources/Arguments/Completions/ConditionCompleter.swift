import AggregatorFilters
package import AggregatorKit
package import AggregatorQueries

/// Completes a condition: names of fields, comparisons, and the values of cached records.
package struct ConditionCompleter {
  private let fields: [FieldEntry]
  /// The values that a field often has, or those that begin as typed.
  private let values: (_ field: String, _ beginning: String) -> [String]
  /// True for a shell that ends the word, and its quote, after an only completion.
  var endsWords = false

  init(
    _ fields: [FieldEntry], values: @escaping (_ field: String, _ beginning: String) -> [String]
  ) {
    self.fields = fields
    self.values = values
  }

  /// A completer for the records of a plugin; it reads the store of the context without waiting.
  package init(for plugin: any Plugin, _ context: CommandContext) {
    self.init(plugin.fieldEntries) { field, beginning in
      Completer.CompletionContext.local(context).values(plugin.name, field, beginning)
    }
  }

  /// The conditions that a text can become; it is all of them up to the cursor.
  package func completions(of typed: String) -> [String] {
    offer(typed).candidates.filter {
      ($0.word.begins(with: typed) || $0.replacesTyped) && $0.word.isSafe
    }.map(\.word)
  }

  /// `isPart` is true if more can follow within the same condition.
  func offer(_ typed: String) -> (candidates: [Candidate], isPart: Bool) {
    comparedValues(typed).map { ($0, false) } ?? (names(typed), true)
  }

  /// The values that can follow a comparison of a field, or in its list; `nil` elsewhere.
  private func comparedValues(_ typed: String) -> [Candidate]? {
    // Anchored, because a value may have spaces: each start would be tried to the end of the text.
    let comparison =
      #/
      (?i: ^ | \s(?:and|or)\s | \bnot\s | \( ) \s*
      ("[^"]+"|[^\s()=!~<>]+) (?:!?=|~|[<>]=?)
      ("[^"]* | (?: (?!(?i:\s(?:and|or)\s)) [^()"] )*)$
      /#
    let list = /(?:^|[\s(])("[^"]+"|[^\s()=!~<>]+) (?:not )?in \((?:[^()]*, ?)?([^(),]*)$/
    let compared = typed.firstMatch(of: comparison).map { ($0.1, $0.2) }
    let found = compared ?? typed.firstMatch(of: list).map { ($0.1, $0.2) }
    guard let (name, value) = found, let field = fields.first(where: { $0.id.asField == name })
    else {
      return nil
    }
    // Filters name both.
    if field.kind == FieldKind.bool.rawValue { return nil }
    let head = typed[..<value.startIndex]
    let isQuoted = value.hasPrefix("\"")
    let words = values(field.id, String(isQuoted ? value.dropFirst() : value)).map {
      let comparison = head.hasSuffix("~") ? Comparison.contains : .equal
      let plain = isQuoted ? nil : $0.plainFilterValue(after: comparison)
      return "\(head)\(plain ?? TypedCondition("", .equal, $0).quoted.dropFirst().description)"
    }
    let near = words.filter { $0.begins(with: typed) }
    // Bash closes the quote after the only completion, but a list goes on.
    guard compared == nil, near.count == 1 else { return words.map { Candidate($0) } }
    return [")", ","].map { Candidate(near[0] + $0) }
  }

  /// The text before the last condition, and that condition as far as it is typed.
  private static func parts(of typed: String) -> (head: Substring, name: Substring) {
    let start = typed.matches(of: /(?i)(?: and | or |\bnot |\()/).last?.range.upperBound
    let head = typed[..<(start ?? typed.startIndex)]
    return (head, typed[head.endIndex...])
  }

  /// The fields that can follow, and after a field what compares it.
  private func names(_ typed: String) -> [Candidate] {
    let (head, name) = Self.parts(of: typed)
    if endsWords {
      let found = Set(fields.map(\.id.asField).filter { $0.begins(with: String(name)) })
      if found.count == 1, let field = found.first {
        return Comparison.allCases.map { Candidate("\(head)\(field)\($0.rawValue)") }
      }
    }
    return fields.flatMap { field -> [Candidate] in
      let id = field.id.asField
      let word = "\(head)\(id)"
      let isBool = field.kind == FieldKind.bool.rawValue
      if isBool, name.hasPrefix(id) {
        return ["=true", "=false"].map { Candidate(word + $0) }
      }
      guard id == name else {
        // Of a name in quotes, the word may be typed without them.
        let isMeant = id.comparable.begins(with: name.comparable)
        return [Candidate(word, field.about, replacesTyped: isMeant && !name.isEmpty)]
      }
      return Comparison.allCases.map { Candidate(word + $0.rawValue) }
    }
  }
}

extension StringProtocol {
  fileprivate var comparable: String { lowercased().replacing("\"", with: "") }
}

extension String {
  /// This text as a value in a filter; `nil` if it would end early or be read as something else without quotes.
  ///
  /// Quotes would keep a shell from completing what was typed without them.
  fileprivate func plainFilterValue(after comparison: Comparison) -> String? {
    let isPlain =
      (try? TypedFilter("a\(comparison.rawValue)\(self)"))
      == .condition(TypedCondition("a", comparison, self))
      && firstMatch(of: /(?i)\b(and|or|not|in|ago|now|today|yesterday)\b|\.\./) == nil
    return isPlain ? self : nil
  }
}
