package import AggregatorCore

package enum SQLValue: Hashable, Codable, Sendable {
  case null
  /// Only of PostgreSQL; SQLite has 1 and 0.
  case bool(Bool)
  case integer(Int)
  case number(Double)
  /// Text, or a blob as hexadecimal digits.
  case text(String)

  package var json: JSON {
    switch self {
    case .null: .null
    case .bool(let bool): .bool(bool)
    case .integer(let integer): .integer(integer)
    case .number(let number): .number(number)
    case .text(let text): .string(text)
    }
  }

  /// The approximate size in bytes.
  package var size: Int { if case .text(let text) = self { text.utf8.count } else { 8 } }
}
