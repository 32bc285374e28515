import AggregatorCore
public import AggregatorImages
public import AggregatorThumbnails

extension PagedList {
  /// The records that follow one, at most `count`; none if it is not in the list.
  public func records(after record: Item, atMost count: Int = 20) -> [Item] {
    guard let index = records.index(of: record.id) else { return [] }
    return Array(records.dropFirst(index + 1).prefix(count))
  }

  /// Loads the thumbnails of the next 20 rows in advance, with low priority.
  ///
  /// It ends when they are loaded, or its task is cancelled, as that of a view is when another row becomes the last one
  /// in sight:
  ///
  /// ```swift
  /// .task(id: lastVisible?.id) {
  ///   if let lastVisible {
  ///     await list.prefetch(images, .small, fitting: place, after: lastVisible)
  ///   }
  /// }
  /// ```
  public func prefetch(
    _ images: RecordImages<Item>, _ size: ImageSize, fitting place: ThumbnailSize,
    after record: Item
  ) async {
    await images.prefetch(records(after: record), size, fitting: place)
  }
}
