package import AggregatorFoundation

/// A table of a store, which all stores in databases have with the same columns.
///
/// They order rows by the key in the same way: texts by their bytes.
package struct CopyTable: Sendable {
  package enum Kind: Sendable {
    case integer
    /// A text that may contain any character.
    case text
    /// A text that never contains NUL, which a database holds as it is.
    case plainText
  }

  package struct Column: Sendable {
    package let name: String
    package let kind: Kind
  }

  package let name: String
  /// Those of the key first.
  package let columns: [Column]
  /// True if the store itself gives numbers, which are the key.
  package let isNumbered: Bool
  private let keyCount: Int
  /// The shared values that belong to one store.
  private let ownKeys: [String]

  private init(
    _ name: String, key: KeyValuePairs<String, Kind>, _ others: KeyValuePairs<String, Kind>,
    isNumbered: Bool = false, without ownKeys: [String] = []
  ) {
    self.name = name
    self.isNumbered = isNumbered
    self.ownKeys = ownKeys
    columns = (Array(key) + Array(others)).map { Column(name: $0.key, kind: $0.value) }
    keyCount = key.count
  }

  /// All tables, in the order in which they are copied.
  package static let all = [
    CopyTable(
      "sources", key: ["number": .integer],
      [
        "name": .text, "last": .integer, "records": .integer, "removed_upstream": .integer,
        "last_fetched": .integer,
      ]),
    CopyTable(
      "records", key: ["position": .integer],
      [
        "source": .integer, "id": .text, "saved": .integer, "first_seen": .integer,
        "folded": .plainText, "json": .plainText, "removed_upstream": .integer,
      ]),
    CopyTable("tombstones", key: ["source": .integer, "id": .text], ["deleted": .integer]),
    CopyTable(
      "pages", key: ["number": .integer],
      [
        "source": .integer, "key": .text, "fetched": .integer, "positions": .text,
        "page": .plainText,
      ], isNumbered: true),
    CopyTable(
      "seen", key: ["number": .integer],
      ["source": .integer, "reconciliation": .text, "positions": .text], isNumbered: true),
    CopyTable(
      "history", key: ["source": .integer],
      ["start": .integer, "trimmed": .integer, "last": .integer]),
    CopyTable(
      "changes", key: ["number": .integer],
      ["position": .integer, "kind": .text, "changed": .integer, "json": .plainText]),
    CopyTable(
      "syncs", key: ["number": .integer],
      ["source": .integer, "position": .integer, "change": .integer, "completed": .integer],
      isNumbered: true),
    CopyTable("checkpoints", key: ["source": .integer, "name": .text], ["value": .text]),
    CopyTable(
      "shared", key: ["key": .text], ["value": .text],
      without: [ViewDefinitions.key, CopyMark.key]),
  ]

  package func key(of row: CopyRow) -> CopyRow { Array(row.prefix(keyCount)) }
}

// MARK: - SQL

extension CopyTable {
  package var columnNames: String { columns.map(\.name).joined(separator: ", ") }

  package var keyNames: String {
    columns.prefix(keyCount).map(\.name).joined(separator: ", ")
  }

  /// The condition of the rows in a range, whose ``CopyRange/values`` are its first parameters: `?1` or `$1`.
  package func condition(in range: CopyRange, parameter: Character) -> String {
    var count = 0
    func compared(_ comparison: String, _ key: CopyRow?) -> String? {
      guard let key else { return nil }
      let parameters = key.map { _ in
        count += 1
        return "\(parameter)\(count)"
      }
      return "(\(keyNames)) \(comparison) (\(parameters.joined(separator: ", ")))"
    }
    let conditions = [compared(">", range.start), compared("<=", range.end), isCopied]
    return conditions.compactMap(\.self).joined(separator: " AND ")
  }

  /// The condition of the rows that are copied.
  package var isCopied: String {
    ownKeys.isEmpty
      ? "1 = 1" : "key NOT IN (\(ownKeys.map { "'\($0)'" }.joined(separator: ", ")))"
  }
}

/// A value in a row.
package enum CopyValue: Hashable, Sendable {
  case integer(Int64)
  /// UTF-8.
  case text(Data)
  case null

  package var size: Int { if case .text(let text) = self { text.count } else { 0 } }
}

/// The values of a row, in the order of the columns.
package typealias CopyRow = [CopyValue]

/// The rows after a key and up to another one.
package struct CopyRange: Sendable {
  /// `nil` for the first row.
  package let start: CopyRow?
  /// `nil` for the last row.
  package let end: CopyRow?

  package init(after start: CopyRow?, through end: CopyRow? = nil) {
    self.start = start
    self.end = end
  }

  package var values: CopyRow { (start ?? []) + (end ?? []) }
}

/// The most rows that are read at once; rows begin as long as fewer bytes of text were read.
package struct CopyLimit: Sendable {
  package var rows: Int
  package var bytes: Int

  package init(rows: Int = 2000, bytes: Int = 4 << 20) {
    self.rows = rows
    self.bytes = bytes
  }
}
