import AggregatorCore
import AggregatorText

/// A condition as typed: a field and what its value must be.
package struct TypedCondition: Hashable, Sendable {
  package enum Test: Hashable, Sendable {
    /// `=Marvel`; an empty text stands for a missing value.
    case compare(Comparison, String)
    /// `in (DC, Marvel)`
    case oneOf([String])
    /// `in 20..30`, both included.
    case range(String, String)
    /// `~/^spider/i`, as typed between the slashes.
    case pattern(String, ignoresCase: Bool)
  }

  package private(set) var field: String
  package let test: Test

  /// True for a value in quotes, or the last one of a range: a bound is then a text also if a field has its name.
  package private(set) var isQuoted = false

  /// Quotes are a way of typing.
  package static func == (one: TypedCondition, other: TypedCondition) -> Bool {
    one.field == other.field && one.test == other.test
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(field)
    hasher.combine(test)
  }

  package init(_ field: String, _ test: Test) { (self.field, self.test) = (field, test) }

  package init(_ field: String, _ comparison: Comparison, _ value: String) {
    self.init(field, .compare(comparison, value))
  }

  init(_ field: String, _ test: Test, isQuoted: Bool) {
    self.init(field, test)
    self.isQuoted = isQuoted
  }

  /// Refuses an unquoted value in which half of a condition follows a joint, as in `state=open and score is null`, or a flag
  /// alone.
  ///
  /// Texts such as `rock and roll` are values: what follows a joint is half of a condition only if it begins with a known field.
  ///
  /// - Parameters:
  ///   - isField: True for the name of a known field, in lower case.
  ///   - isFlag: True for that of one that is true or false.
  package func checkValue(
    isField: (String) -> Bool, isFlag: (String) -> Bool = { _ in false }
  ) throws(FilterError) {
    let value: String
    switch test {
    case .compare(_, let text), .range(_, let text): value = text
    case .oneOf, .pattern: return
    }
    guard !isQuoted,
      var error = try FilterParser(value).halfCondition(isField: isField, isFlag: isFlag)
    else { return }
    let own = quoted
    let remedy = own.count <= 80 ? "quote a text: \(own)" : "quote a text that contains it"
    error.hint = error.hint.map { "\($0); \(remedy)" } ?? remedy
    throw error
  }

  /// The same for the names of fields.
  func checkValue<Item>(_ fields: [Field<Item>]) throws(FilterError) {
    try checkValue(
      isField: { name in fields.contains { $0.name.lowercased() == name } },
      isFlag: { name in fields.contains { $0.kind == .bool && $0.name.lowercased() == name } })
  }

  /// `nil` for an operator that there is not.
  package init?(_ field: String, operator symbol: String, _ value: String) {
    guard let comparison = Comparison(rawValue: symbol) else { return nil }
    self.init(field, comparison, value)
  }

  /// The texts with which the field is compared, without their quotes.
  package var values: [String] {
    switch test {
    case .compare(_, let value): [value]
    case .oneOf(let values): values
    case .range(let low, let high): [low, high]
    case .pattern(let text, _): [text]
    }
  }

  /// The same condition on another field.
  package func on(_ field: String) -> TypedCondition {
    var condition = self
    condition.field = field
    return condition
  }

  func replacingValues(_ new: (_ text: String, _ isPattern: Bool) -> String) -> TypedCondition {
    switch test {
    case .compare(let comparison, let value):
      TypedCondition(field, .compare(comparison, new(value, false)), isQuoted: isQuoted)
    case .oneOf(let values): TypedCondition(field, .oneOf(values.map { new($0, false) }))
    case .range(let low, let high): TypedCondition(field, .range(new(low, false), new(high, false)))
    case .pattern(let text, let ignoresCase):
      TypedCondition(field, .pattern(new(text, true), ignoresCase: ignoresCase))
    }
  }

  /// True for a bound below, which `upper` makes a range of the same field.
  package func isLowerBound(with upper: TypedCondition) -> Bool {
    guard case .compare(let below, _) = test, case .compare(let above, _) = upper.test else {
      return false
    }
    return field == upper.field && [.greater, .greaterOrEqual].contains(below)
      && [.less, .lessOrEqual].contains(above)
  }

  /// The condition as a part of a sentence: `price is below 20`.
  package func words(in wording: FilterWording) -> String {
    let label = wording.label(field)
    let values = values.map { $0.isEmpty ? "empty" : wording.value($0, field) }
    switch test {
    case .compare(let comparison, "") where comparison != .equal && comparison != .notEqual:
      return "\(field)\(comparison.rawValue)"
    case .compare(let comparison, ""):
      return "\(label) is \(comparison == .equal ? "" : "not ")empty"
    case .compare(let comparison, _):
      let isDate = wording.isDate(field)
      if comparison == .greaterOrEqual, isDate { return "\(label) is \(values[0]) or later" }
      let verb =
        switch comparison {
        case .equal: "is"
        case .notEqual: "is not"
        case .contains: "contains"
        case .less: isDate ? "is before" : "is below"
        case .lessOrEqual: isDate ? "is up to" : "is at most"
        case .greater: isDate ? "is after" : "is above"
        case .greaterOrEqual: "is at least"
        }
      return "\(label) \(verb) \(values[0])"
    case .oneOf:
      let last = values.suffix(1).joined()
      return values.count > 1
        ? "\(label) is \(values.dropLast().joined(separator: ", ")) or \(last)"
        : "\(label) is \(last)"
    case .range: return "\(label) is \(FilterWording.range(values))"
    case .pattern(let text, let ignoresCase):
      return "\(label) matches /\(text)/\(ignoresCase ? "i" : "")"
    }
  }

  /// The values from this bound to an upper one, without the field: `10–20`, and without the last of them `10 to below 20`.
  package func range(to upper: TypedCondition, in wording: FilterWording) -> String {
    let bounds = [self, upper].map { wording.value($0.values.joined(), field) }
    guard case .compare(let first, _) = test, case .compare(let last, _) = upper.test,
      first == .greater || last == .less
    else { return FilterWording.range(bounds) }
    let isDate = wording.isDate(field)
    let lower = first == .greater ? isDate ? "after " : "above " : ""
    let end = last == .less ? isDate ? "before " : "below " : ""
    return "\(lower)\(bounds[0]) to \(end)\(bounds[1])"
  }

  /// The condition as typed, with all values in quotes.
  package var quoted: String { field.asField + quotedTest }

  /// The comparison and the values of ``quoted``, without the field.
  package var quotedTest: String {
    switch test {
    case .compare(let comparison, let value): "\(comparison.rawValue)\(value.inQuotes)"
    case .oneOf, .range: " in \(quotedSet)"
    case .pattern(let text, let ignoresCase): "~/\(text)/\(ignoresCase ? "i" : "")"
    }
  }

  /// The negation of the condition, as typed.
  var quotedNegation: String {
    switch test {
    case .oneOf, .range: "\(field.asField) not in \(quotedSet)"
    case .compare, .pattern: "not \(quoted)"
    }
  }

  /// The values that a field may have, as typed.
  private var quotedSet: String {
    let values = values.map(\.inQuotes)
    return if case .range = test {
      values.joined(separator: "..")
    } else {
      "(\(values.joined(separator: ", ")))"
    }
  }
}

/// The names and values of fields in sentences about a filter.
package struct FilterWording {
  package let label: (_ field: String) -> String
  package let value: (_ text: String, _ field: String) -> String
  package let isDate: (_ field: String) -> Bool

  package init(
    label: @escaping (_ field: String) -> String,
    value: @escaping (_ text: String, _ field: String) -> String = { text, _ in text },
    isDate: @escaping (_ field: String) -> Bool = { _ in false }
  ) {
    (self.label, self.value, self.isDate) = (label, value, isDate)
  }

  /// A range: `10–20`.
  package static func range(_ bounds: [String]) -> String {
    let isWide = bounds.contains { $0.contains { " -".contains($0) } }
    return bounds.joined(separator: isWide ? " – " : "–")
  }
}

package enum Comparison: String, Sendable, CaseIterable {
  case equal = "="
  case notEqual = "!="
  case contains = "~"
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
}

extension String {
  var inQuotes: String {
    let value = unicodeScalars.map { ["\"", "\\"].contains($0) ? "\\\($0)" : "\($0)" }
    return "\"\(value.joined())\""
  }
}
