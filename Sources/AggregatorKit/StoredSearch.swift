import AggregatorCore
import AggregatorStore

extension Plugin {
  /// True if a search asks the service, which may find other records than a search of the cached ones does.
  package var searchesService: Bool {
    if case .liveFirst = policy.readOrder { policy.localSearchBound == nil } else { false }
  }

  /// Stored records that say of a search that the service's may find others, if it has one.
  package func searchedInPlaceOfService(
    _ stored: any DataSource<Item>
  ) -> any DataSource<Item> {
    searchesService ? StoredSearch(base: stored.erased) : stored
  }
}

private struct StoredSearch<Base: DataSource>: Decorator {
  let base: Base
  var label: String { "searchedInPlaceOfService()" }
  var description: String { "\(base).\(label)" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    var page = try await base.page(request)
    // That not all are cached says it, too.
    let isSaid = page.warnings.contains { $0.code == .partlyCached || $0 == .storedSearch }
    if request.query != nil, !isSaid { page.warnings.append(.storedSearch) }
    return page
  }
}

extension DataSource {
  /// Says how many stored records match a search of the service that finds none; without the service, these are searched.
  func comparingSearches(with recordStore: RecordStore<Item>) -> some DataSource<Item> {
    ComparedSearch(base: self, recordStore: recordStore)
  }
}

private struct ComparedSearch<Base: DataSource>: Decorator {
  let base: Base
  let recordStore: RecordStore<Base.Item>
  var label: String { "comparingSearches(with: \(recordStore.source))" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    var page = try await base.page(request)
    guard request.query != nil, request.cursor == nil, request.cachePolicy.mayFallBack,
      page.records.isEmpty, page.next == nil
    else { return page }
    // None is an error, and a store that fails has no part in an answer of the service.
    let first = PageRequest(matching: request.query, limit: 1)
    guard let found = try? await recordStore.records.page(first), !found.records.isEmpty else {
      return page
    }
    guard request.cachePolicy.mayAskService else { throw .offlineMode }
    page.warnings.append(.cachedMatches(found.next == nil ? 1 : found.total))
    return page
  }
}
