import AggregatorFilters
package import AggregatorKit
package import AggregatorQueries

/// Completes a condition: names of fields, comparisons, and the values of cached records.
package struct ConditionCompleter {
  private let fields: [FieldEntry]
  /// The values that a field often has.
  private let values: (_ field: String) -> [String]

  init(_ fields: [FieldEntry], values: @escaping (_ field: String) -> [String]) {
    self.fields = fields
    self.values = values
  }

  /// A completer for the records of a plugin; it reads the store of the context without waiting.
  package init(for plugin: any Plugin, _ context: CommandContext) {
    self.init(plugin.fieldEntries) { field in
      Completer.CompletionContext.local(context).values(plugin.name, field)
    }
  }

  /// The conditions that a text can become; it is all of them up to the cursor.
  package func completions(of typed: String) -> [String] {
    offer(typed).candidates.map(\.word).filter { $0.begins(with: typed) && $0.isSafe }
  }

  /// `isPart` is true if more can follow within the same condition.
  func offer(_ typed: String) -> (candidates: [Candidate], isPart: Bool) {
    comparedValues(typed).map { ($0, false) } ?? (names(typed), true)
  }

  /// The values that can follow a comparison of a field, or in its list; `nil` elsewhere.
  private func comparedValues(_ typed: String) -> [Candidate]? {
    let comparison = /(?:^|[\s(])([^\s()=!~<>]+)(?:!?=|~|[<>]=?)([^\s()]*)$/
    let list = /(?:^|[\s(])([^\s()=!~<>]+) (?:not )?in \((?:[^()]*, ?)?([^(),]*)$/
    let compared = typed.firstMatch(of: comparison).map { ($0.1, $0.2) }
    let found = compared ?? typed.firstMatch(of: list).map { ($0.1, $0.2) }
    guard let (name, value) = found, let field = fields.first(where: { $0.id == name }) else {
      return nil
    }
    // Filters name both.
    if field.kind == FieldKind.bool.rawValue { return nil }
    let head = typed[..<value.startIndex]
    let words = values(field.id).map {
      "\(head)\($0.filterValue(after: head.hasSuffix("~") ? .contains : .equal))"
    }
    let near = words.filter { $0.begins(with: typed) }
    // Bash closes the quote after the only completion, but a list goes on.
    guard compared == nil, near.count == 1 else { return words.map { Candidate($0) } }
    return [")", ","].map { Candidate(near[0] + $0) }
  }

  /// The fields that can follow, and after a field what compares it.
  private func names(_ typed: String) -> [Candidate] {
    let start = typed.matches(of: /(?i)(?: and | or |\bnot |\()/).last?.range.upperBound
    let head = typed[..<(start ?? typed.startIndex)]
    let name = typed[head.endIndex...]
    return fields.flatMap { field -> [Candidate] in
      let word = "\(head)\(field.id)"
      let isBool = field.kind == FieldKind.bool.rawValue
      if isBool, name.hasPrefix(field.id) {
        return ["=true", "=false"].map { Candidate(word + $0) }
      }
      guard field.id == name else { return [Candidate(word, field.about)] }
      return Comparison.allCases.map { Candidate(word + $0.rawValue) }
    }
  }
}

extension String {
  /// This text as a value in a filter, in quotes if it would end early or be read as something else.
  fileprivate func filterValue(after comparison: Comparison) -> String {
    // Quotes would keep a shell from completing what was typed without them.
    let isPlain =
      (try? TypedFilter("a\(comparison.rawValue)\(self)"))
      == .condition(TypedCondition("a", comparison, self))
      && firstMatch(of: /(?i)\b(and|or|not|in|ago|now|today|yesterday)\b|\.\./) == nil
    return isPlain ? self : TypedCondition("", .equal, self).quoted.dropFirst().description
  }
}
