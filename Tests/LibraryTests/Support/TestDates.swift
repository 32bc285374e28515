import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization

/// A date that a test changes.
final class Today: Sendable {
  private let date = Mutex(Date.day())

  var now: @Sendable () -> Date { { [self] in date.withLock(\.self) } }

  /// Moves the date forward or back.
  func turn(by seconds: Double) { date.withLock { $0 += seconds } }
}

/// A date that follows the clock of a test, and can be adjusted.
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
