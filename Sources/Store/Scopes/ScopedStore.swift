package import AggregatorCore
package import AggregatorFoundation
package import AggregatorText
import Synchronization

/// A store that can keep what it has of a source under another name.
package protocol ScopeKeepingStore: SourceStore {
  /// Renames in one transaction, one after the other.
  ///
  /// Does not rename if nothing has the old name, or if something has the new one already.
  ///
  /// - Parameter dropsPages: True to drop the cached pages, whose cursors have the old name.
  func rename(
    _ names: [(old: String, new: String)], droppingPages dropsPages: Bool
  ) async throws(SourceError)

  /// The names under which something was stored, of sources and of their kept scopes, in any order.
  func names() async throws(SourceError) -> [String]

  /// True if standbys may answer what only reads records; false by default.
  var readsAtStandbys: Bool { get }

  /// True if every read looks at ``ExpectedScope/current`` in the same snapshot; false by default.
  var comparesScopes: Bool { get }

  /// Excludes standbys that have not replayed all that is stored now from answering later reads.
  func readNewest()
}

extension ScopeKeepingStore {
  /// Renames in one transaction: first the source to `kept`, then `other` to the source.
  package func switchScope(
    of source: String, keepingAs kept: String, to other: String
  ) async throws(SourceError) {
    try await rename([(source, kept), (other, source)], droppingPages: false)
  }

  package var readsAtStandbys: Bool { false }

  package var comparesScopes: Bool { false }

  package func readNewest() {}
}

/// The scope that a read expects to be shown.
package final class ExpectedScope: Sendable {
  /// That of the running task.
  @TaskLocal package static var current: ExpectedScope?

  /// The name of the checkpoint whose text is the mark of the scope that is shown.
  package static let checkpoint = ScopeRecord.checkpoint

  package let source: String
  private let mark: String
  /// `nil` until a read has looked.
  private let wasShown = Mutex<Bool?>(nil)

  fileprivate init(_ mark: String, of source: String) {
    self.source = source
    self.mark = mark
  }

  /// Takes note of the mark of the scope that a read has found; true if it is the expected one, as in all reads before.
  package func check(_ mark: String?) -> Bool {
    wasShown.withLock { wasShown in
      let isShown = mark == self.mark && wasShown != false
      wasShown = isShown
      return isShown
    }
  }

  /// Runs `body` with this expectation; `nil` if another scope was shown, or no read has looked.
  @_semantics("optimize.sil.specialize.generic.never")
  fileprivate func read<Value: Sendable>(
    _ body: () async throws(SourceError) -> Value
  ) async throws(SourceError) -> Value? {
    let result = await Self.$current.withValue(self) {
      do throws(SourceError) {
        return Result<Value, SourceError>.success(try await body())
      } catch {
        return .failure(error)
      }
    }
    let value = try result.get()
    return wasShown.withLock(\.self) == true ? value : nil
  }
}

/// A store whose sources show only the records of their present scope.
///
/// Another scope, such as after a change of the path of the IDs, finds the records, pages, checkpoints and deletions that
/// were stored of it before; nothing is ever erased. Whose records a secret reads is not known before a page is fetched:
/// until then a secret that the store has never seen shows the last scope. It is adopted if that page has a record of
/// this scope, unchanged; otherwise another scope begins.
package struct ScopedStore: SourceStore {
  package let base: any ScopeKeepingStore

  private let choices: ScopeChoices

  /// - Parameter scopes: Returns the scope of a source; `nil` for a source whose records always stay.
  package init(
    _ base: any ScopeKeepingStore,
    scopes: @escaping @Sendable (_ source: String) -> StoreScope?
  ) {
    self.base = base
    choices = ScopeChoices(in: base, scopes)
  }

  /// The same store with the scope of a source that is new, perhaps in the place of another one of its name: what still
  /// writes for that one, through its own store, writes into its own scope.
  package func replacing(_ source: String, with scope: StoreScope?) -> ScopedStore {
    ScopedStore(base) { [choices] name in name == source ? scope : choices.scopes(name) }
  }

  /// Makes the present scope of this source that of the store.
  package func prepare(_ source: String) async throws(SourceError) { try await checked(source) }

  /// True if the source shows the records of the last secret, and nobody knows whether they are those of the present one.
  package func isOfUnknownSecret(_ source: String) async -> Bool {
    await choices.isDoubtful(source)
  }

  /// The scopes of a source, the shown one first; those of a source that was removed, too.
  package func scopes(of source: String) async throws(SourceError) -> [ScopeStatus] {
    try await checked(source)
    return try await ScopeRecord(source: source, base: base).all()
  }

  /// Shows a scope from now on, as that of the present secret; false if there is none with the name.
  ///
  /// - Throws: ``SourceError`` with code `invalidRequest` for a scope of other settings.
  package func adopt(_ name: String, of source: String) async throws(SourceError) -> Bool {
    try await checked(source)
    return try await choices.choice(for: source)?.adopt(named: name) ?? false
  }

  /// Gives sources other names in one transaction, with all that is stored of them but the cached pages.
  ///
  /// - Throws: ``SourceError`` with code `invalidRequest` if something is stored under one of the new names.
  package func rename(_ names: [(old: String, new: String)]) async throws(SourceError) {
    let known = Set(try await base.names())
    var all: [(old: String, new: String)] = []
    for (old, new) in names where known.contains(old) || known.contains("\(old)@") {
      all += try await ScopeRecord(source: old, base: base)
        .renamings(to: ScopeRecord(source: new, base: base))
    }
    // Without a store none is created.
    if !all.isEmpty { try await base.rename(all, droppingPages: true) }
  }

  /// The names of the sources of which something was stored, in alphabetical order.
  package func sources() async throws(SourceError) -> [String] {
    try await base.names().filter { !$0.contains("@") }.sorted()
  }

  /// Removes all records of a scope that is not shown; false if there is none with the name.
  package func clearScope(_ name: String, of source: String) async throws(SourceError) -> Bool {
    try await checked(source)
    return try await ScopeRecord(source: source, base: base).clear(named: name)
  }

  /// Reads in the present scope of a source.
  ///
  /// A store that can compares it, in the same read, with that of the last call, which it nearly always still is.
  @_semantics("optimize.sil.specialize.generic.never")
  private func read<Answer: Sendable>(
    _ source: String, _ body: (any ScopeKeepingStore) async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    if base.comparesScopes, let mark = await choices.mark(of: source) {
      let answer = try await ExpectedScope(mark, of: source).read {
        () async throws(SourceError) in try await body(base)
      }
      if let answer { return answer }
    }
    return try await body(checked(source))
  }

  /// The store, once it shows the present scope of a source.
  @discardableResult
  private func checked(
    _ source: String, before batch: StoreBatch? = nil, writes: Bool = false
  ) async throws(SourceError) -> any ScopeKeepingStore {
    try await choices.make(for: source, before: batch, writes: writes)
    return base
  }
}

/// Makes the choices for each source one after the other: the second of two could put away what was stored after the
/// first.
private actor ScopeChoices {
  private let base: any ScopeKeepingStore
  fileprivate let scopes: @Sendable (String) -> StoreScope?
  private var choices: [String: ScopeChoice] = [:]
  private var running: [String: Task<Result<Void, SourceError>, Never>] = [:]
  private var findings: [String: ScopeFinding] = [:]

  init(in base: any ScopeKeepingStore, _ scopes: @escaping @Sendable (String) -> StoreScope?) {
    self.base = base
    self.scopes = scopes
  }

  func isDoubtful(_ source: String) -> Bool { findings[source]?.isDoubtful ?? false }

  /// The mark that the last call has found; `nil` if it is not known, or the source has no scopes.
  func mark(of source: String) -> String? { findings[source]?.mark }

  /// `nil` for a source without scopes.
  func choice(for source: String) -> ScopeChoice? {
    if let known = choices[source] { return known }
    choices[source] = scopes(source).map { ScopeChoice(source: source, scope: $0, base: base) }
    return choices[source]
  }

  func make(
    for source: String, before batch: StoreBatch?, writes: Bool
  ) async throws(SourceError) {
    guard let choice = choice(for: source) else { return }
    // Nearly always, and many may look at once.
    if batch == nil, let last = findings[source], try await choice.isCurrent(last, writes: writes) {
      return
    }
    // Each waits for the one before it: of all who wait for one, the last would go on first.
    let previous = running[source]
    let task = Task {
      _ = await previous?.value
      let last = findings[source] ?? ScopeFinding()
      return await Result { () async throws(SourceError) in
        findings[source] = try await choice.make(after: last, before: batch, writes: writes)
      }
    }
    running[source] = task
    let result = await task.value
    if running[source] == task { running[source] = nil }
    try result.get()
  }
}

extension ScopedStore {
  package func records(
    of source: String, matching words: [FoldedText], after position: Int64, limit: Int
  ) async throws(SourceError) -> RecordSlice {
    try await read(source) { base throws(SourceError) in
      try await base.records(of: source, matching: words, after: position, limit: limit)
    }
  }

  package func records(
    of source: String, matching search: RankedSearch, after start: RankedPosition?, limit: Int
  ) async throws(SourceError) -> (slice: RecordSlice, last: SearchRank) {
    try await read(source) { base throws(SourceError) in
      try await base.records(of: source, matching: search, after: start, limit: limit)
    }
  }

  package func records(
    of source: String, at positions: [Int64]
  ) async throws(SourceError) -> [StoredRecord] {
    try await read(source) { base throws(SourceError) in
      try await base.records(of: source, at: positions)
    }
  }

  package func record(
    _ id: String, of source: String
  ) async throws(SourceError) -> StoredRecord? {
    try await read(source) { base throws(SourceError) in
      try await base.record(id, of: source)
    }
  }

  package func ids(
    of source: String, startingWith prefix: String, limit: Int
  ) async throws(SourceError) -> [String] {
    try await read(source) { base throws(SourceError) in
      try await base.ids(of: source, startingWith: prefix, limit: limit)
    }
  }

  package func page(_ key: String, of source: String) async throws(SourceError) -> CachedPage? {
    try await read(source) { base throws(SourceError) in
      try await base.page(key, of: source)
    }
  }

  package func pageKeys(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String] {
    try await read(source) { base throws(SourceError) in
      try await base.pageKeys(of: source, startingWith: prefix)
    }
  }

  package func state(
    of source: String, checkpoints names: [String]
  ) async throws(SourceError) -> StoredState {
    try await read(source) { base throws(SourceError) in
      try await base.state(of: source, checkpoints: names)
    }
  }

  package func checkpoint(
    _ name: String, of source: String
  ) async throws(SourceError) -> String? {
    try await read(source) { base throws(SourceError) in
      try await base.checkpoint(name, of: source)
    }
  }

  package func checkpoints(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String: String] {
    try await read(source) { base throws(SourceError) in
      try await base.checkpoints(of: source, startingWith: prefix)
    }
  }

  package var isShared: Bool { base.isShared }

  package var capabilities: StoreCapabilities {
    var capabilities = base.capabilities
    capabilities.scopes = self
    return capabilities
  }

  package func save(
    _ batch: StoreBatch, of source: String, at date: Date
  ) async throws(SourceError) -> StoreChanges {
    try await checked(source, before: batch, writes: true).save(batch, of: source, at: date)
  }

  package func delete(
    _ ids: [String], of source: String, at date: Date
  ) async throws(SourceError) -> [String] {
    try await checked(source, writes: true).delete(ids, of: source, at: date)
  }

  package func restore(
    _ ids: [String]?, of source: String
  ) async throws(SourceError) -> [String] {
    try await checked(source).restore(ids, of: source)
  }

  package func deleted(
    among ids: [String], of source: String
  ) async throws(SourceError) -> Set<RecordKey> {
    try await read(source) { base throws(SourceError) in
      try await base.deleted(among: ids, of: source)
    }
  }

  package func deletions(
    of source: String, after id: String?, limit: Int
  ) async throws(SourceError) -> [StoredDeletion] {
    try await read(source) { base throws(SourceError) in
      try await base.deletions(of: source, after: id, limit: limit)
    }
  }

  package func change(
    _ key: String, timed body: @escaping @Sendable (String?, Date?) -> String?
  ) async throws(SourceError) { try await base.change(key, timed: body) }

  package func changes(
    of source: String, since start: HistoryStart, after position: Int64, limit: Int
  ) async throws(SourceError) -> ChangeSlice? {
    try await read(source) { base throws(SourceError) in
      try await base.changes(of: source, since: start, after: position, limit: limit)
    }
  }

  package func history(
    of id: String, in source: String, limit: Int
  ) async throws(SourceError) -> StoredHistory? {
    try await read(source) { base throws(SourceError) in
      try await base.history(of: id, in: source, limit: limit)
    }
  }

  package func clearHistory(of source: String) async throws(SourceError) {
    try await checked(source).clearHistory(of: source)
  }

  package func status(of source: String) async throws(SourceError) -> StoreStatus {
    try await read(source) { base throws(SourceError) in
      try await base.status(of: source)
    }
  }

  package func changeNotifications(of source: String) async -> AsyncStream<Void> {
    // A check that fails fails again with the next call, which can say so.
    _ = try? await checked(source)
    return await base.changeNotifications(of: source)
  }

  package func revision(of source: String) async throws(SourceError) -> String? {
    try await checked(source).revision(of: source)
  }

  package func update(
    of source: String, since mark: RecordMark?
  ) async throws(SourceError) -> RecordUpdate? {
    try await checked(source).update(of: source, since: mark)
  }

  package func clear(_ source: String, forgetsDeleted: Bool) async throws(SourceError) {
    try await checked(source)
    let record = ScopeRecord(source: source, base: base)
    let shown = try await record.shown()
    try await base.clear(source, forgetsDeleted: forgetsDeleted)
    // The deletions that stay are still those of its secrets, whoever clears it.
    if let shown { try await record.write(shown, from: nil) }
  }
}
