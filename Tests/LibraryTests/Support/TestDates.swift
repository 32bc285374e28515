import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization

/// A calendar that a test turns.
final class Today: Sendable {
  private let date = Mutex(Date.day())

  /// What it says.
  var now: @Sendable () -> Date { { [self] in date.withLock(\.self) } }

  /// Turns it on, or back.
  func turn(by seconds: Double) { date.withLock { $0 += seconds } }
}

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
