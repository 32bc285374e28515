package import AggregatorCore
package import AggregatorFoundation

/// The condition of the function `matches` of SQL: what follows the name of a field in a filter, such as `> 2024`.
package struct ValueCondition: Sendable {
  /// In Unicode scalars: a search for more of them in a large value could not be stopped in time.
  package static let maxLength = 1000

  private let condition: Condition<JSON>
  /// True for `not in`.
  private let isNegated: Bool
  /// True if 1 and 0, which are the Booleans of SQLite, are compared as such.
  private let isOfBooleans: Bool

  private static let value = Field<JSON>("value", "Value", .any, about: "The value.") { $0 }

  /// - Parameter now: The time from which words such as `yesterday` tell another one.
  package init(_ text: String, at now: Date) throws(FilterError) {
    guard text.unicodeScalars.count <= Self.maxLength else {
      throw FilterError("the condition is too long (maximum \(Self.maxLength) characters)")
    }
    let typed: TypedCondition
    switch try TypedFilter(text, on: "value") {
    case .condition(let condition): (typed, isNegated) = (condition, false)
    case .not(.condition(let condition)): (typed, isNegated) = (condition, true)
    case .not, .all, .any:
      throw FilterError("matches takes one condition", hint: "join calls of it by AND or OR")
    }
    condition = try Condition(typed, [Self.value], at: now)
    isOfBooleans = typed.values.contains { Operand($0, at: now).bool != nil }
  }

  /// `nil` if `isOver` became true before the end of the value.
  ///
  /// - Parameter value: That of a column, where a list is JSON text.
  package func matches(_ value: JSON, until isOver: () -> Bool) -> Bool? {
    let read: JSON =
      switch value {
      case .string(let text) where text.utf8.first == 0x5B: JSON(list: text) ?? value
      case .integer(let number) where isOfBooleans && 0...1 ~= number: .bool(number == 1)
      default: value
      }
    return condition.matches(read, until: isOver).map { $0 != isNegated }
  }
}

extension JSON {
  /// `nil` if the text is no list.
  fileprivate init?(list text: String) {
    guard let value = JSON(reading: Data(text.utf8)), case .array = value else { return nil }
    self = value
  }
}
