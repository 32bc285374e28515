public import AggregatorCore
public import AggregatorFoundation
public import AggregatorHTTP

/// Loads the images of a source: from memory, from the disk cache, from the web.
///
/// - Concurrent loads of the same image share one request, which is cancelled with the last of its callers.
/// - Both caches are LRU caches bounded by bytes. The one in memory is emptied when an Apple system is short of memory.
/// - The type of an image is detected from its header; `Content-Type` and file name are ignored.
/// - An image that the service does not have, or that is broken, is not requested again for a minute.
/// - Failures are retried, and deadlines enforced, by the given policies.
///
/// Views that show records use ``RecordImages``, which has a loader.
public struct ImageLoader: Sendable {
  package let memory: ImageMemoryCache
  package let failures: ImageFailures
  private let source: any DataSource<LoadedImage>

  /// Create one loader and reuse it: requests in flight and images in memory are shared within it.
  ///
  /// Without `files` images are cached in memory only, up to `memory` bytes, thumbnails included: 64 MiB by default. An
  /// image has at most `maxBytes` bytes, 16 MiB by default, and `deadline` includes retries.
  public init(
    of name: String, over transport: any Transport, retry: RetryPolicy = .standard,
    deadline: Duration = .seconds(15), files: ImageDiskCache?, memory: Int = 64 << 20,
    maxBytes: Int = 16 << 20, clock: any Clock<Duration> = ContinuousClock(),
    now: @escaping @Sendable () -> Date = { Date() },
    random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) },
    observer: Observer = .silent
  ) {
    let memory = ImageMemoryCache(of: memory)
    self.memory = memory
    let failures = ImageFailures(now: now)
    self.failures = failures
    let remote = RemoteImages(transport: transport, maxBytes: maxBytes, now: now)
      .retry(retry, clock: clock, random: random)
      .timeout(deadline, clock: clock)
      .onlineOnly()
    source = CachedImages(
      base: remote, memory: memory, failures: failures, files: files,
      collection: name, maxBytes: maxBytes, now: now
    )
    .coalesced()
    .observed(by: observer, as: "\(name) images")
  }

  /// The image at an address, its origin, and a warning if it could not be cached.
  ///
  /// Images never expire: only a policy that refreshes requests a cached one again.
  ///
  /// - Throws: ``SourceError``: `malformed` for data that is not an image, `tooLarge`, `rejected` if the
  ///   image does not exist, `offline` if it is not cached in offline mode, `cancelled`, and the errors of
  ///   a ``Transport``.
  public func image(
    at address: ImageAddress, cachePolicy: CachePolicy = .normal
  ) async throws(SourceError) -> LookupResult<LoadedImage> {
    if !cachePolicy.refreshes, let cached = memory[address] { return cached }
    return try await source.item(address, cachePolicy: cachePolicy)
  }

  /// The image at an address if it is in memory; does not wait, so that a view has it in its first frame.
  public func cachedImage(at address: ImageAddress) -> LoadedImage? { memory[address]?.item }

  /// Loads images into memory, at most `jobs` at a time, with low priority.
  ///
  /// Failures are ignored, and images that failed within the last minute are skipped. It ends when the images are
  /// loaded, or its task is cancelled; requests for which others wait continue then.
  @concurrent public func prefetch(
    _ addresses: some Sequence<ImageAddress> & Sendable, jobs: Int = 4,
    cachePolicy: CachePolicy = .normal
  ) async {
    await withTaskGroup(of: Void.self) { group in
      var running = 0
      for address in addresses {
        if running >= jobs, await group.next() != nil { running -= 1 }
        let isAdded = group.addTaskUnlessCancelled(priority: .low) {
          _ = try? await image(at: address, cachePolicy: cachePolicy)
        }
        guard isAdded else { return }
        running += 1
      }
    }
  }

  /// Empties the memory, not the disk.
  ///
  /// Failures are remembered: requesting broken images again would not save memory.
  public func purge() { memory.removeAll() }
}

/// Keeps images in memory and on the disk, and failures in memory.
///
/// Images never expire: a URL is assumed to identify the same image forever. It is below the sharing of requests: a
/// call that begins when a shared one has just ended finds its result here.
private struct CachedImages: DataSource, CustomStringConvertible {
  let base: any DataSource<LoadedImage>
  let memory: ImageMemoryCache
  let failures: ImageFailures
  let files: ImageDiskCache?
  let collection: String
  let maxBytes: Int
  let now: @Sendable () -> Date

  var description: String { "\(base)\n  .cached()" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<LoadedImage> {
    try await base.page(request)
  }

  func item(
    _ address: ImageAddress, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<LoadedImage> {
    if !cachePolicy.refreshes {
      if let cached = memory[address] { return cached }
      if let failure = failures[address] { throw failure }
    }
    let found: LookupResult<LoadedImage>
    do { found = try await stored(address, cachePolicy, in: files) } catch {
      if cachePolicy.refreshes, cachePolicy.mayFallBack, error.allowsFallback,
        let cached = memory[address]
      {
        return LookupResult(cached.item, provenance: cached.provenance.because(error))
      }
      // A failed refresh does not keep others from the cached image.
      if !cachePolicy.refreshes { failures.add(error, at: address) }
      guard error.code == .offline, !cachePolicy.mayAskService else { throw error }
      throw SourceError(.offline, "the image is not cached (offline mode)")
    }
    failures.remove(address)
    memory.add(found)
    return found
  }

  private func stored(
    _ address: ImageAddress, _ cachePolicy: CachePolicy, in files: ImageDiskCache?
  ) async throws(SourceError) -> LookupResult<LoadedImage> {
    guard let files else { return try await base.item(address, cachePolicy: cachePolicy) }
    if !cachePolicy.refreshes, let cached = await cached(address, in: files) { return cached }
    var found: LookupResult<LoadedImage>
    do { found = try await base.item(address, cachePolicy: cachePolicy) } catch let error
      where error.allowsFallback
    {
      guard cachePolicy.refreshes, cachePolicy.mayFallBack,
        let cached = await cached(address, in: files)
      else { throw error }
      return LookupResult(cached.item, provenance: cached.provenance.because(error))
    }
    let date = now()
    let file = ImageCacheFile(
      found.item, fetchedAt: Timestamp(.seconds(date.timeIntervalSince1970)))
    do { try await files.add(file, of: collection, used: date) } catch {
      // The image itself is there.
      guard error.code != .cancelled else { throw error }
      found.warnings.append(Warning(.notCached, "the image is not cached: \(error.message)"))
    }
    return found
  }

  private func cached(
    _ address: ImageAddress, in files: ImageDiskCache
  ) async -> LookupResult<LoadedImage>? {
    let file = await files.file(at: address, of: collection, atMost: maxBytes, used: now())
    return file.map {
      $0.image.cached(Date(timeIntervalSince1970: $0.fetchedAt.sinceStart / .seconds(1)))
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

  func item(
    _ address: ImageAddress, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<LoadedImage> {
    var limits = HTTPLimits.standard
    limits.bodyBytes = maxBytes
    let request = HTTPRequest(
      .get, address.url,
      // Prefers formats that every program can show.
      headers: [.init("Accept", "image/jpeg,image/png,image/gif,image/webp,image/*;q=0.8")],
      limits: limits)
    let response = try await transport.send(request).checked(by: address.authority, now: now())
    guard let image = LoadedImage(response.body, at: address) else {
      let isMarkup = response.body.firstSignificantByte == UInt8(ascii: "<")
      let what =
        if response.body.isEmpty {
          "nothing instead of an image"
        } else if ImageType(sniffing: response.body) != nil {
          "a damaged image"
        } else {
          "\(isMarkup ? "a page" : "other data") instead of an image\(response.excerpt)"
        }
      throw SourceError(.malformed, "\(address.authority) sent \(what)")
    }
    return LookupResult(
      image, provenance: Provenance(.live, fetchedAt: now(), endpoint: request.endpoint))
  }

  var description: String { "RemoteImages()" }
}
