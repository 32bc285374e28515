public import AggregatorCore
public import AggregatorStore
import Synchronization

extension SQLiteStore {
  /// An element as soon as records of a source have changed by this store, and at most one `pollInterval` after they may
  /// have by another store or process.
  ///
  /// The file may be missing, created, moved or replaced meanwhile.
  public func changeNotifications(of source: String) async -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let own = listeners.stream(of: source)
    let watch = FileWatch(of: source, by: readers[0], report: continuation)
    await watch.examine()
    let polling = Task { [clock, pollInterval] in
      while (try? await clock.sleep(for: pollInterval, tolerance: pollInterval / 10)) != nil {
        await watch.examine()
      }
    }
    let listening = Task {
      for await _ in own {
        await watch.examine()
        // A change and its undoing look like none, but whoever made the first may show it.
        continuation.yield()
      }
    }
    continuation.onTermination = { _ in
      polling.cancel()
      listening.cancel()
    }
    return stream
  }

  public func revision(of source: String) async throws(SourceError) -> String? {
    let known = revisions.withLock { $0.bySource[RecordKey(source)] }
    let state = try await readers[0].state(of: source, since: known)
    revisions.withLock { $0.bySource[RecordKey(source)] = state }
    return state.contents?.revision(unrecorded: state.unrecorded) ?? ""
  }

  public func update(
    of source: String, since mark: RecordMark?
  ) async throws(SourceError) -> RecordUpdate? {
    // By the connection that tells of the revision, whose number is a part of it.
    try await readers[0].perform { connection throws(SQLiteFailure) in
      try connection.snapshot { connection throws(SQLiteFailure) in
        try connection.update(of: source, since: mark)
      }
    } ?? nil
  }
}

/// Tells of changes of one source in a store's file.
private actor FileWatch {
  private let source: String
  private let reader: StoreConnection
  private let report: AsyncStream<Void>.Continuation
  /// `nil` after a failure: something may have changed before the next examination.
  private var known: StoreFileState?

  /// The number of the last examination that began, and of the last one whose result was taken.
  private var lastBegun = 0
  private var lastTaken = 0

  init(
    of source: String, by reader: StoreConnection, report: AsyncStream<Void>.Continuation
  ) {
    self.source = source
    self.reader = reader
    self.report = report
  }

  /// Examines the file, and reports a change since the first time.
  func examine() async {
    lastBegun += 1
    let number = lastBegun
    let state = try? await reader.state(of: source, since: known)
    // They may overlap: an earlier state must not follow a later one.
    guard number > lastTaken else { return }
    let isFirst = lastTaken == 0
    lastTaken = number
    guard let state else { return }
    if !isFirst, known == nil || state.contents != known?.contents { report.yield() }
    known = state
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

  /// The number of replaced records that are not in the history: other details of a record are no change to be told of.
  var unrecorded: Int64 = 0
}

extension StoreFileState.Contents {
  fileprivate func revision(unrecorded: Int64) -> String {
    var hasher = Hasher()
    hasher.combine(deletions)
    return [
      Int64(connection), last, records, removedUpstream, lastChange, Int64(deletions.count),
      Int64(hasher.finalize()), unrecorded,
    ].map(String.init).joined(separator: " ")
  }
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
      // Changes from here on are found with the next version.
      var state = StoreFileState(connection: connection.number, version: version)
      try connection.snapshot { connection throws(SQLiteFailure) in
        state.contents = try connection.contents(of: source)
        guard let number = try connection.number(of: source) else { return }
        let text = try connection.checkpoint(UnrecordedChanges.name, of: number)
        state.unrecorded = UnrecordedChanges(text).count
      }
      return state
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

  /// Reads what has changed since a mark; the caller reads at one time.
  fileprivate mutating func update(
    of source: String, since mark: RecordMark?
  ) throws(SQLiteFailure) -> RecordUpdate? {
    guard let contents = try contents(of: source), let number = try number(of: source) else {
      return nil
    }
    let unrecorded = UnrecordedChanges(try checkpoint(UnrecordedChanges.name, of: number))
    var numbers = RecordNumbers(
      revision: contents.revision(unrecorded: unrecorded.count), source: number,
      last: contents.last, unrecorded: unrecorded)
    let deletions = try rows(
      """
      SELECT t.id, r.position
      FROM tombstones t LEFT JOIN records r ON r.source = t.source AND r.id = t.id
      WHERE t.source = ?1 AND r.removed_upstream IS NULL
      """, number
    ) { (id: $0.text(0) ?? "", position: $0.isNull(1) ? nil : $0.integer(1)) }
    for (id, position) in deletions { numbers.add(deleted: id, at: position) }
    numbers.store = contents.connection
    (numbers.records, numbers.removedUpstream) = (
      Int(contents.records), Int(contents.removedUpstream)
    )
    let history = try row("SELECT trimmed, last FROM history WHERE source = ?1", number) {
      (trimmed: $0.integer(0), last: $0.integer(1))
    }
    (numbers.trimmed, numbers.lastChange) = (history?.trimmed, history?.last)
    guard let mark else { return numbers.update(since: nil, [], hidden: []) }
    // Records that are still deleted have not changed, however many there are.
    let shown = mark.deleted.subtracting(numbers.deleted)
    let others = (unrecorded.positions + shown).map { JSON.integer(Int($0)) }
    let changed = try rows(
      """
      SELECT r.position, r.saved, r.json, r.removed_upstream,
        EXISTS (SELECT 1 FROM tombstones t WHERE t.source = r.source AND t.id = r.id), r.id
      FROM (
        SELECT position FROM changes WHERE number > ?2 AND number <= ?3
        UNION SELECT position FROM records WHERE position > ?4 AND position <= ?3
        UNION SELECT value FROM json_each(?5)) p
      JOIN records r ON r.position = p.position
      WHERE r.source = ?1 ORDER BY r.position LIMIT ?6
      """, number, mark.last.change, mark.range.end, mark.last.position,
      JSON.array(others).text, RecordUpdate.limit + 1
    ) { ChangedRow($0.text(5) ?? "", StoredRecord($0), isDeleted: $0.integer(4) != 0) }
    let hidden = try rows(
      "SELECT id FROM records WHERE position IN (SELECT value FROM json_each(?1))",
      JSON.array(numbers.newlyDeleted(since: mark).map { .integer(Int($0)) }).text
    ) { $0.text(0) ?? "" }
    return numbers.update(since: mark, changed, hidden: hidden)
  }
}
