import Synchronization

extension DataSource {
  /// Leaves a failing service alone: after some failures in a row, calls fail at once with
  /// `circuitOpen`; after a pause one call is let through to see.
  ///
  /// Only failures of the service count: unreachable, broken connections, timeouts, 5xx. Answers such
  /// as `notFound` or 429 show that it lives. A call that never reached it tells nothing.
  ///
  /// - Parameters:
  ///   - policy: After how many failures, and for how long.
  ///   - clock: What measures the pause.
  /// - Returns: The source behind a circuit breaker.
  public func circuitBreaker(
    _ policy: BreakerPolicy = .standard, clock: some Clock<Duration> = ContinuousClock()
  ) -> some DataSource<Item> {
    CircuitBreaker(base: self, policy: policy, circuit: Circuit(policy, on: clock))
  }
}

struct CircuitBreaker<Base: DataSource, C: Clock<Duration>>: Decorator {
  let base: Base
  let policy: BreakerPolicy
  let circuit: Circuit<C>
  var label: String { "circuitBreaker(\(policy.failures) failures, \(policy.pause.inWords))" }

  func around<Answer: Sendable>(
    _ kind: CallKind, _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    let isProbe = try circuit.enter()
    let result = await Result(catching: call)
    circuit.leave(wasProbe: isProbe, after: Circuit<C>.Outcome(result))
    return try result.get()
  }
}

/// The state of a circuit breaker.
final class Circuit<C: Clock<Duration>>: Sendable {
  enum Outcome {
    /// The service answered.
    case alive
    /// The service failed.
    case failed
    /// The service was not asked, or the caller left before it was known.
    case unknown

    init<Answer>(_ result: Result<Answer, SourceError>) {
      guard case .failure(let error) = result else {
        self = .alive
        return
      }
      switch error.code {
      case .unreachable, .connectionLost, .timedOut, .serverError: self = .failed
      // A deadline that passes cancels the call from outside: a service that stalls has failed.
      case .cancelled: self = Deadline.hasPassed ? .failed : .unknown
      case .rateLimited where error.cause is NotAsked: self = .unknown
      case .notFound, .rejected, .invalidKey, .rateLimited, .malformed, .tooLarge: self = .alive
      default: self = .unknown
      }
    }
  }

  private struct State {
    var failures = 0
    var closesAt: C.Instant?
    var isProbing = false
  }

  private let policy: BreakerPolicy
  private let clock: C
  private let state = Mutex(State())

  init(_ policy: BreakerPolicy, on clock: C) {
    self.policy = policy
    self.clock = clock
  }

  /// Lets a call in; `true` if it is the one that finds out whether the service is back.
  func enter() throws(SourceError) -> Bool {
    let now = clock.now
    let verdict: Result<Bool, SourceError> = state.withLock { state in
      guard let closesAt = state.closesAt else { return .success(false) }
      guard closesAt <= now, !state.isProbing else {
        let pause = max(now.duration(to: closesAt), .zero)
        return .failure(
          SourceError(
            .circuitOpen, "the service failed \(state.failures) times in a row and is left alone",
            remedy: pause > .zero
              ? "it is asked again in \(pause.inWords)"
              : "one call is finding out whether it is back, try again soon",
            retryAfter: pause > .zero ? pause : nil))
      }
      state.isProbing = true
      return .success(true)
    }
    return try verdict.get()
  }

  func leave(wasProbe: Bool, after outcome: Outcome) {
    let now = clock.now
    state.withLock { state in
      if wasProbe { state.isProbing = false }
      switch outcome {
      case .alive:
        state.failures = 0
        state.closesAt = nil
      case .failed:
        state.failures += 1
        if state.failures >= policy.failures { state.closesAt = now.advanced(by: policy.pause) }
      case .unknown: break
      }
    }
  }
}
