package import AggregatorCore
package import AggregatorFoundation
package import AggregatorStore
import AggregatorText

/// The times of the last syncs of a source.
package struct LastSync: Hashable, Sendable {
  /// The end of the last full sync; `nil` if it has found that records may be missing.
  package var full: Date?

  /// The end of the last incremental sync since then; `nil` if there was none, or none was complete.
  package var incremental: Date?

  /// The beginning of the last full sync, before any interruption: nothing that it has read is older; `nil` if its end says as
  /// much, less than ``notableSeconds`` later.
  package var begun: Date?

  /// The time after which what a sync has read is notably older than its end.
  package static let notableSeconds: TimeInterval = 60

  /// `fetched 3 min ago`, which is the age of the oldest record; of records of notably different ages, it is called that.
  package static func fetchWords(_ oldest: Date, newest: Date?, at now: Date) -> String {
    let isMixed = newest.map { $0.timeIntervalSince(oldest) >= notableSeconds } ?? false
    return "\(isMixed ? "oldest " : "")fetched \(oldest.age(at: now))"
  }

  /// The time at which a sync last stored a page or came to its end, as far as that is known.
  package var stored: Date?

  /// The end of the last complete sync of either kind.
  package var completed: Date? { [full, incremental].compactMap(\.self).max() }

  /// The times in words: `2 days ago, changes just now`, or `just now, begun 4 min ago`; `nil` without a full sync.
  package func words(at now: Date) -> String? {
    guard let full else { return nil }
    let begun = begun.map { ", begun \($0.age(at: now))" } ?? ""
    let changes = incremental.map { ", changes \($0.age(at: now))" } ?? ""
    return "\(full.age(at: now))\(begun)\(changes)"
  }
}

extension RecordStore {
  /// The times of the last complete syncs, by any process or machine that uses the store.
  package func lastSync() async throws(SourceError) -> LastSync {
    guard let complete = try await completeSync() else { return LastSync() }
    let text = try await store.checkpoint(ChangeState.checkpoint, of: source)
    let state = text.flatMap { try? JSONText(Data($0.utf8))?.read(ChangeState.self) }
    var last = LastSync(full: complete.date, incremental: state?.last)
    last.stored = last.completed
    if let begun = complete.begun, let end = complete.date,
      end.timeIntervalSince(begun) >= LastSync.notableSeconds
    {
      last.begun = begun
    }
    return last
  }
}

extension RecordStore {
  /// The total of a coverage, or if no page has one, that which the service has reported to a sync of the whole list that
  /// has not come to its end; `nil` if it is unknown.
  package func total(of coverage: Coverage) async throws(SourceError) -> Int? {
    guard coverage.totalOfCached == nil, coverage.depth == nil, coverage.cached > 0,
      let reported = try await unfinishedSync()?.total, reported > coverage.cached
    else { return coverage.total }
    return reported
  }

  /// True if a sync of the whole list has not come to its end.
  package func hasUnfinishedSync() async throws(SourceError) -> Bool {
    try await unfinishedSync() != nil
  }

  private func unfinishedSync() async throws(SourceError) -> SyncCheckpoint? {
    let prefix = "sync "
    let names = try await store.checkpoints(of: source, startingWith: prefix)
    // Those of partitions have a name more, and totals of their own.
    let passes = names.filter { !$0.key.dropFirst(prefix.count).contains(" ") }.values
      .compactMap { SyncCheckpoint($0, at: Date()) }
    return passes.max { $0.date < $1.date }
  }
}

extension Sync {
  /// The times of the last syncs of this source, complete or not.
  package func lastSync() async throws(SourceError) -> LastSync {
    let (store, source) = (recordStore.store, recordStore.source)
    var last = try await recordStore.lastSync()
    let checkpoint = try await store.checkpoint(checkpointName, of: source)
    let page = checkpoint.flatMap { text in
      SyncCheckpoint(text, at: now())?.date ?? SharedPass(text, at: now())?.progress.date
        ?? PartitionPass(text, at: now())?.date
    }
    // A sync that was not complete leaves its end only there.
    let ended = try await store.status(of: source).history?.syncedAt
    last.stored = [last.completed, page, ended].compactMap(\.self).max()
    return last
  }
}
