import Synchronization

/// What a ``LoopbackServer`` remembers.
final class RequestLog: Sendable {
  struct State {
    var requests: [LoopbackRequest] = []
    var connections = 0
    var inFlight = 0
    var mostInFlight = 0
    var bytesSent = 0
    fileprivate var waiters: [Int: (count: Int, waiter: CheckedContinuation<Void, Never>)] = [:]
    fileprivate var lastWaiter = 0
    fileprivate var isClosed = false
  }

  let state = Mutex(State())

  func noteConnection() { state.withLock { $0.connections += 1 } }

  func begin(_ request: LoopbackRequest) {
    update { state in
      state.requests.append(request)
      state.inFlight += 1
      state.mostInFlight = max(state.mostInFlight, state.inFlight)
    }
  }

  func end() { state.withLock { $0.inFlight -= 1 } }

  func noteSent(_ bytes: Int) { state.withLock { $0.bytesSent += bytes } }

  /// Lets go of everybody who waits.
  func close() { update { $0.isClosed = true } }

  func requests(atLeast count: Int) async -> [LoopbackRequest] {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        update { $0.waiters[id] = (count, waiter) }
        // The handler may have run before there was anybody to let go.
        if Task.isCancelled { leave(id) }
      }
    } onCancel: {
      leave(id)
    }
    return state.withLock(\.requests)
  }

  private func leave(_ id: Int) {
    state.withLock { $0.waiters.removeValue(forKey: id) }?.waiter.resume()
  }

  /// Changes the state, and lets go of those who have waited for that.
  private func update(_ change: (inout State) -> Void) {
    let done = state.withLock { state in
      change(&state)
      let done = state.waiters.filter { state.isClosed || $0.value.count <= state.requests.count }
      for id in done.keys { state.waiters[id] = nil }
      return done.values.map(\.waiter)
    }
    for waiter in done { waiter.resume() }
  }
}
