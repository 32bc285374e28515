import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Plugin {
  var diffCommand: Command {
    Command(
      options: [
        .since, .schema, .exitCode,
        .limit.with(about: "maximum number of changed records (default: all)"),
      ] + Option.formatting,
      fields: ChangeEntry.fields,
      notes: [
        "Compares cached records with an earlier state of them, and contacts no service: + was added, "
          + "~ has changed, − was removed upstream. Changes found by list, next and show count too, but "
          + "not details that merely became known, nor values that changed back. Records of which only members that are "
          + "not fields have changed are counted, but not listed. Deleted records are left out.",
        "--since sync compares with the end of the sync before the last one, even if it may have missed records. "
          + "If records are missing, or the last sync did not end, it warns and exits with 3, unless --exit-code finds changes. "
          + "A first sync is where the comparison begins: later ones show what has changed. Dates and times are in UTC.",
        "--schema lists how the members of the rows have changed, with those of objects inside (owner.login), as each "
          + "complete sync has found them: all that is known, or since a date. It is known of added sources.",
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
    if invocation.has(.schema) { return try await schemaDiff(output, in: environment, context) }
    let start = try HistoryStart(
      typed: invocation.text(.since) ?? "sync", now: now, called: Option.since.spelling)
    var listing = try output.plainListing("diff", ChangeEntry.self)
    listing.source = name
    listing.paragraph = { $0.paragraph($1) }
    var printer = RecordPrinter(listing, output, in: context)
    // All are counted, however few are shown.
    var left = invocation.count(.limit) ?? .max
    let store = try environment.requiredStore()
    var found = try await changes(since: start, in: store) { entries in
      try printer.print(Array(entries.prefix(left)))
      left -= min(left, entries.count)
    }
    found?.gap = try await gapOfChanges(in: store)
    guard let found else { throw try await missingHistory(before: start, in: environment, context) }
    let warnings = found.warnings(of: name)
    let shown = min(found.count, invocation.count(.limit) ?? .max)
    let total = found.gap == nil ? found.count : nil
    try printer.finish(ListingSummary(count: shown, total: total, warnings: warnings))
    let since = found.date.map { " since \($0.iso8601) (\($0.age(at: now)))" } ?? ""
    let none = found.gap == nil ? "No differences" : "No known differences"
    let words =
      found.firstSync?.capitalizedFirst ?? (found.count == 0 ? none : found.text) + since
    let cut = "\(shown.grouped) of \(found.count.grouped) changes shown · more: without --limit"
    context.diagnostics.note(
      ([words] + found.omissions + (shown < found.count ? [cut] : [])).joined(separator: " · "))
    for warning in warnings {
      context.diagnostics.warning(
        "\(name): \(warning.warning.message)",
        hint: warning == found.gap?.limitation ? found.gap?.hint : nil)
    }
    guard !invocation.has(.exitCode) || found.count == 0 else { return .different }
    return found.gap == nil ? .success : .partial
  }
}

extension Plugin {
  fileprivate func schemaDiff(
    _ output: OutputOptions, in environment: PluginEnvironment, _ context: CommandContext
  ) async throws -> ExitCode {
    let (invocation, now) = (context.invocation, environment.now())
    var start = Date.distantPast
    if let text = invocation.text(.since) {
      let typed = try HistoryStart(typed: text, now: now, called: Option.since.spelling)
      guard case .date(let date) = typed else {
        throw CommandError(
          .usage, "--schema cannot be used with --since \(text)",
          hint: "give a date such as 2026-01-31, or a span such as 7d")
      }
      start = date
    }
    guard let history = try await recordStore(in: environment.requiredStore()).schemaHistory()
    else {
      throw CommandError(
        .unavailable, "\(name): the members of its rows are not known",
        hint: .command(syncArguments))
    }
    let entries = history.entries.filter { $0.date >= start }.map(SchemaEntry.init)
    let shown = Array(invocation.count(.limit).map { entries.suffix($0) } ?? entries[...])
    var listing = try output.plainListing("diff", SchemaEntry.self)
    listing.source = name
    listing.paragraph = { entry, _ in entry.paragraph }
    try RecordPrinter.print(
      shown, as: listing, output, in: context,
      ListingSummary(count: shown.count, total: entries.count))
    if entries.isEmpty { context.diagnostics.note("No member of the rows has changed") }
    return invocation.has(.exitCode) && !entries.isEmpty ? .different : .success
  }
}

extension Plugin {
  /// The reason that nothing is known of a point, and the remedy.
  func missingHistory(
    before start: HistoryStart, in environment: PluginEnvironment, _ context: CommandContext
  ) async throws -> CommandError {
    let status = try await environment.requiredStore().status(of: name)
    let setting = Directories.history(of: context.catalog.name)
    let sync = Hint.command(syncArguments)
    func failure(_ words: String, _ hint: Hint) -> CommandError {
      CommandError(.unavailable, "\(name)\(words)", hint: hint)
    }
    let isOff = (try? environment.settings.history(setting))?.isOff ?? false
    if isOff {
      return failure(
        ": no history is kept (\(setting.key) is off)",
        .command("config set \(setting.key) \(setting.defaultValue.map { "'\($0)'" } ?? "")"))
    }
    if status.isEmpty {
      return failure(": nothing is cached, so there is nothing to compare with", sync)
    }
    return start == .sync
      ? failure(
        ": \(ChangeSummary.noSync)",
        .steps(sync, .words("or compare with a date: --since yesterday")))
      : failure(": no history yet, it begins with the next change or sync", sync)
  }
}
