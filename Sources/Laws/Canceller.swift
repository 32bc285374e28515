import AggregatorKit
import Synchronization

/// Cancels a task from within what the task is doing.
final class Canceller: Sendable {
  private struct State {
    var cancel: (@Sendable () -> Void)?
    var wasPulled = false
  }

  private let state = Mutex(State())

  /// Ties it to a task that does not run yet.
  func tie(_ cancel: @escaping @Sendable () -> Void) { state.withLock { $0.cancel = cancel } }

  /// Cancels the task.
  func pull() {
    let cancel = state.withLock { state in
      state.wasPulled = true
      return state.cancel
    }
    cancel?()
  }

  /// Whether the task was cancelled through this.
  var wasPulled: Bool { state.withLock(\.wasPulled) }
}
