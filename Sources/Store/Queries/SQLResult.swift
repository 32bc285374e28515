package import AggregatorCore

/// The result of a query, read one page of rows at a time.
package protocol SQLResult: Actor {
  /// The names of the columns; they need not be unique.
  var columns: [String] { get }

  /// The number of records of each source that are too large for a query, and left out.
  var tooLarge: [String: Int] { get }

  /// The names of the sources that the query reads.
  var sources: [String] { get }

  /// The tables of attached files.
  var attachedTables: [SQLTable] { get }

  /// Stops the query on a server, which would go on until it has a row to send; `nil` if the query ends with the
  /// process.
  var cancellation: (@Sendable () -> Void)? { get }

  /// `nil` after the last; throws `invalidRequest` for a mistake that only the data reveals, `timedOut`,
  /// `cancelled`, `storage` or `busy`.
  func page(within time: Duration) throws(SourceError) -> [[SQLValue]]?
}

/// A table of a query.
package struct SQLTable: Sendable {
  /// The name of the attached database; `nil` for a source or a table of its own.
  package let schema: String?
  package let name: String
  /// None if they are not known.
  package let columns: [String]
  /// The kinds of the columns by their names, as far as they are known.
  package var kinds: [String: FieldKind] = [:]

  package init(schema: String?, name: String, columns: [String]) {
    self.schema = schema
    self.name = name
    self.columns = columns
  }

  /// The name as it is read, not quoted: `shop.orders`.
  package var text: String { schema.map { "\($0).\(name)" } ?? name }
}

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

extension SQLValue {
  /// The value as a person types it: NULL, a number, or a text, which may be in single quotes.
  package init(typed text: String) {
    if text.uppercased() == "NULL" {
      self = .null
    } else if text.utf8.count > 1, text.utf8.first == 0x27, text.utf8.last == 0x27 {
      // By scalars: a quote and an accent are one character.
      let quoted = String.UnicodeScalarView(text.unicodeScalars.dropFirst().dropLast())
      self = .text(String(quoted.replacing("''".unicodeScalars, with: "'".unicodeScalars)))
    } else if let integer = Int(text), "\(integer)" == text {
      self = .integer(integer)
    } else if text.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?/) != nil,
      !text.hasLeadingZero, let number = Double(text), number.isFinite
    {
      self = .number(number)
    } else {
      self = .text(text)
    }
  }

  /// The value as it can be typed.
  package var literal: String {
    switch self {
    case .null: "NULL"
    case .bool(let bool): "\(bool)"
    case .integer(let integer): "\(integer)"
    case .number(let number): "\(number)"
    case .text(let text):
      "'\(String(text.unicodeScalars.replacing("'".unicodeScalars, with: "''".unicodeScalars)))'"
    }
  }
}

extension String {
  /// True for `0123`, which is no number but a code.
  fileprivate var hasLeadingZero: Bool { firstMatch(of: /^-?0[0-9]/) != nil }
}
