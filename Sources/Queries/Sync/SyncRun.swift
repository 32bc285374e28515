import AggregatorFiles
package import AggregatorKit
package import AggregatorTerminal
import DeclaredSource
import Synchronization

/// A lock for the download of a source: two processes would fetch every page twice.
package struct SyncLock {
  private let name: String
  private let lock: FileLock?

  /// The lock of a source; without a state directory there is none, and a store that machines share divides
  /// the work itself.
  package init(
    of name: String, _ settings: SourceSettings, _ context: CommandContext, isNeeded: Bool = true
  ) throws(CommandError) {
    self.name = name
    let state = isNeeded ? try context.directories(settings).state : nil
    lock = state.map { FileLock(path: "\($0)/sync-\(name).lock") }
  }

  /// Fails with code `tryLater` if another process holds the lock for longer, and with `io` if it cannot be
  /// created; a lock that is not required may be missing.
  package func holding<Value>(
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
package final class SyncProgress: Sendable {
  private let name: String
  private let context: CommandContext
  private let result = Mutex(SyncResult())
  private let note: Interruption.CleanUp

  package init(of name: String, resumingWith command: String, in context: CommandContext) {
    self.name = name
    self.context = context
    note = Interruption.atEnd {
      context.diagnostics.note(
        "Interrupted; progress saved. Resume with: \(context.diagnostics.command(command))")
    }
    context.progress.restart()
    context.progress.say { [self] in text }
  }

  package func end() { note.cancel() }

  package func show(_ result: SyncResult) { self.result.withLock { $0 = result } }

  /// The bar, or without a total `heroes: page 12, 1200 heroes, 4000 the last time, 96/s`; both count earlier runs of the
  /// same pass.
  private var text: String {
    let result = result.withLock(\.self)
    let count = result.added + result.changed + result.unchanged
    let last = result.expected.map { " \($0.grouped) the last time," } ?? ""
    let line =
      result.pages == 0
      ? "Fetching \(name)…"
      : result.total.map { context.progress.bar(name, result.passed, of: $0, after: count) }
        ?? "\(name): page \(result.earlierPages + result.pages), \(RecordNoun(name).count(result.passed)),\(last) "
        + context.progress.rate(count)
    return context.progress.withStatus(line)
  }
}

extension Plugin {
  /// Syncs this source with the options of the command line, up to `pages` or all, and shows the progress.
  ///
  /// - Parameter command: The command that resumes it after a signal, without the program's name.
  /// - Throws: `tryLater` if another process syncs the source, `io` without a store, `settings`; a failure of the
  ///   service is part of the report.
  package func syncRun(
    upTo pages: Int?, resumingWith command: String, in environment: PluginEnvironment,
    _ context: CommandContext
  ) async throws(CommandError) -> SyncReport {
    let invocation = context.invocation
    var sync = try SourceOptions(invocation).sync(of: self, in: environment)
    sync.readsEverything = invocation.has(.fullSync)
    let lock = try SyncLock(
      of: name, environment.settings, context, isNeeded: environment.store?.isShared == false)
    let result = try await lock.holding {
      let progress = SyncProgress(of: name, resumingWith: command, in: context)
      defer { progress.end() }
      return await sync.run(
        upTo: pages, jobs: invocation.count(.jobs) ?? 1, waits: invocation.has(.wait),
        progress: progress.show)
    }
    return SyncReport(result, of: self, isWaiting: invocation.has(.wait))
  }
}

package struct SyncReport: Sendable {
  package let result: SyncResult
  package private(set) var failure: CommandError?
  package let remarks: [Warning]

  /// The command that changes the depth of an added source, if that ended the sync, or its IDs, if they repeat.
  private var remedy: Hint?

  private let source: String
  private let isEndless: Bool

  package init(_ result: SyncResult, of plugin: some Plugin, isWaiting: Bool) {
    source = plugin.name
    self.result = result
    isEndless = plugin.policy.isEndless
    failure = result.failure.map { error in
      var failure = CommandError(error, of: plugin)
      guard error.code == .rateLimited else { return failure }
      let wait = error.retryAfter.map { "retry in \($0.text)" } ?? "retry later"
      let alternative = isWaiting ? "" : ", or use --wait"
      failure.hint = .words("\(wait) to resume\(alternative)")
      return failure
    }
    remarks = result.remarks(on: source)
    let declared = plugin as? DeclaredPlugin
    if result.reachedDepth != nil {
      remedy = declared.map { .command("sources edit \($0.name)") }
    } else if result.shortfall?.includes(.repeated) == true {
      remedy = declared?.numberingCommand.map(Hint.command)
    }
  }

  package var warnings: [SourceWarning] {
    failure == nil ? remarks.map { SourceWarning(source, $0) } : result.warnings(on: source)
  }

  /// This report of a sync that was cancelled on purpose: it is not complete, but nothing has failed.
  package var stopped: SyncReport {
    var report = self
    report.failure = nil
    return report
  }

  /// True if it is ``stopped``.
  var isStopped: Bool { failure == nil && result.failure != nil }

  package var code: ExitCode {
    guard let failure else {
      let isWhole = result.isComplete || isEndless && result.inconclusiveReason == nil
      return isWhole ? .success : .partial
    }
    return failure.code == .tryLater || failure.code == .interrupted ? failure.code : .partial
  }

  /// - Parameter isNamed: True if the notes name the source, because there are several.
  package func report(to diagnostics: Diagnostics, isNamed: Bool = false) {
    func note(_ text: String) {
      diagnostics.note(isNamed ? "\(source): \(text.lowercasedFirst)" : text)
    }
    if result.hasRestarted {
      note("Restarted: the checkpoint is too old or no longer valid")
    } else if result.earlierPages > 0 {
      note("Resumed after page \(result.earlierPages)")
    }
    if !result.otherWorkers.isEmpty {
      note("Divided with \(result.otherWorkers.sorted().joined(separator: ", "))")
    }
    // That others may be missing has no remedy of its own.
    let remedied = remarks.last { $0.code != .repeated }
    for remark in remarks {
      diagnostics.warning(
        "\(source): \(remark.message)", hint: remark == remedied ? remedy : nil)
    }
    if let failure {
      diagnostics.error(failure)
    } else if !result.isComplete, result.reachedDepth == nil, result.inconclusiveReason == nil,
      !isEndless
    {
      var amount = result.passed.grouped
      if let total = result.total { amount += " of \(total.grouped)" }
      if result.kind == .incremental { amount += " changed" }
      let records = RecordNoun(source).word(for: result.total ?? result.passed)
      diagnostics.note("\(amount) \(records) · more: \(diagnostics.command("\(source) sync"))")
    }
  }
}

extension SyncResult {
  private static var maxSchemaRemarks: Int { 10 }

  /// The changes of the rows, and the parts that were not read, in words.
  fileprivate func remarks(on source: String) -> [Warning] {
    var remarks = schemaChanges.prefix(Self.maxSchemaRemarks).map {
      Warning(.schemaChanged, $0.text)
    }
    if schemaChanges.count > remarks.count {
      let others = schemaChanges.count - remarks.count
      remarks.append(Warning(.schemaChanged, "rows have \(others) more changed members"))
    }
    if unreadable.count > 0 { remarks.append(.unreadable(unreadable)) }
    // Of a list that has changed meanwhile, the total says nothing.
    if let total, total < passed, kind == .full, !isPartitioned, hasEnded,
      shortfall?.includes(.incomplete) != true
    {
      let words = "the service reports \(total.grouped("record")) but sent \(passed.grouped)"
      remarks.append(Warning(.estimated, words))
    }
    if let depth = reachedDepth, shortfall == nil {
      let all = total.map { " of \($0.grouped)" } ?? ""
      let records = RecordNoun(source).word(for: 2)
      remarks.append(
        Warning(
          .depthLimit,
          "the service lists only the first \(depth.grouped)\(all) \(records): the others cannot be reached"
        )
      )
    }
    if kind != .incremental, !isPartitioned, shortfall?.isUnproved == true {
      remarks.append(
        Warning(.unproved, "\(Warning.unproved.message), so no record counts as removed"))
    } else if let shortfall {
      let words =
        switch kind {
        case _ where isPartitioned:
          "some lists were not read, and none of their records counts as removed"
        case .full, .endless: "records may be missing, and none counts as removed"
        case .incremental: "changes may be missing, and the next sync asks for them again"
        }
      remarks.append(Warning(.incomplete, "\(words): \(shortfall)"))
    }
    // A failure, or the reason that no record counts as removed, says the same.
    if repeated > 0, kind == .full, failure == nil, shortfall?.includes(.repeated) != true,
      let words = Shortfall.repeatedIDs(repeated)
    {
      remarks.append(Warning(.repeated, "\(words): others may be missing"))
    }
    if !skippedPartitions.isEmpty {
      let count = skippedPartitions.count
      let names = skippedPartitions.prefix(5).joined(separator: ", ") + (count > 5 ? ", …" : "")
      remarks.append(
        Warning(.skippedPartition, "a rule has left out \(count.of("list")): \(names)"))
    }
    if let fullReason {
      remarks.append(Warning(.notIncremental, "changes alone cannot be synced: \(fullReason)"))
    }
    return remarks + warnings
  }

  /// The parts that were not read, and why.
  package func warnings(on source: String) -> [SourceWarning] {
    let failure = failure.map { Warning(Warning.Code($0.code), $0.message) }
    return (remarks(on: source) + [failure].compactMap(\.self)).map { SourceWarning(source, $0) }
  }
}

extension SyncReport: Entry {
  package var id: String { source }

  /// The line for people: that of ``text``, or `12 changed since 2026-11-20 14:02 UTC (last full sync: 2 days ago)`.
  package func text(at now: Date) -> String {
    guard let mark = result.changedSince, let full = result.lastFull else { return text }
    return
      "\((result.added + result.changed).grouped) changed since \(ChangeTracking.text(of: mark)) "
      + "(last full sync: \(full.age(at: now)))"
  }

  /// The numbers in words: `12 new, 3 changed, 985 unchanged, 2 removed upstream (10 pages)`.
  package var text: String {
    let counts = [
      (result.added, "new"), (result.changed, "changed"), (result.unchanged, "unchanged"),
      (result.removedUpstream, "removed upstream"),
    ]
    let text = counts.filter { $0.0 > 0 }.map { "\($0.0.grouped) \($0.1)" }.joined(separator: ", ")
    return "\(text.isEmpty ? "no records" : text) (\(result.pages.grouped("page")))"
  }

  package static let fields: [Field<SyncReport>] = [
    Field("source", "Source", \.id, about: "The source."),
    Field("added", "Added", \.result.added, about: "The number of new records."),
    Field(
      "changed", "Changed", \.result.changed,
      about: "The number of records that changed or returned."),
    Field("unchanged", "Unchanged", \.result.unchanged, about: "The number of unchanged records."),
    Field(
      "removedUpstream", "Removed upstream", \.result.removedUpstream,
      about: "The number of records that a sync of all did not find any more."),
    Field("pages", "Pages", \.result.pages, about: "The number of pages fetched."),
    Field(
      "complete", "Complete", \.result.isComplete,
      about: "True if the service has no more records or changes, and all were read."),
    Field(
      "kind", "Kind", \.result.kind.rawValue,
      about: "The kind: full, incremental (only what has changed) or endless.", isShown: false),
    Field(
      "changedSince", "Changed since", \.result.changedSince,
      about: "The time from which on an incremental sync read changes, as the service writes it.",
      isShown: false),
    Field(
      "lastFull", "Last full sync", \.result.lastFull?.iso8601,
      about: "The time of the full sync before an incremental one.", isShown: false),
  ]
}
