public import AggregatorCore
import AggregatorFoundation
import AggregatorSettings

/// A prediction of a call to a source's service.
public struct RequestPlan: Sendable {
  /// The service's URLs; nothing secret.
  public let addresses: [String]

  /// The rate limit that holds calls back most, of the source or of another one of its service; `nil` for none.
  public let rate: Rate?

  /// The other source that has the rate; `nil` for this one.
  public let rateSource: String?

  /// The number of calls left in the longest period of the rate; `nil` without a rate.
  public let left: Int?

  /// The wait for the rate limit, or for the service's `Retry-After`.
  public let wait: Duration

  /// The reason the service is not called, if it has demanded that; `nil` if ``wait`` is for the rate limit.
  package let demand: String?

  /// The remaining pause of an open circuit breaker, of the source or its host; zero if both are closed.
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
    let service = try service(in: environment)
    let limit = callLimit(
      try rate(in: environment), cost: try cost(in: environment), of: service, in: environment)
    let sharedState = sharedState(of: service, in: environment)
    // A copy, so that the call is not counted.
    let (state, now) = await sharedState.admission.update { [now = sharedState.now] state, time in
      (state, time ?? now())
    }
    let caller = service.caller
    var limiter = state[limiterOf: caller.account]
    let held = limiter.heldRate(kind, by: limit, of: caller, at: now)
    let turn = limiter.reserve(
      kind, by: limit, of: caller, at: now, maxWait: RateLimiterState.maxWait)
    let circuits = [state.circuit] + [caller.source.map { state[circuitOf: $0] }].compactMap(\.self)
    let pause = policy.breaker.map { breaker in
      circuits.map { $0.pause(breaker, at: now) }.max() ?? .zero
    }
    // A local search reads further pages.
    var pages = 1
    if kind == .search, let bound = policy.localSearchBound {
      let size = try upstreamPageSize(in: environment)
      pages = (bound + size - 1) / size
    }
    return RequestPlan(
      addresses: addresses, rate: held?.rate, rateSource: held?.source, left: held?.left,
      wait: turn.wait,
      demand: turn.demand, pause: pause ?? .zero,
      requestsPerPage: policy.retry.attempts * pages)
  }
}

extension Plugin {
  /// The provenance of the cached page for a request, if it is fresh; sends nothing.
  package func cachedAnswer(
    to request: PageRequest, in environment: PluginEnvironment
  ) async -> Provenance? {
    var environment = environment
    environment.observer = .silent
    let cachePolicy = CachePolicy(mayAskService: false, mayFallBack: false, growth: .never)
    return try? await source(in: environment).cachePolicy(cachePolicy).page(request)
      .provenance
  }
}
