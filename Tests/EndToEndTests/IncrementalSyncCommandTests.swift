import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The program asks a service only for what has changed, and says so.
@Suite struct IncrementalSyncCommandTests {
  /// Characters that were changed one hour after the other, some of them again in the last minutes of all.
  private static func service(
    _ count: Int, changed: Set<Int> = [], quirks: Set<ComicVineQuirk> = []
  ) throws -> FakeComicVine {
    try FakeComicVine(
      (1...count).map { number in
        var character = FakeCharacter(
          id: number, name: changed.contains(number) ? "New \(number)" : "Hero \(number)",
          picture: .none)
        character.updated = time(changed.contains(number) ? count * 60 + number % 60 : number * 60)
        return character
      }, quirks: quirks)
  }

  /// In Comic Vine's form.
  private static func time(_ minutes: Int) -> String {
    let text = Date(timeIntervalSince1970: 1_500_000_000 + Double(minutes) * 60).iso8601
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))"
  }

  private struct Told: Decodable {
    struct Item: Decodable {
      let kind: String
      let added, changed, pages: Int
      let complete: Bool
      let changedSince, lastFull: String?
    }
    let items: [Item]
  }

  @Test func `the second sync of 5000 heroes with 12 changes is two requests`() async throws {
    let service = try Self.service(5000)
    let home = try TestHome(service.settings)
    let first = try await home.run("heroes sync --json")
    let full = try JSONDecoder().decode(Told.self, from: Data(first.output.utf8)).items[0]
    #expect(full.kind == "full" && full.added == 5000 && full.complete, "\(first)")
    #expect(full.changedSince == nil && full.lastFull == nil)
    let before = service.requests.count

    service.become(try Self.service(5000, changed: Set(100..<112)))
    let second = try await home.run("heroes sync --json")
    #expect(second.status == 0)
    let changes = try JSONDecoder().decode(Told.self, from: Data(second.output.utf8)).items[0]
    #expect(changes.kind == "incremental" && changes.changed == 12 && changes.complete, "\(second)")
    let mark = try #require(changes.changedSince)
    #expect(mark > Self.time(4999 * 60) && mark <= Self.time(5000 * 60) && changes.lastFull != nil)
    let requests = service.requests.dropFirst(before)
    #expect(requests.count <= 2)
    #expect(requests.first?.query["sort"] == "date_last_updated:asc")
    let filter = try #require(requests.first?.query["filter"])
    #expect(filter > "date_last_updated:\(Self.time(4995 * 60))", "\(filter)")
    #expect(filter.hasSuffix("|2100-01-01 00:00:00"), "\(filter)")
    let shown = try await home.run("heroes list --all --offline --where name~New --fields id --tsv")
    #expect(shown.lines == (100..<112).map(\.description), "\(shown)")
    #expect(try home.file.faults() == [])
  }

  @Test func `says what has changed, and when everything was read`() async throws {
    let service = try Self.service(150)
    let home = try TestHome(service.settings)
    #expect(try await home.run("heroes sync").status == 0)
    service.become(try Self.service(150, changed: [5, 6]))
    let text = try await home.run("heroes sync", ["AGGREGATOR_FORCE_TTY": "100"])
    #expect(
      text.output.firstMatch(
        of: /heroes: 2 changed since 2017-07-\d\d \d\d:\d\d:\d\d \(last full sync: .*\)\n/) != nil,
      "\(text)")
    let diff = try await home.run("heroes diff --fields id --tsv")
    #expect(diff.lines == ["5", "6"], "\(diff)")
    let explained = try await home.run("heroes sync --explain")
    #expect(explained.errors.contains("explain: plan: only what has changed since 2017-07-"))

    let status = try await home.run("store status --fields source,lastFull,lastIncremental --tsv")
    let heroes = try #require(status.lines.first { $0.hasPrefix("heroes\t") })
    #expect(heroes.split(separator: "\t").count == 3, "\(status)")
    let source = try await home.run("sources show heroes --fields lastFull,lastIncremental --tsv")
    let times = String(heroes.dropFirst(7))
    #expect(source.lines == [times], "\(source)")

    // Nothing counts as removed before everything is read.
    service.become(try Self.service(149, changed: [5, 6]))
    #expect(try await home.run("heroes sync").status == 0)
    #expect(try await home.run("heroes list --count --all --offline").lines == ["150"])
    let full = try await home.run("heroes sync --full")
    #expect(full.lines == ["heroes\t0\t0\t149\t1\t2\ttrue"], "\(full)")
    #expect(try await home.run("heroes list --count --all --offline").lines == ["149"])
  }

  @Test func `queries and exports fetch changes first`() async throws {
    let service = try Self.service(150)
    let home = try TestHome(service.settings)
    #expect(try await home.run("heroes sync").status == 0)
    service.become(try Self.service(150, changed: [7]))
    let count = try await Binary.run(
      ["sql", "--sync", "SELECT name FROM heroes WHERE id = 7"], environment: home.environment,
      in: home.sandbox)
    #expect(count.lines == ["New 7"], "\(count)")
    service.become(try Self.service(150, changed: [7, 8]))
    let export = try await home.run("export heroes --sync --fields name -o heroes.csv")
    #expect(export.status == 0, "\(export)")
    #expect(try await home.column("name", "heroes show 8 --offline") == ["New 8"])
  }

  @Test(arguments: [ComicVineQuirk.ignoresFilter, .ignoresSort])
  func `a service that ignores the request loses nothing`(quirk: ComicVineQuirk) async throws {
    let service = try Self.service(250, quirks: [quirk])
    let home = try TestHome(service.settings)
    #expect(try await home.run("heroes sync").status == 0)
    service.become(try Self.service(250, changed: [3, 130, 249], quirks: [quirk]))
    let outcome = try await home.run("heroes sync --fields kind,changed --tsv")
    #expect(outcome.status == 0)
    let isFull = quirk == .ignoresFilter
    #expect(outcome.lines == [isFull ? "full\t3" : "incremental\t3"], "\(outcome)")
    #expect(
      outcome.errors.contains("warning: heroes: changes alone cannot be synced") == isFull,
      "\(outcome)")
  }

  /// `kill -9` at any request: the rest follows, and at most one page twice.
  @Test func `survives kill -9 at any page`() async throws {
    /// Syncs 60 changes in pages of ten, killed after so many requests; returns the number of requests.
    func sync(killedAfter moment: Int?) async throws -> Int {
      let service = try Self.service(100)
      let home = try TestHome(service.settings.merging(["COMIC_VINE_PAGE_SIZE": "10"]) { $1 })
      #expect(try await home.run("heroes sync").status == 0)
      let before = service.requests.count
      service.become(try Self.service(100, changed: Set(20..<80)))
      if let moment {
        service.fail(with: .stalled, after: moment + 2)
        let run = try home.start("heroes sync --timeout 10m")
        _ = await service.requests(atLeast: before + moment)
        for _ in 0..<Int.random(in: 0..<500) { sched_yield() }
        run.child.send(SIGKILL)
        #expect(try await run.outcome().ending == .signal(SIGKILL))
        service.recover()
      }
      let rest = try await home.run("heroes sync")
      #expect(rest.status == 0, "\(rest)")
      let shown = try await home.run("heroes list --all --offline --where name~New --count")
      #expect(shown.lines == ["60"], "\(shown)")
      #expect(try home.file.faults() == [])
      return service.requests.count - before
    }
    let whole = try await sync(killedAfter: nil)
    #expect(6...10 ~= whole)
    for round in Soak.rounds(3) {
      let moment = Int.random(in: 1..<6)
      let count = try await sync(killedAfter: moment)
      // The request that was killed, or the page that was not stored.
      #expect(count <= whole + 1, "round \(round), killed after request \(moment)")
    }
  }
}
