import AggregatorFakeServices
import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import ProductsSource
import Testing

@Suite(.timeLimit(.minutes(5))) struct LawTests {
  @Test func `the products service keeps the laws`() async throws {
    let report = try await expectLaws(
      ofRemoteOf: ProductsPlugin(), in: try FakeProducts().environment())
    #expect(
      report.notApplicable.map(\.law.name) == [
        "search-matches", "search-within-list", "search-complete", "no-secret",
      ])
  }

  @Test func `the bundled products keep the laws`() async {
    let report = await expectLaws(ofBundledOf: ProductsPlugin())
    #expect(report.notApplicable.map(\.law.name) == ["one-request", "no-secret"])
  }

  @Test func `the whole chain keeps the laws`() async throws {
    let chain = try LawSubject(chainOf: ProductsPlugin(), in: try FakeProducts().environment())
    let report = await expectLaws(of: chain)
    #expect(report.notApplicable.map(\.law.name) == ["one-request", "no-secret"])
  }
}
