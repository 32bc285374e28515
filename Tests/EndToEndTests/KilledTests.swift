import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `kill -9` in the middle of the work: committed data is there, and the work resumes after it.
///
/// `AGGREGATOR_SOAK=1 Scripts/test --filter KilledTests` does 100 rounds.
@Suite struct KilledTests {
  @Test func `killed while loading users, it loses no committed page`()
    async throws
  {
    for round in Soak.rounds(4) {
      let service = try FakeRandomUser()
      let home = try TestHome(service.settings)
      // From a request to the next some page is decoded or stored, and a number of turns ends somewhere
      // in it. Should they take long, the service keeps the process waiting.
      let moment = Int.random(in: 1..<50)
      service.fail(with: .stalled, after: moment + 3)
      let run = try home.start("users load 500 --timeout 10m")
      _ = await service.requests(atLeast: moment)
      for _ in 0..<Int.random(in: 0..<500) { sched_yield() }
      run.child.send(SIGKILL)
      service.recover()
      #expect(try await run.outcome().ending == .signal(SIGKILL))

      let comment: Comment = "round \(round), killed after request \(moment)"
      // Before the first page there is no file, and then one without tables.
      let isThere =
        try FileManager.default.fileExists(atPath: home.file.path) && home.file.hasTables()
      if isThere { #expect(try home.file.faults() == [], comment) }
      let kept = isThere ? try home.file.ids(of: "users") : []
      let committed = try #require(
        (0..<60).first { FakeRandomUser.people(onPages: 1..<$0 + 1) == kept }, comment)

      #expect(try await home.run("users load 20").status == 0, comment)
      let asked = service.pagesAskedFor
      let last = try #require(asked.last, comment)
      // Only pages that were in flight, or waited to be stored, are requested again.
      #expect(last > committed, comment)
      for page in 1..<committed + 1 { #expect(asked.count { $0 == page } == 1, comment) }
      #expect(Set(asked).isSuperset(of: 1...last), comment)
      #expect(
        try home.file.ids(of: "users") == FakeRandomUser.people(onPages: 1..<last + 1), comment)
    }
  }

  @Test func `killed while listing, it leaves a store that answers`() async throws {
    for round in Soak.rounds(2) {
      let service = try FakeComicVine()
      let home = try TestHome(service.settings)
      let run = try home.start("heroes list --all --tsv")
      _ = await service.requests(atLeast: Int.random(in: 1...3))
      for _ in 0..<Int.random(in: 0..<2000) { sched_yield() }
      run.child.send(SIGKILL)
      _ = try await run.outcome()
      let all = try await home.run("heroes list --all --tsv")
      #expect(all.status == 0)
      #expect(all.ids == NextTests.cast, "round \(round)")
      #expect(try home.file.faults() == [])
    }
  }
}
