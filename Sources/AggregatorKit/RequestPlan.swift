public import AggregatorCore
import AggregatorFoundation
import AggregatorSettings

/// A prediction of a call to a source's service.
public struct RequestPlan: Sendable {
  /// The service's URLs; nothing secret.
  public let addresses: [String]

  /// The rate limit; `nil` for none.
  public let rate: Rate?

  /// The number of calls left in the longest period of the rate; `nil` without a rate.
  public let left: Int?

  /// The wait for the rate limit, or for the service's `Retry-After`.
  public let wait: Duration

  /// The remaining pause of an open circuit breaker; zero if it is closed.
  public let pause: Duration

  /// The most requests for one page: its attempts, times the pages of a local search.
  public let requestsPerPage: Int
}

extension Plugin {
  /// Predicts a call without making it or counting it against the rate.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings`.
  public func requestPlan(
    of kind: CallKind, in environment: PluginEnvironment
  ) async throws(SourceError) -> RequestPlan {
    let addresses = try urls(in: environment.settings).map(\.absoluteString)
    let rate = try rate(in: environment)
    let cost = try cost(in: environment)
    let sharedState = try sharedState(in: environment)
    // A copy, so that the call is not counted.
    var (state, now) = await sharedState.admission.update { [now = sharedState.now] state, time in
      (state, time ?? now())
    }
    let left = rate.map { state.limiter.left(kind, cost: cost, by: $0, at: now) }
    let turn = state.limiter.reserve(
      kind, cost: cost, by: rate, at: now, maxWait: RateLimiterState.maxWait)
    let pause = policy.breaker.map { state.circuit.pause($0, at: now) } ?? .zero
    // A local search reads further pages.
    var pages = 1
    if kind == .search, let bound = policy.localSearchBound {
      let size = try upstreamPageSize(in: environment)
      pages = (bound + size - 1) / size
    }
    return RequestPlan(
      addresses: addresses, rate: rate, left: left, wait: turn.wait, pause: pause,
      requestsPerPage: policy.retry.attempts * pages)
  }
}
