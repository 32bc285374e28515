import AggregatorFakeServices
import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import CountriesSource
import Testing

@Suite(.timeLimit(.minutes(10))) struct LawTests {
  @Test func `the list of countries keeps the laws`() async throws {
    let report = try await expectLaws(
      ofRemoteOf: CountriesPlugin(), in: try FakeCountries().environment())
    #expect(
      report.notApplicable.map(\.law.name) == [
        // The service has no pages.
        "list-complete", "search-matches", "search-uses-words", "search-pages",
        "search-within-list", "search-complete", "listed-id-found", "unknown-not-found",
        "no-secret",
      ])
  }

  @Test func `the bundled countries keep the laws`() async {
    let report = await expectLaws(ofBundledDataOf: CountriesPlugin())
    #expect(report.notApplicable.map(\.law.name) == ["search-pages", "one-request", "no-secret"])
  }

  @Test func `the whole chain keeps the laws`() async throws {
    let chain = try LawSubject(chainOf: CountriesPlugin(), in: try FakeCountries().environment())
    let report = await expectLaws(of: chain)
    #expect(report.notApplicable.map(\.law.name) == ["search-pages", "one-request", "no-secret"])
  }
}

@Suite(.timeLimit(.minutes(10))) struct FaultScenarioTests {
  @Test func `keeps its guarantees in all fault scenarios`() async throws {
    let report = try await expectLawsUnderFaults(
      of: CountriesPlugin(), in: try FakeCountries().environment())
    // There are no pages.
    #expect(
      report.entries.filter { !$0.hasEffect }.map(\.scenario.name) == [
        "no-fault", "echoed-key", "repeated-page", "ignored-offset", "empty-page",
        "shrinking-total",
        "row-deleted",
        "row-inserted",
      ])
  }
}
