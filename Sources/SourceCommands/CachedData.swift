package import AggregatorKit
package import AggregatorQueries
import AggregatorTerminal

/// The cached records and images of a source.
package struct CachedData: Sendable {
  /// The contents in words: `25 cached heroes and 3 images`.
  package let text: String
  package let isEmpty: Bool

  private let name: String
  private let store: any SourceStore
  private let files: ImageDiskCache?
  private let extent: Extent
  private let kept: [ScopeStatus]

  package enum Extent {
    /// The records that are shown.
    case records
    /// The records that are shown, and the deletions.
    case deletions
    /// The deletions and the scopes that are not shown, too.
    case everything
  }

  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  package init(
    of name: String, called noun: RecordNoun? = nil, in store: any SourceStore,
    _ files: ImageDiskCache?,
    _ extent: Extent
  ) async throws(SourceError) {
    let scopes = try await store.capabilities.scopes?.scopes(of: name) ?? []
    kept = extent == .everything ? scopes.filter { !$0.isShown } : []
    let status = try await store.status(of: name)
    let images = await files?.usage(of: name).count ?? 0
    let records = status.records + status.hidden + status.removedUpstream
    let noun = noun ?? RecordNoun("records")
    let removed =
      status.removedUpstream > 0 ? " (\(status.removedUpstream.grouped) removed upstream)" : ""
    text = [
      "\(records.grouped) cached \(noun.word(for: records))\(removed)",
      images > 0 ? images.grouped("image") : nil,
      extent != .records && status.deleted > 0 ? status.deleted.grouped("deletion") : nil,
      kept.isEmpty ? nil : kept.count.of("kept scope"),
    ].compactMap(\.self).joined(separator: " and ")
    isEmpty = records + images + status.deleted == 0 && !scopes.contains { !$0.isShown }
    self.name = name
    self.store = store
    self.files = files
    self.extent = extent
  }

  /// Removes all of it; fails with code `storage` or `busy`.
  package func remove() async throws(SourceError) {
    for scope in kept { _ = try await store.capabilities.scopes?.clearScope(scope.name, of: name) }
    try await store.clear(name, forgetsDeleted: extent != .records)
    try await files?.clear(name)
  }
}

extension CommandContext {
  /// Removes something if the user confirms it, or says what would be removed; true if it was removed.
  @discardableResult
  package func remove(
    _ subject: String, _ removal: () async throws -> Void
  ) async throws -> Bool {
    guard !invocation.has(.dryRun) else {
      diagnostics.note("Would remove \(subject)")
      return false
    }
    guard try invocation.confirms("Remove \(subject)") else {
      diagnostics.note("Nothing removed")
      return false
    }
    progress.say { "Removing \(subject)…" }
    try await removal()
    diagnostics.note("Removed \(subject)")
    return true
  }
}
