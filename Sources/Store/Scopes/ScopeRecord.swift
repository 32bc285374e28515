import AggregatorCore
import AggregatorFoundation

/// The notes of a store about the scopes of a source.
///
/// The scope that is shown has the name of the source, and its mark is a checkpoint of its own. The others are kept as
/// `SOURCE@SCOPE`, which is no name of a source, with their marks; a checkpoint of `SOURCE@` lists them.
struct ScopeRecord: Sendable {
  let source: String
  let base: any ScopeKeepingStore

  /// The name of all these checkpoints, and the owner of the store's salt.
  static let checkpoint = "scope"
  private static let saltOwner = "@"

  private var listOwner: String { "\(source)@" }

  /// The name under which a store keeps a scope.
  func keptName(_ scope: ScopeMark) -> String { "\(source)@\(scope.name)" }

  func shown() async throws(SourceError) -> ScopeMark? {
    try await base.checkpoint(Self.checkpoint, of: source).map(ScopeMark.init)
  }

  /// The scopes that are kept; of those in the list, one whose change was interrupted may be shown, or not exist.
  func kept() async throws(SourceError) -> [ScopeMark] {
    var marks: [ScopeMark] = []
    for name in Self.names(in: try await base.checkpoint(Self.checkpoint, of: listOwner)) {
      guard let text = try await base.checkpoint(Self.checkpoint, of: "\(source)@\(name)") else {
        continue
      }
      marks.append(ScopeMark(text))
    }
    return marks
  }

  /// The salt of the store, which is created with the first fingerprint; until then none is the same as this.
  func salt(isCreated: Bool) async throws(SourceError) -> String {
    let new = String(UInt64.random(in: .min ... .max), radix: 36)
    return try await change(Self.saltOwner) { $0 ?? (isCreated ? new : nil) } ?? ""
  }

  /// Notes the shown scope.
  func write(_ mark: ScopeMark, from old: ScopeMark?) async throws(SourceError) {
    let update = CheckpointUpdate(Self.checkpoint, from: old?.text, to: mark.text)
    _ = try await base.save(StoreBatch([], page: nil, update: update), of: source, at: Date())
  }

  /// Shows another scope, or none, and keeps the one that was shown.
  func exchange(_ mark: ScopeMark?, for other: ScopeMark?) async throws(SourceError) {
    // Listed before the change, and taken off the list after it: wherever the process ends, no scope is kept that is
    // not listed.
    if let mark {
      try await changeList { $0.filter { $0 != mark.name } + [mark.name] }
      // A scope that was cleared still has its name.
      let kept = keptName(mark)
      if try await base.checkpoint(Self.checkpoint, of: kept) == nil {
        try await base.switchScope(of: kept, keepingAs: unusedName(), to: "")
      }
    }
    // Without a mark nothing of the source is worth keeping, but it may have the name.
    try await base.switchScope(
      of: source, keepingAs: mark.map(keptName) ?? unusedName(), to: other.map(keptName) ?? "")
    if let other, try await shown() == other {
      try await changeList { $0.filter { $0 != other.name } }
    }
  }

  /// The names that change if the source gets another one.
  ///
  /// - Throws: ``SourceError`` with code `invalidRequest` if something is stored under the new one.
  func renamings(
    to new: ScopeRecord
  ) async throws(SourceError) -> [(old: String, new: String)] {
    let status = try await base.status(of: new.source)
    let kept = try await new.kept()
    guard status.isEmpty, status.deleted == 0, kept.isEmpty else {
      throw SourceError(
        .invalidRequest, "the store has records or deletions of \(new.source) already")
    }
    // A source that was cleared still has its name.
    let freed = [new.source, new.listOwner].map { (old: $0, new: new.unusedName()) }
    let owners = try await ["", "@"] + self.kept().map { "@\($0.name)" }
    return freed + owners.map { (old: source + $0, new: new.source + $0) }
  }

  private func unusedName() -> String { "\(source)@\(UInt64.random(in: .min ... .max))" }

  /// The scopes of the source, the shown one first.
  func all() async throws(SourceError) -> [ScopeStatus] {
    var scopes: [ScopeStatus] = []
    if let mark = try await shown() {
      scopes.append(ScopeStatus(mark, isShown: true, try await base.status(of: source)))
    }
    for mark in try await kept() {
      let status = try await base.status(of: keptName(mark))
      scopes.append(ScopeStatus(mark, isShown: false, status))
    }
    return scopes
  }

  /// Removes all records of a scope that is kept; false if none has the name.
  func clear(named name: String) async throws(SourceError) -> Bool {
    guard let mark = try await kept().first(where: { $0.name == name }) else { return false }
    try await base.clear(keptName(mark), forgetsDeleted: true)
    try await changeList { $0.filter { $0 != name } }
    return true
  }

  private static func names(in text: String?) -> [String] {
    (text ?? "").split(separator: " ").map(String.init)
  }

  private func changeList(_ change: ([String]) -> [String]) async throws(SourceError) {
    _ = try await self.change(listOwner) { change(Self.names(in: $0)).joined(separator: " ") }
  }

  /// Changes a checkpoint that all processes share, and returns it.
  ///
  /// Unlike ``SourceStore/change(_:timed:)`` it creates no file if there is nothing to change.
  private func change(
    _ owner: String, _ body: (String?) -> String?
  ) async throws(SourceError) -> String? {
    while true {
      let old = try await base.checkpoint(Self.checkpoint, of: owner)
      guard let new = body(old), new != old else { return old }
      let update = CheckpointUpdate(Self.checkpoint, from: old, to: new)
      let changes = try await base.save(
        StoreBatch([], page: nil, update: update), of: owner, at: Date())
      if changes.didMoveCheckpoint { return new }
    }
  }
}
