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
