import AggregatorFakeServices
import AggregatorSourceTesting
import ProductsSource
import Testing

@Suite(.timeLimit(.minutes(5))) struct WeatherTests {
  @Test func `keeps its promises in all weather`() async throws {
    let report = try await expectLawsInAllWeather(
      of: ProductsPlugin(), in: try FakeProducts().environment())
    // The service tells no total.
    #expect(
      report.entries.filter { !$0.isFelt }.map(\.weather.name) == ["fair", "shrinking-total"])
  }
}
