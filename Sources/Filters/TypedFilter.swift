/// A filter as typed: conditions, and how they are joined.
///
/// ``grammar`` has its syntax. A value needs no quotes unless it would end early: it ends at the end of the text, before an `and` or an `or` that a
/// condition follows, and within parentheses at the one that closes them. After `~`, a text that begins with `/` needs quotes as well. Within
/// single or double quotes a backslash precedes a quote or a backslash. A value that goes on with half of a condition on a known field is refused by
/// ``Filter``.
package indirect enum TypedFilter: Hashable, Sendable {
  case condition(TypedCondition)
  case not(TypedFilter)
  /// Two or more, none of them ``all(_:)``.
  case all([TypedFilter])
  /// Two or more, none of them ``any(_:)``.
  case any([TypedFilter])

  /// The rules of the syntax, for help: `{x}` is any number of `x`, `[x]` one or none.
  package static let grammar: [(name: String, rule: String)] = [
    ("filter", #"all {"or" all}"#),
    ("all", #"part {"and" part}"#),
    ("part", #"{"not"} (condition | "(" filter ")")"#),
    (
      "condition",
      #"field operator [value] | field "~" pattern | field ["not"] "in" (list | range)"#
    ),
    ("field", #"NAME | '"' NAME '"'"#),
    ("operator", #""=" | "!=" | "<" | "<=" | ">" | ">=" | "~""#),
    ("pattern", #""/" REGEX "/" ["i"]"#),
    ("list", #""(" value {"," value} ")""#),
    ("range", #"value ".." value"#),
    ("value", #"TEXT | '"' TEXT '"' | "'" TEXT "'""#),
  ]

  /// - Parameter field: The field of the condition, if the text begins with an operator.
  package init(_ text: String, on field: String? = nil) throws(FilterError) {
    var parser = try FilterParser(text, on: field)
    self = try parser.filter()
  }

  /// The texts of the filters that must all hold, as they were typed; the text itself if it is no filter.
  package static func conjuncts(of text: String) -> [String] {
    guard var parser = try? FilterParser(text), let texts = try? parser.conjuncts() else {
      return [text]
    }
    return texts
  }

  /// The filter that one or more others make together.
  static func all(of parts: [TypedFilter]) -> TypedFilter {
    let flat = parts.flatMap(\.conjuncts)
    return flat.count == 1 ? flat[0] : .all(flat)
  }

  /// The filter of what one or more others select.
  static func any(of parts: [TypedFilter]) -> TypedFilter {
    let flat = parts.flatMap { part in if case .any(let parts) = part { parts } else { [part] } }
    return flat.count == 1 ? flat[0] : .any(flat)
  }

  static func negation(of filter: TypedFilter) -> TypedFilter {
    if case .not(let filter) = filter { filter } else { .not(filter) }
  }

  /// The filters that must all hold.
  package var conjuncts: [TypedFilter] {
    if case .all(let parts) = self { parts } else { [self] }
  }

  /// All conditions in it.
  package var conditions: [TypedCondition] {
    switch self {
    case .condition(let condition): [condition]
    case .not(let filter): filter.conditions
    case .all(let parts), .any(let parts): parts.flatMap(\.conditions)
    }
  }

  /// The same filter with other values, or patterns as typed between the slashes.
  package func replacingValues(_ new: (_ text: String, _ isPattern: Bool) -> String) -> TypedFilter
  {
    mapConditions { $0.replacingValues(new) }
  }

  /// The same filter with another condition in the place of each.
  package func mapConditions(_ new: (TypedCondition) -> TypedCondition) -> TypedFilter {
    switch self {
    case .condition(let condition): .condition(new(condition))
    case .not(let filter): .not(filter.mapConditions(new))
    case .all(let parts): .all(parts.map { $0.mapConditions(new) })
    case .any(let parts): .any(parts.map { $0.mapConditions(new) })
    }
  }

  /// True for a bound below, which `upper` makes a range of the same field.
  package func isLowerBound(with upper: TypedFilter) -> Bool {
    guard case .condition(let bound) = self, case .condition(let upper) = upper else {
      return false
    }
    return bound.isLowerBound(with: upper)
  }

  /// The filter as typed, with all values in quotes.
  ///
  /// It has no more parentheses in each other than what was typed, so that it can be parsed again.
  package var quoted: String {
    switch self {
    case .condition(let condition): condition.quoted
    case .not(.condition(let condition)): condition.quotedNegation
    case .not(let filter): "not (\(filter.quoted))"
    case .any(let parts): parts.map(\.quoted).joined(separator: " or ")
    case .all(let parts):
      parts.map { if case .any = $0 { "(\($0.quoted))" } else { $0.quoted } }
        .joined(separator: " and ")
    }
  }

  /// The filter as a part of a sentence: `price is below 20 or name contains new`.
  package func words(in wording: FilterWording) -> String {
    func joined(_ parts: [TypedFilter], by joint: String) -> String {
      parts.map { part in
        let text = part.words(in: wording)
        return switch part {
        case .condition, .not: text
        case .all, .any: "(\(text))"
        }
      }.joined(separator: " \(joint) ")
    }
    return switch self {
    case .condition(let condition): condition.words(in: wording)
    case .not(let filter): "not (\(filter.words(in: wording)))"
    case .all(let parts): joined(parts, by: "and")
    case .any(let parts): joined(parts, by: "or")
    }
  }
}
