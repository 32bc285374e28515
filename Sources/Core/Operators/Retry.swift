extension DataSource {
  /// Retries calls that fail with a transient error, a few times and never past the deadline.
  ///
  /// The wait is random between zero and a bound that doubles ("full jitter", so that many callers do
  /// not retry at once), and at least as long as the service demands. If the deadline leaves no room for
  /// it, the error is thrown at once with its `retryAfter`.
  ///
  /// - Parameter random: Returns random bits.
  public func retry(
    _ policy: RetryPolicy = .standard, clock: some Clock<Duration> = ContinuousClock(),
    random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
  ) -> some DataSource<Item> { Retry(base: self, policy: policy, clock: clock, random: random) }
}

struct Retry<Base: DataSource, C: Clock<Duration>>: Interceptor {
  let base: Base
  let policy: RetryPolicy
  let clock: C
  let random: @Sendable () -> UInt64
  var label: String { "retry(\(policy.attempts))" }

  func intercept<Answer: Sendable>(
    _ kind: CallKind, cachePolicy: CachePolicy,
    _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    var bound = min(policy.firstWait, policy.maxWait)
    var last: SourceError?
    var attempt = 1
    while true {
      do { return try await call() } catch {
        // If this very call opened the circuit, its own error says more.
        if error.code == .circuitOpen { throw last ?? error }
        guard error.isTransient, attempt < policy.attempts else { throw error }
        let fraction = Double(random() >> 11) * 0x1p-53  // in 0..<1
        let wait = max(bound * fraction, error.retryAfter ?? .zero)
        guard Deadline.leavesRoom(for: wait),
          error.retryAfter ?? .zero <= Deadline.longestPause ?? wait
        else { throw error }
        Observer.current(.waiting(wait, reason: error.message))
        do { try await clock.sleep(for: wait) } catch { throw .cancelled }
        bound = min(bound * 2, policy.maxWait)
        Observer.current(.retrying(error))
        (last, attempt) = (error, attempt + 1)
      }
    }
  }
}

/// The number of attempts and the waits of ``DataSource/retry(_:clock:random:)``.
public struct RetryPolicy: Hashable, Sendable {
  /// The maximum number of attempts, including the first; 1 or more.
  public var attempts: Int
  /// The longest first wait; it doubles with each further attempt.
  public var firstWait: Duration
  /// The upper bound of every wait.
  public var maxWait: Duration

  /// Three attempts, waiting up to 0.5 s and doubling, 30 s at most.
  public static let standard = RetryPolicy(
    attempts: 3, firstWait: .milliseconds(500), maxWait: .seconds(30))

  public init(attempts: Int, firstWait: Duration, maxWait: Duration) {
    precondition(attempts > 0, "\(attempts) attempts")
    self.attempts = attempts
    self.firstWait = firstWait
    self.maxWait = maxWait
  }
}
