/// Controls whether a call may use the network, cached data or a fallback.
public struct CachePolicy: Hashable, Sendable {
  /// True if the service may be called; if false, no connection is opened.
  public var mayAskService = true

  /// True if the service is called even though cached data is fresh or its circuit breaker is open.
  public var refreshes = false

  /// True if stale cached data or bundled data may answer when the service fails.
  public var mayFallBack = true

  public var growth = LoadMorePolicy.atEnd

  /// Fresh cached data, else the service, else local data.
  public static let normal = CachePolicy()

  /// Local data only; opens no connection.
  public static let offline = CachePolicy(mayAskService: false)

  /// The service, even if cached data is fresh; else local data.
  public static let refresh = CachePolicy(refreshes: true)

  /// Fresh cached data or the service; otherwise the call fails.
  public static let noFallback = CachePolicy(mayFallBack: false)

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
