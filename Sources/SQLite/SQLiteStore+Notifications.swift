public import AggregatorCore
import AggregatorStore
import Synchronization

extension SQLiteStore {
  /// An element at most one `pollInterval` after records of a source may have changed, also by another process.
  ///
  /// The file may be missing, created, moved or replaced meanwhile.
  public func changeNotifications(of source: String) async -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    // `nil` after a failure: something may have changed before the next poll.
    let start = try? await readers[0].state(of: source)
    let polling = Task { [reader = readers[0], clock, pollInterval] in
      var known = start
      while (try? await clock.sleep(for: pollInterval, tolerance: pollInterval / 10)) != nil {
        guard let state = try? await reader.state(of: source, since: known) else { continue }
        if known == nil || state.contents != known?.contents { continuation.yield() }
        known = state
      }
    }
    continuation.onTermination = { _ in polling.cancel() }
    return stream
  }

  public func revision(of source: String) async throws(SourceError) -> String? {
    let known = revisions.withLock { $0[RecordKey(source)] }
    let state = try await readers[0].state(of: source, since: known)
    revisions.withLock { $0[RecordKey(source)] = state }
    guard let contents = state.contents else { return "" }
    var deletions = Hasher()
    deletions.combine(contents.deletions)
    return [
      Int64(contents.connection), contents.last, contents.records, contents.removedUpstream,
      contents.lastChange, Int64(contents.deletions.count), Int64(deletions.finalize()),
    ].map(String.init).joined(separator: " ")
  }
}

/// The state of a store's file when it was last examined.
struct StoreFileState: Sendable {
  /// Numbers of a source of which at least one is another after any change of its records and deletions.
  struct Contents: Equatable, Sendable {
    /// That of the connection: another file may have replaced the one that it was opened to.
    let connection: Int
    let last: Int64
    let records: Int64
    let removedUpstream: Int64
    /// Counts the changes of stored records.
    let lastChange: Int64
    let deletions: Set<RecordKey>
  }

  /// The number of the connection; 0 if there is no file.
  var connection = 0

  /// SQLite's number of the last change by another connection.
  var version: Int64 = 0

  /// `nil` if the source has no records and deletions.
  var contents: Contents?
}

extension StoreConnection {
  /// Examines the file, and reads the numbers of a source only if it has changed.
  fileprivate func state(
    of source: String, since known: StoreFileState? = nil
  ) throws(SourceError) -> StoreFileState {
    keepLocked()
    let state = try perform { connection throws(SQLiteFailure) in
      let version = try connection.row("PRAGMA data_version") { $0.integer(0) } ?? 0
      if let known, known.connection == connection.number, known.version == version { return known }
      // What is changed from here on is found with the next version.
      let contents = try connection.snapshot { connection throws(SQLiteFailure) in
        try connection.contents(of: source)
      }
      return StoreFileState(
        connection: connection.number, version: version, contents: contents)
    }
    return state ?? StoreFileState()
  }
}

extension Connection {
  fileprivate mutating func contents(
    of source: String
  ) throws(SQLiteFailure) -> StoreFileState.Contents? {
    guard let number = try number(of: source) else { return nil }
    let deletions = try rows("SELECT id FROM tombstones WHERE source = ?1", number) {
      RecordKey($0.text(0) ?? "")
    }
    let connection = self.number
    let contents = try row(
      """
      SELECT last, records, removed_upstream,
        coalesce((SELECT last FROM history WHERE source = ?1), 0)
      FROM sources WHERE number = ?1
      """, number
    ) { row in
      StoreFileState.Contents(
        connection: connection, last: row.integer(0), records: row.integer(1),
        removedUpstream: row.integer(2), lastChange: row.integer(3), deletions: Set(deletions))
    }
    return contents.flatMap { $0.records > 0 || !$0.deletions.isEmpty ? $0 : nil }
  }
}
