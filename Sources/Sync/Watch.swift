public import AggregatorCore
public import AggregatorStore

/// Syncs a source again and again, and tells when its records have changed.
public struct Watch<Item: SourceRecord>: Sendable {
  /// The news after a sync.
  public enum News: Hashable, Sendable {
    /// The first sync of the source is complete.
    case began
    /// Records may have changed since this point, the end of the last news.
    case changes(since: HistoryMark)
  }

  private let recordStore: RecordStore<Item>
  private let interval: Duration
  private let clock: any Clock<Duration>

  /// - Parameter interval: The pause between the end of a round and the start of the next.
  public init(
    _ recordStore: RecordStore<Item>, every interval: Duration, on clock: any Clock<Duration>
  ) {
    self.recordStore = recordStore
    self.interval = interval
    self.clock = clock
  }

  /// Runs until the task is cancelled, or a closure throws something else than a ``SourceError``.
  ///
  /// Such an error goes to `failed`, and the next round reports the same news. A sync that failed in the middle
  /// is news, too: it has saved some pages. A change that another process saves while news are read may be
  /// reported twice, but never goes unreported.
  public func run(
    sync: () async throws -> Void, report: (News) async throws -> Void,
    failed: (SourceError) -> Void
  ) async throws {
    // News that a standby does not have yet would never be reported.
    try await ReadPreference.$current.withValue(.primary) {
      try await repeated(sync: sync, report: report, failed: failed)
    }
  }

  private func repeated(
    sync: () async throws -> Void, report: (News) async throws -> Void,
    failed: (SourceError) -> Void
  ) async throws {
    var reported: HistoryMark?
    while true {
      do {
        if reported == nil { reported = try await end() }
        try await sync()
        if let now = try await end() {
          try await report(reported.map { .changes(since: $0) } ?? .began)
          reported = now
        }
      } catch let error as SourceError where error.code != .cancelled {
        failed(error)
      }
      try await clock.sleep(for: interval)
    }
  }

  /// The end of the history; `nil` before the first sync is complete.
  private func end() async throws(SourceError) -> HistoryMark? {
    let history = try await recordStore.store.status(of: recordStore.source).history
    return history?.syncedAt == nil ? nil : history?.mark
  }
}
