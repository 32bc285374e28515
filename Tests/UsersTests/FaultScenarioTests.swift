import AggregatorFakeServices
import AggregatorSourceTesting
import Testing
import UsersSource

@Suite(.timeLimit(.minutes(5))) struct WeatherTests {
  @Test func `keeps its promises in all fault scenarios`() async throws {
    let report = try await expectLawsUnderFaults(
      of: UsersPlugin(), in: try FakeRandomUser().environment())
    // The service tells no total.
    #expect(
      report.entries.filter { !$0.isFelt }.map(\.scenario.name) == ["fair", "shrinking-total"])
  }
}
