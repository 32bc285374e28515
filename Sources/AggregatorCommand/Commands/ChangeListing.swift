import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The number of differences of a comparison, and its start.
struct ChangeSummary {
  fileprivate(set) var counts: [ChangeEntry.Kind: Int] = [:]
  fileprivate(set) var unreadable = UnreadableRows.none

  /// The date of the start; `nil` for a point without one.
  let date: Date?

  /// The date before which changes are not known, if it is after the start.
  let knownSince: Date?

  /// True if the limit was reached before the end.
  fileprivate(set) var isCut = false

  var count: Int { counts.values.reduce(0, +) }

  /// The counts: `2 added, 1 removed`.
  var text: String {
    [ChangeEntry.Kind.added, .changed, .removed].compactMap { kind in
      counts[kind].map { "\($0) \(kind.rawValue)" }
    }.joined(separator: ", ")
  }

  func warnings(of source: String) -> [SourceWarning] {
    var warnings: [Warning] = []
    if let knownSince {
      warnings.append(
        Warning(
          .historyTrimmed,
          "changes before \(knownSince.iso8601) are not known: some may be missing"))
    }
    if unreadable.count > 0 { warnings.append(.unreadable(unreadable)) }
    return warnings.map { SourceWarning(source, $0) }
  }
}

extension Plugin {
  /// Passes the changes since a point to `body`, some at a time; `nil` if nothing is known of that point.
  func changes(
    since start: HistoryStart, in store: any Store, atMost limit: Int? = nil,
    _ body: ([ChangeEntry]) throws -> Void
  ) async throws -> ChangeSummary? {
    let recordStore = recordStore(in: store)
    var start = start
    var summary: ChangeSummary?
    var position: Int64? = 0
    while let after = position {
      guard let page = try await recordStore.changes(since: start, after: after, limit: 500) else {
        return nil
      }
      start = .mark(page.start)
      position = page.next
      var sum = summary ?? ChangeSummary(date: page.date, knownSince: page.knownSince)
      let all = page.changes.compactMap { ChangeEntry($0.change, at: $0.date, of: self) }
      let entries = Array(limit.map { all.prefix($0 - sum.count) } ?? all[...])
      for entry in entries { sum.counts[entry.kind, default: 0] += 1 }
      sum.unreadable = sum.unreadable + page.unreadable
      sum.isCut = entries.count < all.count
      if sum.count == limit, position != nil {
        sum.isCut = true
        position = nil
      }
      summary = sum
      try body(entries)
    }
    return summary
  }

  /// The reason that nothing is known of a point, and the remedy.
  func missingHistory(
    before start: HistoryStart, in environment: PluginEnvironment, _ context: CommandContext
  ) async throws(CommandError) -> CommandError {
    let status: StoreStatus
    do { status = try await environment.requiredStore().status(of: name) } catch {
      throw (error as? CommandError) ?? CommandError(.bug, "\(error)")
    }
    let setting = Directories.history(of: context.catalog.name)
    let isOff = (try? environment.settings.history(setting))?.isOff ?? false
    if isOff {
      return CommandError(
        .unavailable, "\(name): no history is kept (\(setting.key) is off)",
        hint: .command("config set \(setting.key) \(setting.defaultValue.map { "'\($0)'" } ?? "")"))
    }
    if status.isEmpty {
      return CommandError(
        .unavailable, "\(name): nothing is cached, so there is nothing to compare with",
        hint: .command(syncArguments))
    }
    return start == .sync
      ? CommandError(
        .unavailable, "\(name) was never synced completely",
        hint: .steps(.command(syncArguments), .words("or compare with a date: --since yesterday")))
      : CommandError(
        .unavailable, "\(name): no history yet, it begins with the next change or sync",
        hint: .command(syncArguments))
  }
}
