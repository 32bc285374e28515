import AggregatorFakeServices
import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import CountriesSource
import Foundation
import Testing

/// Replays the recorded country list.
@Suite(.timeLimit(.minutes(10))) struct RecordedTests {
  private static let plugin = CountriesPlugin()
  private static let working = Fixture("working")
  private static let failing = Fixture("failing")

  private func chain(
    _ fixture: Fixture, _ cachePolicy: CachePolicy = .normal
  ) throws -> any DataSource<Country> {
    try Self.plugin.source(in: fixture.environment(for: Self.plugin)).cachePolicy(cachePolicy)
  }

  // MARK: - Recording

  @Test func `recording the service again changes nothing`() async throws {
    // Rows with gaps, accents and odd names, and a few others.
    let service = try FakeCountries([
      "AX", "BV", "CI", "CL", "CW", "FI", "FR", "GR", "HM", "HT", "JP", "KP", "KR", "MY", "UM",
      "VA",
    ])
    let files = try await Self.working.recordedAnew(from: service, for: Self.plugin) { countries in
      _ = try await countries.page(PageRequest(limit: 500))
    }
    #expect(try files == Self.working.files())
  }

  @Test func `recording a failure again changes nothing`() async throws {
    let service = try FakeCountries()
    service.fail(with: .html(title: "503 Service Unavailable", status: 503))
    let files = try await Self.failing.recordedAnew(from: service, for: Self.plugin) { countries in
      _ = try? await countries.page(PageRequest(limit: 500))
    }
    #expect(try files == Self.failing.files())
  }

  // MARK: - Replaying

  @Test func `lists`() async throws {
    let page = try await chain(Self.working).page(PageRequest(limit: 20))
    #expect(
      page.records.map(\.code.description) == [
        "AX", "BV", "CL", "CW", "FI", "FR", "GR", "HT", "HM", "VA", "CI", "JP", "MY", "KP", "KR",
        "UM",
      ])
    #expect(page.records.filter { $0.capital == nil }.map(\.name).count == 3)
    #expect(page.total == 16)
    #expect(page.next == nil)
    #expect(page.unreadable == .none)
    #expect(page.provenance.origin == .live)
    let address = try #require(CountriesPlugin.url.defaultValue)
    #expect(page.provenance.endpoint == address)
    let fetchedAt = try #require(page.provenance.fetchedAt)
    #expect(0..<30 ~= fetchedAt.timeIntervalSince(Fixture.date))
  }

  @Test func `searches`() async throws {
    let walk = try await chain(Self.working).wholeWalk(matching: "rep korea", size: 1)
    #expect(walk.ids.map(\.description) == ["KP", "KR"])
    let paris = try await chain(Self.working).wholeWalk(matching: "PARIS", size: 5)
    #expect(paris.ids.map(\.description) == ["FR"])
  }

  @Test func `shows`() async throws {
    let country = try await chain(Self.working).item(#require(CountryCode("CW"))).item
    #expect(country.name == "Curaçao")
    #expect(country.region == "NA")
    #expect(country.capital == "Willemstad")
  }

  @Test func `reports an unknown ID`() async throws {
    let error = await #expect(throws: SourceError.self) {
      try await chain(Self.working).item(#require(CountryCode("DE")))
    }
    #expect(error?.code == .notFound)
  }

  @Test func `keeps the laws`() async throws {
    let environment = try Self.working.environment(for: Self.plugin)
    try await expectLaws(ofRemoteOf: Self.plugin, in: environment)
    var chain = try LawSubject(chainOf: Self.plugin, in: environment)
    chain.query = try SearchQuery("korea")
    let report = await expectLaws(of: chain)
    #expect(
      report.notApplicable.map(\.law.name) == [
        "search-pages", "fields-filled", "one-request", "no-secret",
      ])
  }

  @Test func `reports the failure and the fallback`() async throws {
    let page = try await chain(Self.failing).page(PageRequest(limit: 20))
    #expect(page.provenance.origin == .bundled)
    #expect(page.provenance.reason?.code == .serverError)
    let error = await #expect(throws: SourceError.self) {
      try await chain(Self.failing, .noFallback).page(PageRequest(limit: 20))
    }
    #expect(error?.code == .serverError)
  }
}
