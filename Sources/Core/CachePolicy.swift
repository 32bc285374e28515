/// Controls whether a call may use the network, cached data or a fallback.
///
/// Every call has its own policy: one chain answers them all, and shares its rate limits, circuit breakers
/// and requests in flight among them.
public struct CachePolicy: Hashable, Sendable {
  /// True if the service may be called; if false, no connection is opened.
  public var mayAskService: Bool

  /// True if the service is called even though cached data is fresh or its circuit breaker is open.
  public var refreshes: Bool

  /// True if stale cached data or bundled data may answer when the service fails.
  public var mayFallBack: Bool

  /// True for a call that a person insists on: it is made even during a pause that the service has demanded.
  package var overridesPauses = false

  /// When a growing collection loads more records.
  public var growth: LoadMorePolicy

  /// Fresh cached data, else the service, else local data.
  public static let normal = CachePolicy()

  /// Local data only; opens no connection.
  public static let offline = CachePolicy(mayAskService: false)

  /// The service, even if cached data is fresh; else local data.
  public static let reload = CachePolicy(refreshes: true)

  /// Fresh cached data or the service; otherwise the call fails.
  public static let noFallback = CachePolicy(mayFallBack: false)

  /// The service; otherwise the call fails.
  public static let liveOnly = CachePolicy(refreshes: true, mayFallBack: false)

  public init(
    mayAskService: Bool = true, refreshes: Bool = false, mayFallBack: Bool = true,
    growth: LoadMorePolicy = .atEnd
  ) {
    self.mayAskService = mayAskService
    self.refreshes = refreshes
    self.mayFallBack = mayFallBack
    self.growth = growth
  }
}

/// Controls when a growing collection loads more records.
public enum LoadMorePolicy: String, Hashable, Sendable {
  /// Never: cached records only.
  case never
  /// Only if no record is cached yet.
  case whenEmpty
  /// Once the cached records are exhausted.
  case atEnd
}

extension DataSource {
  /// Uses one cache policy for all calls, instead of their own.
  public func cachePolicy(_ cachePolicy: CachePolicy) -> some DataSource<Item> {
    FixedCachePolicy(base: self, cachePolicy: cachePolicy)
  }

  /// Answers only calls whose policy allows calling the service; others fail with `offline`.
  ///
  /// Every chain has it directly above its remote source and the operators that control the calls to it.
  public func onlineOnly() -> some DataSource<Item> { OnlineOnly(base: self) }
}

extension SourceError {
  /// The failure of a call that may not ask the service.
  package static var offlineMode: SourceError { SourceError(.offline, "offline mode") }
}

private struct FixedCachePolicy<Base: DataSource>: Decorator {
  let base: Base
  let cachePolicy: CachePolicy

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    try await base.page(with(request))
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    try await base.item(id, cachePolicy: self.cachePolicy)
  }

  func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    base.cursor(skipping: count, from: with(request))
  }

  private func with(_ request: PageRequest) -> PageRequest {
    var request = request
    request.cachePolicy = cachePolicy
    return request
  }

  /// The chain is the same whatever the policy.
  var description: String { "\(base)" }
  var label: String { "" }
}

private struct OnlineOnly<Base: DataSource>: Interceptor {
  let base: Base
  var label: String { "onlineOnly()" }

  func intercept<Answer: Sendable>(
    _ kind: CallKind, cachePolicy: CachePolicy,
    _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    guard cachePolicy.mayAskService else { throw .offlineMode }
    return try await call()
  }
}
