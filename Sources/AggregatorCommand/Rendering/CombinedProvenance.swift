import AggregatorKit
import Foundation

/// Who answered, of one page or of everything that was written.
///
/// Rows of several tiers are `mixed`. The time is the oldest one, so that nothing looks fresher than
/// it is; reason and endpoint are the first ones known.
struct CombinedProvenance: Sendable {
  /// The tier that answered, or several.
  enum Origin: String { case live, cached, bundled, mixed }

  /// The tier that answered, or several.
  private(set) var origin: Origin

  /// When the oldest of the data was fetched from the service.
  private(set) var fetchedAt: Date?

  /// Why a better tier did not answer.
  private(set) var reason: SourceError?

  /// The address that was asked, without its query.
  private(set) var endpoint: String?

  /// The provenance of one answer.
  init(_ provenance: Provenance) {
    origin =
      switch provenance.origin {
      case .live: .live
      case .cached: .cached
      case .bundled: .bundled
      }
    fetchedAt = provenance.fetchedAt
    reason = provenance.reason
    endpoint = provenance.endpoint
  }

  /// The provenance of several answers; `nil` of none.
  init?(_ provenances: some Sequence<Provenance>) {
    self.init(joining: provenances.map { CombinedProvenance($0) })
  }

  /// The provenance of several answers; `nil` of none.
  init?(joining provenances: [CombinedProvenance]) {
    guard let first = provenances.first else { return nil }
    self = provenances.dropFirst().reduce(first) { $0.joined(by: $1) }
  }

  /// This and the provenance of a later answer.
  ///
  /// - Parameter later: The provenance of the later answer.
  /// - Returns: The provenance of both.
  func joined(by later: CombinedProvenance) -> CombinedProvenance {
    var both = self
    if later.origin != origin { both.origin = .mixed }
    both.fetchedAt = [fetchedAt, later.fetchedAt].compactMap(\.self).min()
    both.reason = reason ?? later.reason
    both.endpoint = endpoint ?? later.endpoint
    return both
  }

  /// The member `provenance` of the JSON envelope.
  var json: JSON {
    [
      "origin": .string(origin.rawValue), "fetchedAt": (fetchedAt?.iso8601).json,
      "reason": (reason?.code.description).json, "endpoint": endpoint.json,
    ]
  }
}
