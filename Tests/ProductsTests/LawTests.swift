import AggregatorFakeServices
import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import ProductsSource
import Testing

@Suite(.timeLimit(.minutes(10))) struct LawTests {
  @Test func `the products service keeps the laws`() async throws {
    let report = try await expectLaws(
      ofRemoteOf: ProductsPlugin(), in: try FakeProducts().environment())
    #expect(
      report.notApplicable.map(\.law.name) == [
        "search-matches", "search-uses-words", "search-pages", "search-within-list",
        "search-complete", "no-secret",
      ])
  }

  @Test func `the bundled products keep the laws`() async {
    let report = await expectLaws(ofBundledDataOf: ProductsPlugin())
    #expect(report.notApplicable.map(\.law.name) == ["search-pages", "one-request", "no-secret"])
  }

  @Test func `the whole chain keeps the laws`() async throws {
    let chain = try LawSubject(chainOf: ProductsPlugin(), in: try FakeProducts().environment())
    let report = await expectLaws(of: chain)
    #expect(report.notApplicable.map(\.law.name) == ["search-pages", "one-request", "no-secret"])
  }
}

@Suite(.timeLimit(.minutes(10))) struct FaultScenarioTests {
  @Test func `keeps its guarantees in all fault scenarios`() async throws {
    let environment = try FakeProducts().environment()
    let ids = (1...30).reversed().map(FakeProduct.id)
    let report =
      try await expectLawsUnderFaults(of: ProductsPlugin(), in: environment, knowing: ids)
    // The service has no total.
    #expect(
      report.entries.filter { !$0.hasEffect }.map(\.scenario.name) == [
        // There is no key.
        "no-fault", "echoed-key", "shrinking-total",
      ])
  }
}
