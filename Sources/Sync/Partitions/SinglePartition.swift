import AggregatorCore
import AggregatorFoundation

/// The pages of one partition, for a sync of all.
///
/// It also ends, empty and with a warning, where the service cannot answer for it: otherwise one broken list would keep a
/// sync from those after it for good.
struct SinglePartition<Item: SourceRecord>: DataSource {
  private let places: PartitionPlaces
  private let list: any PartitionList
  private let partition: Partition
  private let pages: any DataSource<Item>
  private let now: @Sendable () -> Date

  /// - Parameter pages: As for ``PartitionedSource``.
  init(
    _ partition: Partition, of list: any PartitionList, named name: String,
    over pages: any DataSource<Item>, now: @escaping @Sendable () -> Date
  ) {
    places = PartitionPlaces(name: name)
    self.list = list
    self.partition = partition
    self.pages = pages
    self.now = now
  }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    let request = place(of: request)
    guard let cursor = request.cursor else { throw .damaged(nil) }
    return try await pages.refusable(
      [.rejected, .notFound, .serverError, .tooLarge], request, of: list,
      at: try places.place(of: cursor), now: now())
  }

  func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    try await pages.item(id, cachePolicy: cachePolicy)
  }

  func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    pages.cursor(skipping: count, from: place(of: request))
  }

  private func place(of request: PageRequest) -> PageRequest {
    request.after(request.cursor ?? places.cursor(at: partition, for: request.query))
  }

  var readsAhead: Bool { pages.readsAhead }

  var pageSize: Int? { pages.pageSize }
}
