import AggregatorKit
import Foundation
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

@Suite struct EnvelopeTests {
  @Test func `the document has its keys in order`() throws {
    let provenance = CombinedProvenance(
      Provenance(
        .cached, fetchedAt: Date(timeIntervalSince1970: 1_767_604_364),
        endpoint: "https://host/path", reason: SourceError(.timedOut, "late")))
    let summary = ListingSummary(
      count: 2, total: 249, next: PageCursor("cA1"), provenance: provenance,
      warnings: [SourceWarning("countries", Warning(.cached, "saved 3 hours ago"))])
    let text = rendered(
      [[Country.afghanistan], [], [Country.bouvet]], as: .json, .countries, on: .plain(80), summary)
    try expectGolden("envelope", text)
    _ = try JSONSerialization.jsonObject(with: Data(text.utf8))
  }

  @Test func `an empty answer is a complete document`() {
    let text = rendered([[]], as: .json, .countries, on: .plain(80))
    #expect(
      text == """
        {
          "schema": "aggregator/1",
          "source": "countries",
          "verb": "list",
          "query": null,
          "items": [],
          "page": {"count":0,"total":null,"next":null},
          "provenance": null,
          "warnings": []
        }

        """)
  }

  @Test func `the query is escaped`() {
    var listing = Listing.countries
    listing.query = "\"x\u{1B}\u{202E}"
    listing.source = nil
    let text = rendered([] as [[Country]], as: .json, listing, on: .plain(80))
    #expect(text.contains(#""source": null"#))
    #expect(text.contains(#""query": "\"x\u001b\u202e""#))
  }

  @Test func `items have all fields, or the chosen ones in their order`() {
    #expect(
      rendered([[Country.bouvet]], as: .ndjson, .countries, on: .plain(80))
        == #"{"code":"BV","name":"Bouvet Island","region":"AN","capital":null}"# + "\n")
    var listing = Listing.countries
    listing.chosen = [Country.fields[1], Country.fields[0]]
    #expect(
      rendered([[Country.bouvet]], as: .ndjson, listing, on: .plain(80))
        == #"{"name":"Bouvet Island","code":"BV"}"# + "\n")
  }

  @Test func `several origins are mixed, with the oldest time`() throws {
    let old = Date(timeIntervalSince1970: 1000)
    let combined = try #require(
      CombinedProvenance([
        Provenance(.live, fetchedAt: Date(timeIntervalSince1970: 2000), endpoint: "https://a/"),
        Provenance(.cached, fetchedAt: old, reason: SourceError(.offline, "no")),
        Provenance(.bundled, reason: SourceError(.malformed, "later")),
      ]))
    #expect(combined.origin == .mixed)
    #expect(combined.fetchedAt == old)
    #expect(combined.endpoint == "https://a/")
    #expect(combined.reason?.code == .offline)
    #expect(CombinedProvenance([] as [Provenance]) == nil)
    #expect(CombinedProvenance([Provenance(.live), Provenance(.live)])?.origin == .live)
  }
}
