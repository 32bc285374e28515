import AggregatorFakeServices
import AggregatorSourceTesting
import Testing
import UsersSource

@Suite(.timeLimit(.minutes(5))) struct WeatherTests {
  @Test func `keeps its promises in all weather`() async throws {
    let report = try await expectLawsInAllWeather(
      of: UsersPlugin(), in: try FakeRandomUser().environment())
    // The service tells no total.
    #expect(
      report.entries.filter { !$0.isFelt }.map(\.weather.name) == ["fair", "shrinking-total"])
  }
}
