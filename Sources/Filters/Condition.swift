package import AggregatorCore
import AggregatorText

/// A comparison of a field with a value: `publisher=Marvel`.
package struct Condition<Item>: Sendable {
  package let field: Field<Item>
  let comparison: Comparison
  let operand: Operand

  package init(_ typed: TypedCondition, _ fields: [Field<Item>]) throws(FilterError) {
    field = try fields.field(named: typed.field)
    comparison = typed.comparison
    operand = Operand(typed.value)
    func invalid(_ requirement: String) -> FilterError {
      FilterError(
        "invalid value \"\(typed.value)\" for field \"\(typed.field)\": must be \(requirement)")
    }
    func refused(by kind: String, _ accepted: String) -> FilterError {
      FilterError(
        "\(comparison.rawValue) cannot be used with the \(kind) field \"\(typed.field)\"",
        hint: "use \(accepted)")
    }
    if typed.value.isEmpty {
      guard comparison.acceptsEmpty else {
        throw FilterError(
          "missing value after \"\(typed.field)\(comparison.rawValue)\"",
          hint: "\(typed.field)= matches records without a value, \(typed.field)!= all others")
      }
      return
    }
    switch (field.kind, comparison) {
    case (_, .contains):
      guard !operand.folded.text.isEmpty else { throw invalid("text to search for") }
    case (.integer, _), (.number, _):
      guard operand.number != nil else { throw invalid("a number") }
    case (.bool, .equal), (.bool, .notEqual):
      guard operand.bool != nil else { throw invalid("true or false") }
    case (.bool, _): throw refused(by: "true-or-false", "= or !=")
    case (.list, .equal), (.list, .notEqual): break
    case (.list, _): throw refused(by: "list", "=, != or ~")
    case (.text, _), (.any, _): break
    }
  }

  /// Fails with code `invalidRequest` if a record has a date where the condition compares with another text.
  package func check(_ item: Item) throws(SourceError) {
    if comparison.isOrder, !operand.isPeriod { try check(field[item]) }
  }

  package func check(_ value: JSON) throws(SourceError) {
    guard comparison.isOrder, !operand.isPeriod else { return }
    for case .string(let text) in value.present where Period(text)?.isDate == true {
      throw SourceError(
        .invalidRequest,
        "invalid value \"\(operand.text.oneLine(atMost: 80))\" for field \"\(field.name)\": must be a date such as "
          + "2026, 2026-11 or 2026-11-22")
    }
  }

  /// The value of a record that differs from that of the condition only in case and accents.
  package func nearMiss(in item: Item) -> String? {
    guard comparison == .equal, !operand.text.isEmpty else { return nil }
    return field[item].present.lazy.map(\.cell).first { FoldedText($0) == operand.folded }
  }

  package func matches(_ item: Item) -> Bool { matches(field[item]) }

  package func matches(_ value: JSON) -> Bool {
    let values = value.present
    switch comparison {
    case .equal: return isEqual(to: values)
    case .notEqual: return !isEqual(to: values)
    case .contains: return values.contains { FoldedText($0.cell).contains(operand.folded) }
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      return values.contains { value in
        operand.order(of: value).map(comparison.accepts) ?? false
      }
    }
  }

  /// True if an element of a list is equal; an empty operand equals a missing value.
  private func isEqual(to values: [JSON]) -> Bool {
    operand.text.isEmpty ? values.isEmpty : values.contains(where: operand.equals)
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

  fileprivate var isOrder: Bool { !acceptsEmpty && self != .contains }

  fileprivate var acceptsEmpty: Bool { self == .equal || self == .notEqual }

  fileprivate func accepts(_ order: Operand.Order) -> Bool {
    switch self {
    case .less: order == .below
    case .lessOrEqual: order != .above
    case .greater: order == .above
    case .greaterOrEqual: order != .below
    case .equal, .notEqual, .contains: false
    }
  }
}

extension Array {
  /// Errors name the nearest field.
  package func field<Item>(named name: String) throws(FilterError) -> Field<Item>
  where Element == Field<Item> {
    guard let field = first(where: { $0.name == name }) else {
      throw FilterError(
        "unknown field \"\(name)\"", suggestion: nearest(to: name, in: map(\.name)),
        hint: "available fields: \(map(\.name).joined(separator: ","))")
    }
    return field
  }
}
