public import AggregatorCore
public import AggregatorImages

private struct ThumbnailRequest: Hashable {
  /// One for all loaders: a call keeps its loader, so that no other one has the same identity.
  static let inFlight = SingleFlight<ThumbnailRequest, Thumbnail>()

  let loader: ObjectIdentifier
  let address: ImageAddress
  let size: ThumbnailSize
  let cachePolicy: CachePolicy
}

extension ImageLoader {
  /// The image at an address, decoded for a place of a view, off the actor of the caller.
  ///
  /// Views that ask for the same thumbnail share its request and its decoding, which end with the last of them. On Linux, GdkPixbuf
  /// decodes: JPEG, PNG and GIF, and the types of the modules that are installed for it.
  ///
  /// - Throws: ``SourceError``: `malformed` for a damaged image, `tooLarge` for one of more than 64 million pixels,
  ///   `unsupported` without a decoder of its type, and the errors of ``image(at:cachePolicy:)``.
  public func thumbnail(
    at address: ImageAddress, fitting size: ThumbnailSize, cachePolicy: CachePolicy = .normal
  ) async throws(SourceError) -> Thumbnail {
    if !cachePolicy.refreshes {
      if let cached = cachedThumbnail(at: address, fitting: size) { return cached }
      // Decoding a damaged image again takes as long as before.
      if let failure = failures[address] { throw failure }
    }
    let request = ThumbnailRequest(
      loader: ObjectIdentifier(memory), address: address, size: size, cachePolicy: cachePolicy)
    return try await ThumbnailRequest.inFlight.answer(to: request) { _ throws(SourceError) in
      let image = try await image(at: address, cachePolicy: cachePolicy).item
      do throws(SourceError) {
        let thumbnail = try await ThumbnailDecoder.thumbnail(of: image, fitting: size)
        memory.add(thumbnail, cost: thumbnail.cost, of: address, as: size.variant)
        return thumbnail
      } catch {
        failures.add(error, at: address)
        throw error
      }
    }
  }

  /// The thumbnail of an image if it is in memory; does not wait, so that a view has it in its first frame.
  public func cachedThumbnail(at address: ImageAddress, fitting size: ThumbnailSize) -> Thumbnail? {
    memory[address, size.variant] as? Thumbnail
  }
}
