import AggregatorFakeServices
import AggregatorSourceTesting
import ProductsSource
import Testing

@Suite(.timeLimit(.minutes(5))) struct WeatherTests {
  @Test func `keeps its promises in all fault scenarios`() async throws {
    let report = try await expectLawsUnderFaults(
      of: ProductsPlugin(), in: try FakeProducts().environment())
    // The service tells no total.
    #expect(
      report.entries.filter { !$0.isFelt }.map(\.scenario.name) == ["fair", "shrinking-total"])
  }
}
