/// Lets calls through at a rate, in the order of their coming, and none while the service wants to be
/// left alone.
final class RateLimiter<C: Clock<Duration>>: Sendable {
  let rate: Rate?
  private let cost: Int
  private let clock: C
  private let now: @Sendable () -> Duration
  private let limiterState: SharedValue<RateLimiterState>

  /// A turnstile.
  ///
  /// - Parameters:
  ///   - rate: What is never exceeded; `nil` for no bound.
  ///   - cost: As how many a call counts.
  ///   - clock: What waits.
  ///   - board: What tells the time, and where the turns are written down.
  init(_ rate: Rate?, cost: Int, on clock: C, sharing sharedState: SharedState) {
    precondition(cost > 0, "a call that costs \(cost)")
    self.rate = rate
    self.cost = cost
    self.clock = clock
    now = sharedState.now
    limiterState = sharedState.shared("turns", RateLimiterState())
  }

  /// Waits for this call's turn.
  ///
  /// - Throws: ``SourceError``; `rateLimited` at once if the deadline comes first, with ``LocalRateLimitError`` as
  ///   its cause.
  func pass(_ kind: CallKind) async throws(SourceError) {
    while true {
      guard !Task.isCancelled else { throw .cancelled }
      let maxWait = Deadline.current?.remaining() ?? RateLimiterState.longestWait
      let turn = await limiterState.update { [rate, cost, now] limiterState in
        limiterState.reserve(kind, cost: cost, by: rate, at: now(), maxWait: maxWait)
      }
      let reason = reason(for: turn)
      guard turn.isTaken else {
        throw SourceError(
          .rateLimited, reason.refusal, remedy: "try again in \(turn.wait.text)",
          retryAfter: turn.wait, cause: LocalRateLimitError())
      }
      guard await comes(turn, because: reason.wait) else {
        await limiterState.update { [cost] in $0.giveBack(turn, of: kind, cost: cost) }
        throw .cancelled
      }
      guard turn.wait > .zero else { return }
      // Meanwhile the service may have asked to be left alone.
      let isClosed = await limiterState.update { [cost, now] limiterState in
        guard limiterState.isClosed(at: now()) else { return false }
        limiterState.giveBack(turn, of: kind, cost: cost)
        return true
      }
      guard isClosed else { return }
    }
  }

  /// Leaves the service alone for as long as it wants.
  func close(for wait: Duration) async {
    await limiterState.update { [now] in $0.close(for: wait, at: now()) }
  }

  /// Waits for a turn; `false` if the caller leaves before.
  private func comes(_ turn: SlidingWindow.Turn, because reason: String) async -> Bool {
    guard turn.wait > .zero else { return !Task.isCancelled }
    Observer.current(.waiting(turn.wait, reason: reason))
    do { try await clock.sleep(for: turn.wait) } catch { return false }
    return true
  }

  private func reason(for turn: SlidingWindow.Turn) -> (wait: String, refusal: String) {
    guard let rate, !turn.isOpening else {
      let words = "the service asked to be left alone"
      return (words, words)
    }
    return ("at most \(rate)", "our own limit of \(rate) is used up")
  }
}

/// Why a call failed that was never made: tells our own politeness from the service's word.
struct LocalRateLimitError: Error {}
