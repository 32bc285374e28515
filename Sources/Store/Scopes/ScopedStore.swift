package import AggregatorCore
package import AggregatorFoundation

/// The set of records that a source reads: those of another scope must not be shown.
package struct StoreScope: Sendable {
  /// A digest of what decides which records there are, and their IDs.
  let records: String

  /// The secrets with which they are read; `nil` if there are none, or one is not set.
  let secret: Secret?

  package init(records: String, secret: Secret? = nil) {
    self.records = records
    self.secret = secret
  }

  /// What tells the secret from others: too short to find out which of many guesses is right, and salted in the store,
  /// so that all machines that share it agree.
  fileprivate func fingerprint(_ salt: String) -> String? {
    secret.map { secret in
      let digest = secret.reveal { "\(salt)\0\($0)".fnv1a }
      return String(digest % (1 << 30), radix: 36)
    }
  }
}

/// A store that can keep what it has of a source under another name.
package protocol ScopeKeepingStore: Store {
  /// Keeps what is stored of a source as `kept`, and puts what was kept as `other`, if anything, in its place, in one
  /// transaction; does nothing if something is kept as `kept` already.
  func switchScope(
    of source: String, keepingAs kept: String, to other: String
  ) async throws(SourceError)
}

/// A store whose sources show only the records of their present scope.
///
/// Another scope, such as after a change of the path of the IDs, finds the records, pages, checkpoints and deletions that
/// were stored of it before; nothing is ever erased. Whose records a secret reads is not known before a page is fetched:
/// until then a secret that the store has never seen shows the last scope. It is adopted if that page has a record of
/// this scope, unchanged; otherwise another scope begins.
package struct ScopedStore<Base: ScopeKeepingStore>: Store {
  package let base: Base

  private let checks: Checks

  /// - Parameter scopes: Returns the scope of a source; `nil` for a source whose records always stay.
  package init(_ base: Base, scopes: @escaping @Sendable (_ source: String) -> StoreScope?) {
    self.base = base
    checks = Checks(scopes)
  }

  /// Makes the present scope of this source that of the store.
  package func prepare(_ source: String) async throws(SourceError) { try await check(source) }

  package func isOfUnknownSecret(_ source: String) async -> Bool { await checks.doubts(source) }

  private func check(
    _ source: String, before batch: StoreBatch? = nil, writes: Bool = false
  ) async throws(SourceError) {
    try await checks.run(for: source) {
      [base] scope, accepted async throws(SourceError) -> Checks.Finding in
      let choice = ScopeChoice(base: base, source: source, scope: scope)
      var found = try await choice.mark()
      if found == nil { found = try await choice.restored() }
      guard var mark = found else {
        // Reading creates no file.
        if writes { try await choice.begin() }
        return Checks.Finding()
      }
      // Another process may have chosen another scope meanwhile.
      if mark.text == accepted.mark, batch?.entries.isEmpty ?? true { return accepted }
      let salt = scope.secret == nil ? "" : try await choice.salt(isCreated: false)
      if !mark.isOf(scope, salt), let other = try await choice.switched(from: mark, salt) {
        guard let found = other else {
          if writes { try await choice.begin() }
          return Checks.Finding()
        }
        mark = found
      }
      guard !mark.isOf(scope, salt) else { return Checks.Finding(mark: mark.text) }
      guard let batch, !batch.entries.isEmpty else {
        return Checks.Finding(mark: mark.text, isDoubtful: true)
      }
      if try await choice.isKnown(batch, in: source) {
        try await choice.adopt(mark)
      } else if try await !choice.adopts(instead: mark, knowing: batch) {
        try await choice.keep(mark)
        try await choice.begin()
      }
      return Checks.Finding()
    }
  }
}

// MARK: - Mending

/// A set of records that is stored of a source.
package struct StoredScope: Sendable {
  /// Unique among the scopes of the source, such as `1b2c3~d4e5`.
  package let name: String
  /// True for the one that is shown.
  package let isShown: Bool
  /// The number of secrets that read it.
  package let secrets: Int
  package let status: StoreStatus

  fileprivate init(_ name: String, isShown: Bool, _ secrets: Int, _ status: StoreStatus) {
    self.name = name
    self.isShown = isShown
    self.secrets = secrets
    self.status = status
  }
}

/// A store whose sources have scopes.
package protocol ScopedRecords: Store {
  /// True if the source shows the records of the last secret, and whether they are those of the present one is not known.
  func isOfUnknownSecret(_ source: String) async -> Bool

  /// The scopes of a source, the shown one first.
  func scopes(of source: String) async throws(SourceError) -> [StoredScope]

  /// Shows a scope from now on, as that of the present secret; false if there is none with the name.
  ///
  /// - Throws: ``SourceError`` with code `invalidRequest` for a scope of other settings.
  func adopt(_ name: String, of source: String) async throws(SourceError) -> Bool

  /// Removes all records of a scope that is not shown; false if there is none with the name.
  func clearScope(_ name: String, of source: String) async throws(SourceError) -> Bool
}

extension ScopedStore: ScopedRecords {
  package func scopes(of source: String) async throws(SourceError) -> [StoredScope] {
    guard let choice = try await choice(for: source) else { return [] }
    var scopes: [StoredScope] = []
    if let mark = try await choice.mark() {
      let status = try await base.status(of: source)
      scopes.append(StoredScope(mark.name, isShown: true, mark.readers.count, status))
    }
    for mark in try await choice.kept() where mark.name != scopes.first?.name {
      let status = try await base.status(of: mark.name(of: source))
      scopes.append(StoredScope(mark.name, isShown: false, mark.readers.count, status))
    }
    return scopes
  }

  package func adopt(_ name: String, of source: String) async throws(SourceError) -> Bool {
    guard let choice = try await choice(for: source) else { return false }
    return try await choice.adopt(named: name)
  }

  package func clearScope(_ name: String, of source: String) async throws(SourceError) -> Bool {
    guard let choice = try await choice(for: source) else { return false }
    return try await choice.clear(named: name)
  }

  /// `nil` for a source without scopes.
  private func choice(for source: String) async throws(SourceError) -> ScopeChoice<Base>? {
    try await check(source)
    return checks.scopes(source).map { ScopeChoice(base: base, source: source, scope: $0) }
  }
}

/// The choice of a scope for one source.
private struct ScopeChoice<Base: ScopeKeepingStore>: Sendable {
  /// What a store notes of a scope.
  struct Mark: Hashable {
    let records: String
    /// The fingerprints of the secrets that read it, or, after ``disown(_:)``, have read it; empty if there is none.
    ///
    /// The first one is part of the name, so it stays.
    var secrets: [String]

    init(records: String, secrets: [String]) { (self.records, self.secrets) = (records, secrets) }

    init(_ text: String) {
      let parts = text.split(separator: "/", maxSplits: 1)
      self.init(
        records: String(parts.first ?? ""),
        secrets: parts.dropFirst().first?.split(separator: ",").map(String.init) ?? [])
    }

    var text: String { secrets.isEmpty ? records : "\(records)/\(secrets.joined(separator: ","))" }

    func isOf(_ scope: StoreScope, _ salt: String) -> Bool {
      guard records == scope.records else { return false }
      guard !secrets.isEmpty, let own = scope.fingerprint(salt) else { return true }
      return secrets.contains(own)
    }

    private static var disowned: String { "-" }

    /// The fingerprints of the secrets that read it.
    var readers: [String] { secrets.filter { !$0.hasPrefix(Self.disowned) } }

    /// Says that a secret reads another scope.
    mutating func disown(_ secret: String) {
      secrets = secrets.map { $0 == secret ? Self.disowned + $0 : $0 }
    }

    mutating func own(_ secret: String) {
      if let index = secrets.firstIndex(of: Self.disowned + secret) {
        secrets[index] = secret
      } else if !secrets.contains(secret) {
        secrets.append(secret)
      }
    }

    /// Takes a name that no other scope has.
    mutating func rename() {
      secrets.insert(Self.disowned + String(UInt32.random(in: .min ... .max), radix: 36), at: 0)
    }

    var name: String {
      records + (secrets.first.map { "~\($0.trimmingPrefix(Self.disowned))" } ?? "")
    }

    /// The name under which it is kept, which no source has.
    func name(of source: String) -> String { "\(source)@\(name)" }
  }

  let base: Base
  let source: String
  let scope: StoreScope

  private static var name: String { "scope" }

  /// The owners of the salt and of the list of kept scopes, which are no sources.
  private static var saltOwner: String { "@" }
  private var keptOwner: String { "\(source)@" }

  func mark() async throws(SourceError) -> Mark? {
    try await base.checkpoint(Self.name, of: source).map(Mark.init)
  }

  /// The salt of the store; empty if there is none and it is not created.
  func salt(isCreated: Bool) async throws(SourceError) -> String {
    let new = String(UInt64.random(in: .min ... .max), radix: 36)
    return try await shared(Self.saltOwner) { $0 ?? (isCreated ? new : nil) } ?? ""
  }

  /// Changes a text that all processes share, and returns it.
  ///
  /// Unlike ``Store/change(_:timed:)`` it creates no file if there is nothing to change.
  private func shared(
    _ owner: String, _ change: (String?) -> String?
  ) async throws(SourceError) -> String? {
    while true {
      let old = try await base.checkpoint(Self.name, of: owner)
      guard let new = change(old), new != old else { return old }
      let update = CheckpointUpdate(Self.name, from: old, to: new)
      let changes = try await base.save(
        StoreBatch([], page: nil, update: update), of: owner, at: Date())
      if changes.didMoveCheckpoint { return new }
    }
  }

  /// Notes the scope of what will be stored.
  func begin() async throws(SourceError) {
    let salt = scope.secret == nil ? "" : try await salt(isCreated: true)
    var mark = Mark(
      records: scope.records, secrets: [scope.fingerprint(salt)].compactMap(\.self))
    // A scope that this secret once read may be kept under its name.
    if try await kept().contains(where: { $0.name == mark.name }) { mark.rename() }
    try await write(mark, from: nil)
  }

  /// Notes that the secret reads this scope, too.
  func adopt(_ mark: Mark) async throws(SourceError) {
    var new = mark
    if let own = scope.fingerprint(try await salt(isCreated: true)) { new.own(own) }
    try await write(new, from: mark)
  }

  /// Shows a scope as that of the secret, which no other has from then on; false if there is none with the name.
  func adopt(named name: String) async throws(SourceError) -> Bool {
    var shown = try await mark()
    let other = try await kept().first { $0.name == name }
    guard shown?.name == name || other != nil else { return false }
    if let other, other.records != scope.records {
      throw SourceError(
        .invalidRequest, "the scope \(name) of \(source) was read with other settings",
        remedy: "change them back, such as its URL: its records come back with them")
    }
    if let own = scope.fingerprint(try await salt(isCreated: true)) {
      if let mark = shown, mark.name != name {
        shown?.disown(own)
        if let new = shown { try await write(new, from: mark) }
      }
      try await changeKept { marks in
        for index in marks.indices { marks[index].disown(own) }
      }
    }
    if shown?.name != name, let other { try await exchange(shown, for: other) }
    if let mark = try await mark() { try await adopt(mark) }
    return true
  }

  /// Removes what is kept of a scope; false if nothing is kept with the name.
  func clear(named name: String) async throws(SourceError) -> Bool {
    guard let mark = try await kept().first(where: { $0.name == name }) else { return false }
    try await base.clear(mark.name(of: source), forgetsDeleted: true)
    try await changeKept { $0.removeAll { $0.name == name } }
    return true
  }

  private func write(_ mark: Mark, from old: Mark?) async throws(SourceError) {
    let update = CheckpointUpdate(Self.name, from: old?.text, to: mark.text)
    _ = try await base.save(StoreBatch([], page: nil, update: update), of: source, at: Date())
  }

  /// Puts what is stored away, and nothing in its place.
  func keep(_ mark: Mark) async throws(SourceError) { try await exchange(mark, for: nil) }

  /// Puts what was stored of the scope in the place of another one; `nil` if the present one stays, because only its
  /// secret is unknown.
  func switched(from mark: Mark, _ salt: String) async throws(SourceError) -> Mark?? {
    let kept = try await kept()
    let own = kept.first { $0.isOf(scope, salt) }
    if own == nil, mark.records == scope.records { return .none }
    try await exchange(mark, for: own ?? kept.last { $0.records == scope.records })
    return .some(try await self.mark())
  }

  /// What was kept of the scope, in its place again, which is empty; `nil` if there is nothing.
  func restored() async throws(SourceError) -> Mark? {
    let kept = try await kept()
    guard !kept.isEmpty else { return nil }
    let salt = try await salt(isCreated: false)
    guard
      let own = kept.first(where: { $0.isOf(scope, salt) })
        ?? kept.last(where: { $0.records == scope.records })
    else { return nil }
    try await exchange(nil, for: own)
    return try await mark()
  }

  /// The scopes that are kept under other names.
  func kept() async throws(SourceError) -> [Mark] {
    Self.marks(in: try await shared(keptOwner) { $0 })
  }

  private static func marks(in text: String?) -> [Mark] {
    (text ?? "").split(separator: " ").map { Mark(String($0)) }
  }

  private func changeKept(_ change: (inout [Mark]) -> Void) async throws(SourceError) {
    _ = try await shared(keptOwner) { text in
      var marks = Self.marks(in: text)
      change(&marks)
      return marks.map(\.text).joined(separator: " ")
    }
  }

  private func exchange(_ mark: Mark?, for other: Mark?) async throws(SourceError) {
    // Noted before the change and forgotten after it: if the process ends in between, a scope is noted that is not kept,
    // which does no harm, but none is kept that is not noted.
    if let mark {
      try await changeKept { marks in
        marks.removeAll { $0.name == mark.name }
        marks.append(mark)
      }
    }
    // Without a mark nothing is there, but perhaps the source itself, cleared.
    let name = mark?.name(of: source) ?? "\(source)@\(UInt32.random(in: .min ... .max))"
    try await base.switchScope(of: source, keepingAs: name, to: other?.name(of: source) ?? "")
    guard let other else { return }
    try await changeKept { $0.removeAll { $0.name == other.name } }
  }

  /// Puts the kept scope in place of another one that has a record of a batch, and notes that the secret reads it;
  /// false if there is none.
  func adopts(
    instead mark: Mark, knowing batch: StoreBatch
  ) async throws(SourceError) -> Bool {
    for other in try await kept() where other.records == scope.records {
      guard try await isKnown(batch, in: other.name(of: source)) else { continue }
      try await exchange(mark, for: other)
      if let mark = try await self.mark() { try await adopt(mark) }
      return true
    }
    return false
  }

  /// True if a batch has a record that is stored under a name, unchanged.
  func isKnown(_ batch: StoreBatch, in name: String) async throws(SourceError) -> Bool {
    for entry in batch.entries {
      guard let stored = try await base.record(entry.id, of: name) else { continue }
      let merged = entry.mergedWithStored(stored.json)?.json ?? entry.json
      if merged == stored.json { return true }
    }
    return false
  }
}

/// Runs the checks of each source one after the other: the second of two could put away what was stored after the first.
private actor Checks {
  /// What a check has found.
  struct Finding {
    /// The mark of the scope that is right; `nil` if there is none yet.
    var mark: String?
    /// True if it is that of the last secret, because the present one is unknown.
    var isDoubtful = false
  }

  typealias Check =
    @Sendable (_ scope: StoreScope, _ last: Finding) async throws(SourceError) -> Finding

  nonisolated let scopes: @Sendable (String) -> StoreScope?
  private var running: [String: Task<Result<Finding, SourceError>, Never>] = [:]
  private var findings: [String: Finding] = [:]

  init(_ scopes: @escaping @Sendable (String) -> StoreScope?) {
    self.scopes = scopes
  }

  func doubts(_ source: String) -> Bool { findings[source]?.isDoubtful ?? false }

  func run(for source: String, _ check: @escaping Check) async throws(SourceError) {
    guard let scope = scopes(source) else { return }
    while let task = running[source] {
      _ = await task.value
      // It has ended, though whoever has started it may go on only later.
      if running[source] == task { running[source] = nil }
    }
    let last = findings[source] ?? Finding()
    let task = Task {
      await Result { () async throws(SourceError) in try await check(scope, last) }
    }
    running[source] = task
    let result = await task.value
    if running[source] == task { running[source] = nil }
    findings[source] = try result.get()
  }
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
    try await check(source, before: batch, writes: true)
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
    if try await base.status(of: source).deleted > 0 { try await check(source, writes: true) }
  }
}
