import AggregatorKit

extension Plugin {
  /// `aggregator SOURCE sync`.
  var syncCommand: Command {
    let bound = policy.isEndless ? " --max-pages 10" : ""
    return Command(
      options: [.maxPages, .jobs, .wait, .explain] + Option.asking + Option.output,
      fields: SyncEntry.fields,
      notes: [
        policy.isEndless
          ? "There is no end of \(name), so --max-pages must say how far to go. Each sync goes on where "
            + "the last one, or next, ended."
          : "It says how many records were new (+), changed (~), as before (=) and vanished (−). A sync "
            + "that is stopped, even by kill -9, goes on at the very next page. Records that a "
            + "complete one does not meet have vanished: they are no longer listed."
      ],
      examples: [
        ("\(name) sync\(bound)", "fetch \(policy.isEndless ? "ten pages" : "all") into the store"),
        ("\(name) sync\(bound) --jobs 4 --wait", "four pages at a time, as long as it takes"),
      ]
    ) { invocation, session in
      try invocation.refuseArguments()
      return try await sync(invocation, session)
    }
  }

  private func sync(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
    let pages = try maxPages(invocation)
    let output = try OutputOptions(invocation, in: session)
    var listing = try output.plainListing("sync", SyncEntry.self)
    listing.source = name
    let explanation = Explanation(invocation, session)
    let environment = try session.environment().explained(by: explanation)
    let sync = try ReadingOptions(invocation).sync(of: self, in: environment)
    let lock = try SyncLock(of: name, environment.settings, session)
    do throws(SourceError) {
      try await explanation?.planService(of: self, .list, pages: pages, in: environment)
    } catch {
      throw CommandError(error, of: self)
    }
    defer { explanation?.conclude() }
    let result = try await lock.holding {
      let progress = SyncProgress(of: name, goingOnBy: continuation(invocation, pages), in: session)
      return await sync.run(
        upTo: pages, jobs: invocation.count(.jobs) ?? 1, waits: invocation.has(.wait),
        progress: progress.show)
    }
    Interruption.atEnd(nil)
    let report = SyncReport(result, of: self, isWaiting: invocation.has(.wait))
    if let failure = report.failure, result.pages == 0 { throw failure }
    if output.isForPeople {
      try session.output.write("\(name): \(report.entry.words)\n")
    } else {
      var printer = RecordPrinter(listing, output, in: session)
      try printer.print([report.entry])
      try printer.finish(ListingSummary(count: 1, total: 1, warnings: report.warnings))
    }
    report.tell(session.diagnostics)
    return report.code
  }

  /// The command that goes on in the way of this one.
  private func continuation(_ invocation: Invocation, _ pages: Int?) -> String {
    var words = ["\(name) sync"]
    if policy.isEndless, let pages { words.append("--max-pages \(pages)") }
    if let jobs = invocation.count(.jobs) { words.append("--jobs \(jobs)") }
    if invocation.has(.wait) { words.append("--wait") }
    return words.joined(separator: " ")
  }

  /// How many pages at most; `nil` for all.
  private func maxPages(_ invocation: Invocation) throws(CommandError) -> Int? {
    let pages = invocation.count(.maxPages).flatMap { $0 == 0 ? nil : $0 }
    guard pages != nil || !policy.isEndless else {
      throw CommandError(
        .usage, "there is no end of \(name): say how many pages to fetch",
        hint: .command("\(name) sync --max-pages 10"))
    }
    return pages
  }
}
