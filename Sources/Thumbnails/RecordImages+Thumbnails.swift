public import AggregatorCore
public import AggregatorImages

extension RecordImages {
  /// The image of a record, decoded for a place of a view, off the actor of the caller.
  ///
  /// - Throws: ``SourceError``: `notFound` if the record has no image, and the errors of ``address(of:_:)`` and
  ///   ``ImageLoader/thumbnail(at:fitting:cachePolicy:)``.
  public func thumbnail(
    of record: Item, _ size: ImageSize, fitting place: ThumbnailSize,
    cachePolicy: CachePolicy = .normal
  ) async throws(SourceError) -> Thumbnail {
    let address = try knownAddress(of: record, size)
    return try await loader.thumbnail(at: address, fitting: place, cachePolicy: cachePolicy)
  }

  /// The thumbnail of a record if it is in memory; does not wait, so that a view has it in its first frame.
  public func cachedThumbnail(
    of record: Item, _ size: ImageSize, fitting place: ThumbnailSize
  ) -> Thumbnail? {
    (try? address(of: record, size)).flatMap { loader.cachedThumbnail(at: $0, fitting: place) }
  }
}
