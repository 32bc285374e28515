extension DataSource {
  /// Spaces the calls out so that a rate is kept, for each kind of call apart, and leaves the service
  /// alone when it asks for that.
  ///
  /// A call that has to wait for its turn waits, unless its deadline comes first or it would take a day:
  /// then it fails at once with `rateLimited` and the time to come back in `retryAfter`, and takes no
  /// turn.
  ///
  /// What a service asks for is kept as ``respectingRetryAfter(clock:sharing:)`` keeps it.
  ///
  /// - Parameters:
  ///   - rate: How many calls in what time.
  ///   - cost: As how many a call counts, 1 or more; more than a bound allows counts as all of it.
  ///   - clock: What waits; without a board it measures too.
  ///   - board: Where the processes that ask this source share its turns; by default the operator keeps
  ///     them to itself.
  /// - Returns: The source, never asked more often than `rate` allows.
  public func rateLimited(
    by rate: Rate, cost: Int = 1, clock: some Clock<Duration> = ContinuousClock(),
    sharing sharedState: SharedState? = nil
  ) -> some DataSource<Item> {
    let sharedState = sharedState ?? SharedState(on: clock)
    return RateLimited(
      base: self, limiter: RateLimiter(rate, cost: cost, on: clock, sharing: sharedState))
  }

  /// Leaves the service alone when it asks for that; for a service without a rate.
  ///
  /// After a call has failed with `rateLimited` and `retryAfter`, such as for a `Retry-After` (RFC 9110,
  /// section 10.2.3), no call of any kind is made until that time is over; longer than a day counts as a
  /// day. Calls wait until then, or fail at once with `rateLimited` and what is left in `retryAfter` if
  /// their deadline comes first.
  ///
  /// - Parameters:
  ///   - clock: What waits; without a board it measures too.
  ///   - board: Where the processes that ask this source tell each other; by default the operator keeps
  ///     it to itself.
  /// - Returns: The source, asked again when it wants to be.
  public func respectingRetryAfter(
    clock: some Clock<Duration> = ContinuousClock(), sharing sharedState: SharedState? = nil
  ) -> some DataSource<Item> {
    let sharedState = sharedState ?? SharedState(on: clock)
    return RateLimited(
      base: self, limiter: RateLimiter(nil, cost: 1, on: clock, sharing: sharedState))
  }
}

struct RateLimited<Base: DataSource, C: Clock<Duration>>: Decorator {
  let base: Base
  let limiter: RateLimiter<C>
  var label: String {
    limiter.rate.map { "rateLimited(by: \($0))" } ?? "heedingRetryAfter()"
  }

  func around<Answer: Sendable>(
    _ kind: CallKind, _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    try await limiter.pass(kind)
    do { return try await call() } catch let error where error.code == .rateLimited {
      // What was never asked has not answered.
      if let wait = error.retryAfter, wait > .zero, !(error.cause is LocalRateLimitError) {
        await limiter.close(for: wait)
      }
      throw error
    }
  }
}
