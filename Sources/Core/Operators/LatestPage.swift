import Synchronization

/// Keeps the page that was fetched last, for a while.
final class LatestPage<Item: Record, C: Clock<Duration>>: Sendable {
  private struct Kept {
    let request: PageRequest
    let page: Page<Item>
    let goodUntil: C.Instant
  }

  private let lifetime: Duration
  private let clock: C
  private let kept = Mutex<Kept?>(nil)

  init(lifetime: Duration, clock: C) {
    self.lifetime = lifetime
    self.clock = clock
  }

  /// The page that answers `request`: the one kept, or a new one.
  func page(
    _ request: PageRequest, from source: some DataSource<Item>
  ) async throws(SourceError) -> Page<Item> {
    // The page kept is given without waiting, and so without looking.
    guard !Task.isCancelled else { throw .cancelled }
    let now = clock.now
    if let kept = kept.withLock({ $0 }), kept.request == request, now < kept.goodUntil {
      return kept.page
    }
    let page = try await source.page(request)
    let goodUntil = clock.now.advanced(by: lifetime)
    kept.withLock { $0 = Kept(request: request, page: page, goodUntil: goodUntil) }
    return page
  }
}
