import AggregatorText

extension DataSource {
  /// Spaces calls so that a rate limit holds, for each kind of call separately, and pauses them for as
  /// long as the service demands.
  ///
  /// A call waits for its turn, unless its deadline comes first or the wait would exceed a day: then it
  /// fails at once with `rateLimited` and the wait in `retryAfter`, and takes no turn. It counts from when it is
  /// made, and its HTTP request from when it leaves, however late that is.
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
    admitted(by: CallLimit(rate, cost: cost), clock: clock, sharing: sharedState)
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
    admitted(by: CallLimit(nil), clock: clock, sharing: sharedState)
  }
}

/// The limit of the calls of a service: a rate, and the pauses that the service demands.
package struct CallLimit: Sendable {
  /// `nil` if only demanded pauses limit the calls.
  let rate: Rate?
  /// The number of calls that one call counts as.
  let cost: Int

  package init(_ rate: Rate?, cost: Int = 1) {
    precondition(cost > 0, "a call that costs \(cost)")
    self.rate = rate
    self.cost = cost
  }

  var label: String { rate.map { "rateLimited(by: \($0))" } ?? "respectingRetryAfter()" }

  /// The reason to wait for a turn, and the message if the wait is too long.
  func reason(for turn: SlidingWindow.Turn) -> (wait: String, refusal: String) {
    guard let rate, !turn.isOpening else {
      return ("rate limited by the service", "rate limited by the service")
    }
    return ("rate limit \(rate)", "local rate limit \(rate) reached")
  }

  func refusal(of turn: SlidingWindow.Turn) -> SourceError {
    SourceError(
      .rateLimited, reason(for: turn).refusal, remedy: "retry in \(turn.wait.text)",
      retryAfter: turn.wait, cause: LocalRateLimitError())
  }
}

/// The cause of a `rateLimited` error of a call that was never made.
struct LocalRateLimitError: Error {}
