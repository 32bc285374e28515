import AggregatorAPI
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The origin of an answer in a few words, which opens into the whole story.
struct Badge {
  let origin: OriginBadge

  private let page: ServedListing
  private let provenance: CombinedProvenance

  init?(_ page: ServedListing, _ cache: ServedQuery.Cache, _ now: Date) {
    guard let provenance = page.summary.provenance,
      let origin = OriginBadge(page.summary, choosesLocal: cache == .offline, at: now)
    else { return nil }
    self.page = page
    self.provenance = provenance
    self.origin = origin
  }

  /// The notes; the script counts down to the next answer, and shows it then.
  var notesHTML: [HTML] {
    origin.notes.map { note in
      let rest: HTML? =
        note == OriginBadge.pauseWords
        ? origin.pause.map {
          #". It is asked again in <span data-countdown="\#($0)">\#($0) s</span>."#
        }
        : nil
      return #"<p class="note" dir="auto">\#(note)\#(rest)</p>"#
    }
  }

  /// The badge with links to the other ways to read the same data.
  func html(_ query: ServedQuery, address: (ServedQuery) -> String) -> HTML {
    // What selects and sorts reads cached records anyway.
    let links: [(icon: Icon, words: String, cache: ServedQuery.Cache)] =
      query.readsIndex
      ? []
      : query.cache == .offline
        ? [(.refresh, "Go online", .normal)]
        : [(.refresh, "Refresh", .reload), (.offline, "Use local data", .offline)]
    let buttons = links.map { link -> HTML in
      """
      <a class="button" href="\(address(query.with(\.cache, link.cache)))">\(link.icon.html)\
      <span>\(link.words)</span></a>
      """
    }
    let actions: HTML? = buttons.isEmpty ? nil : #"<p class="actions">\#(buttons)</p>"#
    return """
      <details class="badge \(origin.kind.rawValue)"><summary title="\(origin.explanation)">\
      <span class="visually-hidden">Data: </span><span class="label">\(origin.label)</span></summary>
      <div class="panel">
      <p dir="auto">\(origin.explanation).</p>
      <dl>\(provenance.fetchedAt.map { date in
        #"<div><dt>Fetched</dt><dd><time datetime="\#(date.iso8601)">\#(date.written)</time></dd></div>"#
      })\(provenance.endpoint.map { endpoint in
        #"<div><dt>From</dt><dd dir="auto">\#(endpoint.safeLine)</dd></div>"#
      })</dl>
      \(page.summary.warnings.map { #"<p dir="auto">\#($0.warning.message.safeLine.capitalizedFirst)</p>"# })
      \(actions)
      </div></details>
      """
  }
}
