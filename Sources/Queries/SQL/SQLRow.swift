package import AggregatorKit
package import AggregatorTerminal

/// A row of the result of a query.
package struct SQLRow: SourceRecord {
  /// A constant that equals no value, so that a table treats no column as the IDs.
  package var id: String { "\u{0}" }

  package let values: [SQLValue]

  package init(values: [SQLValue]) { self.values = values }

  /// The second column `name` becomes `name_2`; the first rows decide whether a column is numeric.
  fileprivate static func fields(_ names: [String], like rows: [[SQLValue]]) -> [Field<SQLRow>] {
    names.madeUnique.enumerated().map { index, name in
      Field(name, name, rows.areNumbers(at: index) ? .number : .text, about: "A column.") {
        $0.values[index].json
      }
    }
  }
}

extension Listing where Item == SQLRow {
  /// The result of a query, whose first rows are `rows`.
  package init(
    ofQuery text: String, _ columns: [String], like rows: [[SQLValue]], isRaw: Bool = false
  ) {
    let fields = SQLRow.fields(columns, like: rows)
    self.init(
      "sql", of: nil, query: text, fields: fields, layout: RecordLayout(card: fields.map(\.name)),
      isRaw: isRaw)
    matched = nil
    (prefersCards, cutsOnlyProse) = (true, true)
    // As in other consoles: it is not an empty text.
    nullText = "NULL"
  }
}

extension [[SQLValue]] {
  /// True if a column has numbers and nothing else but null.
  package func areNumbers(at column: Int) -> Bool {
    let values = lazy.map { $0[column] }.filter { $0 != .null }
    return !values.isEmpty && values.allSatisfy(\.isNumber)
  }
}

extension SQLValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .number: true
    case .null, .bool, .text: false
    }
  }
}
