import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Plugin {
  var diffCommand: Command {
    Command(
      options: [
        .since, .exitCode,
        .limit.with(about: "maximum number of changed records (default: all)"),
      ] + Option.formatting,
      fields: ChangeEntry.fields,
      notes: [
        "Compares cached records with an earlier state of them, and contacts no service: + was added, "
          + "~ has changed, − was removed upstream. Changes found by list, next and show count too, but "
          + "not details that merely became known, nor values that changed back. Deleted records are left out.",
        "--since sync compares with the completed sync before the last one, or with the last one if it is "
          + "the only one. Dates and times are in UTC.",
      ],
      examples: [
        ("\(name) diff", "changes of the last sync, and later ones"),
        ("\(name) diff --since yesterday --ndjson", "changes since yesterday as JSON lines"),
        ("\(name) diff --since 2h --exit-code", "exit with 1 if anything changed within 2 hours"),
      ], run: diff)
  }

  private func diff(_ invocation: Invocation, _ context: CommandContext) async throws -> ExitCode {
    let output = try OutputOptions(invocation, in: context)
    let environment = try context.localEnvironment()
    let now = environment.now()
    let start = try HistoryStart(typed: invocation.text(.since) ?? "sync", now: now)
    var listing = try output.plainListing("diff", ChangeEntry.self)
    listing.source = name
    listing.paragraph = { $0.paragraph($1) }
    var printer = RecordPrinter(listing, output, in: context)
    let found = try await changes(
      since: start, in: environment.requiredStore(), atMost: invocation.count(.limit)
    ) { try printer.print($0) }
    guard let found else { throw try await missingHistory(before: start, in: environment, context) }
    let warnings = found.warnings(of: name)
    try printer.finish(
      ListingSummary(
        count: found.count, total: found.isCut ? nil : found.count, warnings: warnings))
    let since = found.date.map { " since \($0.iso8601) (\($0.age(at: now)))" } ?? ""
    context.diagnostics.note(
      (found.count == 0 ? "No differences" : found.text) + since
        + (found.isCut ? " · more: without --limit" : ""))
    for warning in warnings { context.diagnostics.warning("\(name): \(warning.warning.message)") }
    return invocation.has(.exitCode) && found.count > 0 ? .different : .success
  }
}
