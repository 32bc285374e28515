import AggregatorFakeServices
import AggregatorSourceTesting
import CountriesSource
import Testing

@Suite(.timeLimit(.minutes(5))) struct WeatherTests {
  @Test func `keeps its promises in all weather`() async throws {
    let report = try await expectLawsInAllWeather(
      of: CountriesPlugin(), in: try FakeCountries().environment())
    // There are no pages to be confused.
    #expect(
      report.entries.filter { !$0.isFelt }.map(\.weather.name) == [
        "fair", "repeated-page", "ignored-offset", "empty-page", "shrinking-total", "rows-gone",
        "rows-come",
      ])
  }
}
