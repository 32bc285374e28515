public import Foundation

/// Who answered a request, and why nobody better did.
public struct Provenance: Sendable {
  /// The tier that answered.
  public enum Origin: String, Sendable, CaseIterable {
    /// The service itself, just now.
    case live
    /// The local store.
    case cached
    /// The data compiled into the program.
    case bundled
  }

  /// The tier that answered.
  public var origin: Origin

  /// When the data was fetched from the service; `nil` for bundled data.
  public var fetchedAt: Date?

  /// The address that was asked, without its query; `nil` for bundled data.
  public var endpoint: String?

  /// Why a better tier did not answer; `nil` when none was asked.
  public var reason: SourceError?

  /// Where an answer came from.
  ///
  /// - Parameters:
  ///   - origin: The tier that answered.
  ///   - fetchedAt: When the data was fetched from the service.
  ///   - endpoint: The address that was asked, without its query.
  ///   - reason: Why a better tier did not answer.
  public init(
    _ origin: Origin, fetchedAt: Date? = nil, endpoint: String? = nil, reason: SourceError? = nil
  ) {
    self.origin = origin
    self.fetchedAt = fetchedAt
    self.endpoint = endpoint
    self.reason = reason
  }

  /// The same, because a better tier failed.
  ///
  /// - Parameter reason: The failure of the tier above.
  /// - Returns: This provenance with `reason`.
  public func because(_ reason: SourceError) -> Provenance {
    Provenance(origin, fetchedAt: fetchedAt, endpoint: endpoint, reason: reason)
  }
}
