public import AggregatorFoundation

/// The origin and age of an answer, and the reason for a fallback.
public struct Provenance: Equatable, Sendable {
  /// A tier of a source.
  public enum Origin: String, Sendable, CaseIterable {
    /// The service, just now.
    case live
    case cached
    /// Data compiled into the program.
    case bundled
  }

  public var origin: Origin

  /// The date when the data was fetched from the service; `nil` for bundled data.
  public var fetchedAt: Date?

  /// The URL that was requested, without its query; `nil` for bundled data.
  public var endpoint: String?

  /// The failure of the preferred tier; `nil` if that tier was not tried or did not fail.
  public var reason: SourceError?

  public init(
    _ origin: Origin, fetchedAt: Date? = nil, endpoint: String? = nil, reason: SourceError? = nil
  ) {
    self.origin = origin
    self.fetchedAt = fetchedAt
    self.endpoint = endpoint
    self.reason = reason
  }

  public func because(_ reason: SourceError) -> Provenance {
    Provenance(origin, fetchedAt: fetchedAt, endpoint: endpoint, reason: reason)
  }
}
