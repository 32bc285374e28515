import AggregatorCore
import AggregatorFoundation
import AggregatorHTTP
import Synchronization

final class ImageMemoryCache: Sendable {
  private struct Entry {
    let found: LookupResult<LoadedImage>
    var lastUse: Int
  }

  private struct State {
    var entries: [ImageAddress: Entry] = [:]
    var bytes = 0
    var lastUse = 0

    /// The uses, oldest first; those that are not the last ones of their images are outdated.
    ///
    /// Searching all entries for the least recently used one takes milliseconds if there are thousands, and the
    /// main thread may wait for it.
    var uses: ArraySlice<(number: Int, address: ImageAddress)> = []

    mutating func use(_ address: ImageAddress) {
      lastUse += 1
      entries[address]?.lastUse = lastUse
      uses.append((lastUse, address))
      if uses.count > 2 * entries.count + 100 {
        uses.removeAll { [entries] use in entries[use.address]?.lastUse != use.number }
      }
    }

    /// Removes the least recently used image; false if there is none.
    mutating func evictOldest() -> Bool {
      while let (number, address) = uses.popFirst() {
        if entries[address]?.lastUse == number {
          remove(address)
          return true
        }
      }
      return false
    }

    mutating func remove(_ address: ImageAddress) {
      bytes -= entries.removeValue(forKey: address)?.found.item.bytes.count ?? 0
    }
  }

  private let limit: Int
  private let state = Mutex(State())

  #if canImport(Darwin)
    private let pressure = Mutex(
      DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical]))
  #endif

  init(of limit: Int) {
    self.limit = limit
    #if canImport(Darwin)
      pressure.withLock { source in
        source.setEventHandler { [weak self] in self?.removeAll() }
        source.activate()
      }
    #endif
  }

  #if canImport(Darwin)
    deinit { pressure.withLock { $0.cancel() } }
  #endif

  var bytes: Int { state.withLock(\.bytes) }

  /// The image of an address, which becomes the most recently used one.
  subscript(address: ImageAddress) -> LookupResult<LoadedImage>? {
    state.withLock { state in
      guard let entry = state.entries[address] else { return nil }
      state.use(address)
      return entry.found
    }
  }

  /// Adds an image and evicts the least recently used ones; an image that is too large is not added.
  func add(_ found: LookupResult<LoadedImage>) {
    let image = found.item
    state.withLock { state in
      state.remove(image.id)
      guard image.bytes.count <= limit else { return }
      while state.bytes + image.bytes.count > limit, state.evictOldest() {}
      state.entries[image.id] = Entry(found: image.cached(found.provenance.fetchedAt), lastUse: 0)
      state.use(image.id)
      state.bytes += image.bytes.count
    }
  }

  func removeAll() {
    // Images are released without the lock.
    var old = State()
    state.withLock { swap(&$0, &old) }
  }
}

extension LoadedImage {
  /// The image as a cache has it.
  func cached(_ fetchedAt: Date?) -> LookupResult<LoadedImage> {
    let endpoint = HTTPRequest(.get, id.url).endpoint
    return LookupResult(
      self, provenance: Provenance(.cached, fetchedAt: fetchedAt, endpoint: endpoint))
  }
}

/// Failures of images that another request would only repeat, remembered for a minute: a list that is
/// scrolled back and forth must not ask for them every time.
///
/// Failures of the connection are not remembered, so that images appear as soon as it is back.
final class ImageFailures: Sendable {
  private struct Failure {
    let error: SourceError
    let date: Date

    /// False also if the clock was set back.
    func isFresh(at now: Date) -> Bool { 0..<lifetime ~= now.timeIntervalSince(date) }
  }

  private static let lifetime: TimeInterval = 60
  private static let maxFailures = 1000

  private let now: @Sendable () -> Date
  private let failures = Mutex<[ImageAddress: Failure]>([:])

  init(now: @escaping @Sendable () -> Date) { self.now = now }

  subscript(address: ImageAddress) -> SourceError? {
    let date = now()
    return failures.withLock { $0[address].flatMap { $0.isFresh(at: date) ? $0.error : nil } }
  }

  func add(_ error: SourceError, at address: ImageAddress) {
    guard [.malformed, .tooLarge, .rejected].contains(error.code) else { return }
    let date = now()
    failures.withLock { failures in
      if failures.count >= Self.maxFailures { failures = failures.filter { $1.isFresh(at: date) } }
      if failures.count >= Self.maxFailures { failures = [:] }
      failures[address] = Failure(error: error, date: date)
    }
  }

  func remove(_ address: ImageAddress) { failures.withLock { $0[address] = nil } }
}
