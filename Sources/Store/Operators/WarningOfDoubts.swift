package import AggregatorCore
package import AggregatorFoundation

extension DataSource {
  /// Warns of answers from the store if they may be those of another account, see ``ScopedStore``, or if stored values are not
  /// those that the service has sent.
  package func warningOfDoubts(in recordStore: RecordStore<Item>) -> any DataSource<Item> {
    WarningOfDoubts(base: self, recordStore: recordStore)
  }
}

struct WarningOfDoubts<Base: DataSource>: Decorator {
  let base: Base
  let recordStore: RecordStore<Base.Item>
  var label: String { "warningOfDoubts(in: \(recordStore.source))" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    var page = try await base.page(request)
    let known = page.warnings
    // What is said of the first page holds for all.
    page.warnings += await doubts(of: page.provenance, isFirst: request.cursor == nil)
      .filter { !known.contains($0) }
    return page
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    var found = try await base.item(id, cachePolicy: cachePolicy)
    found.warnings += await doubts(of: found.provenance, isFirst: false)
    return found
  }

  private func doubts(of provenance: Provenance, isFirst: Bool) async -> [Warning] {
    guard provenance.origin == .cached else { return [] }
    let (store, source) = (recordStore.store, recordStore.source)
    return isFirst
      ? await store.doubts(of: source)
      : [await store.warningOfUnknownSecret(source)].compactMap(\.self)
  }
}

extension RecordStore {
  /// True if the records may be those of another account; see ``ScopedStore``.
  func isOfUnknownSecret() async -> Bool { await store.warningOfUnknownSecret(source) != nil }
}

extension [Warning] {
  /// Those of a checkpoint.
  fileprivate init(checkpoint text: String?) {
    self = text.flatMap { try? JSONText(Data($0.utf8))?.read([Warning].self) } ?? []
  }
}

extension SourceStore {
  /// The warnings of the stored records of a source, whichever of them are asked for; none if the store fails.
  package func doubts(of source: String) async -> [Warning] {
    let values = try? await checkpoint(Coverage.valuesCheckpoint, of: source)
    return [await warningOfUnknownSecret(source)].compactMap(\.self)
      + [Warning](checkpoint: values)
  }

  /// Takes note of the warnings of values that are stored, such as that their numbers are rounded.
  ///
  /// - Parameter isOfAll: True if they are of all records, so that earlier ones hold no longer.
  package func note(
    valueWarnings warnings: [Warning], of source: String, isOfAll: Bool, at date: Date
  ) async throws(SourceError) {
    let name = Coverage.valuesCheckpoint
    let old = try await checkpoint(name, of: source)
    var all = isOfAll ? [] : [Warning](checkpoint: old)
    // A secret in records is seen in them.
    for warning in warnings
    where warning.isOfValues && warning.code != .redacted && !all.contains(warning) {
      all.append(warning)
    }
    let new = all.isEmpty ? nil : try? CanonicalJSON.text(of: all)
    guard new != old else { return }
    _ = try await save(
      StoreBatch([], update: CheckpointUpdate(name, from: old, to: new)), of: source, at: date)
  }

  /// A warning that the records of a source may be those of another account; `nil` if they are not.
  package func warningOfUnknownSecret(_ source: String) async -> Warning? {
    guard await capabilities.scopes?.isOfUnknownSecret(source) ?? false else { return nil }
    return Warning(
      .unknownSecret,
      "its secret is new here: these are the records of the last one, perhaps of another account")
  }
}
