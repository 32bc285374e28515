package import AggregatorKit

package struct ListingSummary: Sendable {
  package var count: Int
  /// The number of all matching records, if known without extra requests.
  package var total: Int?
  package var next: PageCursor?
  /// The combined provenance; `nil` if no source answered.
  package var provenance: CombinedProvenance?
  package var warnings: [SourceWarning] = []
  /// The results of single sources in a search across sources.
  package var sources: [JSON.Member] = []
  /// The sums of a run over several sources.
  package var totals: [JSON.Member] = []

  package init(
    count: Int, total: Int? = nil, next: PageCursor? = nil, provenance: CombinedProvenance? = nil,
    warnings: [SourceWarning] = [], sources: [JSON.Member] = []
  ) {
    self.count = count
    self.total = total
    self.next = next
    self.provenance = provenance
    self.warnings = warnings
    self.sources = sources
  }

  package var page: JSON {
    [
      "count": .integer(count), "total": total.json, "next": (next?.description).json,
    ]
  }
}

/// A warning, with the name of its source if it concerns one.
package struct SourceWarning: Hashable, Sendable {
  package var source: String?

  package var warning: Warning

  package init(_ source: String?, _ warning: Warning) {
    self.source = source
    self.warning = warning
  }

  package var json: JSON {
    [
      "code": .string(warning.code.description), "source": source.json,
      "message": .string(warning.message),
    ]
  }
}

/// The provenance of one page or of everything written.
///
/// Rows of several origins are `mixed`. The time is the oldest one, so that nothing looks fresher
/// than it is; reason and endpoint are the first ones known.
package struct CombinedProvenance: Sendable {
  package enum Origin: String { case live, cached, bundled, mixed }

  package private(set) var origin: Origin

  package private(set) var fetchedAt: Date?
  /// The reason why a better tier did not answer.
  package var reason: SourceError?
  package var endpoint: String?

  package init(_ provenance: Provenance) {
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

  package init?(_ provenances: some Sequence<Provenance>) {
    self.init(joining: provenances.map { CombinedProvenance($0) })
  }

  package init?(joining provenances: [CombinedProvenance]) {
    guard let first = provenances.first else { return nil }
    self = provenances.dropFirst().reduce(first) { $0.joined(by: $1) }
  }

  package func joined(by later: CombinedProvenance) -> CombinedProvenance {
    var both = self
    if later.origin != origin { both.origin = .mixed }
    both.fetchedAt = [fetchedAt, later.fetchedAt].compactMap(\.self).min()
    both.reason = reason ?? later.reason
    both.endpoint = endpoint ?? later.endpoint
    return both
  }

  package var json: JSON {
    [
      "origin": .string(origin.rawValue), "fetchedAt": (fetchedAt?.iso8601).json,
      "reason": (reason?.code.description).json, "endpoint": endpoint.json,
    ]
  }
}

package enum ContinuationHint {
  /// With the cursor of the answer, if no position is saved.
  case cursor
  /// With this command, and `--all`.
  case listing(String)
  case next(String)
  /// The position is unchanged: this command shows the same page again.
  case peek(String)

  package var action: String {
    switch self {
    case .cursor: "--cursor"
    case .listing(let command), .next(let command), .peek(let command): "\"\(command)\""
    }
  }

  /// For example `more: aggregator heroes next`; `all` are the options for all records.
  package func words(_ next: PageCursor, all: String?) -> String {
    let all = all.map { " · all: \($0)" } ?? ""
    return switch self {
    case .cursor: "more: --cursor \(next)\(all)"
    case .listing(let command): "more: \(command)\(all)"
    case .next(let command): "more: \(command)"
    case .peek(let command): "position unchanged: \(command) shows this page again"
    }
  }
}
