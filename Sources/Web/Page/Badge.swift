import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The origin of an answer in a few words, which opens into the whole story.
struct Badge {
  enum Kind: String { case live, cached, bundled, offline }

  let kind: Kind
  let label: String
  let explanation: String

  /// Why the answer is not what was asked for, or not all of it, to be shown beside the list.
  let notes: [String]

  /// The time until a service is asked again that failed too often, in seconds; `nil` for any other.
  let pause: Int?

  /// What people need to know of a circuit breaker.
  static let pauseWords =
    "The service failed several times in a row, so it is left alone for a moment"

  private let page: ServedListing
  private let provenance: CombinedProvenance

  init?(_ page: ServedListing, _ cache: ServedQuery.Cache, _ now: Date) {
    guard let provenance = page.summary.provenance else { return nil }
    self.page = page
    self.provenance = provenance
    let code = provenance.reason?.code
    let isOffline = cache == .offline || code == .offline || code == .unreachable
    let age = provenance.fetchedAt.map { " \($0.age(at: now))" } ?? ""
    let origin =
      switch provenance.origin {
      case .live: "Live"
      case .cached: "Cached\(age)"
      case .bundled: "Bundled sample data"
      case .mixed: "Partly cached"
      }
    kind =
      switch provenance.origin {
      case .live: .live
      case _ where isOffline: .offline
      case .bundled: .bundled
      case .cached, .mixed: .cached
      }
    label = kind == .offline ? "Offline · \(origin.lowercasedFirst)" : origin
    let isPaused = code == .circuitOpen
    pause =
      isPaused
      ? provenance.reason?.retryAfter.map { Int(($0 / .seconds(1)).rounded(.up)) } : nil
    let reason =
      isPaused ? Self.pauseWords : provenance.reason?.message.safeLine.capitalizedFirst
    // Records are missing, or may be.
    let codes: Set<Warning.Code> = [.scanned, .unreadable, .estimated]
    let shortcomings = page.summary.warnings.map(\.warning).filter {
      $0.meansIncomplete || codes.contains($0.code)
    }
    notes =
      [reason].compactMap(\.self) + shortcomings.map(\.message.safeLine.capitalizedFirst)
    let usual =
      switch provenance.origin {
      case .live: "Fetched from the service just now"
      case .cached where cache == .offline: "You chose to use local data only"
      case .cached: "Fresh enough: the service was not asked again"
      case .bundled: "Sample data that is part of the program"
      case .mixed: "Some records are live, others cached"
      }
    explanation = reason ?? usual
  }

  /// The notes; the script counts down to the next answer, and shows it then.
  var notesHTML: [HTML] {
    notes.map { note in
      let rest: HTML? =
        note == Self.pauseWords
        ? pause.map { #". It is asked again in <span data-countdown="\#($0)">\#($0) s</span>."# }
        : nil
      return #"<p class="note" dir="auto">\#(note)\#(rest)</p>"#
    }
  }

  /// The badge with links to the other ways to read the same data.
  func html(_ query: ServedQuery, address: (ServedQuery) -> String) -> HTML {
    let links: [(icon: Icon, words: String, cache: ServedQuery.Cache)] =
      query.cache == .offline
      ? [(.refresh, "Go online", .normal)]
      : [(.refresh, "Refresh", .reload), (.offline, "Use local data", .offline)]
    return """
      <details class="badge \(kind.rawValue)"><summary title="\(explanation)">\
      <span class="visually-hidden">Data: </span><span class="label">\(label)</span></summary>
      <div class="panel">
      <p dir="auto">\(explanation).</p>
      <dl>\(provenance.fetchedAt.map { date in
        #"<div><dt>Fetched</dt><dd><time datetime="\#(date.iso8601)">\#(date.forPeople)</time></dd></div>"#
      })\(provenance.endpoint.map { endpoint in
        #"<div><dt>From</dt><dd dir="auto">\#(endpoint.safeLine)</dd></div>"#
      })</dl>
      \(page.summary.warnings.map { #"<p dir="auto">\#($0.warning.message.safeLine.capitalizedFirst)</p>"# })
      <p class="actions">\(links.map { link in
        """
        <a class="button" href="\(address(query.with(\.cache, link.cache)))">\(link.icon.html)\
        <span>\(link.words)</span></a>
        """
      })</p>
      </div></details>
      """
  }
}

extension Date {
  /// For example `2026-11-21 20:47 UTC`.
  fileprivate var forPeople: String {
    let text = iso8601
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
  }
}
