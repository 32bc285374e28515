import Foundation
import Synchronization

/// An LRU cache of images in memory, bounded by bytes.
final class ImageMemoryCache: Sendable {
  private struct Entry {
    let image: LoadedImage
    let fetchedAt: Date?
    /// The number of the last use: larger is more recent.
    var lastUse: Int
  }

  private struct State {
    var entries: [ImageAddress: Entry] = [:]
    var bytes = 0
    var uses = 0

    mutating func nextUse() -> Int {
      uses += 1
      return uses
    }

    mutating func remove(_ address: ImageAddress) {
      bytes -= entries.removeValue(forKey: address)?.image.bytes.count ?? 0
    }
  }

  private let limit: Int
  private let state = Mutex(State())

  init(of limit: Int) { self.limit = limit }

  var bytes: Int { state.withLock(\.bytes) }

  /// The image of an address, which becomes the most recently used one.
  subscript(address: ImageAddress) -> (image: LoadedImage, fetchedAt: Date?)? {
    state.withLock { state in
      guard var entry = state.entries[address] else { return nil }
      entry.lastUse = state.nextUse()
      state.entries[address] = entry
      return (entry.image, entry.fetchedAt)
    }
  }

  /// Adds an image and evicts the least recently used ones; an image that is too large is not added.
  func add(_ image: LoadedImage, fetchedAt: Date?) {
    state.withLock { state in
      state.remove(image.id)
      guard image.bytes.count <= limit else { return }
      while state.bytes + image.bytes.count > limit,
        let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
      {
        state.remove(oldest)
      }
      state.entries[image.id] = Entry(image: image, fetchedAt: fetchedAt, lastUse: state.nextUse())
      state.bytes += image.bytes.count
    }
  }
}
