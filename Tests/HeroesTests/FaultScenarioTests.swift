import AggregatorFakeServices
import AggregatorSourceTesting
import HeroesSource
import Testing

@Suite(.timeLimit(.minutes(5))) struct WeatherTests {
  @Test func `keeps its promises in all fault scenarios`() async throws {
    let report = try await expectLawsUnderFaults(
      of: HeroesPlugin(), in: try FakeComicVine().environment())
    #expect(report.entries.filter { !$0.isFelt }.map(\.scenario.name) == ["fair"])
  }
}
