/// A file that a query reads beside the store: a database, or a table in a database of its own.
package struct SQLAttachment: Sendable {
  package struct Column: Sendable {
    package let name: String
    /// The type of all values; `nil` for text.
    package let type: String?

    package init(name: String, type: String?) {
      self.name = name
      self.type = type
    }
  }

  /// The name in SQL: that of the database, or of the table.
  package let name: String

  /// An absolute path.
  package let path: String

  /// The name of the database in SQL.
  package let schema: String

  /// The columns of the table; `nil` for a database.
  package let columns: [Column]?

  /// The table of ``columns`` in the database.
  package static let rows = "rows"

  package init(database path: String, as name: String) {
    self.name = name
    self.path = path
    schema = name
    columns = nil
  }

  package init(table columns: [Column], in path: String, as name: String) {
    self.name = name
    self.path = path
    self.columns = columns
    // A name that no query can guess, and no other file has.
    schema = "attached_\(UInt64.random(in: .min ... .max))"
  }

  /// The name of the table; `nil` for a database.
  package var table: String? { columns == nil ? nil : name }

  package static func column(_ index: Int) -> String { "c\(index)" }
}
