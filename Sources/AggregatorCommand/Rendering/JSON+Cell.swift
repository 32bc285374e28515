import AggregatorKit

extension JSON {
  /// This value as the text of one cell.
  ///
  /// Nothing for null; lists are joined by a comma and a space. It is as hostile as the service that
  /// sent it.
  var cell: String {
    switch self {
    case .null: ""
    case .string(let text): text
    case .array(let values): values.map(\.cell).joined(separator: ", ")
    case .bool, .integer, .number, .object: text
    }
  }
}

extension FieldKind {
  /// Whether columns of this kind are aligned at the right and never cut: a number without its last
  /// digits is another number.
  var isNumeric: Bool { self == .integer || self == .number }
}
