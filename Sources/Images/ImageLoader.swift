public import AggregatorCore
public import AggregatorHTTP
public import Foundation

/// Loads the images of a source: from memory, from the disk, from the web.
///
/// - Whoever asks for an image that is being loaded waits for it too. A caller that is cancelled leaves
///   at once; the request ends when the last one has left.
/// - What is kept, in memory and on the disk, is bounded by bytes; what was used longest ago goes first.
/// - An image is what begins and looks like one, whatever its `Content-Type` and its name say.
/// - Failures are tried again, and deadlines kept, by the policies given.
public struct ImageLoader: Sendable {
  private let memory: ImageMemoryCache
  private let source: any DataSource<LoadedImage>
  private let readsMemory: Bool

  /// A loader.
  ///
  /// Make one and keep it: what is in flight and in memory is shared within it.
  ///
  /// - Parameters:
  ///   - name: The name of the source whose images they are.
  ///   - transport: What sends requests.
  ///   - retry: When failures are tried again.
  ///   - deadline: How long one image may take, with its retries.
  ///   - files: Where images are kept; `nil` for in memory only.
  ///   - memory: How many bytes of images are kept in memory; 64 MiB by default.
  ///   - largest: The most bytes that an image may have; 16 MiB by default.
  ///   - reading: Which tiers may answer: `offline` opens no socket, `refresh` asks for what is kept
  ///     too, and falls back to it.
  ///   - clock: What waits and measures.
  ///   - now: What the calendar says.
  ///   - random: Random bits.
  ///   - observer: Who is told what happens.
  public init(
    of name: String, over transport: any Transport, retry: RetryPolicy = .standard,
    deadline: Duration = .seconds(15), files: ImageDiskCache?, memory: Int = 64 << 20,
    largest: Int = 16 << 20, reading: CachePolicy = .normal,
    clock: any Clock<Duration> = ContinuousClock(),
    now: @escaping @Sendable () -> Date = { Date() },
    random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) },
    observer: Observer = .silent
  ) {
    self.memory = ImageMemoryCache(of: memory)
    readsMemory = !reading.refreshes
    var chain: any DataSource<LoadedImage>
    if reading.mayAskService {
      chain = RemoteImages(transport: transport, largest: largest, now: now)
        .retry(retry, clock: clock, random: random)
        .timeout(deadline, clock: clock)
    } else {
      chain = UnavailableSource(
        SourceError(.offline, "the image is not stored, and the network is not to be used"))
    }
    if let files {
      chain = chain.kept(in: files, of: name, atMost: largest, for: reading, now: now)
    }
    source = chain.coalesced().observed(by: observer, as: "\(name) images")
  }

  /// The image at an address.
  ///
  /// - Parameter address: Where it is; as the record tells it.
  /// - Returns: The image, who answered, and a warning if it could not be kept.
  /// - Throws: ``SourceError``: `malformed` for what is no image, `tooLarge`, `rejected` if there is none
  ///   at this address, `offline` if it is not kept and the network is not to be used, `cancelled`, and
  ///   what a ``Transport`` throws.
  public func image(at address: ImageAddress) async throws(SourceError) -> LookupResult<LoadedImage>
  {
    if readsMemory, let kept = memory[address] {
      let provenance = Provenance(
        .cached, fetchedAt: kept.fetchedAt, endpoint: HTTPRequest(.get, address.url).endpoint)
      return LookupResult(kept.image, provenance: provenance)
    }
    let found = try await source.item(address)
    memory.add(found.item, fetchedAt: found.provenance.fetchedAt)
    return found
  }
}

extension DataSource<LoadedImage> {
  /// Keeps images on the disk.
  fileprivate func kept(
    in files: ImageDiskCache, of collection: String, atMost largest: Int, for reading: CachePolicy,
    now: @escaping @Sendable () -> Date
  ) -> any DataSource<LoadedImage> {
    CachedImages(
      base: self, files: files, collection: collection, reading: reading, largest: largest, now: now
    )
  }
}
