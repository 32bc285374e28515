import AggregatorFakeServices
import AggregatorSourceTesting
import HeroesSource
import Testing

@Suite(.timeLimit(.minutes(5))) struct WeatherTests {
  @Test func `keeps its promises in all weather`() async throws {
    let report = try await expectLawsInAllWeather(
      of: HeroesPlugin(), in: try FakeComicVine().environment())
    #expect(report.entries.filter { !$0.isFelt }.map(\.weather.name) == ["fair"])
  }
}
