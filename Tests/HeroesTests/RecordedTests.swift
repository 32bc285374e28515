import AggregatorFakeServices
import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import HeroesSource
import Testing

/// Replays recorded replies of Comic Vine.
@Suite(.timeLimit(.minutes(10))) struct RecordedTests {
  private static let plugin = HeroesPlugin()
  private static let working = Fixture("working")
  private static let failing = Fixture("failing")
  private static let unknown = 999_999_999

  /// The odd characters, and the first three whose names begin with `Spider`.
  private static let cast = FakeCharacter.cast.filter {
    $0.id <= 1261 || $0.id <= 1295 && $0.name.hasPrefix("Spider")
  }

  private func chain(
    _ fixture: Fixture, _ cachePolicy: CachePolicy = .normal
  ) throws -> any DataSource<Hero> {
    try Self.plugin.source(in: fixture.environment(for: Self.plugin)).cachePolicy(cachePolicy)
  }

  // MARK: - Recording

  @Test func `recording the service again changes nothing`() async throws {
    let spider = try SearchQuery("spider")
    let service = try FakeComicVine(Self.cast)
    let files = try await Self.working.recordedAnew(from: service, for: Self.plugin) { heroes in
      for size in [1, 2, 7, 20] {
        _ = try await heroes.wholeWalk(size: size, upTo: PaginationBound(pages: 2))
      }
      for limit in [1, 20] {
        _ = try await heroes.page(PageRequest(matching: spider, limit: limit))
      }
      _ = try await heroes.wholeWalk(matching: "spider", size: 2)
      _ = try await heroes.item(1253)
      _ = try? await heroes.item(Self.unknown)
    }
    #expect(try files == Self.working.files())
  }

  @Test func `recording a failure again changes nothing`() async throws {
    let service = try FakeComicVine()
    service.fail(with: ComicVineFault.quota.reply)
    let files = try await Self.failing.recordedAnew(from: service, for: Self.plugin) { heroes in
      _ = try? await heroes.page(PageRequest(limit: 20))
    }
    #expect(try files == Self.failing.files())
  }

  @Test(arguments: [working, failing]) func `no key is in it`(fixture: Fixture) throws {
    let files = try fixture.files()
    #expect(!files.isEmpty)
    for (name, text) in files {
      #expect(text.contains("?api_key=REDACTED&"), "\(name)")
      for form in [FakeComicVine.key, "7f3a", "9c51e2d84b06"] {
        #expect(!text.contains(form), "\(name)")
      }
    }
  }

  // MARK: - Replaying

  @Test func `lists`() async throws {
    let page = try await chain(Self.working).page(PageRequest(limit: 20))
    #expect(
      page.records.map(\.name) == [
        "Doctor Meridian", "Nobody", "Señor Niebla 🌫", "Late Arrival", "Spider-Anvil",
        "Amber Anvil", "Spider-Badger", "Spider-Comet",
      ])
    #expect(page.records.map(\.id) == [1253, 1254, 1255, 1256, 1260, 1261, 1277, 1295])
    #expect(page.total == 8)
    #expect(page.next == nil)
    #expect(page.unreadable == .none)
    #expect(page.provenance.origin == .live)
    #expect(page.provenance.endpoint == "https://comicvine.gamespot.com/api/characters/")
    let fetchedAt = try #require(page.provenance.fetchedAt)
    #expect(0..<30 ~= fetchedAt.timeIntervalSince(Fixture.date))
  }

  @Test func `lists page by page`() async throws {
    let walk = try await chain(Self.working).wholeWalk(size: 7)
    #expect(walk.pages.map(\.records.count) == [7, 1])
    #expect(walk.end == .exhausted)
  }

  @Test func `searches`() async throws {
    let walk = try await chain(Self.working).wholeWalk(matching: "spider", size: 2)
    #expect(walk.ids == [1260, 1277, 1295])
    #expect(walk.pages.first?.total == 3)
  }

  @Test func `shows`() async throws {
    let hero = try await chain(Self.working).item(1253).item
    #expect(hero.realName == "Ilse Varga")
    #expect(hero.aliases == ["Noon", "The Line", "Zénith"])
    #expect(hero.powers == ["Cartography", "Flight"])
    #expect(hero.biography == "Origin\n\nIlse met No & Co.\n\nLater\n\nShe went on.")
  }

  @Test func `reports an unknown ID`() async throws {
    let error = await #expect(throws: SourceError.self) {
      try await chain(Self.working).item(Self.unknown)
    }
    #expect(error?.code == .notFound)
  }

  @Test func `keeps the laws`() async throws {
    var heroes = try LawSubject(
      remoteOf: Self.plugin, in: Self.working.environment(for: Self.plugin))
    heroes.sizes = [2, 7, 20]
    heroes.bound = PaginationBound(pages: 2)
    heroes.unknown = Self.unknown
    // These laws fetch more records, pages and queries than were recorded.
    let others: Set = [
      "skip-consistent", "one-state", "merge-keeps", "search-uses-words", "search-pages",
    ]
    let laws = Law.all.filter { !others.contains($0.name) }
    let report = await expectLaws(of: heroes, laws)
    #expect(
      report.notApplicable.map(\.law.name) == [
        "list-complete", "search-matches", "search-within-list", "search-complete", "fields-filled",
        "no-secret",
      ])
  }

  @Test func `reports the failure and the fallback`() async throws {
    let page = try await chain(Self.failing).page(PageRequest(limit: 20))
    #expect(page.provenance.origin == .bundled)
    #expect(page.provenance.reason?.code == .rateLimited)
    let error = await #expect(throws: SourceError.self) {
      try await chain(Self.failing, .noFallback).page(PageRequest(limit: 20))
    }
    #expect(error?.code == .rateLimited)
  }
}
