extension DataSource {
  /// Makes a failed call again if its failure is transient: after a while, a few times, never past the
  /// deadline.
  ///
  /// The wait is random between zero and a bound that doubles ("full jitter", so that many callers do
  /// not come back at once), and at least as long as the service asks for. When the deadline leaves no
  /// room for it, the failure is thrown at once with its `retryAfter`.
  ///
  /// - Parameters:
  ///   - policy: How often, and how long to wait.
  ///   - clock: What waits.
  ///   - random: Random bits.
  /// - Returns: The source with retries.
  public func retry(
    _ policy: RetryPolicy = .standard, clock: some Clock<Duration> = ContinuousClock(),
    random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
  ) -> some DataSource<Item> { Retry(base: self, policy: policy, clock: clock, random: random) }
}

struct Retry<Base: DataSource, C: Clock<Duration>>: Decorator {
  let base: Base
  let policy: RetryPolicy
  let clock: C
  let random: @Sendable () -> UInt64
  var label: String { "retry(\(policy.attempts))" }

  func around<Answer: Sendable>(
    _ kind: CallKind, _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    var bound = min(policy.firstWait, policy.longestWait)
    var last: SourceError?
    for _ in 1..<policy.attempts {
      do { return try await call() } catch let error where error.isTransient {
        last = error
        let wait = max(bound * fraction(), error.retryAfter ?? .zero)
        guard Deadline.leavesRoom(for: wait) else { throw error }
        Observer.current(.waiting(wait, reason: error.message))
        do { try await clock.sleep(for: wait) } catch { throw .cancelled }
        bound = min(bound * 2, policy.longestWait)
        Observer.current(.retrying(error))
      } catch let error where error.code == .circuitOpen {
        throw last ?? error
      }
    }
    // A circuit that this very call has opened says less than why.
    do { return try await call() } catch let error where error.code == .circuitOpen {
      throw last ?? error
    }
  }

  /// A number from 0 up to 1.
  private func fraction() -> Double { Double(random() >> 11) * 0x1p-53 }
}

/// When a failed call is made again.
public struct RetryPolicy: Hashable, Sendable {
  /// How often a call is made at most, the first time counted; 1 or more.
  public var attempts: Int

  /// The longest first wait; it doubles with each further attempt.
  public var firstWait: Duration

  /// The longest wait of all.
  public var longestWait: Duration

  /// Three attempts, waiting up to 0.5 s and doubling, 30 s at most.
  public static let standard = RetryPolicy(
    attempts: 3, firstWait: .milliseconds(500), longestWait: .seconds(30))

  /// A policy.
  ///
  /// - Parameters:
  ///   - attempts: How often a call is made at most; 1 or more.
  ///   - firstWait: The longest first wait.
  ///   - longestWait: The longest wait of all.
  public init(attempts: Int, firstWait: Duration, longestWait: Duration) {
    precondition(attempts > 0, "\(attempts) attempts")
    self.attempts = attempts
    self.firstWait = firstWait
    self.longestWait = longestWait
  }
}
