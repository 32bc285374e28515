package import AggregatorKit
package import AggregatorTerminal
import DeclaredSource

/// A source whose cache lacks records of the service, or may lack some.
package struct CacheGap {
  package private(set) var warning: SourceWarning

  /// The command that fetches the rest, without the program's name; `nil` if no sync can.
  package let command: String?

  /// The remedy for missing records that no sync can fetch; `nil` if there is none, as where the service sends fewer than it
  /// reports, or a sync can.
  package var remedy: Hint?

  /// True if no record was missing when the file was read.
  package var isOfChangedFile = false

  /// True if rows of the service could not be read, of which a list names the first.
  package var hasUnreadableRows = false

  /// The warning of an answer of cached records.
  package var limitation: SourceWarning {
    var limitation = warning
    limitation.warning.message = "limited to cached records: \(warning.warning.message)"
    return limitation
  }

  /// The command, or the other remedy.
  package var hint: Hint? { command.map(Hint.command) ?? remedy }
}

extension Plugin {
  /// The gap of an answer by bundled records, whatever has been stored since.
  var gapOfBundledRecords: CacheGap {
    let words = "no \(noun.word(for: 0)) are cached: bundled sample data instead"
    return CacheGap(warning: SourceWarning(name, Warning(.bundled, words)), command: syncArguments)
  }

  /// `nil` if everything is cached, and no file has changed since, or if lists show no more than the cache either.
  package func gap(in store: any SourceStore) async throws(SourceError) -> CacheGap? {
    let state = try await store.state(of: name, checkpoints: Coverage.checkpoints)
    var coverage = Coverage(state)
    let isGap =
      policy.readOrder == .localFirst ? coverage.cached == 0 : !coverage.isComplete
    var change: SourceError?
    if policy.file != nil {
      // A sync that has come to its end reads a file whole, whatever it could not use.
      let synced =
        coverage.gap == nil ? nil : try await store.status(of: name).history?.syncedAt
      let read = [try await oldestFetch(in: store), synced].compactMap(\.self).max()
      change = fileChange(since: read?.timeIntervalSince1970 ?? .infinity)
    }
    let isSyncable = change.map { $0.remedy?.action == .command } ?? true
    guard isGap else {
      guard let change else { return nil }
      return CacheGap(
        warning: SourceWarning(name, Warning(.incomplete, change.message)),
        command: isSyncable ? syncArguments : nil, remedy: change.remedy.map(Hint.init),
        isOfChangedFile: true)
    }
    let count = state.status.records
    let verb = count == 1 ? "is" : "are"
    let depth = coverage.cached > 0 ? coverage.depth : nil
    let rest = depth.map { ": the service lists no more than \($0.grouped)" }
    coverage.total = try await recordStore(in: store).total(of: coverage)
    let total = coverage.totalOfCached
    var remedy = isSyncable ? nil : change?.remedy.map(Hint.init)
    let hasRepeatedIDs = coverage.gap?.includes(.repeated) == true
    if change == nil, hasRepeatedIDs || coverage.hasUnreadableRows {
      let numbering = hasRepeatedIDs ? (self as? DeclaredPlugin)?.numberingCommand : nil
      remedy =
        numbering.map(Hint.command)
        ?? policy.file.map { .words("mend the file \($0.oneLine(atMost: 200))") }
    } else if change == nil, coverage.gap?.isUnproved == true, self is DeclaredPlugin {
      // Where the paging is named.
      remedy = .command("sources edit \(name)")
    }
    let isFinal = change == nil && (coverage.gap?.isFinal ?? coverage.isShort)
    let unread = isSyncable ? nil : change.map { "; \($0.message)" }
    let end =
      rest ?? unread
      ?? coverage.gap.map { $0.isExcess ? ", but \($0)" : ", possibly not all: \($0)" }
    let words =
      // Lists leave deleted records out, and so do their totals.
      switch (coverage.cached, total.map { max($0 - state.status.hidden, count) }) {
      case (0, _): "no \(noun.word(for: 0)) are cached\(unread ?? "")"
      case (_, let total?):
        "\(count.grouped) of \(total.grouped) \(noun.word(for: total)) \(verb) cached\(end ?? "")"
      case (_, nil):
        "\(count.grouped) \(noun.word(for: count)) \(verb) cached\(end ?? ", possibly not all")"
      }
    return CacheGap(
      warning: SourceWarning(name, Warning(.incomplete, words)),
      command: depth == nil && remedy == nil && !isFinal ? syncArguments : nil, remedy: remedy,
      hasUnreadableRows: change == nil && coverage.hasUnreadableRows)
  }

  /// The time since which all cached records were fetched; `nil` if it is unknown.
  package func oldestFetch(in store: any SourceStore) async throws(SourceError) -> Date? {
    try await recordStore(in: store).oldestFetch()
  }

  /// The arguments that fetch missing records.
  package var syncArguments: String { "\(name) sync\(policy.isEndless ? " --max-pages 10" : "")" }

  /// The command that fetches missing records, or the way to set the key without which it would fail.
  package func syncHint(in environment: PluginEnvironment) -> Hint {
    missingKey(in: environment)?.hint(settings: settings) ?? .command(syncArguments)
  }

  /// The error of a key that is not set; `nil` if there is none.
  func missingKey(in environment: PluginEnvironment) -> SourceError? {
    do throws(SourceError) { _ = try wholeRemote(in: environment) } catch {
      return error.code == .missingKey ? error : nil
    }
    return nil
  }

  /// Downloads missing records, and what has changed if the service can list that; one page of an endless source.
  ///
  /// Returns the reason that records may still be missing.
  package func complete(
    in environment: PluginEnvironment, _ store: any SourceStore, _ context: CommandContext
  ) async -> CommandError? {
    do {
      if changes == nil {
        guard try await gap(in: store) != nil else { return nil }
      }
      let sync = try sync(into: store, in: environment)
      let lock = try SyncLock(of: name, environment.settings, context, isNeeded: !store.isShared)
      let result = try await lock.holding {
        let progress = SyncProgress(of: name, resumingWith: "\(name) sync", in: context)
        defer { progress.end() }
        return await sync.run(
          upTo: policy.isEndless ? 1 : nil, jobs: 1, waits: false, progress: progress.show)
      }
      let report = SyncReport(result, of: self, isWaiting: false)
      guard report.failure == nil, report.code != .success, let reason = report.remarks.last else {
        return report.failure
      }
      // It has ended, but not by what is known to be the end.
      return CommandError(report.code, "\(name): \(reason.message)")
    } catch {
      return CommandError(error, of: self)
    }
  }
}
