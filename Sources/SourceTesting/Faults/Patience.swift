import Synchronization

/// What a call came to, if it came to anything in time.
///
/// - Parameters:
///   - time: How long it is waited for, on the continuous clock.
///   - call: The call. It is cancelled when the time is up, and left alone if that does not end it.
/// - Returns: `nil` if the time was up.
func within<Answer: Sendable>(
  _ time: Duration, _ call: @escaping @Sendable () async -> Answer
) async -> Answer? {
  let race = Race<Answer>()
  // Unstructured, because a group waits for its tasks, also for those that never end: that one does not
  // is just what is to be found out.
  let running = Task { race.end(with: await call()) }
  let watch = Task {
    guard (try? await Task.sleep(for: time)) != nil else { return }
    race.end(with: nil)
    running.cancel()
  }
  defer { watch.cancel() }
  return await race.result()
}

/// The first of several outcomes.
private final class Race<Answer: Sendable>: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<Answer?, Never>)
    case over(Answer?)
  }

  private let state = Mutex(State.open)

  /// Ends it; the second time does nothing.
  func end(with answer: Answer?) {
    let waiter = state.withLock { state -> CheckedContinuation<Answer?, Never>? in
      switch state {
      case .over: return nil
      case .open:
        state = .over(answer)
        return nil
      case .awaited(let waiter):
        state = .over(answer)
        return waiter
      }
    }
    waiter?.resume(returning: answer)
  }

  func result() async -> Answer? {
    await withCheckedContinuation { waiter in
      let outcome = state.withLock { state -> Answer?? in
        if case .over(let answer) = state { return .some(answer) }
        state = .awaited(waiter)
        return nil
      }
      if let outcome { waiter.resume(returning: outcome) }
    }
  }
}
