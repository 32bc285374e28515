extension DataSource {
  /// Stops calling a failing service: after several consecutive failures, calls fail at once with
  /// `circuitOpen`; after a pause one call is let through as a probe.
  ///
  /// Only failures of the service count: unreachable, broken connections, timeouts, 5xx. Answers such
  /// as `notFound` or 429 show that it works. A call that never reached it counts as neither. A probe
  /// that never finished, because its process was killed, is given up after a minute, or after the pause
  /// if that is longer.
  ///
  /// - Parameters:
  ///   - passes: True if calls are made even while the circuit is open. Their outcome counts.
  ///   - clock: Measures the pause, without shared state.
  ///   - sharedState: The state shared by processes; by default each operator has its own.
  public func circuitBreaker(
    _ policy: BreakerPolicy = .standard, passing passes: Bool = false,
    clock: some Clock<Duration> = ContinuousClock(),
    sharing sharedState: SharedState? = nil
  ) -> some DataSource<Item> {
    CircuitBreaker(
      base: self, policy: policy, passes: passes,
      circuit: Circuit(policy, sharing: sharedState ?? SharedState(on: clock)))
  }
}

struct CircuitBreaker<Base: DataSource>: Interceptor {
  let base: Base
  let policy: BreakerPolicy
  let passes: Bool
  let circuit: Circuit
  var label: String { "circuitBreaker(\(policy.failures) failures, \(policy.pause.text))" }

  func intercept<Answer: Sendable>(
    _ kind: CallKind, _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    let probe = passes ? nil : try await circuit.enter()
    let result = await Result(catching: call)
    await circuit.leave(probe, after: Circuit.Outcome(result))
    return try result.get()
  }
}

/// The threshold and the pause of a circuit breaker.
public struct BreakerPolicy: Hashable, Sendable {
  /// The number of consecutive failures that open the circuit; 1 or more.
  public var failures: Int

  /// The time until a probe is let through.
  public var pause: Duration

  /// Five failures, 30 s.
  public static let standard = BreakerPolicy(failures: 5, pause: .seconds(30))

  public init(failures: Int, pause: Duration) {
    precondition(failures > 0, "\(failures) failures")
    self.failures = failures
    self.pause = pause
  }

  /// The time until a probe that has not finished is given up and another is let through.
  fileprivate var probeTimeout: Duration { max(pause, .seconds(60)) }
}

/// Tracks the failures of a service and decides which calls are let through.
package final class Circuit: Sendable {
  /// A call that tests if the service has recovered, named by the time when it is given up.
  typealias Probe = Timestamp

  enum Outcome {
    /// The service answered.
    case alive
    /// The service failed.
    case failed
    /// The service was not called, or the call was cancelled before its outcome was known.
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
      case .rateLimited where error.cause is LocalRateLimitError: self = .unknown
      case .notFound, .rejected, .invalidKey, .rateLimited, .malformed, .tooLarge: self = .alive
      default: self = .unknown
      }
    }
  }

  private struct State: Codable, Hashable, Sendable {
    /// The number of consecutive failures.
    var failures: UInt32 = 0
    /// The time when a probe may be let through; `nil` if the circuit is closed and all calls are.
    var closesAt: Timestamp?
    /// The probe in flight.
    var probe: Probe?
  }

  private let policy: BreakerPolicy
  private let now: @Sendable () -> Duration
  private let state: SharedValue<State>

  package init(_ policy: BreakerPolicy, sharing sharedState: SharedState) {
    self.policy = policy
    now = sharedState.now
    state = sharedState.shared("circuit", State())
  }

  /// The time until a call is let through; zero if one is now.
  package func pause() async -> Duration {
    await state.update { [policy, now] state in
      state.closesAt?.wait(atMost: policy.pause, from: now()) ?? .zero
    }
  }

  /// Lets a call through; returns the probe if the call is one.
  func enter() async throws(SourceError) -> Probe? {
    let verdict: Result<Probe?, SourceError> = await state.update { [policy, now] state in
      guard let closesAt = state.closesAt else { return .success(nil) }
      let now = now()
      let pause = closesAt.wait(atMost: policy.pause, from: now)
      let probing = state.probe?.wait(atMost: policy.probeTimeout, from: now) ?? .zero
      guard pause == .zero, probing == .zero else { return .failure(.circuitOpen(for: pause)) }
      state.probe = Timestamp(now) + policy.probeTimeout
      return .success(state.probe)
    }
    return try verdict.get()
  }

  /// Records the outcome of a call.
  func leave(_ probe: Probe?, after outcome: Outcome) async {
    // Nothing changes, so the store is not accessed.
    if case .unknown = outcome, probe == nil { return }
    await state.update { [policy, now] state in
      // The probe may have been given up, and another may be in flight.
      if probe != nil, state.probe == probe { state.probe = nil }
      switch outcome {
      case .alive: state = State()
      case .failed:
        state.failures += state.failures < .max ? 1 : 0
        if state.failures >= policy.failures { state.closesAt = Timestamp(now()) + policy.pause }
      case .unknown: break
      }
    }
  }
}

extension SourceError {
  fileprivate static func circuitOpen(for pause: Duration) -> SourceError {
    guard pause > .zero else {
      return SourceError(
        .circuitOpen, "failing repeatedly; a probe is in flight", remedy: "retry shortly")
    }
    return SourceError(
      .circuitOpen, "failing repeatedly; paused for \(pause.text)",
      remedy: "retry in \(pause.text)", retryAfter: pause)
  }
}

extension Timestamp {
  /// The time until this timestamp, which was set at most `longest` ahead.
  ///
  /// Zero if it is further ahead, because the system clock was set back since.
  fileprivate func wait(atMost longest: Duration, from now: Duration) -> Duration {
    self <= Timestamp(now) + longest ? max(sinceStart - now, .zero) : .zero
  }
}
