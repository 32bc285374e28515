package import AggregatorCore
import AggregatorFoundation

/// A store whose tables can be read and written as they are.
///
/// Failures are ``SourceError`` with code `storage` or `busy`.
package protocol CopyableStore: Sendable {
  /// The text of the ``CopyMark`` while a copy into this store is unfinished, otherwise `nil`.
  func copyMark() async throws(SourceError) -> String?

  /// The number of rows in each of ``CopyTable/all``; `nil` if there is no store yet.
  func rowCounts() async throws(SourceError) -> [Int]?

  /// Rows in the order of their keys; none if there is no store yet.
  func rows(
    of table: CopyTable, in range: CopyRange, atMost limit: CopyLimit
  ) async throws(SourceError) -> [CopyRow]

  /// Creates the store with a mark, unless it has one, or any row; returns false then.
  func beginCopy(_ mark: String) async throws(SourceError) -> Bool

  /// Replaces the rows in a range, and moves the mark from a text to another one, in one transaction.
  ///
  /// Returns false if the mark has another text. Leaves out rows that contradict one outside of the range, as a
  /// second record with the same ID does.
  func replace(
    _ range: CopyRange, of table: CopyTable, by rows: [CopyRow], moving mark: String,
    to next: String
  ) async throws(SourceError) -> Bool

  /// Removes the mark; returns false if it has another text.
  func endCopy(_ mark: String) async throws(SourceError) -> Bool
}

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
