package import AggregatorCore
package import AggregatorFoundation

/// A source, or a list in its records, as a table of a query.
package struct SQLView: Sendable {
  /// The columns, and the same view for other programs.
  package let source: SourceView

  /// A record that is compiled into the program.
  package struct BundledRecord: Sendable {
    package let id: String
    package let json: Data

    package init(id: String, json: Data) { (self.id, self.json) = (id, json) }
  }

  /// The bundled records that take the place of those of the store, which has none.
  package var bundled: [BundledRecord]?

  /// The value of a column in the JSON of a record, or of an element.
  package let compute: @Sendable (_ column: Int, _ record: Data) -> JSON

  package var name: String { source.name }
  package var columns: [String] { source.columns }

  /// The column that is `cached` or `bundled`.
  package static let origin = "_origin"

  /// The columns that only a query that names them has, so that `SELECT *` has the fields alone.
  package static let hidden = [origin, SourceView.row]

  /// The size of a value in bytes that a query can read.
  ///
  /// Time is checked only between steps, and one step may compare every position of one value with
  /// another: with two values of 1 MB that takes seconds, with 16 MB half an hour.
  package static let maxValueSize = 1 << 20

  package init<Item: SourceRecord>(_ name: String, _ fields: [Field<Item>]) {
    source = SourceView(name, fields)
    compute = { column, record in
      guard fields.indices.contains(column), let item = try? JSONText(record)?.read(Item.self)
      else { return .null }
      return fields[column][item]
    }
  }

  /// The table of a list in the records of a source with these fields.
  package init<Item: SourceRecord>(
    _ name: String, _ fields: [Field<Item>], _ table: NestedTable<Item>
  ) {
    source = SourceView(name, fields, table)
    compute = table.compute
  }

  /// The tables of a source and of its lists.
  package static func all<Item: SourceRecord>(
    of source: String, _ fields: [Field<Item>], _ tables: [NestedTable<Item>]
  ) -> [SQLView] {
    [SQLView(source, fields)] + tables.map { SQLView(source, fields, $0) }
  }

  /// True if a query, in lower case, names a hidden column, and no field has its name.
  package func hasHidden(_ name: String, for query: String) -> Bool {
    query.contains(name) && !columns.contains { $0.lowercased() == name }
  }
}

extension [SQLView] {
  /// The sources of the tables that a query reads, each once.
  package func sources(of tables: [String]) -> [String] {
    var seen: Set<String> = []
    return filter { tables.contains($0.name) }.map(\.source.source)
      .filter { seen.insert($0).inserted }
  }
}
