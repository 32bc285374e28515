public import AggregatorCore
public import AggregatorHTTP
public import Foundation

/// Loads the images of a source: from memory, from the disk cache, from the web.
///
/// - Concurrent loads of the same image share one request, which is cancelled with the last of its callers.
/// - Both caches are LRU caches bounded by bytes.
/// - The type of an image is detected from its header; `Content-Type` and file name are ignored.
/// - An image that the service does not have, or that is broken, is not requested again for a minute.
/// - Failures are retried, and deadlines enforced, by the given policies.
public struct ImageLoader: Sendable {
  private let memory: ImageMemoryCache
  private let failures: ImageFailures
  private let source: any DataSource<LoadedImage>
  private let readsMemory: Bool

  /// Create one loader and reuse it: requests in flight and images in memory are shared within it.
  ///
  /// Without `files` images are cached in memory only, up to `memory` bytes: 64 MiB by default. An
  /// image has at most `maxBytes` bytes, 16 MiB by default, and `deadline` includes retries. Of the
  /// policies, `offline` uses no network, and `refresh` fetches cached images again and falls back.
  public init(
    of name: String, over transport: any Transport, retry: RetryPolicy = .standard,
    deadline: Duration = .seconds(15), files: ImageDiskCache?, memory: Int = 64 << 20,
    maxBytes: Int = 16 << 20, reading: CachePolicy = .normal,
    clock: any Clock<Duration> = ContinuousClock(),
    now: @escaping @Sendable () -> Date = { Date() },
    random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) },
    observer: Observer = .silent
  ) {
    self.memory = ImageMemoryCache(of: memory)
    failures = ImageFailures(now: now)
    readsMemory = !reading.refreshes
    var chain: any DataSource<LoadedImage>
    if reading.mayAskService {
      chain = RemoteImages(transport: transport, maxBytes: maxBytes, now: now)
        .retry(retry, clock: clock, random: random)
        .timeout(deadline, clock: clock)
    } else {
      chain = UnavailableSource(
        SourceError(.offline, "the image is not cached (offline mode)"))
    }
    if let files {
      chain = Self.caching(chain, in: files, of: name, atMost: maxBytes, for: reading, now: now)
    }
    source = chain.coalesced().observed(by: observer, as: "\(name) images")
  }

  /// The image at an address, its origin, and a warning if it could not be cached.
  ///
  /// - Throws: ``SourceError``: `malformed` for data that is not an image, `tooLarge`, `rejected` if the
  ///   image does not exist, `offline` if it is not cached in offline mode, `cancelled`, and the errors of
  ///   a ``Transport``.
  public func image(at address: ImageAddress) async throws(SourceError) -> LookupResult<LoadedImage>
  {
    if readsMemory, let cached = memory[address] {
      let provenance = Provenance(
        .cached, fetchedAt: cached.fetchedAt, endpoint: HTTPRequest(.get, address.url).endpoint)
      return LookupResult(cached.image, provenance: provenance)
    }
    if readsMemory, let failure = failures[address] { throw failure }
    let found: LookupResult<LoadedImage>
    do { found = try await source.item(address) } catch {
      failures.add(error, at: address)
      throw error
    }
    memory.add(found.item, fetchedAt: found.provenance.fetchedAt)
    return found
  }

  private static func caching(
    _ base: some DataSource<LoadedImage>, in files: ImageDiskCache, of collection: String,
    atMost maxBytes: Int, for reading: CachePolicy, now: @escaping @Sendable () -> Date
  ) -> any DataSource<LoadedImage> {
    CachedImages(
      base: base, files: files, collection: collection, reading: reading, maxBytes: maxBytes,
      now: now
    )
  }
}

/// Caches images on the disk.
///
/// Images never expire: a URL is assumed to identify the same image forever.
private struct CachedImages<Base: DataSource<LoadedImage>>: Decorator {
  let base: Base
  let files: ImageDiskCache
  let collection: String
  let reading: CachePolicy
  let maxBytes: Int
  let now: @Sendable () -> Date

  func page(_ request: PageRequest) async throws(SourceError) -> Page<LoadedImage> {
    try await base.page(request)
  }

  func item(_ address: ImageAddress, cachePolicy: CachePolicy) async throws(SourceError)
    -> LookupResult<LoadedImage>
  {
    if !reading.refreshes, let cached = await cached(address) { return cached }
    var found: LookupResult<LoadedImage>
    do { found = try await base.item(address, cachePolicy: cachePolicy) } catch let error
      where error.allowsFallback
    {
      guard reading.refreshes, reading.mayFallBack, let cached = await cached(address) else {
        throw error
      }
      return LookupResult(cached.item, provenance: cached.provenance.because(error))
    }
    let date = now()
    let file = ImageCacheFile(
      found.item, fetchedAt: Timestamp(.seconds(date.timeIntervalSince1970)))
    do { try await files.add(file, of: collection, used: date) } catch {
      // The image itself is there.
      guard error.code != .cancelled else { throw error }
      found.warnings.append(Warning("notCached", "the image is not cached: \(error.message)"))
    }
    return found
  }

  var label: String { "cached(in: \(files.directory))" }

  private func cached(_ address: ImageAddress) async -> LookupResult<LoadedImage>? {
    let file = await files.file(at: address, of: collection, atMost: maxBytes, used: now())
    return file.map { file in
      LookupResult(
        file.image,
        provenance: Provenance(
          .cached, fetchedAt: Date(timeIntervalSince1970: file.fetchedAt.sinceStart / .seconds(1)),
          endpoint: HTTPRequest(.get, address.url).endpoint))
    }
  }
}

/// Fetches images from the web, without key or cookie.
private struct RemoteImages: DataSource, CustomStringConvertible {
  let transport: any Transport
  let maxBytes: Int
  let now: @Sendable () -> Date

  func page(_ request: PageRequest) async throws(SourceError) -> Page<LoadedImage> {
    throw SourceError(.unsupported, "images cannot be listed")
  }

  func item(_ address: ImageAddress, cachePolicy: CachePolicy) async throws(SourceError)
    -> LookupResult<LoadedImage>
  {
    var limits = HTTPLimits.standard
    limits.bodyBytes = maxBytes
    let request = HTTPRequest(
      .get, address.url,
      // Prefers formats that every program can show.
      headers: [.init("Accept", "image/jpeg,image/png,image/gif,image/webp,image/*;q=0.8")],
      limits: limits)
    let response = try await transport.send(request).checked(by: address.authority, now: now())
    guard let image = LoadedImage(response.body, at: address) else {
      throw SourceError(.malformed, "\(address.authority) sent \(response.summaryOfOtherData)")
    }
    return LookupResult(
      image, provenance: Provenance(.live, fetchedAt: now(), endpoint: request.endpoint))
  }

  var description: String { "RemoteImages()" }
}

extension HTTPResponse {
  /// A description of a body that is not an image.
  fileprivate var summaryOfOtherData: String {
    if body.isEmpty { return "nothing instead of an image" }
    let quote = summary.map { ": \($0)" } ?? ""
    if ImageType(sniffing: body) != nil { return "a damaged image" }
    let isMarkup = body.firstSignificantByte == UInt8(ascii: "<")
    return "\(isMarkup ? "a page" : "other data") instead of an image\(quote)"
  }
}
