import Synchronization

/// A number that a test can wait for, where it would otherwise have to sleep and hope.
public final class Counter: Sendable {
  private struct Waiter {
    let least: Int
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var value = 0
    var waiters: [Int: Waiter] = [:]
    var lastTicket = 0
  }

  private let state = Mutex(State())

  /// A gauge at 0.
  public init() {}

  /// What it says now.
  public var value: Int { state.withLock { $0.value } }

  /// Changes what it says.
  ///
  /// - Parameter change: How much is added; 1 by default.
  public func add(_ change: Int = 1) {
    let reached = state.withLock { state -> [Waiter] in
      state.value += change
      let reached = state.waiters.filter { $0.value.least <= state.value }
      for ticket in reached.keys { state.waiters[ticket] = nil }
      return Array(reached.values)
    }
    for waiter in reached { waiter.continuation.resume() }
  }

  /// Waits until it says `least` or more, or the task is cancelled.
  ///
  /// - Parameter least: What to wait for.
  public func reaches(_ least: Int) async {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReached = state.withLock { state in
          if state.value >= least { return true }
          state.waiters[ticket] = Waiter(least: least, continuation: continuation)
          return false
        }
        if isReached { continuation.resume() }
        // The cancellation handler may have run before there was anything to end.
        if Task.isCancelled { leave(ticket) }
      }
    } onCancel: {
      leave(ticket)
    }
  }

  private func leave(_ ticket: Int) {
    state.withLock { $0.waiters.removeValue(forKey: ticket) }?.continuation.resume()
  }
}
