import AggregatorCore
import AggregatorFoundation

/// The progress of an unfinished copy, as a shared value of the store that it writes.
package struct CopyMark: Codable, Hashable, Sendable {
  /// The key of the shared value.
  package static let key = "copy"

  /// The location of the store that is copied.
  package let origin: String

  /// The table that is being copied; `nil` before the first.
  package var table: String?

  /// The key of the last row copied.
  package var last: CopyRow?

  package init(of origin: String) { self.origin = origin }

  /// Parses ``text``; `nil` for another text.
  package init?(_ text: String) {
    guard let mark = try? JSONText(Data(text.utf8))?.read(CopyMark.self) else { return nil }
    self = mark
  }

  package var text: String { (try? CanonicalJSON.text(of: self)) ?? "" }

  /// The tables that are not copied completely.
  package var tables: [CopyTable] {
    Array(CopyTable.all.drop { table in self.table.map { $0 != table.name } ?? false })
  }
}

extension CopyValue: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else {
      self = .text(Data(try container.decode(String.self).utf8))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .integer(let integer): try container.encode(integer)
    case .text(let text): try container.encode(String(decoding: text, as: UTF8.self))
    case .null: try container.encodeNil()
    }
  }
}
