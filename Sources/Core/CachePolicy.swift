/// Which tiers a caller is willing to be answered by.
public struct CachePolicy: Hashable, Sendable {
  /// Whether the service may be asked; if not, no socket is opened.
  public var mayAskService = true

  /// Whether the service is asked even if what is stored is fresh, or if it has failed so often that it
  /// would be left alone.
  public var refreshes = false

  /// Whether what is at hand, but old, may answer in the service's place.
  public var mayFallBack = true

  /// When a local-first source asks its service for more.
  public var growth = LoadMorePolicy.atEnd

  /// What is fresh, else the service, else what is at hand.
  public static let normal = CachePolicy()

  /// What is at hand; opens no socket.
  public static let offline = CachePolicy(mayAskService: false)

  /// The service, even if what is stored is fresh; else what is at hand.
  public static let refresh = CachePolicy(refreshes: true)

  /// The service or what is fresh, or nothing.
  public static let noFallback = CachePolicy(mayFallBack: false)

  /// A reading.
  ///
  /// - Parameters:
  ///   - mayAskService: Whether the service may be asked.
  ///   - refreshes: Whether it is asked even if what is stored is fresh, or if it failed of late.
  ///   - mayFallBack: Whether what is at hand may answer in its place.
  ///   - growth: When a local-first source asks its service for more.
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

/// When a collection that grows asks for more.
public enum LoadMorePolicy: String, Hashable, Sendable {
  /// Never: what is stored is all there is.
  case never
  /// When nothing is stored yet.
  case whenEmpty
  /// When what is stored comes to its end.
  case atEnd
}
