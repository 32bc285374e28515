import AggregatorKit
import Foundation

/// A store in memory some of whose functions are replaced.
struct FlawedStore: ScopeKeepingStore {
  typealias Save =
    @Sendable (
      _ base: InMemoryStore, _ batch: StoreBatch, _ source: String, _ date: Date
    ) async throws(SourceError) -> StoreChanges
  typealias Read =
    @Sendable (
      _ base: InMemoryStore, _ source: String, _ words: [FoldedText], _ position: Int64,
      _ limit: Int
    ) async throws(SourceError) -> RecordSlice

  var base = InMemoryStore()

  /// Changes the name of every source.
  var source: @Sendable (String) -> String = { $0 }
  var save: Save = { base, batch, source, date throws(SourceError) in
    try await base.save(batch, of: source, at: date)
  }
  var read: Read = { base, source, words, position, limit throws(SourceError) in
    try await base.records(of: source, matching: words, after: position, limit: limit)
  }
  /// Fails before a scope is switched.
  var checkSwitch: @Sendable () throws(SourceError) -> Void = {}
  /// False if pages keep the cursors of an old name.
  var dropsRenamedPages = true
  /// Changes the start of a search by rank.
  var start: @Sendable (RankedPosition?) -> RankedPosition? = { $0 }
  var page: @Sendable (CachedPage) -> CachedPage = { $0 }
  /// Runs before a checkpoint is read.
  var beforeCheckpoint: @Sendable () async -> Void = {}
  /// True for a key that begins with a prefix.
  var begins: @Sendable (_ key: String, _ prefix: String) -> Bool = {
    $0.utf8.starts(with: $1.utf8)
  }
  /// Changes the answer of a list of all deletions.
  var deletions: @Sendable ([StoredDeletion]) -> [StoredDeletion] = { $0 }
  /// False for a change of a shared value that gets lost.
  var keepsChange: @Sendable () -> Bool = { true }
  var status: @Sendable (StoreStatus) -> StoreStatus = { $0 }
  var forgetsDeleted: @Sendable (Bool) -> Bool = { $0 }
  var notifications: @Sendable (AsyncStream<Void>) -> AsyncStream<Void> = { $0 }

  func records(
    of source: String, matching words: [FoldedText], after position: Int64, limit: Int
  ) async throws(SourceError) -> RecordSlice {
    try await read(base, self.source(source), words, position, limit)
  }

  func records(
    of source: String, matching search: RankedSearch, after start: RankedPosition?, limit: Int
  ) async throws(SourceError) -> (slice: RecordSlice, last: SearchRank) {
    try await base.records(
      of: self.source(source), matching: search, after: self.start(start), limit: limit)
  }

  func record(_ id: String, of source: String) async throws(SourceError) -> StoredRecord? {
    try await base.record(id, of: self.source(source))
  }

  func page(_ key: String, of source: String) async throws(SourceError) -> CachedPage? {
    try await base.page(key, of: self.source(source)).map(page)
  }

  func pageKeys(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String] {
    try await base.pageKeys(of: self.source(source), startingWith: "").filter { begins($0, prefix) }
  }

  func state(
    of source: String, checkpoints names: [String]
  ) async throws(SourceError) -> StoredState {
    var state = try await base.state(of: self.source(source), checkpoints: names)
    state.status = status(state.status)
    return state
  }

  func checkpoint(_ name: String, of source: String) async throws(SourceError) -> String? {
    await beforeCheckpoint()
    return try await base.checkpoint(name, of: self.source(source))
  }

  func checkpoints(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String: String] {
    try await base.checkpoints(of: self.source(source), startingWith: prefix)
  }

  func save(
    _ batch: StoreBatch, of source: String, at date: Date
  ) async throws(SourceError) -> StoreChanges {
    try await save(base, batch, self.source(source), date)
  }

  func rename(
    _ names: [(old: String, new: String)], droppingPages dropsPages: Bool
  ) async throws(SourceError) {
    try checkSwitch()
    try await base.rename(names, droppingPages: dropsPages && dropsRenamedPages)
  }

  func names() async throws(SourceError) -> [String] { try await base.names() }

  func delete(
    _ ids: [String], of source: String, at date: Date
  ) async throws(SourceError) -> [String] {
    try await base.delete(ids, of: self.source(source), at: date)
  }

  func restore(_ ids: [String]?, of source: String) async throws(SourceError) -> [String] {
    try await base.restore(ids, of: self.source(source))
  }

  func deleted(among ids: [String], of source: String) async throws(SourceError) -> Set<RecordKey> {
    try await base.deleted(among: ids, of: self.source(source))
  }

  func deletions(
    of source: String, after id: String?, limit: Int
  ) async throws(SourceError) -> [StoredDeletion] {
    let all = try await base.deletions(of: self.source(source), after: nil, limit: .max)
    let ordered = deletions(all)
    let start = id.flatMap { id in ordered.firstIndex { $0.id == id } }.map { $0 + 1 } ?? 0
    return Array(ordered[start...].prefix(limit))
  }

  func change(
    _ key: String, timed body: @escaping @Sendable (String?, Date?) -> String?
  ) async throws(SourceError) {
    try await base.change(key) { text, date in
      body(text, date).flatMap { keepsChange() ? $0 : nil }
    }
  }

  func changeNotifications(of source: String) async -> AsyncStream<Void> {
    notifications(await base.changeNotifications(of: self.source(source)))
  }

  func status(of source: String) async throws(SourceError) -> StoreStatus {
    status(try await base.status(of: self.source(source)))
  }

  func clear(_ source: String, forgetsDeleted: Bool) async throws(SourceError) {
    try await base.clear(self.source(source), forgetsDeleted: self.forgetsDeleted(forgetsDeleted))
  }
}
