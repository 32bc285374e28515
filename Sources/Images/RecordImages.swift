public import AggregatorCore
import AggregatorText

/// The images of a source's records, for views.
///
/// `Plugin.images(in:files:)` makes it. Make one and pass it to all views: images in memory, requests in flight and
/// recent failures are shared within it. A row that is scrolled into sight has its image in the first frame if it is in
/// memory, and otherwise loads it:
///
/// ```swift
/// struct HeroRow: View {
///   let hero: Hero
///   let images: RecordImages<Hero>
///   @State private var loaded: Thumbnail?
///   @Environment(\.displayScale) private var displayScale
///
///   var body: some View {
///     let place = ThumbnailSize(width: 44, height: 60, scale: displayScale)
///     Portrait(loaded ?? images.cachedThumbnail(of: hero, .small, fitting: place))
///       .task(id: hero.id) {
///         loaded = try? await images.thumbnail(of: hero, .small, fitting: place)
///       }
///   }
/// }
/// ```
///
/// A list loads the images below the visible rows in advance, by `PagedList.prefetch`. The task of a view is cancelled when
/// `id` changes or the view goes away, and the load with it, so there is nothing else to cancel.
///
/// Outside SwiftUI keep the `Task` and cancel it.
public struct RecordImages<Item: SourceRecord>: Sendable {
  /// Loads images by their addresses.
  public let loader: ImageLoader

  private let name: String
  private let addressOf: @Sendable (Item, ImageSize) throws(SourceError) -> ImageAddress?

  /// The images of a source, whose `name` is in messages; `address` returns `nil` for a record without an image.
  public init(
    of name: String, _ loader: ImageLoader,
    at address: @escaping @Sendable (Item, ImageSize) throws(SourceError) -> ImageAddress?
  ) {
    self.loader = loader
    self.name = name
    addressOf = address
  }

  /// The address of a record's image; `nil` if it has none.
  ///
  /// - Throws: ``SourceError``: `rejected` if the address is in a more private network than the service,
  ///   `invalidSettings`.
  public func address(of record: Item, _ size: ImageSize) throws(SourceError) -> ImageAddress? {
    try addressOf(record, size)
  }

  /// The image of a record, its origin, and a warning if it could not be cached.
  ///
  /// - Throws: ``SourceError``: `notFound` if the record has no image, and the errors of
  ///   ``address(of:_:)`` and ``ImageLoader/image(at:cachePolicy:)``.
  public func image(
    of record: Item, _ size: ImageSize, cachePolicy: CachePolicy = .normal
  ) async throws(SourceError) -> LookupResult<LoadedImage> {
    try await loader.image(at: knownAddress(of: record, size), cachePolicy: cachePolicy)
  }

  /// The image of a record if it is in memory; does not wait, so that a view has it in its first frame.
  public func cachedImage(of record: Item, _ size: ImageSize) -> LoadedImage? {
    (try? addressOf(record, size)).flatMap { loader.cachedImage(at: $0) }
  }

  /// The address of a record's image, or the error that it has none.
  package func knownAddress(
    of record: Item, _ size: ImageSize
  ) throws(SourceError) -> ImageAddress {
    if let address = try addressOf(record, size) { return address }
    let id = record.id.description.oneLine(atMost: 80)
    throw SourceError(.notFound, "\(name) record \"\(id)\" has no image")
  }

  /// Loads the images of records into memory, at most `jobs` at a time, with low priority.
  ///
  /// It is ``ImageLoader/prefetch(_:jobs:cachePolicy:)``: it never fails, and ends early if its task is cancelled.
  @concurrent public func prefetch(
    _ records: some Sequence<Item> & Sendable, _ size: ImageSize, jobs: Int = 4,
    cachePolicy: CachePolicy = .normal
  ) async {
    let addresses = records.compactMap { try? addressOf($0, size) }
    await loader.prefetch(addresses, jobs: jobs, cachePolicy: cachePolicy)
  }
}
