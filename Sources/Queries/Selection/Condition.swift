package import AggregatorKit
package import AggregatorTerminal

/// A comparison of a field with a value: `publisher=Marvel`.
struct Condition<Item>: Sendable {
  let field: Field<Item>
  let comparison: Comparison
  let operand: Operand

  /// Errors have the code `usage`.
  init(_ typed: TypedCondition, _ fields: [Field<Item>]) throws(CommandError) {
    field = try fields.field(named: typed.field)
    comparison = typed.comparison
    operand = Operand(typed.value)
    func invalid(_ requirement: String) -> CommandError {
      CommandError(
        .usage,
        "invalid value \"\(typed.value)\" for field \"\(typed.field)\": must be \(requirement)")
    }
    func refused(by kind: String, _ accepted: String) -> CommandError {
      CommandError(
        .usage, "\(comparison.rawValue) cannot be used with the \(kind) field \"\(typed.field)\"",
        hint: .words("use \(accepted)"))
    }
    if typed.value.isEmpty {
      guard comparison.acceptsEmpty else {
        throw CommandError(
          .usage, "missing value after \"\(typed.field)\(comparison.rawValue)\"",
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
  func check(_ item: Item) throws(SourceError) {
    if comparison.isOrder, !operand.isPeriod { try check(field[item]) }
  }

  func check(_ value: JSON) throws(SourceError) {
    guard comparison.isOrder, !operand.isPeriod else { return }
    for case .string(let text) in value.present where Period(text)?.isDate == true {
      throw SourceError(
        .invalidRequest,
        "invalid value \"\(operand.text.oneLine(atMost: 80))\" for field \"\(field.name)\": must be a date such as "
          + "2026, 2026-11 or 2026-11-22")
    }
  }

  /// The value of a record that differs from that of the condition only in case and accents.
  func nearMiss(in item: Item) -> String? {
    guard comparison == .equal, !operand.text.isEmpty else { return nil }
    return field[item].present.lazy.map(\.cell).first { FoldedText($0) == operand.folded }
  }

  func matches(_ item: Item) -> Bool { matches(field[item]) }

  func matches(_ value: JSON) -> Bool {
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

enum Comparison: String, Sendable, CaseIterable {
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

/// The value of a condition in the forms in which it is compared.
struct Operand: Sendable {
  /// The place of a record's value relative to the operand.
  enum Order {
    case below, equal, above

    fileprivate init<Value: Comparable>(_ value: Value, _ operand: Value) {
      self = value < operand ? .below : operand < value ? .above : .equal
    }
  }

  let text: String
  let folded: FoldedText
  let number: Numeral?
  let bool: Bool?
  private let period: Period?

  init(_ text: String) {
    self.text = text
    folded = FoldedText(text)
    number = Numeral(text)
    bool = text == "true" ? true : text == "false" ? false : nil
    period = Period(text)
  }

  /// True for a day, a month, a year or a time.
  fileprivate var isPeriod: Bool { period != nil }

  func equals(_ value: JSON) -> Bool {
    switch value {
    case .string(let string): string == text || order(ofDate: string) == .equal
    case .integer, .number: Numeral(value).map { $0 == number } ?? false
    case .bool(let value): value == bool
    case .null, .array, .object: value.cell == text
    }
  }

  /// The order of a record's value; `nil` if the two cannot be compared.
  func order(of value: JSON) -> Order? {
    switch value {
    case .string(let string):
      if let order = order(ofDate: string) { return order }
      if let number, let other = Numeral(string) { return Order(other, number) }
      return Order(FoldedText(string).text, folded.text)
    case .integer, .number:
      guard let number, let other = Numeral(value) else { return nil }
      return Order(other, number)
    case .null, .bool, .array, .object: return nil
    }
  }

  private func order(ofDate text: String) -> Order? {
    guard let period, let date = Period(text), date.isDate else { return nil }
    if date.start < period.start { return .below }
    return date.start < period.end ? .equal : .above
  }
}

/// A number that keeps integers beyond 2^53 apart.
struct Numeral: Comparable, Sendable {
  private let double: Double
  private let integer: Int

  /// Only decimal digits, a sign and a point: no exponents, infinities or hexadecimal digits.
  init?(_ text: String) {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    guard let first = digits.utf8.first, 0x30...0x39 ~= first,
      digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == 0x2E }), let double = Double(text)
    else { return nil }
    self.init(double, Int(text))
  }

  init?(_ value: JSON) {
    switch value {
    case .integer(let integer): self.init(Double(integer), integer)
    case .number(let number): self.init(number, nil)
    default: return nil
    }
  }

  private init?(_ double: Double, _ integer: Int?) {
    guard double.isFinite else { return nil }
    self.double = double
    self.integer = integer ?? Int(exactly: double) ?? 0
  }

  static func < (left: Numeral, right: Numeral) -> Bool {
    (left.double, left.integer) < (right.double, right.integer)
  }
}

extension JSON {
  /// The values that are there: the elements of a list, or the value itself, without null and empty text.
  var present: [JSON] {
    switch self {
    case .null, .string(""): []
    case .array(let elements): elements.flatMap(\.present)
    default: [self]
    }
  }
}

extension Array {
  /// Errors have the code `usage`, and name the nearest field.
  package func field<Item>(named name: String) throws(CommandError) -> Field<Item>
  where Element == Field<Item> {
    guard let field = first(where: { $0.name == name }) else {
      throw CommandError(
        .usage, "unknown field \"\(name)\"", suggestion: nearest(to: name, in: map(\.name)),
        hint: "available fields: \(map(\.name).joined(separator: ","))")
    }
    return field
  }

  /// The fields with these names, each once.
  package func fields<Item>(named names: [String]) throws(CommandError) -> [Field<Item>]
  where Element == Field<Item> {
    var chosen: [Field<Item>] = []
    for name in names where !chosen.contains(where: { $0.name == name }) {
      chosen.append(try field(named: name))
    }
    return chosen
  }
}
