import AggregatorFakeServices
import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import Testing
import UsersSource

@Suite(.timeLimit(.minutes(10))) struct LawTests {
  @Test func `randomuser.me keeps the laws`() async throws {
    var remote = try LawSubject(remoteOf: UsersPlugin(), in: try FakeRandomUser().environment())
    // The service sends passwords, which must not be stored.
    remote.secrets = [Secret("canary-password")]
    let report = await expectLaws(of: remote)
    #expect(
      report.notApplicable.map(\.law.name) == [
        "ids-unique", "list-complete", "skip-consistent", "one-state", "search-matches",
        "search-uses-words", "search-pages", "search-within-list", "search-complete",
        "listed-id-found", "unknown-not-found",
      ])
  }

  @Test func `the bundled users keep the laws`() async {
    let report = await expectLaws(ofBundledDataOf: UsersPlugin())
    #expect(report.notApplicable.map(\.law.name) == ["search-pages", "one-request", "no-secret"])
  }

  @Test func `the whole chain keeps the laws`() async throws {
    var chain = try LawSubject(chainOf: UsersPlugin(), in: try FakeRandomUser().environment())
    chain.query = try SearchQuery("ada")
    let report = await expectLaws(of: chain)
    #expect(
      report.notApplicable.map(\.law.name) == [
        "ids-unique", "list-complete", "skip-consistent", "one-state", "search-pages",
        "search-within-list", "search-complete",
        "unknown-not-found", "one-request", "no-secret",
      ])
  }

  @Test func `the chain over a store keeps the laws`() async throws {
    let home = URL.temporaryDirectory.appending(path: "laws-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    var environment = try FakeRandomUser().environment()
    environment.store = SQLiteStore(at: home.appending(path: "store.sqlite").path)
    var chain = try LawSubject(chainOf: UsersPlugin(), in: environment)
    // Every page is a transaction.
    chain.bound = PaginationBound(items: 60, pages: 12)
    await expectLaws(of: chain)
  }
}

@Suite(.timeLimit(.minutes(10))) struct FaultScenarioTests {
  @Test func `keeps its guarantees in all fault scenarios`() async throws {
    let report = try await expectLawsUnderFaults(
      of: UsersPlugin(), in: try FakeRandomUser().environment())
    let withoutEffect = report.entries.filter { !$0.hasEffect }.map(\.scenario.name)
    // The service has no key and no total.
    #expect(withoutEffect == ["no-fault", "echoed-key", "shrinking-total"])
  }
}
