package import AggregatorKit
package import AggregatorSelection
package import AggregatorTerminal

extension FieldSummary {
  /// `nil` without an option of a summary.
  package init?(_ invocation: Invocation) throws(CommandError) {
    func invalid(
      _ value: String, for option: Option, _ requirement: String, hint: Hint? = nil
    ) -> CommandError {
      CommandError(
        .usage, "invalid value \"\(value)\" for \(option.spelling): must be \(requirement)",
        hint: hint)
    }
    for option in [Option.stats, .distinct] {
      guard let field = invocation.text(option), field.contains(",") else { continue }
      throw invalid(
        field, for: option, "one field",
        hint: .words(
          option == .distinct
            ? "--group-by \(field) has the combinations of several fields"
            : "print one after another: "
              + field.split(separator: ",").map { "--stats \($0)" }.joined(separator: ", ")))
    }
    if invocation.has(.groupBy) {
      let fields = invocation.words(.groupBy)
      guard 1...Self.maxFields ~= fields.count else {
        let typed = invocation.texts(.groupBy).joined(separator: ",")
        throw invalid(typed, for: .groupBy, "one to three fields")
      }
      self.init(
        .groups, of: fields, measuring: invocation.text(.stats),
        order: invocation.list(.order) ?? [])
    } else if let field = invocation.text(.stats) {
      // One row has no first ones, and no order.
      for option in [Option.limit, .order] where invocation.has(option) {
        throw .exclusive(Option.stats.spelling, option.spelling)
      }
      self.init(.stats, of: [field])
    } else if let field = invocation.text(.distinct) {
      self.init(.distinct, of: [field], order: invocation.list(.order) ?? [])
    } else {
      return nil
    }
  }

  /// Reads all records of a run, and returns the rows of the summary and their fields.
  package func rows<P: Plugin>(
    of run: inout ListingRun<P>, in all: [Field<P.Item>]
  ) async throws -> SummaryRows {
    var reader = try reader(of: all)
    run.chosen = reader.names
    while let records = try await run.next() { try reader.add(records) }
    return try reader.rows
  }
}

extension SummaryRow: Entry {}
