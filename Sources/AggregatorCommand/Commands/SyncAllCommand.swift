import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Command {
  static func sync(_ plugins: [any Plugin]) -> Command {
    Command(
      "[SOURCE…]", words: CompletionSource.severalSources(plugins),
      needs: .init(ownArenas: true, newest: true),
      options: [.olderThan, .timeBudget, .jobs, .wait, .fullSync] + Option.fetching
        + Option.formatting,
      fields: SourceSync.fields,
      notes: [
        "Syncs all sources, or those named, one after another: those never synced first, then the one whose "
          + "last sync is the oldest. Prints a line for each.",
        "Skips, with the reason, sources that are unbounded or have no key, whose rate limit is used up, that are "
          + "paused after failures, that another process is syncing, and with --older-than those that "
          + "are fresh. When the time of --for is over, the running sync stops, and the next one resumes it.",
        "The exit code is 0 if all sources that ran are complete, 3 if some are not or were not reached, and that "
          + "of the first failure if all that ran have failed. Skipped sources do not count.",
      ],
      examples: [
        ("sync", "sync all sources"),
        (
          "sync --older-than 1h --for 10m",
          "those without a complete sync in the last hour, for at most ten minutes"
        ),
      ], run: sync)
  }

  private static func sync(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    var plugins = context.catalog.plugins
    if !invocation.arguments.isEmpty {
      for name in invocation.arguments {
        let plugin = try context.catalog.plugin(named: name)
        // Fails: it needs a bound, and this command takes none.
        if plugin.policy.isEndless { _ = try plugin.maxPages(invocation, for: "\(name) sync") }
      }
      plugins = plugins.filter { invocation.arguments.contains($0.name) }
    }
    var writer = try SyncWriter(plugins, invocation, context)
    let environment = try context.environment()
    _ = try environment.requiredStore()
    let sync = SyncOfSources(
      of: plugins, resumingWith: command(of: invocation), in: environment, context)
    try await sync.run { try writer.take($0) }
    return try writer.finish()
  }

  /// The command line that does the same again, without the program's name.
  private static func command(of invocation: Invocation) -> String {
    var words = ["sync"] + invocation.arguments
    for option in [Option.olderThan, .timeBudget, .jobs, .wait, .fullSync]
    where invocation.has(option) {
      words.append(option.spelling)
      if option.value != nil, let text = invocation.text(option) { words.append(text) }
    }
    return words.joined(separator: " ")
  }
}

/// Writes the result of each source as soon as it is known, unless the format is one document.
private struct SyncWriter {
  private let output: OutputOptions
  private let context: CommandContext
  private let invocation: Invocation
  /// True for a line in words for each source.
  private let isListed: Bool
  private let isStream: Bool
  /// The column after the names.
  private let column: Int
  private var printer: RecordPrinter<SourceSync>
  private var syncs: [SourceSync] = []

  init(
    _ plugins: [any Plugin], _ invocation: Invocation, _ context: CommandContext
  ) throws(CommandError) {
    output = try OutputOptions(invocation, in: context)
    self.context = context
    self.invocation = invocation
    isListed = output.isForPeople && output.fields == nil
    // The columns of a table depend on all rows.
    isStream = !output.isForPeople && !output.isDocument
    column = 2 + (plugins.map(\.name.safeLine.displayWidth).max() ?? 0)
    printer = RecordPrinter(
      try output.plainListing("sync", SourceSync.self), output, in: context)
  }

  mutating func take(_ sync: SourceSync) throws {
    syncs.append(sync)
    if isListed {
      var line = Line(on: context.terminalLayout)
      line.add(sync.id.safeLine)
      line.move(to: column)
      line.add(sync.text.safeLine, as: sync.role)
      try context.output.write(line.text + "\n")
    } else if isStream {
      try printer.print([sync])
      try context.listingOutput.release()
    }
    sync.report(to: context.diagnostics, isListed: isListed)
  }

  mutating func finish() throws -> ExitCode {
    let code = syncs.code
    // As of a single source, a document of nothing but failures is not written.
    if !isListed, !output.isDocument || [.success, .partial].contains(code) {
      if !isStream { try printer.print(syncs) }
      var summary = ListingSummary(
        count: syncs.count, total: syncs.count, warnings: syncs.flatMap(\.warnings))
      summary.totals = syncs.totals
      try printer.finish(summary)
    }
    if let time = invocation.text(.timeBudget), syncs.contains(where: \.isOutOfTime) {
      context.diagnostics.note("Stopped after \(time); the next sync resumes")
    }
    context.diagnostics.note(syncs.summary)
    return code
  }
}

extension SourceSync {
  fileprivate var role: Style.Role? {
    switch status {
    case .complete: nil
    case .incomplete: .warning
    case .failed: .error
    case .skipped, .notReached: .label
    }
  }
}
