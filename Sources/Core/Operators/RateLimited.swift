extension DataSource {
  /// Spaces the calls out so that a rate is kept, for each kind of call apart.
  ///
  /// A call that has to wait for its turn waits, unless its deadline comes first: then it fails at once
  /// with `rateLimited` and the time to come back in `retryAfter`, and takes no turn.
  ///
  /// - Parameters:
  ///   - rate: How many calls in what time.
  ///   - cost: As how many a call counts, 1 or more; more than a bound allows counts as all of it.
  ///   - clock: What waits and measures.
  /// - Returns: The source, never asked more often than `rate` allows.
  public func rateLimited(
    by rate: Rate, cost: Int = 1, clock: some Clock<Duration> = ContinuousClock()
  ) -> some DataSource<Item> {
    RateLimited(base: self, turnstile: Turnstile(rate, cost: cost, on: clock))
  }
}

struct RateLimited<Base: DataSource, C: Clock<Duration>>: Decorator {
  let base: Base
  let turnstile: Turnstile<C>
  var label: String { "rateLimited(by: \(turnstile.rate))" }

  func around<Answer: Sendable>(
    _ kind: CallKind, _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    try await turnstile.pass(kind)
    return try await call()
  }
}
