import AggregatorText

extension DataSource {
  /// Stops calling a failing service: after several consecutive failures, calls fail at once with
  /// `circuitOpen`; after a pause one call is let through as a probe.
  ///
  /// Only failures of the service count: unreachable, broken connections, timeouts, 5xx. Answers such as `notFound` or
  /// 429 show that it works. A call that never reached it counts as neither. A probe that never finished, because its
  /// process was killed, is given up after a minute, or after the pause if that is longer. A call that refreshes (see
  /// ``CachePolicy/refreshes``) is made even while the circuit is open, and its outcome counts.
  ///
  /// - Parameters:
  ///   - clock: Measures the pause, without shared state.
  ///   - sharedState: The state shared by processes; by default each operator has its own.
  public func circuitBreaker(
    _ policy: BreakerPolicy = .standard, clock: some Clock<Duration> = ContinuousClock(),
    sharing sharedState: SharedState? = nil
  ) -> some DataSource<Item> {
    admitted(through: policy, clock: clock, sharing: sharedState)
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

  var label: String { "circuitBreaker(\(failures) failures, \(pause.text))" }

  /// The time until a probe that has not finished is given up and another is let through.
  fileprivate var probeTimeout: Duration { max(pause, .seconds(60)) }
}

/// The state of a circuit breaker: the failures of a service decide which calls are let through.
package struct CircuitState: Codable, Hashable, Sendable {
  /// A call that tests if the service has recovered, named by the time when it is given up.
  typealias Probe = Timestamp

  /// The number of consecutive failures.
  private var failures: UInt32 = 0
  /// The message of the last failure; `nil` also if a version wrote this state that kept none.
  private var cause: String?
  /// The time when a probe may be let through; `nil` if the circuit is closed and all calls are.
  private var closesAt: Timestamp?
  /// The probe in flight.
  private var probe: Probe?

  /// True if a success changes nothing.
  var isClean: Bool { self == CircuitState() }

  /// The time until a call is let through; zero if one is now.
  package func pause(_ policy: BreakerPolicy, at now: Duration) -> Duration {
    closesAt?.wait(atMost: policy.pause, from: now) ?? .zero
  }

  /// Lets a call through; returns the probe if the call is one.
  mutating func enter(_ policy: BreakerPolicy, at now: Duration) throws(SourceError) -> Probe? {
    guard closesAt != nil else { return nil }
    let pause = pause(policy, at: now)
    let probing = probe?.wait(atMost: policy.probeTimeout, from: now) ?? .zero
    guard pause == .zero, probing == .zero else { throw .circuitOpen(for: pause, after: cause) }
    probe = Timestamp(now) + policy.probeTimeout
    return probe
  }

  /// Records the outcome of a call.
  mutating func leave(
    _ probe: Probe?, after outcome: CallOutcome, _ policy: BreakerPolicy, at now: Duration
  ) {
    // The probe may have been given up, and another may be in flight.
    if probe != nil, self.probe == probe { self.probe = nil }
    switch outcome {
    case .alive: self = CircuitState()
    case .failed(let message), .disconnected(let message):
      cause = message
      failures += failures < .max ? 1 : 0
      if failures >= policy.failures { closesAt = Timestamp(now) + policy.pause }
    case .unknown: break
    }
  }
}

/// The meaning of a call's result for a circuit breaker.
enum CallOutcome {
  /// The service answered.
  case alive
  /// The service failed to answer a request that it had received, with a message in one line.
  case failed(String)
  /// The service could not be reached, or the connection was lost, with a message in one line.
  case disconnected(String)
  /// The service was not called, or the call was cancelled before its outcome was known.
  case unknown

  /// - Parameter hasLeft: True if the request is known to have left.
  init<Answer>(_ result: Result<Answer, SourceError>, hasLeft: Bool) {
    guard case .failure(let error) = result else {
      self = .alive
      return
    }
    let message = error.message.oneLine(atMost: 200)
    switch error.code {
    case .serverError: self = .failed(message)
    case .unreachable, .connectionLost: self = .disconnected(message)
    case .timedOut: self = hasLeft ? .failed(message) : .disconnected(message)
    // A deadline that passes cancels the call from outside: a service that stalls has failed.
    case .cancelled where Deadline.hasPassed:
      let message = SourceError.Code.timedOut.text
      self = hasLeft ? .failed(message) : .disconnected(message)
    case .rateLimited where error.cause is LocalRateLimitError: self = .unknown
    case .notFound, .rejected, .invalidKey, .rateLimited, .malformed, .tooLarge: self = .alive
    default: self = .unknown
    }
  }
}

extension SourceError {
  fileprivate static func circuitOpen(
    for pause: Duration, after cause: String?
  ) -> SourceError {
    let cause = cause ?? "failing repeatedly"
    guard pause > .zero else {
      return SourceError(
        .circuitOpen, "\(cause); a trial request is already in progress",
        remedy: "retry shortly")
    }
    return SourceError(
      .circuitOpen, "\(cause); paused", remedy: "retry in \(pause.text)", retryAfter: pause)
  }
}

extension Timestamp {
  /// The time until this timestamp, which was set at most `longest` ahead.
  ///
  /// Zero if it is further ahead, because the system clock was set back since.
  fileprivate func wait(atMost maxWait: Duration, from now: Duration) -> Duration {
    self <= Timestamp(now) + maxWait ? max(sinceStart - now, .zero) : .zero
  }
}
