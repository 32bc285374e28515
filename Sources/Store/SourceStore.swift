public import AggregatorCore
public import AggregatorFoundation
public import AggregatorText

/// Durable storage of all sources: their records, pages, checkpoints and deletions.
///
/// A store handles records as an ID and JSON; ``RecordStore`` is the typed view of one source.
/// ``SQLiteStore`` keeps everything in one file; another implementation may be a server.
///
/// ## Requirements
///
/// 1. Every call is atomic, also across processes.
/// 2. Saved data survives a crash of the process.
/// 3. A record keeps its position in first-seen order, whatever happens to it; the first sync of all records gives
///    those saved before it a new one.
/// 4. Unchanged records are not written again.
/// 5. Failures are ``SourceError`` with code `storage`, or `busy` if a lock times out.
public protocol SourceStore: Sendable {
  /// Records in first-seen order, without deleted ones and ones removed upstream.
  ///
  /// All of the folded `words` must occur in a record's text; none for all records. The slice begins
  /// after `position`, 0 for the start, and has at most `limit` records, 1 or more.
  func records(
    of source: String, matching words: [FoldedText], after position: Int64, limit: Int
  ) async throws(SourceError) -> RecordSlice

  /// Records as of the search above, but by rank first, and the rank of the last one.
  ///
  /// By default all have the same rank. The slice has a total only at the start, `nil`.
  func records(
    of source: String, matching search: RankedSearch, after start: RankedPosition?, limit: Int
  ) async throws(SourceError) -> (slice: RecordSlice, last: SearchRank)

  /// The records at these positions, in the order of the positions, without deleted ones and ones removed upstream.
  ///
  /// By default each of them is read for itself.
  func records(
    of source: String, at positions: [Int64]
  ) async throws(SourceError) -> [StoredRecord]

  /// A record, even if it is deleted or removed upstream; `nil` if it was never stored.
  func record(_ id: String, of source: String) async throws(SourceError) -> StoredRecord?

  /// The IDs of records that start with `prefix`, without deleted ones and ones removed upstream; none by default.
  ///
  /// They are the first in the order of their UTF-8 bytes, at most `limit`, 1 or more. With them the beginning
  /// of an ID names a record.
  func ids(
    of source: String, startingWith prefix: String, limit: Int
  ) async throws(SourceError) -> [String]

  /// A page of the service with its records as they are now; `nil` if it is not cached.
  func page(_ key: String, of source: String) async throws(SourceError) -> CachedPage?

  /// The keys of cached pages that start with `prefix`, in any order; none by default.
  ///
  /// With them a cached page also answers requests for fewer records.
  func pageKeys(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String]

  /// The status of a source, its cached pages without their records, and its checkpoints of these names, all of one moment.
  func state(
    of source: String, checkpoints names: [String]
  ) async throws(SourceError) -> StoredState

  /// The text of a checkpoint; `nil` if there is none.
  func checkpoint(_ name: String, of source: String) async throws(SourceError) -> String?

  /// The names and texts of the checkpoints whose names start with `prefix`, in any order; none by default.
  func checkpoints(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String: String]

  /// True if the programs that use the store may run on different machines; `false` by default.
  ///
  /// A sync then shares its work with those of other machines.
  var isShared: Bool { get }

  /// The optional abilities of this store; none by default.
  var capabilities: StoreCapabilities { get }

  /// Saves a batch in one transaction, unless its ``StoreBatch/decision`` refuses it.
  func save(
    _ batch: StoreBatch, of source: String, at date: Date
  ) async throws(SourceError) -> StoreChanges

  /// Marks IDs as deleted, stored or not, and returns those that were not deleted before.
  func delete(
    _ ids: [String], of source: String, at date: Date
  ) async throws(SourceError) -> [String]

  /// Undoes the deletion of IDs, or of all of the source's if `ids` is `nil`, and returns those that were
  /// deleted before.
  func restore(_ ids: [String]?, of source: String) async throws(SourceError) -> [String]

  /// The subset of `ids` that is deleted.
  func deleted(among ids: [String], of source: String) async throws(SourceError) -> Set<RecordKey>

  /// The IDs marked as deleted that follow `id`, `nil` for the start, in the order of their UTF-8 bytes, and
  /// at most `limit`, 1 or more.
  func deletions(
    of source: String, after id: String?, limit: Int
  ) async throws(SourceError) -> [StoredDeletion]

  /// Atomically updates a string shared by all processes.
  ///
  /// `body` receives the text, `nil` at first, and returns the new one; `nil` to leave it unchanged.
  /// It may be called more than once; the last call counts. Its second argument is the store's own time, by
  /// which different machines agree; `nil` if the store has no clock of its own.
  func change(
    _ key: String, timed body: @escaping @Sendable (String?, Date?) -> String?
  ) async throws(SourceError)

  /// The records that may have changed since a point of their history, without deleted ones; `nil` if
  /// nothing is known of it, as by default.
  ///
  /// The slice begins after `position`, 0 for the start, and has at most `limit` records, 1 or more.
  func changes(
    of source: String, since start: HistoryStart, after position: Int64, limit: Int
  ) async throws(SourceError) -> ChangeSlice?

  /// The known past of a record, at most `limit` changes, 1 or more; `nil` if the record is not stored or
  /// no history is kept, as by default.
  func history(
    of id: String, in source: String, limit: Int
  ) async throws(SourceError) -> StoredHistory?

  /// Removes the history of a source: all its changes, but no record.
  func clearHistory(of source: String) async throws(SourceError)

  /// An element whenever records of a source may have changed, by this process or another; it ends at once if
  /// the store cannot tell, as by default.
  ///
  /// A change is that a record is added, changed, deleted, restored, removed upstream or cleared; a page that is
  /// fetched again without changes is none. A change that follows the return of this call is notified; so that
  /// none is missed, listen first and read then:
  ///
  /// ```swift
  /// for await _ in await store.changeNotifications(of: "heroes") {
  ///   // Read the list again.
  /// }
  /// ```
  ///
  /// Elements are coalesced: one stands for all changes since the last. After a failure of the store one may be
  /// without a change, because something may have been missed. Cancelling the task, or dropping the stream and
  /// its iterator, ends it.
  func changeNotifications(of source: String) async -> AsyncStream<Void>

  /// A text that is another one after every change as ``changeNotifications(of:)`` tells of; `nil` if the store cannot
  /// tell, as by default.
  ///
  /// Results computed from the records hold as long as it is the same. It means nothing to another process.
  func revision(of source: String) async throws(SourceError) -> String?

  /// The changes since an update, as ``revision(of:)`` tells of, read at one time; `nil` if that is not known, as by
  /// default. The first one, without a mark, has no records.
  ///
  /// Whoever has all records at a mark has them at the next one: without those that are outdated, and with those of the update.
  func update(
    of source: String, since mark: RecordMark?
  ) async throws(SourceError) -> RecordUpdate?

  func status(of source: String) async throws(SourceError) -> StoreStatus

  /// Removes a source's records, pages, checkpoints and history. Their positions are never reused.
  ///
  /// `forgetsDeleted` also clears the marks of deletion.
  func clear(_ source: String, forgetsDeleted: Bool) async throws(SourceError)
}

extension SourceStore {
  public var isShared: Bool { false }

  public var capabilities: StoreCapabilities { StoreCapabilities() }

  public func ids(
    of source: String, startingWith prefix: String, limit: Int
  ) async throws(SourceError) -> [String] { [] }

  public func pageKeys(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String] { [] }

  public func checkpoints(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String: String] { [:] }

  public func changes(
    of source: String, since start: HistoryStart, after position: Int64, limit: Int
  ) async throws(SourceError) -> ChangeSlice? { nil }

  public func history(
    of id: String, in source: String, limit: Int
  ) async throws(SourceError) -> StoredHistory? { nil }

  public func clearHistory(of source: String) async throws(SourceError) {}

  public func changeNotifications(of source: String) async -> AsyncStream<Void> {
    AsyncStream { $0.finish() }
  }

  public func revision(of source: String) async throws(SourceError) -> String? { nil }

  public func update(
    of source: String, since mark: RecordMark?
  ) async throws(SourceError) -> RecordUpdate? { nil }

  public func records(
    of source: String, at positions: [Int64]
  ) async throws(SourceError) -> [StoredRecord] {
    var found: [StoredRecord] = []
    for position in positions {
      let next = try await records(of: source, matching: [], after: position - 1, limit: 1)
      found += next.records.filter { $0.position == position }
    }
    return found
  }
}

extension SourceStore {
  /// Atomically updates a string shared by all processes, by a change that needs no time.
  public func change(
    _ key: String, _ body: @escaping @Sendable (String?) -> String?
  ) async throws(SourceError) {
    try await change(key) { text, _ in body(text) }
  }
}

extension SharedState {
  /// The state of a source that all processes share through a store.
  public init(
    of source: String, in store: any SourceStore, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.init(of: source, now: now) { key, body throws(SourceError) in
      try await store.change(key, timed: body)
    }
  }
}
