import SourceTesting
import Synchronization

/// A reply that a service gives for a while instead of its own.
final class Interruption: Sendable {
  private let left = Mutex<(reply: LoopbackReply, times: Int)?>(nil)

  func begin(_ reply: LoopbackReply, _ times: Int) { left.withLock { $0 = (reply, times) } }

  func next() -> LoopbackReply? {
    left.withLock { left in
      guard let (reply, times) = left else { return nil }
      left = times > 1 ? (reply, times - 1) : nil
      return reply
    }
  }
}
