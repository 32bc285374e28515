import AggregatorCore
public import AggregatorImages
public import AggregatorThumbnails

extension PagedList {
  /// The records that follow one, at most `count`; none if it is not in the list.
  public func records(after record: Item, atMost count: Int = 20) -> [Item] {
    guard let index = records.index(of: record.id) else { return [] }
    return Array(records.dropFirst(index + 1).prefix(count))
  }

  /// Loads the thumbnails of the next 20 rows in advance, four at a time, with low priority.
  ///
  /// A view calls it for each row that appears, beside ``loadMoreIfNeeded(after:)``: the latest row counts. What is being loaded
  /// goes on if it is still among the next rows, and is cancelled if it is not, or if the list is released. A list that is
  /// offline requests none.
  public func prefetch(
    _ images: RecordImages<Item>, _ size: ImageSize, fitting place: ThumbnailSize,
    after record: Item
  ) {
    let missing = records(after: record).filter {
      images.cachedThumbnail(of: $0, size, fitting: place) == nil
    }
    let policy = cachePolicy.with(refreshes: false)
    prefetching.load(missing) { record in
      _ = try? await images.thumbnail(of: record, size, fitting: place, cachePolicy: policy)
    }
  }
}

/// Loads images of a list in advance.
@MainActor final class Prefetching<Item: SourceRecord> {
  typealias Load = @Sendable (Item) async -> Void

  private static var jobs: Int { 4 }

  private var running: [RecordKey: Task<Void, Never>] = [:]
  private var waiting: ArraySlice<Item> = []
  /// That of the last call, whose place may have another size.
  private var latest: Load = { _ in }

  deinit { for task in running.values { task.cancel() } }

  /// Loads these records instead of those of the last call, the first ones first.
  func load(_ records: [Item], by load: @escaping Load) {
    let wanted = Set(records.map(\.key))
    for (key, task) in running where !wanted.contains(key) { task.cancel() }
    waiting = records.filter { running[$0.key] == nil }[...]
    latest = load
    loadWaiting()
  }

  private func loadWaiting() {
    while running.count < Self.jobs, let record = waiting.popFirst() {
      running[record.key] = Task(priority: .low) { [weak self, latest] in
        await latest(record)
        self?.running[record.key] = nil
        self?.loadWaiting()
      }
    }
  }
}
