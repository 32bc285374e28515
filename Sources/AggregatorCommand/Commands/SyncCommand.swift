import AggregatorFiles
import AggregatorKit
import Synchronization

extension Plugin {
  var syncCommand: Command {
    let bound = policy.isEndless ? " --max-pages 10" : ""
    return Command(
      options: [
        .maxPages.with(
          about: policy.isEndless
            ? "stop after N pages (required)" : "stop after N pages, 0 for no limit (default)"),
        .jobs, .wait, .explain,
      ] + Option.fetching + Option.formatting,
      fields: SyncEntry.fields,
      notes: [
        policy.isEndless
          ? "This source is unbounded, so --max-pages is required. Each sync continues after the last "
            + "sync or next."
          : "Prints the numbers of added (+), changed (~), unchanged (=) and removed (−) records. "
            + "An interrupted sync resumes after the last saved page, even after kill -9. Records "
            + "missing from a complete sync are no longer listed; if more than ten and more than a "
            + "tenth are missing, only after a second complete sync confirms it.",
        "Machines that share a store and sync at the same time divide the pages among them; if a service's "
          + "pages can only be fetched one after another, one machine does, and the others wait with --wait.",
      ],
      examples: [
        ("\(name) sync\(bound)", "download \(policy.isEndless ? "ten pages" : "all \(name)")"),
        ("\(name) sync\(bound) --jobs 4 --wait", "four pages at a time; wait for the rate limit"),
      ]
    ) { invocation, context in
      try invocation.refuseArguments()
      return try await sync(invocation, context)
    }
  }

  private func sync(_ invocation: Invocation, _ context: CommandContext) async throws -> ExitCode {
    let pages = try maxPages(invocation, for: "\(name) sync")
    let output = try OutputOptions(invocation, in: context)
    var listing = try output.plainListing("sync", SyncEntry.self)
    listing.source = name
    let explanation = Explanation(invocation, context)
    let environment = try context.environment().explained(by: explanation)
    let sync = try SourceOptions(invocation).sync(of: self, in: environment)
    let lock = try SyncLock(
      of: name, environment.settings, context, isNeeded: environment.store?.isShared == false)
    do throws(SourceError) {
      try await explanation?.planService(of: self, .list, pages: pages, in: environment)
    } catch {
      throw CommandError(error, of: self)
    }
    defer { explanation?.conclude() }
    let result = try await lock.holding {
      let progress = SyncProgress(
        of: name, resumingWith: continuation(invocation, pages), in: context)
      defer { progress.end() }
      return await sync.run(
        upTo: pages, jobs: invocation.count(.jobs) ?? 1, waits: invocation.has(.wait),
        progress: progress.show)
    }
    let report = SyncReport(result, of: self, isWaiting: invocation.has(.wait))
    if let failure = report.failure, result.pages == 0 { throw failure }
    if output.isForPeople {
      try context.output.write("\(name): \(report.entry.text)\n")
    } else {
      var printer = RecordPrinter(listing, output, in: context)
      try printer.print([report.entry])
      try printer.finish(ListingSummary(count: 1, total: 1, warnings: report.warnings))
    }
    report.report(to: context.diagnostics)
    return report.code
  }

  private func continuation(_ invocation: Invocation, _ pages: Int?) -> String {
    var words = ["\(name) sync"]
    if policy.isEndless, let pages { words.append("--max-pages \(pages)") }
    if let jobs = invocation.count(.jobs) { words.append("--jobs \(jobs)") }
    if invocation.has(.wait) { words.append("--wait") }
    return words.joined(separator: " ")
  }

  /// The maximum number of pages; `nil` for all.
  func maxPages(_ invocation: Invocation, for command: String) throws(CommandError) -> Int? {
    let pages = invocation.count(.maxPages).flatMap { $0 == 0 ? nil : $0 }
    guard pages != nil || !policy.isEndless else {
      throw CommandError(
        .usage, "\(name) is unbounded: specify --max-pages",
        hint: .command("\(command) --max-pages 10"))
    }
    return pages
  }
}

/// A lock for the download of a source: two processes would fetch every page twice.
struct SyncLock {
  private let name: String
  private let lock: FileLock?

  /// The lock of a source; without a state directory there is none, and a store that machines share divides
  /// the work itself.
  init(
    of name: String, _ settings: Settings, _ context: CommandContext, isNeeded: Bool = true
  ) throws(CommandError) {
    self.name = name
    let state = isNeeded ? try context.directories(settings).state : nil
    lock = state.map { FileLock(path: "\($0)/sync-\(name).lock") }
  }

  /// Fails with code `tryLater` if another process holds the lock for longer, and with `io` if it cannot be
  /// created; a lock that is not required may be missing.
  func holding<Value>(
    within limit: Duration = .zero, isRequired: Bool = true, _ body: () async -> Value
  ) async throws(CommandError) -> Value {
    guard let lock else { return await body() }
    do {
      return try await lock.holding(within: limit, clock: ContinuousClock(), body)
    } catch is FileLock.Taken {
      throw CommandError(
        .tryLater, "\(name): another sync is already running",
        hint: "wait for it to finish, or stop it")
    } catch let error as SourceError {
      guard isRequired || error.code != .storage else { return await body() }
      throw CommandError(error)
    } catch {
      throw CommandError(.bug, "\(error)")
    }
  }
}

/// The progress of a sync, and the note when a signal ends it.
final class SyncProgress: Sendable {
  private let name: String
  private let context: CommandContext
  private let result = Mutex(SyncResult())
  private let note: Interruption.CleanUp

  init(of name: String, resumingWith command: String, in context: CommandContext) {
    self.name = name
    self.context = context
    note = Interruption.atEnd {
      context.diagnostics.note(
        "Interrupted; progress saved. Resume with: \(context.diagnostics.command(command))")
    }
    context.progress.say { [self] in text }
  }

  func end() { note.cancel() }

  func show(_ result: SyncResult) { self.result.withLock { $0 = result } }

  /// The bar, or without a total `heroes: page 12, 1200 heroes, 96/s`; both count earlier runs of the same pass.
  private var text: String {
    let result = result.withLock(\.self)
    let count = result.added + result.changed + result.unchanged
    let line =
      result.pages == 0
      ? "Fetching \(name)…"
      : result.total.map { context.progress.bar(name, result.passed, of: $0, after: count) }
        ?? "\(name): page \(result.earlierPages + result.pages), \(result.passed) \(name), "
        + context.progress.rate(count)
    return ([line] + [context.progress.status].compactMap(\.self)).joined(separator: " · ")
  }
}

struct SyncReport {
  let entry: SyncEntry
  let failure: CommandError?
  let remarks: [Warning]

  private let source: String
  private let result: SyncResult
  private let isEndless: Bool

  init(_ result: SyncResult, of plugin: some Plugin, isWaiting: Bool) {
    source = plugin.name
    self.result = result
    isEndless = plugin.policy.isEndless
    entry = SyncEntry(plugin.name, result)
    failure = result.failure.map { error in
      var failure = CommandError(error, of: plugin)
      guard error.code == .rateLimited else { return failure }
      let wait = error.retryAfter.map { "retry in \($0.text)" } ?? "retry later"
      let alternative = isWaiting ? "" : ", or use --wait"
      failure.hint = .words("\(wait) to resume\(alternative)")
      return failure
    }
    remarks = result.remarks(on: source)
  }

  var warnings: [SourceWarning] { result.warnings(on: source) }

  var code: ExitCode {
    guard let failure else {
      let isWhole = result.isComplete || isEndless && result.inconclusiveReason == nil
      return isWhole ? .success : .partial
    }
    return failure.code == .tryLater || failure.code == .interrupted ? failure.code : .partial
  }

  func report(to diagnostics: Diagnostics) {
    if result.hasRestarted {
      diagnostics.note("Restarted: the checkpoint is too old or no longer valid")
    } else if result.earlierPages > 0 {
      diagnostics.note("Resumed after page \(result.earlierPages)")
    }
    if !result.otherWorkers.isEmpty {
      diagnostics.note("Divided with \(result.otherWorkers.sorted().joined(separator: ", "))")
    }
    for remark in remarks { diagnostics.warning("\(source): \(remark.message)") }
    if let failure {
      diagnostics.error(failure)
    } else if !result.isComplete, result.reachedDepth == nil, result.inconclusiveReason == nil,
      !isEndless
    {
      let amount = result.total.map { "\(result.passed) of \($0)" } ?? "\(result.passed)"
      diagnostics.note("\(amount) \(source) · more: \(diagnostics.command("\(source) sync"))")
    }
  }
}

extension SyncResult {
  /// The parts that were not read, in words.
  fileprivate func remarks(on source: String) -> [Warning] {
    var remarks: [Warning] = []
    if unreadable.count > 0 { remarks.append(.unreadable(unreadable)) }
    if let depth = reachedDepth {
      let all = total.map { " of \($0)" } ?? ""
      remarks.append(
        Warning(
          "depthLimit",
          "the service lists only the first \(depth)\(all) \(source): the others cannot be reached")
      )
    }
    if let reason = inconclusiveReason {
      remarks.append(
        Warning("incomplete", "records may be missing, and none counts as removed: \(reason)"))
    }
    return remarks
  }

  /// The parts that were not read, and why.
  func warnings(on source: String) -> [SourceWarning] {
    let failure = failure.map { Warning($0.code.description, $0.message) }
    return (remarks(on: source) + [failure].compactMap(\.self)).map { SourceWarning(source, $0) }
  }
}

struct SyncEntry: Entry {
  let id: String
  let added: Int
  let changed: Int
  let unchanged: Int
  let removedUpstream: Int
  let pages: Int
  let isComplete: Bool

  init(_ name: String, _ result: SyncResult) {
    id = name
    added = result.added
    changed = result.changed
    unchanged = result.unchanged
    removedUpstream = result.removedUpstream
    pages = result.pages
    isComplete = result.isComplete
  }

  /// The line for people: `+12 ~3 =985 −2 (10 pages)`.
  var text: String {
    "+\(added) ~\(changed) =\(unchanged) −\(removedUpstream) (\(pages.of("page")))"
  }

  static let fields: [Field<SyncEntry>] = [
    Field("source", "Source", \.id, about: "The source."),
    Field("added", "Added", \.added, about: "The number of new records."),
    Field(
      "changed", "Changed", \.changed, about: "The number of records that changed or returned."),
    Field("unchanged", "Unchanged", \.unchanged, about: "The number of unchanged records."),
    Field(
      "removedUpstream", "Removed upstream", \.removedUpstream,
      about: "The number of records that the service no longer has."),
    Field("pages", "Pages", \.pages, about: "The number of pages fetched."),
    Field(
      "complete", "Complete", \.isComplete,
      about: "True if the service has no more records, and all were read."),
  ]
}
