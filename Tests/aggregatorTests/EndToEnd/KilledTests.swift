import FakeServices
import Foundation
import Testing

/// `kill -9` in the middle of the work: what was committed is there, and the work goes on behind it.
///
/// `AGGREGATOR_SOAK=1 swift test --filter KilledTests` does 100 rounds.
@Suite struct KilledTests {
  @Test func `whoever is killed while loading users loses no page that was committed`()
    async throws
  {
    for round in Soak.rounds(4) {
      let service = try FakeRandomUser()
      let home = try Household(service.settings)
      let run = try home.start("users load 500")
      // 500 users are some 62 pages. From a request to the next all that a page needs is done, and a
      // number of turns ends somewhere in it.
      let moment = Int.random(in: 1..<50)
      _ = await service.requests(atLeast: moment)
      for _ in 0..<Int.random(in: 0..<500) { sched_yield() }
      run.child.send(SIGKILL)
      #expect(try await run.outcome().ending == .signal(SIGKILL))

      let comment: Comment = "round \(round), killed after request \(moment)"
      let asked = service.pagesAskedFor
      #expect(asked == Array(1...asked.count), comment)
      // The page of the last request may have come too late; before the first there is no file.
      let kept =
        FileManager.default.fileExists(atPath: home.file.path)
        ? try home.file.ids(of: "users") : []
      if !kept.isEmpty { #expect(try home.file.faults() == [], comment) }
      let pages = [asked.count - 1, asked.count].filter {
        FakeRandomUser.people(onPages: 1..<$0 + 1) == kept
      }
      let committed = try #require(pages.first, comment)

      #expect(try await home.run("users load 20").status == 0, comment)
      let further = service.pagesAskedFor.dropFirst(asked.count)
      #expect(Array(further) == Array(committed + 1..<committed + 1 + further.count), comment)
      #expect(
        try home.file.ids(of: "users")
          == FakeRandomUser.people(onPages: 1..<committed + 1 + further.count), comment)
    }
  }

  @Test func `whoever is killed while listing leaves a store that answers`() async throws {
    for round in Soak.rounds(2) {
      let service = try FakeComicVine()
      let home = try Household(service.settings)
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
