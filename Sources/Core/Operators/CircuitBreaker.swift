extension DataSource {
  /// Leaves a failing service alone: after some failures in a row, calls fail at once with
  /// `circuitOpen`; after a pause one call is let through to see.
  ///
  /// Only failures of the service count: unreachable, broken connections, timeouts, 5xx. Answers such
  /// as `notFound` or 429 show that it lives. A call that never reached it tells nothing. A call that
  /// was let through and never came back, because its process was killed, is given up after a minute,
  /// or after the pause if that is longer.
  ///
  /// - Parameters:
  ///   - policy: After how many failures, and for how long.
  ///   - passes: Whether calls are made even while the service is left alone. What comes of them counts.
  ///   - clock: What measures the pause, without a board.
  ///   - board: Where processes that ask this source share its failures; by default every operator
  ///     keeps its own.
  /// - Returns: The source behind a circuit breaker.
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

struct CircuitBreaker<Base: DataSource>: Decorator {
  let base: Base
  let policy: BreakerPolicy
  let passes: Bool
  let circuit: Circuit
  var label: String { "circuitBreaker(\(policy.failures) failures, \(policy.pause.text))" }

  func around<Answer: Sendable>(
    _ kind: CallKind, _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    let probe = passes ? nil : try await circuit.enter()
    let result = await Result(catching: call)
    await circuit.leave(probe, after: Circuit.Outcome(result))
    return try result.get()
  }
}

/// When a failing service is left alone.
public struct BreakerPolicy: Hashable, Sendable {
  /// After how many failures in a row; 1 or more.
  public var failures: Int

  /// For how long.
  public var pause: Duration

  /// After five failures, for 30 s.
  public static let standard = BreakerPolicy(failures: 5, pause: .seconds(30))

  /// A policy.
  ///
  /// - Parameters:
  ///   - failures: After how many failures in a row; 1 or more.
  ///   - pause: For how long.
  public init(failures: Int, pause: Duration) {
    precondition(failures > 0, "\(failures) failures")
    self.failures = failures
    self.pause = pause
  }
}
