import AggregatorKit
import Foundation
import Testing

@testable import AggregatorAPI
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorTerminal
@testable import AggregatorWeb

@Suite struct BadgeTests {
  private static let minutesAgo = MadeUpSource.now.addingTimeInterval(-185)
  private static let unreachable = SourceError(.unreachable, "cannot reach the service")

  private func badge(
    _ provenances: Provenance..., cache: ServedQuery.Cache = .normal
  ) throws -> Badge {
    var summary = ListingSummary(count: 1)
    summary.provenance = CombinedProvenance(provenances)
    return try #require(
      Badge(ServedListing(records: [], summary: summary), cache, MadeUpSource.now))
  }

  @Test func sayTheOrigin() throws {
    let live = Provenance(.live, fetchedAt: MadeUpSource.now)
    let cached = Provenance(.cached, fetchedAt: Self.minutesAgo)
    let bundled = Provenance(.bundled)
    #expect(try badge(live).origin.label == "Live")
    #expect(try badge(live).origin.explanation == "Fetched from the service just now")
    #expect(try badge(cached).origin.label == "Cached 3 min ago")
    #expect(try badge(bundled).origin.label == "Bundled sample data")
    #expect(try badge(live, cached).origin.label == "Partly cached")
    #expect(try badge(live).origin.notes == [])
    #expect(try badge(cached).origin.notes == [])
  }

  @Test(
    arguments: [
      (4.0, "Live", "just now"), (49, "Fetched 49 s ago", "49 s ago"),
      (89, "Fetched 89 s ago", "89 s ago"), (90, "Fetched 2 min ago", "2 min ago"),
      (179, "Fetched 2 min ago", "2 min ago"), (180, "Fetched 3 min ago", "3 min ago"),
    ])
  func `a page that was fetched for an earlier request has an age`(
    seconds: Double, label: String, age: String
  ) throws {
    let fetched = MadeUpSource.now.addingTimeInterval(-seconds)
    let badge = try badge(Provenance(.live, fetchedAt: fetched))
    #expect(badge.origin.kind == .live)
    #expect(badge.origin.label == label)
    #expect(badge.origin.word == (label == "Live" ? "live" : "fetched"))
    #expect(badge.origin.explanation == "Fetched from the service \(age)")
  }

  @Test func offerNoWayThatTheServerRefuses() throws {
    func links(_ query: ServedQuery) throws -> Int {
      let badge = try badge(Provenance(.cached, fetchedAt: Self.minutesAgo))
      return badge.html(query) { WebAddress.list("heroes", $0) }.text.matches(of: /cache=/).count
    }
    #expect(try links(.plain) == 2)
    #expect(try links(ServedQuery(conditions: ["name~a"])) == 0)
    #expect(try links(ServedQuery(order: "name")) == 0)
  }

  @Test func `a filter of a part of the records names the oldest one`() throws {
    func label(_ query: ServedQuery, _ warnings: [Warning]) throws -> String {
      var summary = ListingSummary(count: 1)
      summary.provenance = CombinedProvenance([Provenance(.cached, fetchedAt: Self.minutesAgo)])
      summary.warnings = warnings.map { SourceWarning("heroes", $0) }
      let page = ServedListing(records: [], summary: summary)
      let html = try #require(Badge(page, .normal, MadeUpSource.now)).html(query) { _ in "/" }
      return String(try #require(html.text.firstMatch(of: /label">([^<]*)</)).1)
    }
    let part = [Warning(.incomplete, "limited to cached records: 7 of 20")]
    let filtered = ServedQuery(conditions: ["name~a"])
    #expect(try label(filtered, part) == "Cached, oldest 3 min ago")
    // All were read by one sync, or a page was read at once.
    #expect(try label(filtered, []) == "Cached 3 min ago")
    #expect(try label(.plain, part) == "Cached 3 min ago")
  }

  @Test func sayWhyDataIsNotLive() throws {
    let cached = Provenance(.cached, fetchedAt: Self.minutesAgo, reason: Self.unreachable)
    #expect(try badge(cached).origin.label == "Offline · cached 3 min ago")
    #expect(try badge(cached).origin.notes == ["Cannot reach the service"])
    #expect(
      try badge(cached).notes == [
        "Could not refresh (cannot reach the service); this is the copy of 15 Jan 2027, 07:56 UTC"
      ])
    #expect(try badge(cached).notesHTML().map(\.text).joined().contains("07:56 UTC.</p>"))
    // Once is enough.
    for hasNotes in [true, false] {
      let html = try badge(cached).html(.plain, hasNotes: hasNotes) { _ in "/" }.text
      #expect(html.contains("<p dir=\"auto\">Cannot reach the service.</p>") != hasNotes)
    }
    let offline = Provenance(.cached, reason: SourceError(.unreachable, "no network"))
    #expect(try badge(offline).origin.notes == ["No network"])
    let limited = Provenance(
      .bundled, reason: SourceError(.rateLimited, "rate limited; retry in 28 min"))
    #expect(try badge(limited).origin.label == "Bundled sample data")
    #expect(
      try badge(limited).origin.explanation
        == "Showing bundled sample data (rate limited; retry in 28 min)")
  }

  @Test func sayWhenAServiceThatFailsIsAskedAgain() throws {
    let paused = Provenance(
      .cached, fetchedAt: Self.minutesAgo,
      reason: SourceError(
        .circuitOpen, "failing repeatedly; paused", retryAfter: .seconds(6.3)))
    let badge = try badge(paused)
    #expect(badge.origin.notes == [OriginBadge.pauseWords])
    let notes = badge.notesHTML().map(\.text).joined()
    #expect(notes.contains(#"<span data-countdown="7">7 s</span>"#))
  }

  @Test func sayThatTheServiceWasNotAsked() throws {
    let cached = Provenance(.cached, fetchedAt: Self.minutesAgo)
    #expect(try badge(cached, cache: .offline).origin.kind == .cached)
    #expect(try badge(cached, cache: .offline).origin.label == "Cached 3 min ago")
    let offline = Provenance(
      .cached, fetchedAt: Self.minutesAgo, reason: SourceError(.offline, "offline mode"))
    #expect(try badge(offline, cache: .offline).origin.label == "Cached 3 min ago")
    #expect(try badge(offline, cache: .offline).notes == [])
    #expect(try badge(offline).origin.label == "Offline · cached 3 min ago")
    #expect(
      try badge(cached, cache: .offline).origin.explanation == "You chose to use local data only")
  }

  @Test func sayWhatIsUnknownOfARecord() throws {
    var summary = ListingSummary(
      count: 1,
      warnings: [SourceWarning("heroes", Warning(.unfetched, "lists do not include \"powers\""))])
    summary.provenance = CombinedProvenance([Provenance(.cached, fetchedAt: Self.minutesAgo)])
    let badge = Badge(
      ServedListing(records: [], summary: summary), .normal, MadeUpSource.now)
    #expect(badge?.origin.notes == ["Lists do not include \"powers\""])
  }

  @Test func nobodyAnswered() {
    #expect(
      Badge(
        ServedListing(records: [], summary: ListingSummary(count: 0)), .normal, MadeUpSource.now)
        == nil)
  }
}
