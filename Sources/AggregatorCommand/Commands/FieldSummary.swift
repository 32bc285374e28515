import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The summary of a field that `--group-by`, `--stats` or `--distinct` prints instead of records.
struct FieldSummary {
  private let option: Option
  /// The name of the field.
  let field: String

  /// `nil` without such an option.
  init?(_ invocation: Invocation) {
    guard let option = Option.summarizing.first(where: invocation.has),
      let field = invocation.text(option)
    else { return nil }
    (self.option, self.field) = (option, field)
  }
}

/// A row of a summary.
struct SummaryRow: Entry {
  let id: Int
  let values: [JSON]

  /// The fields of a listing depend on the option.
  static let fields: [Field<SummaryRow>] = []
}

extension FieldSummary {
  /// The rows of the summary, and their fields.
  func rows(
    of values: FieldValues, in field: Field<some Any>
  ) -> (rows: [SummaryRow], fields: [Field<SummaryRow>]) {
    var rows: [[JSON]]
    var columns: [(name: String, label: String, kind: FieldKind)]
    switch option {
    case .stats:
      let statistics = values.statistics
      rows = [statistics.map(\.value)]
      columns = statistics.map { name, value in
        let kind: FieldKind = if case .string = value { .text } else { .number }
        return (name, name.capitalizedFirst, kind)
      }
    case .groupBy:
      rows = values.groups.map { [$0.value, .integer($0.count)] }
      columns = [("value", field.label, field.kind), ("count", "Count", .integer)]
    default:
      rows = values.distinct.map { [$0] }
      columns = [("value", field.label, field.kind)]
    }
    let fields = columns.enumerated().map { index, column in
      Field<SummaryRow>(column.name, column.label, column.kind, about: "") { $0.values[index] }
    }
    return (rows.enumerated().map { SummaryRow(id: $0.offset, values: $0.element) }, fields)
  }
}
