import AggregatorAPI
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The ages of a text at its writing, in their order, from which the script counts up; of fewer in the text, the last ones.
func ages(_ dates: [Date?], at now: Date) -> String? {
  let ages = dates.compactMap { $0.map { String(Int(min(now.timeIntervalSince($0), 1e9))) } }
  return ages.isEmpty ? nil : ages.joined(separator: " ")
}

/// The origin of an answer in a few words, which opens into the whole story.
struct Badge {
  let origin: OriginBadge

  private let page: ServedListing
  private let now: Date
  private let provenance: CombinedProvenance

  /// - Parameter shortfall: That of the list, which is said above, and counts the unreadable rows of all pages.
  init?(
    _ page: ServedListing, _ cache: ServedQuery.Cache, _ now: Date,
    besides shortfall: Shortfall? = nil
  ) {
    var noted = page.summary
    noted.warnings.removeAll {
      $0.warning.code == .unreadable && shortfall?.includes(.unreadable) == true
    }
    guard let provenance = noted.provenance,
      let origin = OriginBadge(
        noted, choosesLocal: cache == .offline, namesChoice: false, at: now)
    else { return nil }
    self.page = page
    self.now = now
    self.provenance = provenance
    self.origin = origin
  }

  /// The notes; the script counts down to the next answer, and shows it then.
  ///
  /// - Parameters:
  ///   - remedy: What mends the reason, which is a line that opens into it.
  ///   - said: The note that is said elsewhere.
  func notesHTML(opening remedy: HTML? = nil, besides said: String? = nil) -> [HTML] {
    notes.filter { $0 != said }.enumerated().map { index, note in
      let rest: HTML? =
        note == OriginBadge.pauseWords
        ? origin.pause.map {
          #". It is asked again in <span data-countdown="\#($0)">\#($0) s</span>."#
        }
        : nil
      let words = rest == nil ? note.sentence : note.withWrittenDates
      let type = index == 0 && hasReason ? "note reason" : "note"
      if index == 0, let remedy {
        return
          #"<details class="\#(type)" dir="auto"><summary>\#(words)</summary>\#(remedy)</details>"#
      }
      return #"<p class="\#(type)" dir="auto">\#(words)\#(rest)</p>"#
    }
  }

  /// True if the first note is the reason of the origin.
  private var hasReason: Bool { origin.notes.first == origin.explanation }

  /// The notes of the origin; that of a copy says what failed, which alone would seem to be about the copy.
  var notes: [String] {
    guard provenance.origin == .cached, let date = provenance.fetchedAt,
      let reason = provenance.reason?.message.safeLine,
      origin.notes.first == reason.capitalizedFirst
    else { return origin.notes }
    return ["Could not refresh (\(reason)); this is the copy of \(date.written)"]
      + origin.notes.dropFirst()
  }

  /// The badge with links to the other ways to read the same data.
  ///
  /// - Parameter hasNotes: True beside ``notesHTML(opening:)``, which the badge does not repeat.
  func html(_ query: ServedQuery, hasNotes: Bool = true, address: (ServedQuery) -> String) -> HTML {
    // Filters and orders read cached records anyway.
    let links: [(icon: Icon, words: String, cache: ServedQuery.Cache)] =
      query.readsIndex
      ? []
      : query.cache == .offline
        ? [(.refresh, "Ask the service", .normal)]
        : [(.refresh, "Refresh", .reload), (.offline, "Use local data", .offline)]
    let buttons = links.map { link -> HTML in
      """
      <a class="button" href="\(address(query.with(\.cache, link.cache)))">\(link.icon.html)\
      <span>\(link.words)</span></a>
      """
    }
    let actions: HTML? = buttons.isEmpty ? nil : #"<p class="actions">\#(buttons)</p>"#
    // The origin and what is missing, which are said above, are warnings, too.
    let told: Set<Warning.Code> = [.cached, .bundled, .removedUpstream]
    let warnings = page.summary.warnings.map(\.warning).filter { warning in
      !hasNotes
        || !told.contains(warning.code)
          && !origin.notes.contains(warning.message.safeLine.capitalizedFirst)
    }
    // Of a part of the records, pages may be newer than the oldest one, which filters and orders tell of.
    let isMixed =
      query.readsIndex && page.summary.warnings.contains(where: \.warning.meansIncomplete)
    return """
      <details class="badge \(origin.kind.rawValue)"><summary title="\(origin.explanation)">\
      <span class="visually-hidden">Data: </span><span\(attribute: "data-age", ages([origin.fetchedAt], at: now)) class="label">\(isMixed ? origin.labelOfOldest : origin.label)</span></summary>
      <div class="panel">
      <p\(attribute: "class", hasNotes && hasReason ? "told" : nil) dir="auto">\(origin.explanation).</p>
      <dl>\(provenance.fetchedAt.map { date in
        #"<div><dt>Fetched</dt><dd><time datetime="\#(date.iso8601)">\#(date.written)</time></dd></div>"#
      })\(provenance.endpoint.map { endpoint in
        #"<div><dt>From</dt><dd dir="auto">\#(endpoint.safeLine)</dd></div>"#
      })</dl>
      \(warnings.map { #"<p dir="auto">\#($0.message.sentence)</p>"# })
      \(actions)
      </div></details>
      """
  }
}
