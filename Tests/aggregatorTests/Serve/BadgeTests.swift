import AggregatorKit
import Foundation
import Testing

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
    #expect(try badge(live).label == "Live")
    #expect(try badge(cached).label == "Cached 3 min ago")
    #expect(try badge(bundled).label == "Bundled sample data")
    #expect(try badge(live, cached).label == "Partly cached")
    #expect(try badge(live).notes == [])
    #expect(try badge(cached).notes == [])
  }

  @Test func sayWhyDataIsNotLive() throws {
    let cached = Provenance(.cached, fetchedAt: Self.minutesAgo, reason: Self.unreachable)
    #expect(try badge(cached).label == "Offline · cached 3 min ago")
    #expect(try badge(cached).notes == ["Cannot reach the service"])
    let offline = Provenance(.cached, reason: SourceError(.unreachable, "no network"))
    #expect(try badge(offline).notes == ["No network"])
    let limited = Provenance(
      .bundled, reason: SourceError(.rateLimited, "rate limited; retry in 28 min"))
    #expect(try badge(limited).label == "Bundled sample data")
    #expect(try badge(limited).explanation == "Rate limited; retry in 28 min")
  }

  @Test func sayWhenAServiceThatFailsIsAskedAgain() throws {
    let paused = Provenance(
      .cached, fetchedAt: Self.minutesAgo,
      reason: SourceError(
        .circuitOpen, "failing repeatedly; paused for 6.3 s", retryAfter: .seconds(6.3)))
    let badge = try badge(paused)
    #expect(badge.notes == [Badge.pauseWords])
    #expect(badge.notesHTML.map(\.text).joined().contains(#"<span data-countdown="7">7 s</span>"#))
  }

  @Test func sayThatTheServiceWasNotAsked() throws {
    let cached = Provenance(.cached, fetchedAt: Self.minutesAgo)
    #expect(try badge(cached, cache: .offline).kind == .offline)
    #expect(try badge(cached, cache: .offline).explanation == "You chose to use local data only")
  }

  @Test func nobodyAnswered() {
    #expect(
      Badge(
        ServedListing(records: [], summary: ListingSummary(count: 0)), .normal, MadeUpSource.now)
        == nil)
  }
}
