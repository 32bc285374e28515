import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Plugin {
  var syncCommand: Command {
    let bound = policy.isEndless ? " --max-pages 10" : ""
    return Command(
      needs: .init(ownArenas: true, newest: true),
      options: [
        .maxPages.with(
          about: policy.isEndless
            ? "stop after N pages (required)" : "stop after N pages, 0 for no limit (default)"),
        .jobs, .wait, .explain,
      ] + (policy.isEndless ? [] : [.fullSync]) + Option.fetching + Option.formatting,
      fields: SyncReport.fields,
      notes: [
        policy.isEndless
          ? "This source is unbounded, so --max-pages is required. Each sync continues after the last "
            + "sync or next."
          : "Prints the numbers of added (+), changed (~), unchanged (=) and removed (−) records. "
            + "An interrupted sync resumes after the last saved page, even after kill -9. Records "
            + "missing from a complete sync are no longer listed; if more than ten and more than a "
            + "tenth are missing, only after a second complete sync confirms it.",
        changes.map { tracking in
          "Asks only for what has changed since the last sync, and reads everything with --full, and "
            + "every \(tracking.fullEvery.text): only that finds removed records."
        },
        "Machines that share a store and sync at the same time divide the pages among them; if a service's "
          + "pages can only be fetched one after another, one machine does, and the others wait with --wait.",
      ].compactMap(\.self),
      examples: [
        (
          "\(name) sync\(bound)",
          "download \(policy.isEndless ? "ten pages" : "all \(noun.word(for: 2))")"
        ),
        ("\(name) sync\(bound) --jobs 4 --wait", "four pages at a time; wait for the rate limit"),
      ], run: sync)
  }

  private func sync(_ invocation: Invocation, _ context: CommandContext) async throws -> ExitCode {
    let pages = try maxPages(invocation, for: "\(name) sync")
    let output = try OutputOptions(invocation, in: context)
    var listing = try output.plainListing("sync", SyncReport.self)
    listing.source = name
    let explanation = Explanation(invocation, context)
    let environment = try context.environment().explained(by: explanation)
    try await explanation?.planService(
      of: self, .list, pages: pages, refreshes: invocation.has(.refresh), in: environment)
    if let explanation, let mark = try await plannedMark(invocation, in: environment) {
      explanation.say("plan: only what has changed since \(ChangeTracking.text(of: mark))")
    }
    defer { explanation?.conclude() }
    let report = try await syncRun(
      upTo: pages, resumingWith: continuation(invocation, pages), in: environment, context)
    if let failure = report.failure, report.result.pages == 0 { throw failure }
    if output.isForPeople {
      try context.output.write("\(name): \(report.text(at: environment.now()))\n")
    } else {
      try RecordPrinter.print(
        [report], as: listing, output, in: context,
        ListingSummary(count: 1, total: 1, warnings: report.warnings))
    }
    report.report(to: context.diagnostics)
    return report.code
  }

  /// The mark from which on the sync asks for changes; `nil` if it reads everything.
  private func plannedMark(
    _ invocation: Invocation, in environment: PluginEnvironment
  ) async throws -> String? {
    guard changes != nil, !invocation.has(.fullSync) else { return nil }
    return try await SourceOptions(invocation).sync(of: self, in: environment).plannedMark()
  }

  private func continuation(_ invocation: Invocation, _ pages: Int?) -> String {
    var words = ["\(name) sync"]
    if policy.isEndless, let pages { words.append("--max-pages \(pages)") }
    if let jobs = invocation.count(.jobs) { words.append("--jobs \(jobs)") }
    if invocation.has(.wait) { words.append("--wait") }
    if invocation.has(.fullSync) { words.append("--full") }
    return words.joined(separator: " ")
  }

  /// The maximum number of pages; `nil` for all.
  func maxPages(_ invocation: Invocation, for command: String) throws(CommandError) -> Int? {
    let pages = invocation.count(.maxPages).flatMap { $0 == 0 ? nil : $0 }
    guard pages == nil || policy.readOrder != .storedOnly else {
      throw CommandError(.usage, "\(name) has no pages: --max-pages does not apply")
    }
    guard pages != nil || !policy.isEndless else {
      throw CommandError(
        .usage, "\(name) is unbounded: specify --max-pages",
        hint: .command("\(command) --max-pages 10"))
    }
    return pages
  }
}
