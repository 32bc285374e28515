import AggregatorCore
import AggregatorHTTP
import Foundation

/// Gives images that are kept on the disk without asking anybody, and keeps what it had to ask for.
///
/// An address is taken to mean the same image for ever, so a kept one is as good as new.
struct CachedImages<Base: DataSource<LoadedImage>>: Decorator {
  let base: Base
  let files: ImageDiskCache
  let collection: String
  let reading: CachePolicy
  /// The most bytes that an image may have.
  let largest: Int
  let now: @Sendable () -> Date
  var label: String { "kept(in: \(files.directory))" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<LoadedImage> {
    try await base.page(request)
  }

  func item(_ address: ImageAddress) async throws(SourceError) -> LookupResult<LoadedImage> {
    if !reading.refreshes, let kept = await kept(address) { return kept }
    var found: LookupResult<LoadedImage>
    do { found = try await base.item(address) } catch let error where error.allowsFallback {
      guard reading.refreshes, reading.mayFallBack, let kept = await kept(address) else {
        throw error
      }
      return LookupResult(kept.item, provenance: kept.provenance.because(error))
    }
    let date = now()
    let file = ImageCacheFile(
      found.item, fetchedAt: Timestamp(.seconds(date.timeIntervalSince1970)))
    do { try await files.add(file, of: collection, used: date) } catch {
      // It is here all the same.
      guard error.code != .cancelled else { throw error }
      found.warnings.append(Warning("notKept", "the image is not kept: \(error.message)"))
    }
    return found
  }

  private func kept(_ address: ImageAddress) async -> LookupResult<LoadedImage>? {
    let file = await files.file(at: address, of: collection, atMost: largest, used: now())
    return file.map { file in
      LookupResult(
        file.image,
        provenance: Provenance(
          .cached, fetchedAt: Date(timeIntervalSince1970: file.fetchedAt.sinceStart / .seconds(1)),
          endpoint: HTTPRequest(.get, address.url).endpoint))
    }
  }
}
