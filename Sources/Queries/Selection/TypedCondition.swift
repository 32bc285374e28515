import AggregatorKit
import AggregatorSQLite
package import AggregatorTerminal

/// A condition as typed; see ``all(in:)`` for the syntax.
package struct TypedCondition: Hashable, Sendable {
  package let field: String
  let comparison: Comparison

  /// The value without its quotes.
  package let value: String

  init(_ field: String, _ comparison: Comparison, _ value: String) {
    (self.field, self.comparison, self.value) = (field, comparison, value)
  }

  /// `nil` for an operator that there is not.
  package init?(_ field: String, operator symbol: String, _ value: String) {
    guard let comparison = Comparison(rawValue: symbol) else { return nil }
    self.init(field, comparison, value)
  }

  /// True for a bound below, which `upper` makes a range of the same field.
  package func isLowerBound(with upper: TypedCondition) -> Bool {
    field == upper.field && [.greater, .greaterOrEqual].contains(comparison)
      && [.less, .lessOrEqual].contains(upper.comparison)
  }

  /// The condition as a part of a sentence: `price is below 20`.
  ///
  /// - Parameters:
  ///   - label: The field, as people call it.
  ///   - value: The value, as people write it.
  package func words(of label: String, _ value: String, isDate: Bool) -> String {
    if value.isEmpty { return "\(label) is \(comparison == .equal ? "" : "not ")empty" }
    let verb =
      switch comparison {
      case .equal: "is"
      case .notEqual: "is not"
      case .contains: "contains"
      case .less: isDate ? "is before" : "is below"
      case .lessOrEqual: isDate ? "is up to" : "is at most"
      case .greater: isDate ? "is after" : "is above"
      case .greaterOrEqual: isDate ? "is from" : "is at least"
      }
    return "\(label) \(verb) \(value)"
  }

  /// Nearly the same in SQL, where texts are compared as they are.
  ///
  /// - Parameter column: The name of the column, in quotes if it needs them.
  package func sql(of column: String) -> String {
    if value.isEmpty {
      return comparison == .equal
        ? "(\(column) IS NULL OR \(column) = '')" : "\(column) IS NOT NULL"
    }
    let isNumber = value.wholeMatch(of: /-?[0-9]{1,15}(\.[0-9]{1,15})?/) != nil
    let literal = isNumber ? value : value.sqlText
    switch comparison {
    case .contains:
      let pattern = value.replacing(/[\\%_]/) { "\\\($0.output)" }
      return "lower(\(column)) LIKE \("%\(pattern.lowercased())%".sqlText) ESCAPE '\\'"
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
      return "\(column) \(comparison.rawValue) \(literal)"
    }
  }

  package var quoted: String {
    let value = value.unicodeScalars.map { ["\"", "\\"].contains($0) ? "\\\($0)" : "\($0)" }
    return "\(field)\(comparison.rawValue)\"\(value.joined())\""
  }

  /// Parses conditions joined by `and`: `publisher=Marvel and name~"rocket and groot"`.
  ///
  /// A value ends at the end of the text, or before an `and` that another condition follows, so that most
  /// values need no quotes. Within single or double quotes a backslash precedes a quote or a backslash. What looks
  /// like another way to join conditions must be quoted.
  /// Errors have the code `usage`.
  package static func all(in text: String) throws(CommandError) -> [TypedCondition] {
    var conditions: [TypedCondition] = []
    var rest = text[...]
    repeat { conditions.append(try TypedCondition(&rest, of: text)) } while !rest.isEmpty
    return conditions
  }

  private init(_ rest: inout Substring, of text: String) throws(CommandError) {
    func invalid(_ problem: String, hint: Hint? = nil) -> CommandError {
      CommandError(.usage, "invalid condition \"\(text)\": \(problem)", hint: hint)
    }
    // By scalars, as a sign is part of a larger character if a combining one is beside it.
    guard let operatorStart = rest.unicodeScalars.firstIndex(where: \.isOperator) else {
      throw invalid("no operator", hint: "write FIELD=VALUE with one of = != ~ < <= > >=")
    }
    field = rest[..<operatorStart].trimmed
    guard !field.isEmpty else { throw invalid("no field before the operator") }
    guard !field.hasPrefix("("), field.split(whereSeparator: \.isWhitespace).count == 1 else {
      throw invalid("only \"and\" joins conditions", hint: Self.sqlHint)
    }
    rest = rest[operatorStart...]
    guard
      let comparison = Comparison.allCases.sorted(by: { $0.rawValue.count > $1.rawValue.count })
        .first(where: { rest.utf8.starts(with: $0.rawValue.utf8) })
    else { throw invalid("! must be followed by =") }
    self.comparison = comparison
    rest = Substring(rest.unicodeScalars.dropFirst(comparison.rawValue.count))
      .drop(while: \.isWhitespace)
    guard let quote = rest.unicodeScalars.first, quote == "\"" || quote == "'" else {
      guard rest.unicodeScalars.first?.isOperator != true else {
        throw invalid(
          "unknown operator", hint: "the operators are = != ~ < <= > >=; quote a value like \"=5\"")
      }
      let end = Self.endOfValue(rest)
      value = rest[..<end.value].trimmed
      if let word = Self.otherJoint(rest[..<end.value]) {
        throw invalid("\"\(word)\" cannot join conditions", hint: Self.sqlHint)
      }
      rest = rest[end.next...]
      return
    }
    var scalars = rest.unicodeScalars.dropFirst()
    var value = String.UnicodeScalarView()
    while let scalar = scalars.popFirst(), scalar != quote {
      if scalar == "\\", let next = scalars.first, next == quote || next == "\\" {
        value.append(next)
        scalars.removeFirst()
      } else {
        value.append(scalar)
      }
      if scalars.isEmpty { throw invalid("a quote is missing") }
    }
    self.value = String(value)
    rest = Substring(scalars).drop(while: \.isWhitespace)
    guard !rest.isEmpty else { return }
    guard let next = Self.afterAnd(rest) else {
      throw invalid("\"and\" must follow the quoted value")
    }
    rest = next
  }

  private static let sqlHint: Hint = "quote a value that contains it, or use the command sql"

  /// A word in an unquoted value that looks like the joint of two conditions: an `or` that another condition, or one in
  /// parentheses, follows.
  private static func otherJoint(_ value: Substring) -> Substring? {
    let words = value.split(whereSeparator: \.isWhitespace)
    return words.first { word in
      guard ["or", "||", "&&", "not"].contains(word.lowercased()) else { return false }
      let next = value[word.endIndex...].drop { $0.isWhitespace || $0 == "(" }
      return next.startsCondition
    }
  }

  /// The end of an unquoted value, and the start of the next condition.
  private static func endOfValue(_ text: Substring) -> (value: String.Index, next: String.Index) {
    var index = text.startIndex
    while let space = text[index...].firstIndex(where: \.isWhitespace) {
      let rest = text[space...].drop(while: \.isWhitespace)
      if let next = afterAnd(rest), next.startsCondition { return (space, next.startIndex) }
      index = rest.startIndex
    }
    return (text.endIndex, text.endIndex)
  }

  /// The text after `and` and at least one space.
  private static func afterAnd(_ text: Substring) -> Substring? {
    guard text.prefix(3).lowercased() == "and", text.dropFirst(3).first?.isWhitespace == true
    else { return nil }
    return text.dropFirst(3).drop(while: \.isWhitespace)
  }
}

extension Unicode.Scalar {
  fileprivate var isOperator: Bool { "=!~<>".unicodeScalars.contains(self) }
}

extension Substring {
  /// True if an operator follows the first word.
  fileprivate var startsCondition: Bool {
    let word = unicodeScalars.prefix { !$0.properties.isWhitespace && !$0.isOperator }
    let rest = unicodeScalars[word.endIndex...].drop(while: \.properties.isWhitespace)
    return !word.isEmpty && rest.first?.isOperator == true
  }
}
