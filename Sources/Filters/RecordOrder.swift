package import AggregatorCore
import AggregatorText

/// An order of records by fields: `-name,id`.
package struct RecordOrder<Item>: Sendable {
  package struct Key: Sendable {
    package let field: Field<Item>
    package let isDescending: Bool
  }

  /// One for each field.
  package let keys: [Key]

  /// - Parameter names: Names of fields, with a dash before them for descending order, or a plus sign for ascending order.
  package init(_ names: [String], _ fields: [Field<Item>]) throws(FilterError) {
    var keys: [Key] = []
    for name in names {
      let isDescending = name.hasPrefix("-")
      // GitHub names reactions "+1".
      let isSigned =
        isDescending || name.hasPrefix("+") && !fields.contains { $0.name == name }
      if let error = Self.direction(after: name, fields) { throw error }
      let field = try fields.field(named: String(isSigned ? name.dropFirst() : name[...]))
      // Records that are equal by a field stay so the second time.
      guard !keys.contains(where: { $0.field.name == field.name }) else { continue }
      keys.append(Key(field: field, isDescending: isDescending))
    }
    self.keys = keys
  }

  /// An error for `name desc` or `name:desc`, as other languages write it.
  private static func direction(after name: String, _ fields: [Field<Item>]) -> FilterError? {
    let words = name.split { $0 == ":" || $0.isWhitespace }.map(String.init)
    guard words.count == 2, ["asc", "desc"].contains(words[1].lowercased()),
      fields.contains(where: { $0.name == words[0] })
    else { return nil }
    let dash = words[1].lowercased() == "desc" ? "-" : ""
    return FilterError(
      "unknown field \"\(name)\"", suggestion: dash + words[0],
      hint: "a dash before a field is for descending order")
  }

  /// The records in this order: stable, the same in every locale, missing values last.
  package func sorted(_ items: [Item]) -> [Item] {
    let rows = items.enumerated().map { index, item in
      (index: index, values: keys.map { SortValue($0.field[item]) })
    }
    return rows.sorted { precedes($0, $1) }.map { items[$0.index] }
  }

  private typealias Row = (index: Int, values: [SortValue])

  private func precedes(_ left: Row, _ right: Row) -> Bool {
    for (key, (first, second)) in zip(keys, zip(left.values, right.values)) where first != second {
      if first == .missing || second == .missing { return second == .missing }
      return key.isDescending ? second < first : first < second
    }
    return left.index < right.index
  }
}

/// A value as it is sorted: numbers, then dates, then texts as searches fold them.
package enum SortValue: Comparable, Sendable {
  case number(Numeral)
  case date(Double)
  case text(String)
  case missing

  package var isNumber: Bool { if case .number = self { true } else { false } }

  package init(_ value: JSON) {
    switch value {
    case .null, .string(""), .array([]): self = .missing
    case .integer, .number: self = Numeral(value).map(Self.number) ?? .missing
    case .bool(let bool): self = .text(bool ? "true" : "false")
    case .string(let text):
      if let number = Numeral(text) {
        self = .number(number)
      } else if let period = Period(recorded: text), period.isDate {
        self = .date(period.start)
      } else {
        self = .text(FoldedText(text).text)
      }
    case .array, .object: self = .text(FoldedText(value.cell).text)
    }
  }
}
