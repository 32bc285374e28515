import AggregatorFakeServices
import Testing

@testable import AggregatorProgramTesting

/// Two processes at work on one store: nothing is lost, nothing comes twice.
///
/// `AGGREGATOR_SOAK=1 Scripts/test --filter TwoProcessesTests` does 100 rounds.
@Suite struct TwoProcessesTests {
  @Test func `two processes that call next get pages without gap or overlap`() async throws {
    let service = try FakeRandomUser()
    let home = try TestHome(service.settings)
    var pages: [[String]] = []
    for round in Soak.rounds(4) {
      let line = "users next --limit 7 --session both --fields email --tsv"
      async let one = home.run(line)
      async let two = home.run(line)
      for outcome in try await [one, two] {
        #expect(outcome.status == 0, "round \(round): \(outcome)")
        #expect(outcome.lines.count == 7, "round \(round): \(outcome)")
        pages.append(outcome.lines)
      }
    }
    let order = try home.file.ids(of: "users")
    let starts = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
    pages.sort { (starts[$0.first ?? ""] ?? 0) < (starts[$1.first ?? ""] ?? 0) }
    let read = pages.flatMap(\.self)
    #expect(read == Array(order.prefix(pages.count * 7)))
    #expect(try home.file.faults() == [])
  }

  @Test func `two processes that load users neither lose nor duplicate any`() async throws {
    for round in Soak.rounds(3) {
      let service = try FakeRandomUser()
      let home = try TestHome(service.settings)
      async let one = home.run("users load 120")
      async let two = home.run("users load 120")
      for outcome in try await [one, two] {
        #expect(outcome.status == 0, "round \(round): \(outcome)")
      }
      let ids = try home.file.ids(of: "users")
      let last = try #require(service.pagesAskedFor.max())
      #expect(ids == FakeRandomUser.people(onPages: 1..<last + 1), "round \(round)")
      #expect(ids.count >= 240)
      #expect(try home.file.faults() == [], "round \(round)")
    }
  }

  @Test func `two processes that list, delete and restore leave the store intact`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    for round in Soak.rounds(2) {
      async let one = home.run("heroes list --all --refresh --tsv")
      async let two = home.run("heroes delete 1443 1455 --yes")
      async let three = home.run("users load 5")
      for outcome in try await [one, two, three] {
        #expect(outcome.status == 0, "round \(round): \(outcome)")
      }
      #expect(try await home.run("heroes restore --all").status == 0)
    }
    #expect(try home.file.ids(of: "heroes").count == 257)
    #expect(try home.file.faults() == [])
  }
}
