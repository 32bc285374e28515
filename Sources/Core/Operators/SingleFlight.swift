import Synchronization

/// Makes one call for all who ask the same at the same time.
final class SingleFlight<Key: Hashable & Sendable, Answer: Sendable>: Sendable {
  private typealias Waiter = CheckedContinuation<Result<Answer, SourceError>, Never>

  private struct Flight {
    /// Tells this flight from a later one under the same key.
    let number: Int
    var task: Task<Void, Never>?
    var waiters: [Int: Waiter] = [:]
  }

  private struct State {
    var flights: [Key: Flight] = [:]
    var lastNumber = 0

    mutating func nextNumber() -> Int {
      lastNumber += 1
      return lastNumber
    }
  }

  private let state = Mutex(State())

  /// The answer of the one call for `key`, which is made if none is in flight.
  func answer(
    to key: Key, _ call: @escaping @Sendable (Key) async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    guard !Task.isCancelled else { throw .cancelled }
    let ticket = state.withLock { $0.nextNumber() }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        join(key, as: ticket, waiter, call)
        // The cancellation handler may have run before there was anything to leave.
        if Task.isCancelled { leave(key, ticket) }
      }
    } onCancel: {
      leave(key, ticket)
    }
    return try result.get()
  }

  private func join(
    _ key: Key, as ticket: Int, _ waiter: Waiter,
    _ call: @escaping @Sendable (Key) async throws(SourceError) -> Answer
  ) {
    state.withLock { state in
      if state.flights[key] == nil {
        let number = state.nextNumber()
        state.flights[key] = Flight(number: number)
        // Unstructured, because it outlives the caller that began it: it ends when it has its answer,
        // or when the last caller has left and cancels it.
        state.flights[key]?.task = Task { [self] in
          land(key, number, await Result { () async throws(SourceError) in try await call(key) })
        }
      }
      state.flights[key]?.waiters[ticket] = waiter
    }
  }

  private func leave(_ key: Key, _ ticket: Int) {
    let (waiter, abandoned) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
      guard let waiter = state.flights[key]?.waiters.removeValue(forKey: ticket) else {
        return (nil, nil)
      }
      guard state.flights[key]?.waiters.isEmpty == true else { return (waiter, nil) }
      return (waiter, state.flights.removeValue(forKey: key)?.task)
    }
    abandoned?.cancel()
    waiter?.resume(returning: .failure(.cancelled))
  }

  private func land(_ key: Key, _ number: Int, _ result: Result<Answer, SourceError>) {
    let waiters = state.withLock { state in
      state.flights[key]?.number == number ? state.flights.removeValue(forKey: key)?.waiters : nil
    }
    for waiter in waiters?.values ?? [:].values { waiter.resume(returning: result) }
  }
}
