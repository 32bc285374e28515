import AggregatorFilters
package import AggregatorKit
package import AggregatorTerminal

/// A summary of the values of one field, in the place of records.
package struct FieldSummary: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// The values, each with the number of its records.
    case groups
    /// The number, the extent and the mean of the values.
    case stats
    /// The different values.
    case distinct
  }

  package let kind: Kind
  /// The name of the field.
  package let field: String

  package init(_ kind: Kind, of field: String) {
    self.kind = kind
    self.field = field
  }

  /// `nil` without an option of a summary.
  package init?(_ invocation: Invocation) {
    let kinds: [(Option, Kind)] = [
      (.groupBy, .groups), (.stats, .stats), (.distinct, .distinct),
    ]
    for (option, kind) in kinds {
      guard let field = invocation.text(option) else { continue }
      self.init(kind, of: field)
      return
    }
    return nil
  }

  /// Reads all records of a run, and returns the rows of the summary and their fields.
  package func rows<P: Plugin>(
    of run: inout ListingRun<P>, in field: Field<P.Item>
  ) async throws -> SummaryRows {
    run.chosen = [field.name]
    var values = FieldValues()
    while let records = try await run.next() {
      for record in records { values.add(field[record]) }
    }
    return rows(of: values, in: field)
  }

  private func rows(of values: FieldValues, in field: Field<some Any>) -> SummaryRows {
    var rows: [[JSON]]
    var columns: [(name: String, label: String, kind: FieldKind)]
    switch kind {
    case .stats:
      let statistics = values.statistics
      rows = [statistics.map(\.value)]
      columns = statistics.map { name, value in
        let kind: FieldKind = if case .string = value { .text } else { .number }
        return (name, name.capitalizedFirst, kind)
      }
    case .groups:
      rows = values.groups.map { [$0.value, .integer($0.count)] }
      columns = [("value", field.label, field.kind), ("count", "Count", .integer)]
    case .distinct:
      rows = values.distinct.map { [$0] }
      columns = [("value", field.label, field.kind)]
    }
    let fields = columns.enumerated().map { index, column in
      Field<SummaryRow>(column.name, column.label, column.kind, about: "") { $0.values[index] }
    }
    return SummaryRows(
      rows: rows.enumerated().map { SummaryRow(id: $0.offset, values: $0.element) }, fields: fields)
  }
}

/// A row of a summary.
package struct SummaryRow: Entry {
  package let id: Int
  let values: [JSON]

  /// The fields of a listing depend on the kind of summary.
  package static let fields: [Field<SummaryRow>] = []
}

package struct SummaryRows: Sendable {
  package var rows: [SummaryRow]
  package let fields: [Field<SummaryRow>]

  /// A listing of the rows in the place of the records of a source.
  package func listing(
    _ listing: Listing<SummaryRow>, of source: String, matching query: String?
  ) -> Listing<SummaryRow> {
    var listing = listing
    listing.source = source
    listing.query = query
    listing.fields = fields
    listing.layout = RecordLayout(card: fields.map(\.name))
    return listing
  }

  /// The summary of the records that were read, with the number of the rows.
  package func summary(of records: ListingSummary) -> ListingSummary {
    var summary = records
    (summary.count, summary.total, summary.next) = (rows.count, rows.count, nil)
    return summary
  }
}
