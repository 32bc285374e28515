package import AggregatorCore
package import AggregatorFoundation

/// The set of records that a source reads: records of another scope must not be shown.
package struct StoreScope: Hashable, Sendable {
  /// A digest of what decides which records there are, and their IDs.
  let records: String

  /// A digest of the account that sees them; `nil` if it is not known.
  let account: String?

  package init(records: String, account: String? = nil) {
    self.records = records
    self.account = account
  }

  fileprivate init(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1)
    self.init(records: String(parts.first ?? ""), account: parts.dropFirst().first.map(String.init))
  }

  fileprivate var text: String { account.map { "\(records)/\($0)" } ?? records }
}

/// A store whose sources keep only the records of their present scope.
///
/// If a source has another scope than when its records were stored, such as after a change of the path
/// of its IDs, its records, pages, checkpoints and deletions are removed before anything is read or written.
/// Deletions stay if only the account is another.
package struct ScopedStore<Base: Store>: Store {
  package let base: Base

  private let checks: Checks

  /// `scopes` returns the scope of a source; `nil` for a source whose records always stay.
  package init(
    _ base: Base, scopes: @escaping @Sendable (_ source: String) -> StoreScope?
  ) {
    self.base = base
    checks = Checks(scopes)
  }

  private static var mark: String { "scope" }

  /// Removes what belongs to another scope of this source.
  package func prepare(_ source: String) async throws(SourceError) {
    try await check(source, writes: false)
  }

  private func check(_ source: String, writes: Bool = false) async throws(SourceError) {
    try await checks.once(for: source) { [base] scope async throws(SourceError) -> Bool in
      let stored = try await base.checkpoint(Self.mark, of: source)
      guard let stored else {
        // Reading creates no file.
        if writes { try await Self.mark(scope, of: source, in: base) }
        return writes
      }
      let old = StoreScope(stored)
      if old.records != scope.records {
        try await base.clear(source, forgetsDeleted: true)
        try await Self.mark(scope, of: source, in: base)
      } else if let account = scope.account, account != old.account {
        if old.account != nil { try await base.clear(source, forgetsDeleted: false) }
        let left = try await base.checkpoint(Self.mark, of: source)
        try await Self.mark(scope, of: source, from: left, in: base)
      }
      return true
    }
  }

  private static func mark(
    _ scope: StoreScope, of source: String, from stored: String? = nil, in base: Base
  ) async throws(SourceError) {
    let update = CheckpointUpdate(mark, from: stored, to: scope.text)
    _ = try await base.save(StoreBatch([], page: nil, update: update), of: source, at: Date())
  }
}

/// Runs the check of each source once, however many calls wait for it.
private actor Checks {
  typealias Check = @Sendable (_ scope: StoreScope) async throws(SourceError) -> Bool

  private let scopes: @Sendable (String) -> StoreScope?
  private var running: [String: Task<Result<Bool, SourceError>, Never>] = [:]

  init(_ scopes: @escaping @Sendable (String) -> StoreScope?) {
    self.scopes = scopes
  }

  /// `check` returns true if it need not run again.
  func once(for source: String, _ check: @escaping Check) async throws(SourceError) {
    // One after the other: the second of two checks could remove what was stored after the first.
    while let task = running[source] {
      if try await task.value.get() { return }
      if running[source] == task { running[source] = nil }
    }
    guard let scope = scopes(source) else { return }
    let task = Task { await Result { () async throws(SourceError) in try await check(scope) } }
    running[source] = task
    let result = await task.value
    if case .success(true) = result { return }
    if running[source] == task { running[source] = nil }
    _ = try result.get()
  }

  func forget(_ source: String) { running[source] = nil }
}

extension ScopedStore {
  package func records(
    of source: String, matching words: [FoldedText], after position: Int64, limit: Int
  ) async throws(SourceError) -> StoredSlice {
    try await check(source)
    return try await base.records(of: source, matching: words, after: position, limit: limit)
  }

  package func records(
    of source: String, matching search: RankedSearch, after start: RankedPosition?, limit: Int
  ) async throws(SourceError) -> (slice: StoredSlice, last: SearchRank) {
    try await check(source)
    return try await base.records(of: source, matching: search, after: start, limit: limit)
  }

  package func record(
    _ id: String, of source: String
  ) async throws(SourceError) -> StoredRecord? {
    try await check(source)
    return try await base.record(id, of: source)
  }

  package func ids(
    of source: String, startingWith prefix: String, limit: Int
  ) async throws(SourceError) -> [String] {
    try await check(source)
    return try await base.ids(of: source, startingWith: prefix, limit: limit)
  }

  package func page(_ key: String, of source: String) async throws(SourceError) -> StoredPage? {
    try await check(source)
    return try await base.page(key, of: source)
  }

  package func pageKeys(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String] {
    try await check(source)
    return try await base.pageKeys(of: source, startingWith: prefix)
  }

  package func fetchedPages(
    of source: String
  ) async throws(SourceError) -> [(key: String, page: FetchedPage)] {
    try await check(source)
    return try await base.fetchedPages(of: source)
  }

  package func checkpoint(
    _ name: String, of source: String
  ) async throws(SourceError) -> String? {
    try await check(source)
    return try await base.checkpoint(name, of: source)
  }

  package var isShared: Bool { base.isShared }

  package func save(
    _ batch: StoreBatch, of source: String, at date: Date
  ) async throws(SourceError) -> StoreChanges {
    try await check(source, writes: true)
    return try await base.save(batch, of: source, at: date)
  }

  package func delete(
    _ ids: [String], of source: String, at date: Date
  ) async throws(SourceError) -> [String] {
    try await check(source, writes: true)
    return try await base.delete(ids, of: source, at: date)
  }

  package func restore(
    _ ids: [String]?, of source: String
  ) async throws(SourceError) -> [String] {
    try await check(source)
    return try await base.restore(ids, of: source)
  }

  package func deleted(
    among ids: [String], of source: String
  ) async throws(SourceError) -> Set<RecordKey> {
    try await check(source)
    return try await base.deleted(among: ids, of: source)
  }

  package func deletions(
    of source: String, after id: String?, limit: Int
  ) async throws(SourceError) -> [StoredDeletion] {
    try await check(source)
    return try await base.deletions(of: source, after: id, limit: limit)
  }

  package func change(
    _ key: String, timed body: @escaping @Sendable (String?, Date?) -> String?
  ) async throws(SourceError) { try await base.change(key, timed: body) }

  package func changes(
    of source: String, since start: HistoryStart, after position: Int64, limit: Int
  ) async throws(SourceError) -> StoredChanges? {
    try await check(source)
    return try await base.changes(of: source, since: start, after: position, limit: limit)
  }

  package func clearHistory(of source: String) async throws(SourceError) {
    try await check(source)
    try await base.clearHistory(of: source)
  }

  package func status(of source: String) async throws(SourceError) -> StoreStatus {
    try await check(source)
    return try await base.status(of: source)
  }

  package func changeNotifications(of source: String) async -> AsyncStream<Void> {
    // A check that fails fails again with the next call, which can say so.
    try? await check(source)
    return await base.changeNotifications(of: source)
  }

  package func clear(_ source: String, forgetsDeleted: Bool) async throws(SourceError) {
    try await check(source)
    try await base.clear(source, forgetsDeleted: forgetsDeleted)
    // Deletions that stay still belong to the scope.
    await checks.forget(source)
    if try await base.status(of: source).deleted > 0 { try await check(source, writes: true) }
  }
}
