package import AggregatorCore
package import AggregatorFoundation

/// A source as a table of a query.
package struct SQLView: Sendable {
  /// The columns, and the same view for other programs.
  package let source: SourceView

  /// The JSON of bundled records that take the place of those of the store, which has none.
  package var bundled: [Data]?

  /// True if the table has the column ``origin``, `cached` or `bundled`: only for queries that name it, so that
  /// `SELECT *` has the fields alone.
  package var hasOrigin = false

  /// The value of a column in a record's JSON.
  package let compute: @Sendable (_ column: Int, _ record: Data) -> JSON

  package var name: String { source.name }
  package var columns: [String] { source.columns }

  package static let origin = "_origin"

  /// The size of a value in bytes that a query can read.
  ///
  /// Time is checked only between steps, and one step may compare every position of one value with
  /// another: with two values of 1 MB that takes seconds, with 16 MB half an hour.
  package static let maxValueSize = 1 << 20

  package init<Item: Record>(_ name: String, _ fields: [Field<Item>]) {
    source = SourceView(name, fields)
    compute = { column, record in
      guard fields.indices.contains(column), let item = try? JSONText(record)?.read(Item.self)
      else { return .null }
      return fields[column][item]
    }
  }
}
