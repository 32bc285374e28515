import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization

/// The calendar of a test: it goes with the clock, and can be put forward and back.
final class WallClock: Sendable {
  private let clock: ManualClock
  private let start = Mutex(Date(timeIntervalSince1970: 1_753_000_000))

  init(_ clock: ManualClock) { self.clock = clock }

  var now: Date {
    let passed = clock.now.offset / .milliseconds(1)
    return start.withLock { $0.addingTimeInterval(passed / 1000) }
  }

  func put(forward seconds: Double) { start.withLock { $0 += seconds } }
}
