import Synchronization

extension DataSource {
  /// Fetches upstream pages of one fixed size and cuts the requested pages out of them.
  ///
  /// For services without pages, and for those whose records depend on the page size. The last upstream page is cached,
  /// so that the next slice costs no request. A call that refreshes fetches it again for its first slice.
  ///
  /// - Parameters:
  ///   - size: The upstream page size, 1 or more.
  ///   - name: The source's name, for cursors.
  ///   - lifetime: The time to live of the cached page.
  ///   - version: The version of what is read; a page of another one is not used.
  /// - Returns: A source whose pages may be shorter than requested where two upstream pages meet.
  public func sliced(
    upstream size: Int, as name: String, keptFor lifetime: Duration = .seconds(60),
    clock: some Clock<Duration> = ContinuousClock(),
    version: @escaping @Sendable () -> String? = { nil }
  ) -> some DataSource<Item> {
    Sliced(
      base: self, size: size, name: name,
      latest: LatestReply(size: size, lifetime: lifetime, clock: clock, version: version))
  }
}

private struct Sliced<Base: DataSource, C: Clock<Duration>>: Decorator {
  let base: Base
  let size: Int
  let name: String
  let latest: LatestReply<Base.Item, C>
  var label: String { "sliced(upstream: \(size))" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    let seal = seal(for: request)
    let position = try seal.open(request.cursor, as: Position.self) ?? Position(size: size)
    guard position.size == size else { throw .resized }
    var page = try await latest.page(
      upstream(of: request, at: position), isStart: position.skip == 0, from: base)
    let slice = page.records.dropFirst(Int(position.skip)).prefix(request.limit)
    if slice.endIndex < page.records.endIndex {
      let skip = UInt32(clamping: slice.endIndex)
      page.next = try seal.close(Position(cursor: position.cursor, skip: skip, size: size))
    } else {
      page.next = try page.next.map { next throws(SourceError) in
        try seal.close(Position(cursor: next, size: size))
      }
    }
    page.records = Array(slice)
    // The first slice reports the problems of the upstream page, and no other does.
    if position.skip > 0 {
      page.unreadable = .none
      page.hidden = 0
      page.warnings = []
    }
    return page
  }

  func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    let seal = seal(for: request)
    guard var position = try? seal.open(request.cursor, as: Position.self) ?? Position(size: size),
      position.size == size, !latest.hasShortPages
    else { return nil }
    let (sum, overflow) = Int(position.skip).addingReportingOverflow(count)
    guard !overflow else { return nil }
    if sum >= size {
      let skipped = base.cursor(
        skipping: sum / size * size, from: upstream(of: request, at: position))
      guard let skipped else { return nil }
      position.cursor = skipped
    }
    position.skip = UInt32(clamping: sum % size)
    return try? seal.close(position)
  }

  private func seal(for request: PageRequest) -> CursorSeal {
    CursorSeal("\(name).slice", for: request.query)
  }

  private func upstream(of request: PageRequest, at position: Position) -> PageRequest {
    request.after(position.cursor, limit: size)
  }

  /// A position in an upstream page; the types reject values that no slice can have.
  private struct Position: Codable {
    var cursor: PageCursor?
    var skip: UInt32 = 0
    /// The upstream page size, without which the rest has no meaning.
    var size: Int

    private enum CodingKeys: String, CodingKey { case cursor = "c", skip = "s", size = "n" }
  }
}

/// Caches the page that was fetched last, and remembers if pages are shorter than requested.
private final class LatestReply<Item: SourceRecord, C: Clock<Duration>>: Sendable {
  private struct Entry {
    let request: PageRequest
    let page: Page<Item>
    let expiresAt: C.Instant
    let version: String?

    func answers(_ other: PageRequest, isStart: Bool) -> Bool {
      var own = request
      own.cachePolicy = other.cachePolicy
      // Fetched from the service just now: no answer for a call that may not ask it.
      let isAllowed = other.cachePolicy.mayAskService || request.cachePolicy == other.cachePolicy
      return own == other && isAllowed && !(isStart && other.cachePolicy.refreshes)
    }
  }

  private let size: Int
  private let lifetime: Duration
  private let clock: C
  private let version: @Sendable () -> String?
  private let latest = Mutex<Entry?>(nil)
  private let isShort = Atomic(false)

  /// True after a page that was shorter than requested and not the last: then positions cannot be computed.
  var hasShortPages: Bool { isShort.load(ordering: .relaxed) }

  init(size: Int, lifetime: Duration, clock: C, version: @escaping @Sendable () -> String?) {
    (self.size, self.lifetime, self.clock, self.version) = (size, lifetime, clock, version)
  }

  /// The upstream page, of which the start or a later slice is needed.
  func page(
    _ request: PageRequest, isStart: Bool, from source: some DataSource<Item>
  ) async throws(SourceError) -> Page<Item> {
    // The cached page is returned without suspending, and so without a check for cancellation.
    guard !Task.isCancelled else { throw .cancelled }
    let (now, version) = (clock.now, version())
    if let cached = latest.withLock({ $0 }), cached.answers(request, isStart: isStart),
      now < cached.expiresAt, cached.version == version
    {
      return cached.page
    }
    let page = try await source.page(request)
    if page.next != nil, page.records.count + page.hidden + page.unreadable.count < size {
      isShort.store(true, ordering: .relaxed)
    }
    let expiresAt = clock.now.advanced(by: lifetime)
    latest.withLock {
      $0 = Entry(request: request, page: page, expiresAt: expiresAt, version: version)
    }
    return page
  }
}
