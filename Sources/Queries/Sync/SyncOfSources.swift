package import AggregatorKit
package import AggregatorTerminal

/// A sync of several sources, one after another: those that were never synced first, then the one whose last sync
/// is the oldest.
package struct SyncOfSources: Sendable {
  private let plugins: [any Plugin]
  private let environment: PluginEnvironment
  private let context: CommandContext
  /// The command that does the same again, without the program's name.
  private let command: String
  /// The time by which all of it ends; `nil` for no limit.
  private let deadline: Deadline?

  private var invocation: Invocation { context.invocation }

  /// The time that `--for` grants begins now.
  ///
  /// - Parameter command: The command that does the same again, without the program's name.
  package init(
    of plugins: [any Plugin], resumingWith command: String, in environment: PluginEnvironment,
    _ context: CommandContext
  ) {
    self.plugins = plugins
    self.environment = environment
    self.context = context
    self.command = command
    let clock = environment.clock
    deadline = context.invocation.duration(.timeBudget).map { Deadline(after: $0, on: clock) }
  }

  /// Syncs each source in its turn, and reports each as soon as it has ended; fails only if `report` does, or if the
  /// store cannot be read.
  package func run(_ report: (SourceSync) throws -> Void) async throws {
    for plugin in try await stalestFirst() { try report(await sync(plugin)) }
  }

  /// A source with a list for each record of another comes after that one: its own sync would fetch those records, too.
  private func stalestFirst() async throws(CommandError) -> [any Plugin] {
    var dates: [String: Date] = [:]
    for plugin in plugins {
      dates[plugin.name] = try await plugin.lastSync(in: environment)?.stored
    }
    let sorted = plugins.sorted {
      (dates[$0.name] ?? .distantPast) < (dates[$1.name] ?? .distantPast)
    }
    var ordered: [any Plugin] = []
    var names: Set<String> = []
    func add(_ plugin: any Plugin) {
      guard names.insert(plugin.name).inserted else { return }
      if case .records(let parent, _)? = plugin.partitions,
        let parent = sorted.first(where: { $0.name == parent })
      {
        add(parent)
      }
      ordered.append(plugin)
    }
    for plugin in sorted { add(plugin) }
    return ordered
  }

  private func sync(_ plugin: some Plugin) async -> SourceSync {
    let name = plugin.name
    if let deadline, deadline.remaining() <= .zero { return SourceSync(notReached: name) }
    do throws(CommandError) {
      if let reason = try await skipReason(of: plugin) {
        let isNamed = invocation.arguments.contains(name)
        return SourceSync(skipped: name, because: reason.text, code: isNamed ? reason.code : nil)
      }
    } catch { return SourceSync(name, failed: error) }
    let report = await beforeDeadline {
      await Result { () async throws(CommandError) in
        try await plugin.syncRun(upTo: nil, resumingWith: command, in: environment, context)
      }
    }
    switch report {
    case .success(let report): return SourceSync(name, report)
    // Failures of the service are in the report: this is the lock's.
    case .failure(let error) where error.code == .tryLater:
      return SourceSync(skipped: name, because: "another sync is already running")
    case .failure(let error): return SourceSync(name, failed: error)
    }
  }

  private struct SkipReason {
    var text: String
    /// The exit code if the source was named; `nil` if it needs no sync, or is refused by its name.
    var code: ExitCode?
  }

  /// The reason why a source is not synced now; `nil` if it is.
  private func skipReason(of plugin: some Plugin) async throws(CommandError) -> SkipReason? {
    guard !plugin.policy.isEndless else {
      let command = context.diagnostics.command(plugin.syncArguments)
      return SkipReason(text: "unbounded; use \"\(command)\"")
    }
    do throws(SourceError) { _ = try plugin.wholeRemote(in: environment) } catch {
      // All other failures are those of its sync.
      return error.code == .missingKey ? SkipReason(text: error.message, code: .key) : nil
    }
    let last = try await plugin.lastSync(in: environment)
    if let maxAge = invocation.span(.olderThan), let completed = last?.completed {
      // Unless a clock was wrong.
      let age = environment.now().timeIntervalSince(completed)
      if 0..<(maxAge / .seconds(1)) ~= age {
        return SkipReason(text: "synced \(completed.age(at: environment.now()))")
      }
    }
    do throws(SourceError) { return try await pause(of: plugin) } catch {
      throw CommandError(error, of: plugin)
    }
  }

  /// The pause of a source's service in words; `nil` if it can be called now.
  private func pause(of plugin: some Plugin) async throws(SourceError) -> SkipReason? {
    let options = SourceOptions(invocation)
    let waits = invocation.has(.wait)
    let plan = try await plugin.requestPlan(of: .list, in: environment)
    if plan.pause > .zero, !options.cachePolicy.refreshes {
      return SkipReason(text: "failing repeatedly; retry in \(plan.pause.text)", code: .tryLater)
    }
    // A sync does not wait longer either.
    let maxWait = waits ? deadline?.remaining() : options.deadline ?? plugin.policy.deadline
    let isOverridden = plan.demand != nil && options.cachePolicy.overridesPauses
    if let maxWait, plan.wait >= maxWait, !isOverridden {
      return SkipReason(
        text: "\(plan.demand ?? "rate limit reached"); retry in \(plan.wait.text)", code: .tryLater)
    }
    guard !waits, let store = environment.store, store.isShared,
      let activity = try await plugin.sync(into: store, in: environment).activity(),
      activity.pages == nil, let worker = activity.workers.keys.first
    else { return nil }
    return SkipReason(text: "\(worker) is syncing it")
  }

  private enum Event: Sendable {
    case ended(Result<SyncReport, CommandError>)
    case timeIsUp
    case timerCancelled
  }

  /// Runs a sync, and cancels it when the time is over; what it has stored until then stays.
  private func beforeDeadline(
    _ sync: @escaping @Sendable () async -> Result<SyncReport, CommandError>
  ) async -> Result<SyncReport, CommandError> {
    guard let deadline else { return await sync() }
    return await withTaskGroup(of: Event.self) { group in
      group.addTask { .ended(await sync()) }
      group.addTask { [clock = environment.clock] in
        let isOver = (try? await clock.sleep(for: deadline.remaining())) != nil
        return isOver ? .timeIsUp : .timerCancelled
      }
      var isTimeUp = false
      while let event = await group.next() {
        switch event {
        case .ended(let report):
          group.cancelAll()
          return report.map { isTimeUp && $0.failure?.code == .interrupted ? $0.stopped : $0 }
        case .timeIsUp:
          isTimeUp = true
          group.cancelAll()
        case .timerCancelled: break
        }
      }
      return .failure(CommandError(SourceError.cancelled))
    }
  }
}

extension Plugin {
  /// Nothing is known of an endless source, nor of one whose settings are invalid, which its sync reports.
  fileprivate func lastSync(
    in environment: PluginEnvironment
  ) async throws(CommandError) -> LastSync? {
    guard !policy.isEndless, let store = environment.store,
      let sync = try? sync(into: store, in: environment)
    else { return nil }
    do throws(SourceError) { return try await sync.lastSync() } catch {
      throw CommandError(error, of: self)
    }
  }
}

/// The result of one source in a sync of several.
package struct SourceSync: Entry {
  package enum Status: String, CaseIterable, Sendable {
    case complete
    /// Some records were stored, but not all are known to be.
    case incomplete
    /// Nothing was stored.
    case failed
    case skipped
    /// The time was over before its turn.
    case notReached

    fileprivate var text: String { self == .notReached ? "not reached" : rawValue }
  }

  /// The name of the source.
  package let id: String

  package let status: Status

  /// The reason for any other status than `complete`.
  package let reason: String?

  /// The failure to print; `nil` if the report has it.
  private let failure: CommandError?

  private let report: SyncReport?

  /// The exit code of a source that was skipped although it was named, and needs a sync.
  private let skippedCode: ExitCode?

  private init(
    _ source: String, _ status: Status, because reason: String?, report: SyncReport? = nil,
    failure: CommandError? = nil, skippedCode: ExitCode? = nil
  ) {
    id = source
    self.status = status
    self.reason = reason
    self.report = report
    self.failure = failure
    self.skippedCode = skippedCode
  }

  package init(skipped source: String, because reason: String, code: ExitCode? = nil) {
    self.init(source, .skipped, because: reason, skippedCode: code)
  }

  package init(notReached source: String) {
    self.init(source, .notReached, because: Self.timeIsUp)
  }

  package init(_ source: String, failed error: CommandError) {
    self.init(
      source, .failed, because: String(error.message.trimmingPrefix("\(source): ")), failure: error)
  }

  package init(_ source: String, _ report: SyncReport) {
    let result = report.result
    let status: Status =
      report.code == .success
      ? .complete : report.failure != nil && result.pages == 0 ? .failed : .incomplete
    let reason =
      report.isStopped
      ? Self.timeIsUp
      : result.failure?.message ?? report.remarks.last?.message ?? "the list has more pages"
    self.init(source, status, because: status == .complete ? nil : reason, report: report)
  }

  private static let timeIsUp = "the time is up"

  /// True if the limit of time has kept it from being complete.
  package var isOutOfTime: Bool { status == .notReached || report?.isStopped == true }

  package var warnings: [SourceWarning] {
    let failure = failure.map { _ in SourceWarning(id, Warning(.syncFailed, reason ?? "")) }
    return (report?.warnings ?? []) + [failure].compactMap(\.self)
  }

  /// The line for people: `12 added, 3 changed, 985 unchanged`.
  package var text: String {
    switch status {
    case .complete: report?.amounts ?? ""
    case .incomplete: "\(report?.amounts ?? ""), incomplete"
    case .failed: status.text
    case .skipped, .notReached: "\(status.text): \(reason ?? "")"
    }
  }

  /// - Parameter isListed: True if the output has the line for people, which says why a source is skipped.
  package func report(to diagnostics: Diagnostics, isListed: Bool) {
    report?.report(to: diagnostics, isNamed: true)
    if let failure { diagnostics.error(failure) }
    if !isListed, status == .skipped || status == .notReached { diagnostics.note("\(id): \(text)") }
  }

  package static let fields: [Field<SourceSync>] =
    [Field("source", "Source", \.id, about: "The source.")]
    + SyncReport.fields.filter { $0.name != "source" }.map { field in
      Field(
        field.name, field.label, field.kind, about: field.about, isShown: field.isShown
      ) { $0.report.map { field[$0] } ?? .null }
    } + [
      Field(
        "status", "Status", \.status.rawValue,
        about: "complete, incomplete, failed (nothing was stored), skipped or notReached."),
      Field("reason", "Reason", \.reason, about: "The reason for any status but complete."),
    ]
}

extension SyncReport {
  fileprivate var amounts: String {
    if let mark = result.changedSince {
      return
        "\((result.added + result.changed).grouped) changed since \(ChangeTracking.text(of: mark))"
    }
    let removed = result.removedUpstream
    return
      "\(result.added.grouped) added, \(result.changed.grouped) changed, \(result.unchanged.grouped) unchanged"
      + (removed > 0 ? ", \(removed.grouped) removed" : "")
  }
}

extension [SourceSync] {
  /// That of the first failure if all that ran have failed, `partial` if anything else is not complete.
  ///
  /// Sources that are skipped do not count, unless they were asked for by their names.
  package var code: ExitCode {
    let wanted = filter { ![.skipped, .notReached].contains($0.status) || $0.failureCode != nil }
    let failures = wanted.compactMap(\.failureCode)
    if let first = failures.first, failures.count == wanted.count { return first }
    let areComplete = allSatisfy {
      $0.status == .complete || $0.status == .skipped && $0.failureCode == nil
    }
    return areComplete ? .success : .partial
  }

  /// The number of sources of each status.
  private var counts: [(status: SourceSync.Status, count: Int)] {
    SourceSync.Status.allCases.map { status in (status, count { $0.status == status }) }
  }

  /// The line after those of the sources: `4 sources: 2 complete, 1 failed, 1 skipped`.
  package var summary: String {
    let parts = counts.filter { $0.count > 0 }.map { "\($0.count) \($0.status.text)" }
    return "\(count.of("source")): \(parts.joined(separator: ", "))"
  }

  package var totals: [JSON.Member] {
    counts.map { JSON.Member($0.status.rawValue, .integer($0.count)) }
      + [JSON.Member("exitCode", .integer(Int(code.rawValue)))]
  }
}

extension SourceSync {
  /// `nil` unless nothing was stored.
  fileprivate var failureCode: ExitCode? {
    status == .failed ? failure?.code ?? report?.failure?.code : skippedCode
  }
}
