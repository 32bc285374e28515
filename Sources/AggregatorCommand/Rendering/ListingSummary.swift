import AggregatorKit
import Foundation

/// What is known of a listing once it ended.
struct ListingSummary: Sendable {
  /// How many records were written.
  var count: Int

  /// How many records the whole answer has, if that is known and cheap to know.
  var total: Int?

  /// Where to go on; `nil` at the end.
  var next: Cursor?

  /// Who answered; `nil` if nobody did.
  var provenance: CombinedProvenance?

  /// What the reader should know.
  var warnings: [SourceWarning]

  /// What there is to know of each source, where there are several.
  var sources: [JSON.Member] = []

  /// A summary.
  ///
  /// - Parameters:
  ///   - count: How many records were written.
  ///   - total: How many records the whole answer has, if known.
  ///   - next: Where to go on.
  ///   - provenance: Who answered.
  ///   - warnings: What the reader should know.
  init(
    count: Int, total: Int? = nil, next: Cursor? = nil, provenance: CombinedProvenance? = nil,
    warnings: [SourceWarning] = []
  ) {
    self.count = count
    self.total = total
    self.next = next
    self.provenance = provenance
    self.warnings = warnings
  }

  /// The member `page` of the JSON envelope.
  var page: JSON {
    [
      "count": .integer(count), "total": total.json, "next": (next?.description).json,
    ]
  }
}

/// A warning, and the source that it is about; `nil` where it is about none.
struct SourceWarning: Hashable, Sendable {
  /// The source's name.
  var source: String?

  /// The warning.
  var warning: Warning

  /// A warning about a source.
  ///
  /// - Parameters:
  ///   - source: The source's name.
  ///   - warning: The warning.
  init(_ source: String?, _ warning: Warning) {
    self.source = source
    self.warning = warning
  }

  /// The warning in the JSON envelope.
  var json: JSON {
    [
      "code": .string(warning.code), "source": source.json, "message": .string(warning.message),
    ]
  }
}

/// Who answered, of one page or of everything that was written.
///
/// Rows of several tiers are `mixed`. The time is the oldest one, so that nothing looks fresher than
/// it is; reason and endpoint are the first ones known.
struct CombinedProvenance: Sendable {
  /// The tier that answered, or several.
  enum Origin: String { case live, stored, bundled, mixed }

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
      case .stored: .stored
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

/// How a listing goes on, in words for people.
enum ContinuationHint {
  /// With the cursor of its answer, where no place is kept.
  case cursor
  /// With this command, or all at once with `--all`.
  case listing(String)
  /// With this command.
  case next(String)
  /// Not yet: this command shows the same once more.
  case peek(String)

  /// What to do for more.
  var action: String {
    switch self {
    case .cursor: "--cursor"
    case .listing(let command), .next(let command), .peek(let command): "'\(command)'"
    }
  }

  /// What stands after the number of records, where more follow.
  ///
  /// - Parameters:
  ///   - next: Where the next page starts.
  ///   - offersAll: Whether all could be asked for instead.
  /// - Returns: `more: aggregator heroes next`.
  func words(_ next: Cursor, offersAll: Bool) -> String {
    let all = offersAll ? " · all: --all" : ""
    return switch self {
    case .cursor: "more: --cursor \(next)\(all)"
    case .listing(let command): "more: \(command)\(all)"
    case .next(let command): "more: \(command)"
    case .peek(let command): "not moved: \(command) shows these"
    }
  }
}
