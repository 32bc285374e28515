import AggregatorKit
import Synchronization

/// A failure that a test switches on and off.
final class Fault: Sendable {
  private let code = Mutex<SourceError.Code?>(nil)

  /// What every further call fails with; `nil` for nothing.
  func set(_ code: SourceError.Code?) { self.code.withLock { $0 = code } }

  /// Fails if a failure is set.
  func strike() throws(SourceError) {
    if let code = code.withLock(\.self) { throw .because(code) }
  }
}
