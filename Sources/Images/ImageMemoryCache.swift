package import AggregatorCore
import AggregatorFoundation
import AggregatorHTTP
import Synchronization

/// The files of images and their decoded forms, with one limit.
package final class ImageMemoryCache: Sendable {
  private struct Key: Hashable {
    let address: ImageAddress
    /// The name of the decoded form; empty for the file itself.
    var variant = ""
  }

  private struct Entry {
    /// A `LookupResult<LoadedImage>` for a file.
    let value: any Sendable
    /// In bytes.
    let cost: Int
    var lastUse = 0
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var bytes = 0
    var lastUse = 0

    /// The uses, oldest first; those that are not the last ones of their images are outdated.
    ///
    /// Searching all entries for the least recently used one takes milliseconds if there are thousands, and the
    /// main thread may wait for it.
    var uses: ArraySlice<(number: Int, key: Key)> = []

    mutating func use(_ key: Key) {
      lastUse += 1
      entries[key]?.lastUse = lastUse
      uses.append((lastUse, key))
      if uses.count > 2 * entries.count + 100 {
        uses.removeAll { [entries] use in entries[use.key]?.lastUse != use.number }
      }
    }

    /// Removes the least recently used image; false if there is none.
    mutating func evictOldest() -> Bool {
      while let (number, key) = uses.popFirst() {
        if entries[key]?.lastUse == number {
          remove(key)
          return true
        }
      }
      return false
    }

    mutating func remove(_ key: Key) {
      bytes -= entries.removeValue(forKey: key)?.cost ?? 0
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
    value(of: Key(address: address)) as? LookupResult<LoadedImage>
  }

  /// A decoded form of an image, which becomes the most recently used one.
  package subscript(address: ImageAddress, variant: String) -> (any Sendable)? {
    value(of: Key(address: address, variant: variant))
  }

  /// Adds an image and evicts the least recently used ones; an image that is too large is not added.
  func add(_ found: LookupResult<LoadedImage>) {
    let image = found.item.cached(found.provenance.fetchedAt)
    add(Entry(value: image, cost: image.item.bytes.count), as: Key(address: image.item.id))
  }

  /// Adds a decoded form of an image, which takes `cost` bytes.
  package func add(
    _ decoded: any Sendable, cost: Int, of address: ImageAddress, as variant: String
  ) {
    add(Entry(value: decoded, cost: cost), as: Key(address: address, variant: variant))
  }

  private func value(of key: Key) -> (any Sendable)? {
    state.withLock { state in
      guard let entry = state.entries[key] else { return nil }
      state.use(key)
      return entry.value
    }
  }

  private func add(_ entry: Entry, as key: Key) {
    state.withLock { state in
      state.remove(key)
      guard entry.cost <= limit else { return }
      while state.bytes + entry.cost > limit, state.evictOldest() {}
      state.entries[key] = entry
      state.use(key)
      state.bytes += entry.cost
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
package final class ImageFailures: Sendable {
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

  package subscript(address: ImageAddress) -> SourceError? {
    let date = now()
    return failures.withLock { $0[address].flatMap { $0.isFresh(at: date) ? $0.error : nil } }
  }

  package func add(_ error: SourceError, at address: ImageAddress) {
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
