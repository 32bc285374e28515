import AggregatorCore
import AggregatorStore

/// Encodes records as they are fetched, in parallel with fetching and storing other pages.
struct EncodingSource<Item: SourceRecord>: DataSource {
  let base: any DataSource<Item>
  let recordStore: RecordStore<Item>
  /// False if most records are in the store as they are: unchanged ones need no text for searches.
  var folds = true
  /// `nil` if pages are always read.
  var comparing: PageComparing<Item>?

  @concurrent func page(
    _ request: PageRequest
  ) async throws(SourceError) -> Page<EncodedRecord<Item>> {
    var request = request
    let known = try await comparing?.known(request)
    request.comparison = comparing.map { PageComparison(seed: $0.seed, known: known?.comparison) }
    let page = try await base.page(request)
    if let known, page.unchangedCount != nil { return known.page(page) }
    return page.replacing(try recordStore.encoded(page.records, folding: folds))
  }

  func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<EncodedRecord<Item>> {
    let found = try await base.item(id, cachePolicy: cachePolicy)
    return found.replacing(try recordStore.encoded([found.item])[0])
  }

  func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    base.cursor(skipping: count, from: request)
  }

  var readsAhead: Bool { base.readsAhead }
}
