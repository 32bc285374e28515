public import AggregatorCore
import AggregatorSettings
import Foundation

/// What a call to a source's service would meet if it were made now.
public struct RequestPlan: Sendable {
  /// Where the service is; nothing secret.
  public let addresses: [String]

  /// How often it is asked at most; `nil` for no bound.
  public let rate: Rate?

  /// How many calls the rate leaves, over its longest period; `nil` without a rate.
  public let left: Int?

  /// How long the call would wait for its turn, or until the service wants to be asked again.
  public let wait: Duration

  /// How long the service is left alone because it has failed too often; zero if it is not.
  public let pause: Duration

  /// How many requests one page costs at most: its attempts, and the pages of a local search.
  public let requestsPerPage: Int
}

extension Plugin {
  /// What a call would meet, without making it or taking its turn.
  ///
  /// - Parameters:
  ///   - kind: Which kind of call.
  ///   - environment: Everything that the source may touch; nothing is sent.
  /// - Returns: What it would meet.
  /// - Throws: ``SourceError`` with code `badSettings`.
  public func requestPlan(
    of kind: CallKind, in environment: PluginEnvironment
  ) async throws(SourceError) -> RequestPlan {
    var addresses: [String] = []
    for setting in settings where setting.form == .url {
      addresses.append(try environment.settings.url(setting).absoluteString)
    }
    let rate = try policy.rate.flatMap { setting throws(SourceError) in
      try environment.settings.rate(setting)
    }
    let cost = try cost(in: environment)
    let sharedState = try sharedState(in: environment) ?? SharedState(on: environment.clock)
    let now = sharedState.now
    // A copy: nobody's turn is taken.
    var limiterState = await sharedState.shared("turns", RateLimiterState()).update { $0 }
    let left = rate.map { limiterState.left(kind, cost: cost, by: $0, at: now()) }
    let turn = limiterState.reserve(
      kind, cost: cost, by: rate, at: now(), maxWait: RateLimiterState.longestWait)
    let pause = await policy.breaker.map { Circuit($0, sharing: sharedState) }?.pause() ?? .zero
    let scanned = try scannedPages(kind, in: environment)
    return RequestPlan(
      addresses: addresses, rate: rate, left: left, wait: turn.wait, pause: pause,
      requestsPerPage: policy.retry.attempts * scanned)
  }

  /// How many upstream pages one page costs at most.
  private func scannedPages(
    _ kind: CallKind, in environment: PluginEnvironment
  ) throws(SourceError) -> Int {
    guard kind == .search, let bound = policy.localSearchBound else { return 1 }
    let size = try upstreamPageSize(in: environment)
    return (bound + size - 1) / size
  }
}
