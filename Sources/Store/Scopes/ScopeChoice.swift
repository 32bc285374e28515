import AggregatorCore
import AggregatorFoundation

/// The choice of the scope that a source shows.
struct ScopeChoice: Sendable {
  let source: String
  let scope: StoreScope
  let base: any ScopeKeepingStore

  private var record: ScopeRecord { ScopeRecord(source: source, base: base) }

  /// True if the store still shows what the last call has found; beside standbys, only ``make`` can tell before a write.
  func isCurrent(_ last: ScopeFinding, writes: Bool) async throws(SourceError) -> Bool {
    guard let mark = last.mark, !writes || !base.readsAtStandbys else { return false }
    return try await shownToReaders()?.text == mark
  }

  /// The mark of the records that are read: those of a standby have its own, which may be another one than that of the
  /// primary.
  private func shownToReaders() async throws(SourceError) -> ScopeMark? {
    guard base.readsAtStandbys, ReadPreference.current == .standard else {
      return try await record.shown()
    }
    return try await ReadPreference.standby.apply { () async throws(SourceError) in
      try await record.shown()
    }
  }

  /// Makes the scope of these settings the shown one, as far as it is known.
  ///
  /// - Parameters:
  ///   - last: The result of the last call.
  ///   - batch: Records that will be saved then, by which a secret that is new tells whose it is.
  ///   - writes: True if something will be saved then: reading creates no file.
  func make(
    after last: ScopeFinding, before batch: StoreBatch?, writes: Bool
  ) async throws(SourceError) -> ScopeFinding {
    guard base.readsAtStandbys, ReadPreference.current == .standard else {
      return try await choose(after: last, before: batch, writes: writes)
    }
    let there = batch == nil && !writes ? try await shownToReaders() : nil
    if let there, there.text == last.mark { return last }
    let finding = try await ReadPreference.primary.apply { () async throws(SourceError) in
      try await choose(after: last, before: batch, writes: writes)
    }
    if finding.mark != there?.text { base.readNewest() }
    return finding
  }

  private func choose(
    after last: ScopeFinding, before batch: StoreBatch?, writes: Bool
  ) async throws(SourceError) -> ScopeFinding {
    let batch = batch.flatMap { $0.entries.isEmpty ? nil : $0 }
    var shown = try await record.shown()
    // Another process may have chosen another scope meanwhile.
    if let shown, shown.text == last.mark, batch == nil { return last }
    let salt = scope.secret == nil ? "" : try await record.salt(isCreated: false)
    if !(shown?.isOf(scope, salt) ?? false) { shown = try await found(insteadOf: shown, salt) }
    guard let mark = shown else {
      if writes { try await begin() }
      return ScopeFinding()
    }
    guard !mark.isOf(scope, salt) else { return ScopeFinding(mark: mark.text) }
    guard let batch else { return ScopeFinding(mark: mark.text, isDoubtful: true) }
    if try await !adopts(mark, knowing: batch) {
      try await record.exchange(mark, for: nil)
      try await begin()
    }
    return ScopeFinding()
  }

  /// Shows a scope as that of the secret, which no other has from then on; false if there is none with the name.
  ///
  /// - Throws: ``SourceError`` with code `invalidRequest` for a scope of other settings.
  func adopt(named name: String) async throws(SourceError) -> Bool {
    let shown = try await record.shown()
    if let shown, shown.name == name {
      try await add(to: shown)
      return true
    }
    guard let other = try await record.kept().first(where: { $0.name == name }) else {
      return false
    }
    guard other.records == scope.records else {
      throw SourceError(
        .invalidRequest, "the scope \(name) was read with other settings",
        remedy: "change them back, such as its URL: its records come back with them")
    }
    if let shown, let own = scope.fingerprint(try await record.salt(isCreated: true)) {
      var former = shown
      former.remove(own)
      if former != shown { try await record.write(former, from: shown) }
    }
    try await show(other, insteadOf: shown)
    return true
  }

  /// The scope of these settings among those that are kept, now shown; `nil` if there is none.
  ///
  /// If only the secret is unknown, it is the one that another secret read last.
  private func found(
    insteadOf shown: ScopeMark?, _ salt: String
  ) async throws(SourceError) -> ScopeMark? {
    let kept = try await record.kept()
    let own = kept.first { $0.isOf(scope, salt) }
    if own == nil, let shown, shown.records == scope.records { return shown }
    let other = own ?? kept.last { $0.records == scope.records }
    guard shown != nil || other != nil else { return nil }
    try await record.exchange(shown, for: other)
    return try await record.shown()
  }

  /// Begins a scope, of nothing yet.
  private func begin() async throws(SourceError) {
    let salt = scope.secret == nil ? "" : try await record.salt(isCreated: true)
    var mark = ScopeMark(records: scope.records, secret: scope.fingerprint(salt))
    // A scope that this secret once read may have the name.
    if try await record.kept().contains(where: { $0.name == mark.name }) { mark.rename() }
    try await record.write(mark, from: nil)
  }

  /// Shows the scope that has a record of a batch, unchanged, as that of the secret; false if none has.
  private func adopts(
    _ shown: ScopeMark, knowing batch: StoreBatch
  ) async throws(SourceError) -> Bool {
    if try await has(batch, source) {
      try await add(to: shown)
      return true
    }
    for other in try await record.kept() where other.records == scope.records {
      guard try await has(batch, record.keptName(other)) else { continue }
      try await show(other, insteadOf: shown)
      return true
    }
    return false
  }

  /// True if a record of a batch is stored under a name, unchanged.
  private func has(_ batch: StoreBatch, _ name: String) async throws(SourceError) -> Bool {
    for entry in batch.entries {
      guard let stored = try await base.record(entry.id, of: name) else { continue }
      let merged = entry.mergedWithStored(stored.json)?.json ?? entry.json
      if merged == stored.json { return true }
    }
    return false
  }

  private func show(
    _ other: ScopeMark, insteadOf shown: ScopeMark?
  ) async throws(SourceError) {
    try await record.exchange(shown, for: other)
    if let mark = try await record.shown() { try await add(to: mark) }
  }

  /// Notes that the secret reads the shown scope.
  private func add(to shown: ScopeMark) async throws(SourceError) {
    guard let own = scope.fingerprint(try await record.salt(isCreated: true)) else { return }
    var mark = shown
    mark.add(own)
    if mark != shown { try await record.write(mark, from: shown) }
  }
}

/// The result of a choice.
struct ScopeFinding: Sendable {
  /// The mark of the scope that is shown; `nil` if it is not known, so that the next call looks again.
  var mark: String?

  /// True if it is the scope of the last secret, because the present one is unknown.
  var isDoubtful = false
}
