package import AggregatorCore

extension DataSource {
  /// Warns of answers from the store if they may be those of another account; see ``ScopedStore``.
  package func warningOfUnknownSecret(in recordStore: RecordStore<Item>) -> any DataSource<Item> {
    UnknownSecret(base: self, recordStore: recordStore)
  }
}

struct UnknownSecret<Base: DataSource>: Decorator {
  let base: Base
  let recordStore: RecordStore<Base.Item>
  var label: String { "warningOfUnknownSecret(in: \(recordStore.source))" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    var page = try await base.page(request)
    page.warnings += await warnings(of: page.provenance)
    return page
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    var found = try await base.item(id, cachePolicy: cachePolicy)
    found.warnings += await warnings(of: found.provenance)
    return found
  }

  private func warnings(of provenance: Provenance) async -> [Warning] {
    guard provenance.origin == .cached else { return [] }
    return [await recordStore.store.warningOfUnknownSecret(recordStore.source)].compactMap(\.self)
  }
}

extension RecordStore {
  /// True if the records may be those of another account; see ``ScopedStore``.
  func isOfUnknownSecret() async -> Bool { await store.warningOfUnknownSecret(source) != nil }
}

extension SourceStore {
  /// A warning that the records of a source may be those of another account; `nil` if they are not.
  package func warningOfUnknownSecret(_ source: String) async -> Warning? {
    guard await capabilities.scopes?.isOfUnknownSecret(source) ?? false else { return nil }
    return Warning(
      .unknownSecret,
      "its secret is new here: these are the records of the last one, perhaps of another account")
  }
}
