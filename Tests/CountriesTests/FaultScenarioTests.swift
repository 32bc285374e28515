import AggregatorFakeServices
import AggregatorSourceTesting
import CountriesSource
import Testing

@Suite(.timeLimit(.minutes(5))) struct WeatherTests {
  @Test func `keeps its promises in all fault scenarios`() async throws {
    let report = try await expectLawsUnderFaults(
      of: CountriesPlugin(), in: try FakeCountries().environment())
    // There are no pages to be confused.
    #expect(
      report.entries.filter { !$0.isFelt }.map(\.scenario.name) == [
        "fair", "repeated-page", "ignored-offset", "empty-page", "shrinking-total", "rows-gone",
        "rows-come",
      ])
  }
}
