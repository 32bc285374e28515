import AggregatorKit

struct ListingSummary: Sendable {
  var count: Int
  /// The number of all matching records, if known without extra requests.
  var total: Int?
  var next: Cursor?
  /// The combined provenance; `nil` if no source answered.
  var provenance: CombinedProvenance?
  var warnings: [SourceWarning] = []
  /// The results of single sources in a search across sources.
  var sources: [JSON.Member] = []

  var page: JSON {
    [
      "count": .integer(count), "total": total.json, "next": (next?.description).json,
    ]
  }
}

/// A warning, with the name of its source if it concerns one.
struct SourceWarning: Hashable, Sendable {
  var source: String?

  var warning: Warning

  init(_ source: String?, _ warning: Warning) {
    self.source = source
    self.warning = warning
  }

  var json: JSON {
    [
      "code": .string(warning.code), "source": source.json, "message": .string(warning.message),
    ]
  }
}

/// The provenance of one page or of everything written.
///
/// Rows of several origins are `mixed`. The time is the oldest one, so that nothing looks fresher
/// than it is; reason and endpoint are the first ones known.
struct CombinedProvenance: Sendable {
  enum Origin: String { case live, cached, bundled, mixed }

  private(set) var origin: Origin

  private(set) var fetchedAt: Date?
  /// The reason why a better tier did not answer.
  private(set) var reason: SourceError?
  private(set) var endpoint: String?

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

  init?(_ provenances: some Sequence<Provenance>) {
    self.init(joining: provenances.map { CombinedProvenance($0) })
  }

  init?(joining provenances: [CombinedProvenance]) {
    guard let first = provenances.first else { return nil }
    self = provenances.dropFirst().reduce(first) { $0.joined(by: $1) }
  }

  func joined(by later: CombinedProvenance) -> CombinedProvenance {
    var both = self
    if later.origin != origin { both.origin = .mixed }
    both.fetchedAt = [fetchedAt, later.fetchedAt].compactMap(\.self).min()
    both.reason = reason ?? later.reason
    both.endpoint = endpoint ?? later.endpoint
    return both
  }

  var json: JSON {
    [
      "origin": .string(origin.rawValue), "fetchedAt": (fetchedAt?.iso8601).json,
      "reason": (reason?.code.description).json, "endpoint": endpoint.json,
    ]
  }
}

enum ContinuationHint {
  /// With the cursor of the answer, if no position is saved.
  case cursor
  /// With this command, and `--all`.
  case listing(String)
  case next(String)
  /// The position is unchanged: this command shows the same page again.
  case peek(String)

  var action: String {
    switch self {
    case .cursor: "--cursor"
    case .listing(let command), .next(let command), .peek(let command): "\"\(command)\""
    }
  }

  /// For example `more: aggregator heroes next`; `offersAll` if `--all` is possible.
  func words(_ next: Cursor, offersAll: Bool) -> String {
    let all = offersAll ? " · all: --all" : ""
    return switch self {
    case .cursor: "more: --cursor \(next)\(all)"
    case .listing(let command): "more: \(command)\(all)"
    case .next(let command): "more: \(command)"
    case .peek(let command): "position unchanged: \(command) shows this page again"
    }
  }
}
