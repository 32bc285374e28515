import Foundation
import Synchronization

/// The images used last, as many as a number of bytes can hold.
final class ImageMemoryCache: Sendable {
  private struct Entry {
    let image: LoadedImage
    let fetchedAt: Date?
    /// Larger in what was used later.
    var use: Int
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

  /// A memory of at most so many bytes.
  init(of limit: Int) { self.limit = limit }

  /// How many bytes it holds.
  var bytes: Int { state.withLock(\.bytes) }

  /// The image of this address, which becomes the one used last.
  subscript(address: ImageAddress) -> (image: LoadedImage, fetchedAt: Date?)? {
    state.withLock { state in
      guard var entry = state.entries[address] else { return nil }
      entry.use = state.nextUse()
      state.entries[address] = entry
      return (entry.image, entry.fetchedAt)
    }
  }

  /// Keeps an image, and forgets those used longest ago for it; one that alone is too large is not kept.
  func add(_ image: LoadedImage, fetchedAt: Date?) {
    state.withLock { state in
      state.remove(image.id)
      guard image.bytes.count <= limit else { return }
      while state.bytes + image.bytes.count > limit,
        let oldest = state.entries.min(by: { $0.value.use < $1.value.use })?.key
      {
        state.remove(oldest)
      }
      state.entries[image.id] = Entry(image: image, fetchedAt: fetchedAt, use: state.nextUse())
      state.bytes += image.bytes.count
    }
  }
}
