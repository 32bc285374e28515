import AggregatorSourceTesting
import Synchronization

/// A reply that a service gives for a while instead of its own.
final class Interruption: Sendable {
  private let left = Mutex<(reply: LoopbackReply, times: Int, delay: Int)?>(nil)

  /// Gives a reply so many times, after so many requests that are answered as always.
  func begin(_ reply: LoopbackReply, _ times: Int, after delay: Int = 0) {
    left.withLock { $0 = (reply, times, delay) }
  }

  /// Gives no other reply any more.
  func end() { left.withLock { $0 = nil } }

  func next() -> LoopbackReply? {
    left.withLock { left in
      guard let (reply, times, delay) = left else { return nil }
      guard delay == 0 else {
        left = (reply, times, delay - 1)
        return nil
      }
      left = times > 1 ? (reply, times - 1, 0) : nil
      return reply
    }
  }
}
