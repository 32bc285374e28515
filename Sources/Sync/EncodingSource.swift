import AggregatorCore
import AggregatorStore
import Synchronization

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
    let known = Mutex<KnownPage<Item>?>(nil)
    request.comparison = comparing.map { comparing in
      PageComparison(seed: comparing.seed) { request throws(SourceError) in
        guard let memo = try await comparing.memo(of: request) else { return nil }
        return LastRead(memo.digest(of: request)) { () throws(SourceError) in
          let found = try await comparing.known(memo)
          known.withLock { $0 = found }
          return found?.count
        }
      }
    }
    var page = try await base.page(request)
    if page.unchangedCount != nil {
      if let known = known.withLock(\.self) { return known.page(page) }
      // An attempt that had timed out has found meanwhile that its records were cleared.
      request.comparison = nil
      page = try await base.page(request)
    }
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
