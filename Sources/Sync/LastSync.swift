package import AggregatorCore
package import AggregatorFoundation
import AggregatorStore

/// The time of the last sync of a source.
package struct LastSync: Hashable, Sendable {
  /// The end of the last complete sync; `nil` if a later one has found that records may be missing.
  package var completed: Date?

  /// The time at which a sync last stored a page or came to its end, as far as that is known.
  package var stored: Date?
}

extension Sync {
  /// The time of the last sync of this source, by any process or machine that uses the store.
  package func lastSync() async throws(SourceError) -> LastSync {
    let (store, source) = (recordStore.store, recordStore.source)
    let completed = try await recordStore.completeSync()?.date
    let checkpoint = try await store.checkpoint(checkpointName, of: source)
    let page = checkpoint.flatMap { text in
      SyncCheckpoint(text, at: now())?.date ?? SharedPass(text, at: now())?.progress.date
    }
    // A sync that was not complete leaves its end only there.
    let ended = try await store.status(of: source).history?.syncedAt
    return LastSync(
      completed: completed, stored: [completed, page, ended].compactMap(\.self).max())
  }
}
