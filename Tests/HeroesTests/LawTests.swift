import AggregatorFakeServices
import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import HeroesSource
import Testing

@Suite(.timeLimit(.minutes(10))) struct LawTests {
  @Test func `Comic Vine keeps the laws`() async throws {
    let report = try await expectLaws(
      ofRemoteOf: HeroesPlugin(), in: try FakeComicVine().environment())
    #expect(
      report.notApplicable.map(\.law.name) == [
        "search-matches", "search-within-list", "search-complete",
      ])
  }

  @Test func `the bundled heroes keep the laws`() async {
    let report = await expectLaws(ofBundledDataOf: HeroesPlugin())
    #expect(report.notApplicable.map(\.law.name) == ["search-pages", "one-request", "no-secret"])
  }

  @Test func `the whole chain keeps the laws`() async throws {
    let chain = try LawSubject(chainOf: HeroesPlugin(), in: try FakeComicVine().environment())
    let report = await expectLaws(of: chain)
    #expect(
      report.notApplicable.map(\.law.name) == [
        "search-matches", "search-pages", "search-within-list", "search-complete", "one-request",
      ])
  }

  @Test func `the chain over a store keeps the laws`() async throws {
    let home = URL.temporaryDirectory.appending(path: "laws-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    var environment = try FakeComicVine().environment()
    environment.store = SQLiteStore(at: home.appending(path: "store.sqlite").path)
    var chain = try LawSubject(chainOf: HeroesPlugin(), in: environment)
    // Every page is a transaction.
    chain.bound = PaginationBound(items: 60, pages: 12)
    await expectLaws(of: chain)
  }
}

@Suite(.timeLimit(.minutes(10))) struct FaultScenarioTests {
  @Test func `keeps its guarantees in all fault scenarios`() async throws {
    let report = try await expectLawsUnderFaults(
      of: HeroesPlugin(), in: try FakeComicVine().environment())
    #expect(report.entries.filter { !$0.hasEffect }.map(\.scenario.name) == ["no-fault"])
  }
}
