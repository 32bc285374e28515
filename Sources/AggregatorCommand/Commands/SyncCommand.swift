import AggregatorFiles
import AggregatorKit
import Synchronization

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

/// Lets one process at a time sync a source: two of them would fetch every page twice.
struct SyncLock {
  private let name: String
  private let lock: FileLock?

  /// The lock of a source; none where there is no place for it.
  init(of name: String, _ settings: Settings, _ session: Session) throws(CommandError) {
    self.name = name
    lock = try Directories(settings, variables: session.variables).state.map {
      FileLock(path: "\($0)/sync-\(name).lock")
    }
  }

  /// Does something while no other process syncs the source.
  ///
  /// - Throws: ``CommandError`` with code `tryLater` if another does, `io` if there can be no lock.
  func holding<Value>(_ body: () async -> Value) async throws(CommandError) -> Value {
    guard let lock else { return await body() }
    do {
      return try await lock.holding(within: .zero, clock: ContinuousClock(), body)
    } catch is FileLock.Taken {
      throw CommandError(
        .tryLater, "\(name): another process is at it already", hint: "let it finish, or stop it")
    } catch let error as SourceError {
      throw CommandError(error)
    } catch {
      throw CommandError(.bug, "\(error)")
    }
  }
}

/// What a person sees of a sync while it runs, and when Ctrl-C ends it.
final class SyncProgress: Sendable {
  private let name: String
  private let session: Session
  private let result = Mutex(SyncResult())

  /// The progress of a sync.
  ///
  /// - Parameters:
  ///   - name: The source's name.
  ///   - command: What to type to go on.
  ///   - session: The run.
  init(of name: String, goingOnBy command: String, in session: Session) {
    self.name = name
    self.session = session
    session.progress.say { [self] in words }
    Interruption.atEnd {
      session.diagnostics.note(
        "stopped · what was fetched is kept, go on: \(session.diagnostics.command(command))")
    }
  }

  /// Takes in what was done so far.
  func show(_ result: SyncResult) { self.result.withLock { $0 = result } }

  /// The line: `heroes: page 12, 1200 of 4005 heroes, 96/s`; the numbers are those of the whole pass.
  private var words: String {
    let result = result.withLock(\.self)
    let amount = result.total.map { "\(result.passed) of \($0)" } ?? "\(result.passed)"
    let rate = session.progress.rate(result.added + result.changed + result.same)
    let line =
      result.pages == 0
      ? "\(name): asking"
      : "\(name): page \(result.earlierPages + result.pages), \(amount) \(name), \(rate)"
    return ([line] + [session.progress.pause].compactMap(\.self)).joined(separator: " · ")
  }
}

/// What came of a sync, for people and for programs.
struct SyncReport {
  /// The numbers.
  let entry: SyncEntry

  /// What ended it; `nil` if nothing did.
  let failure: CommandError?

  /// What the numbers alone do not say, beside the failure.
  private let remarks: [Warning]

  private let source: String
  private let result: SyncResult
  private let isEndless: Bool

  /// A report.
  ///
  /// - Parameters:
  ///   - result: What came of it.
  ///   - plugin: The source.
  ///   - isWaiting: Whether it was told to wait.
  init(_ result: SyncResult, of plugin: some Plugin, isWaiting: Bool) {
    source = plugin.name
    self.result = result
    isEndless = plugin.policy.isEndless
    entry = SyncEntry(plugin.name, result)
    failure = result.failure.map { error in
      var failure = CommandError(error, of: plugin)
      guard error.code == .rateLimited else { return failure }
      let wait = error.retryAfter.map { "try again in \($0.text)" } ?? "try again later"
      let stay = isWaiting ? "" : "; with --wait it stays until then"
      failure.hint = .words("\(wait): sync goes on from here\(stay)")
      return failure
    }
    var remarks: [Warning] = []
    if result.unreadable.count > 0 {
      let rows = result.unreadable.count == 1 ? "1 row" : "\(result.unreadable.count) rows"
      let reason = result.unreadable.firstReason.map { " (\($0))" } ?? ""
      remarks.append(Warning("unreadable", "\(rows) could not be read\(reason)"))
    }
    if let doubt = result.doubt {
      remarks.append(Warning("doubt", "what has vanished is not known: \(doubt)"))
    }
    self.remarks = remarks
  }

  /// What the numbers alone do not say, for programs.
  var warnings: [SourceWarning] {
    let failure = result.failure.map { Warning($0.code.description, $0.message) }
    return (remarks + [failure].compactMap(\.self)).map { SourceWarning(source, $0) }
  }

  /// The exit code.
  var code: ExitCode {
    guard let failure else { return result.isComplete || isEndless ? .success : .partial }
    return failure.code == .tryLater || failure.code == .interrupted ? failure.code : .partial
  }

  /// Says what the numbers alone do not say.
  func tell(_ diagnostics: Diagnostics) {
    if result.hasRestarted {
      diagnostics.note("began anew: where it had stopped is too old, or no longer valid")
    } else if result.earlierPages > 0 {
      diagnostics.note("went on after page \(result.earlierPages)")
    }
    for remark in remarks { diagnostics.warning("\(source): \(remark.message)") }
    if let failure {
      diagnostics.error(failure)
    } else if !result.isComplete, !isEndless {
      let amount = result.total.map { "\(result.passed) of \($0)" } ?? "\(result.passed)"
      diagnostics.note("\(amount) \(source) · more: \(diagnostics.command("\(source) sync"))")
    }
  }
}

/// What a sync did, in numbers.
struct SyncEntry: Entry {
  let id: String
  let added: Int
  let changed: Int
  let same: Int
  let removedUpstream: Int
  let pages: Int
  let isComplete: Bool

  init(_ name: String, _ result: SyncResult) {
    id = name
    added = result.added
    changed = result.changed
    same = result.same
    removedUpstream = result.removedUpstream
    pages = result.pages
    isComplete = result.isComplete
  }

  /// The same for people: `+12 ~3 =985 −2 (10 pages)`.
  var words: String {
    "+\(added) ~\(changed) =\(same) −\(removedUpstream) (\(pages) page\(pages == 1 ? "" : "s"))"
  }

  static let fields: [Field<SyncEntry>] = [
    Field("source", "Source", \.id, about: "The source."),
    Field("added", "Added", \.added, about: "How many records were new."),
    Field("changed", "Changed", \.changed, about: "How many records had changed, or came back."),
    Field("same", "Same", \.same, about: "How many were as before, and were not written."),
    Field("vanished", "Vanished", \.removedUpstream, about: "How many the service no longer has."),
    Field("pages", "Pages", \.pages, about: "How many pages were fetched."),
    Field("complete", "Complete", \.isComplete, about: "Whether the service has no more."),
  ]
}
