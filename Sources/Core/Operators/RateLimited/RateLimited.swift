extension DataSource {
  /// Spaces calls so that a rate limit holds, for each kind of call separately, and pauses them for as
  /// long as the service demands.
  ///
  /// A call waits for its turn, unless its deadline comes first or the wait would exceed a day: then it
  /// fails at once with `rateLimited` and the wait in `retryAfter`, and takes no turn.
  ///
  /// A pause that the service demands is handled as by ``respectingRetryAfter(clock:sharing:)``.
  ///
  /// - Parameters:
  ///   - cost: The number of calls that one call counts as, 1 or more; more than a bound allows counts as
  ///     all of it.
  ///   - clock: Waits, and measures without shared state.
  ///   - sharedState: The state shared by processes; by default each operator has its own.
  public func rateLimited(
    by rate: Rate, cost: Int = 1, clock: some Clock<Duration> = ContinuousClock(),
    sharing sharedState: SharedState? = nil
  ) -> some DataSource<Item> {
    let sharedState = sharedState ?? SharedState(on: clock)
    return RateLimited(
      base: self, limiter: RateLimiter(rate, cost: cost, on: clock, sharing: sharedState))
  }

  /// Pauses calls for as long as the service demands; for a service without a known rate limit.
  ///
  /// After a call has failed with `rateLimited` and `retryAfter`, such as for a `Retry-After` (RFC 9110,
  /// section 10.2.3), no call of any kind is made until that time is over; more than a day counts as a
  /// day. Calls wait until then, or fail at once with `rateLimited` and the rest in `retryAfter` if their
  /// deadline comes first.
  ///
  /// - Parameters:
  ///   - clock: Waits, and measures without shared state.
  ///   - sharedState: The state shared by processes; by default each operator has its own.
  public func respectingRetryAfter(
    clock: some Clock<Duration> = ContinuousClock(), sharing sharedState: SharedState? = nil
  ) -> some DataSource<Item> {
    let sharedState = sharedState ?? SharedState(on: clock)
    return RateLimited(
      base: self, limiter: RateLimiter(nil, cost: 1, on: clock, sharing: sharedState))
  }
}

struct RateLimited<Base: DataSource, C: Clock<Duration>>: Interceptor {
  let base: Base
  let limiter: RateLimiter<C>
  var label: String {
    limiter.rate.map { "rateLimited(by: \($0))" } ?? "respectingRetryAfter()"
  }

  func intercept<Answer: Sendable>(
    _ kind: CallKind, _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    try await limiter.pass(kind)
    do { return try await call() } catch let error where error.code == .rateLimited {
      // A local error is not a demand of the service.
      if let wait = error.retryAfter, wait > .zero, !(error.cause is LocalRateLimitError) {
        await limiter.close(for: wait)
      }
      throw error
    }
  }
}

/// Lets calls through at a rate, in the order of their arrival, and none during a pause that the service
/// demanded.
final class RateLimiter<C: Clock<Duration>>: Sendable {
  /// The limit; `nil` for none.
  let rate: Rate?
  private let cost: Int
  private let clock: C
  private let now: @Sendable () -> Duration
  private let state: SharedValue<RateLimiterState>

  init(_ rate: Rate?, cost: Int, on clock: C, sharing sharedState: SharedState) {
    precondition(cost > 0, "a call that costs \(cost)")
    self.rate = rate
    self.cost = cost
    self.clock = clock
    now = sharedState.now
    state = sharedState.shared("turns", RateLimiterState())
  }

  /// Waits for this call's turn.
  ///
  /// - Throws: ``SourceError``; `rateLimited` at once if the deadline comes first, with
  ///   ``LocalRateLimitError`` as its cause.
  func pass(_ kind: CallKind) async throws(SourceError) {
    while true {
      guard !Task.isCancelled else { throw .cancelled }
      let maxWait = Deadline.current?.remaining() ?? RateLimiterState.longestWait
      let turn = await state.update { [rate, cost, now] state in
        state.reserve(kind, cost: cost, by: rate, at: now(), maxWait: maxWait)
      }
      let reason = reason(for: turn)
      guard turn.isTaken else {
        throw SourceError(
          .rateLimited, reason.refusal, remedy: "retry in \(turn.wait.text)",
          retryAfter: turn.wait, cause: LocalRateLimitError())
      }
      guard await reached(turn, because: reason.wait) else {
        await state.update { [cost] in $0.giveBack(turn, of: kind, cost: cost) }
        throw .cancelled
      }
      guard turn.wait > .zero else { return }
      // Meanwhile the service may have demanded a pause.
      let isClosed = await state.update { [cost, now] state in
        guard state.isClosed(at: now()) else { return false }
        state.giveBack(turn, of: kind, cost: cost)
        return true
      }
      guard isClosed else { return }
    }
  }

  /// Pauses all calls.
  func close(for wait: Duration) async {
    await state.update { [now] in $0.close(for: wait, at: now()) }
  }

  /// Waits for a turn; false if the caller is cancelled before.
  private func reached(_ turn: SlidingWindow.Turn, because reason: String) async -> Bool {
    guard turn.wait > .zero else { return !Task.isCancelled }
    Observer.current(.waiting(turn.wait, reason: reason))
    do { try await clock.sleep(for: turn.wait) } catch { return false }
    return true
  }

  private func reason(for turn: SlidingWindow.Turn) -> (wait: String, refusal: String) {
    guard let rate, !turn.isOpening else {
      return ("rate limited by the service", "rate limited by the service")
    }
    return ("rate limit \(rate)", "local rate limit \(rate) reached")
  }
}

/// The cause of a `rateLimited` error of a call that was never made.
struct LocalRateLimitError: Error {}
