import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import HeroesSource
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ComicVineSearchTests {
  /// One character matches both words; fifteen more match each.
  private static let query = "spider anvil"
  private static let matches = 31

  @Test(arguments: [1, 3, 7, 10, 13, 100, 250], [10, 100])
  func `returns everyone once, whatever the limits`(limit: Int, searchLimit: Int) async throws {
    let service = try FakeComicVine(searchLimit: searchLimit)
    let walk = try await service.heroes().wholeWalk(matching: Self.query, size: limit)
    #expect(walk.ids.count == Self.matches)
    #expect(walk.pages.reduce(0) { $0 + $1.records.count } == Self.matches)
    #expect(walk.pages.allSatisfy { $0.records.count <= limit })
    #expect(walk.end == .exhausted)
    #expect(service.requests.count == walk.pages.count)
  }

  @Test func `keeps the order of the service, and all that it found`() async throws {
    let page = try await FakeComicVine().heroes().page(
      PageRequest(matching: try SearchQuery(Self.query), limit: 100))
    // The best match first, then those that match one word.
    #expect(page.records.prefix(3).map(\.name) == ["Spider-Anvil", "Amber Anvil", "Brass Anvil"])
    #expect(page.records.count == Self.matches)
    #expect(page.total == Self.matches)
  }

  @Test func `requests only characters, as JSON with few fields`() async throws {
    let service = try FakeComicVine()
    _ = try await service.heroes().page(PageRequest(matching: try SearchQuery("spider"), limit: 20))
    let request = try #require(service.requests.first)
    #expect(request.path == "/api/search/")
    #expect(request.query["query"] == "spider")
    #expect(request.query["resources"] == "character")
    #expect(request.query["format"] == "json")
    #expect(request.query["page"] == "1")
    #expect(request.query["limit"] == "20")
    #expect(request.query["field_list"]?.contains("description") == false)
  }

  @Test(arguments: ["Kyle+1, a:b", "Señor & Söhne=?#%", "日本"])
  func `sends a query unchanged`(text: String) async throws {
    let service = try FakeComicVine()
    _ = try await service.heroes().page(PageRequest(matching: try SearchQuery(text)))
    #expect(service.requests.first?.query["query"] == text)
  }

  @Test func `stops at an empty page whatever the total promises`() async throws {
    let service = try FakeComicVine(quirks: [.emptyPromise])
    let walk = try await service.heroes().wholeWalk(matching: Self.query, size: 10)
    #expect(walk.end == .exhausted)
    #expect(service.requests.count == 1)
    #expect(walk.pages.map(\.total) == [nil])
  }

  @Test func `continues after a full page whatever the total`() async throws {
    let service = try FakeComicVine(quirks: [.lowTotal])
    let walk = try await service.heroes().wholeWalk(matching: Self.query, size: 10)
    #expect(walk.ids.count == Self.matches)
  }

  @Test func `continues after a short page beyond the total`() async throws {
    let service = try FakeComicVine(quirks: [.shortPage, .lowTotal])
    let walk = try await service.heroes().wholeWalk(matching: Self.query, size: 10)
    #expect(walk.ids.count == Self.matches - 1)
    #expect(walk.pages.map(\.records.count) == [9, 10, 10, 1, 0])
  }

  @Test func `ends after a short page that reaches the total`() async throws {
    let service = try FakeComicVine(searchLimit: 10)
    _ = try await service.heroes().wholeWalk(matching: Self.query, size: 10)
    #expect(service.requests.map { $0.query["page"] } == ["1", "2", "3", "4"])
  }

  @Test func `returns no results`() async throws {
    let service = try FakeComicVine()
    let page = try await service.heroes().page(PageRequest(matching: try SearchQuery("zzz")))
    #expect(page.records.isEmpty)
    #expect(page.next == nil)
    #expect(page.total == 0)
  }

  @Test(arguments: [3, 20, 100])
  func `finds everyone if the service sends fewer rows than requested and does not say so`(
    size: Int
  ) async throws {
    let all = try await FakeComicVine().heroes().wholeWalk(matching: Self.query, size: 100)
    #expect(all.ids.count > 7)
    let walk = try await FakeComicVine(quirks: [.silentLimit]).heroes()
      .wholeWalk(matching: Self.query, size: size)
    #expect(walk.ids == all.ids)
  }

  @Test func `reports unreadable rows once`() async throws {
    let service = try FakeComicVine(quirks: [.badRows, .ownLimit])
    let walk = try await service.heroes().wholeWalk(matching: Self.query, size: 3)
    #expect(walk.ids.count == Self.matches - 3)
    #expect(walk.pages.prefix(3).map(\.records.count) == [3, 1, 3])
    #expect(walk.pages.prefix(3).map(\.unreadable.count) == [3, 0, 0])
  }

  @Test(arguments: [2, 3, 10, 20])
  func `loses no rows if the service sends more than the total`(limit: Int) async throws {
    let service = try FakeComicVine(quirks: [.generous], searchLimit: 10)
    let walk = try await service.heroes().wholeWalk(matching: Self.query, size: limit)
    #expect(walk.ids.count == Self.matches)
  }

  @Test func `returns a repeated row once`() async throws {
    let service = try FakeComicVine(quirks: [.shifting], searchLimit: 10)
    let walk = try await service.heroes().wholeWalk(matching: Self.query, size: 10)
    #expect(walk.ids.count == Self.matches)
  }

  @Test func `ends pagination if the service ignores the page`() async throws {
    let service = try FakeComicVine(quirks: [.ignoresOffset], searchLimit: 10)
    let walk = try await service.heroes().wholeWalk(matching: Self.query, size: 10)
    #expect(walk.end == .nothingNew(pages: 3))
  }
}
