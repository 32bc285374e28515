import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import HeroesSource
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ComicVineListTests {
  private static let everybody = FakeCharacter.cast.map(\.id)

  @Test(arguments: [(7, 37), (100, 3), (257, 3)])
  func `returns everyone once without extra requests`(
    size: Int, requests: Int
  ) async throws {
    let service = try FakeComicVine()
    let walk = try await service.heroes().wholeWalk(size: size)
    #expect(walk.ids == Self.everybody)
    #expect(walk.end == .exhausted)
    #expect(service.requests.count == requests)
    #expect(walk.pages.allSatisfy { $0.total == 257 && $0.unreadable == .none })
  }

  @Test func `stops at the total where the last page is full`() async throws {
    let service = try FakeComicVine(Array(FakeCharacter.cast.prefix(200)))
    let walk = try await service.heroes().wholeWalk(size: 100)
    #expect(walk.ids.count == 200)
    #expect(service.requests.count == 2)
  }

  @Test func `requests one page of JSON with few fields`() async throws {
    let service = try FakeComicVine()
    _ = try await service.heroes().page(PageRequest(limit: 20))
    let request = try #require(service.requests.first)
    #expect(service.requests.count == 1)
    #expect(request.path == "/api/characters/")
    #expect(request.query["format"] == "json")
    #expect(request.query["limit"] == "20")
    #expect(request.query["offset"] == "0")
    let fields = try #require(request.query["field_list"]).split(separator: ",").map(String.init)
    #expect(fields.contains("id") && fields.contains("name"))
    #expect(Set(fields).isDisjoint(with: ["description", "powers", "teams", "issue_credits"]))
  }

  @Test func `sends a user agent`() async throws {
    let service = try FakeComicVine()
    _ = try await service.heroes().page(PageRequest())
    let agent = try #require(service.requests.first?.header("user-agent"))
    #expect(agent.hasPrefix("aggregator/"))
  }

  @Test func `requests at most the largest page`() async throws {
    let service = try FakeComicVine()
    let page = try await service.heroes().page(PageRequest(limit: 1000))
    #expect(page.records.count == 100)
    #expect(service.requests.map { $0.query["limit"] } == ["100"])
  }

  @Test func `decompresses replies`() async throws {
    let page = try await FakeComicVine(isCompressed: true).heroes().page(PageRequest(limit: 3))
    #expect(page.records.map(\.id) == [1253, 1254, 1255])
  }

  @Test func `accepts an address that ends with a slash`() async throws {
    let service = try FakeComicVine()
    let environment = service.environment(with: ["COMIC_VINE_URL": "\(service.url)/"])
    _ = try await HeroesPlugin().remote(in: environment).page(PageRequest())
    #expect(service.requests.map(\.path) == ["/api/characters/"])
  }

  // MARK: - Oddities

  @Test func `drops rows that cannot be read, and counts them`() async throws {
    let walk = try await FakeComicVine(quirks: [.badRows]).heroes().wholeWalk(size: 100)
    #expect(walk.ids == Self.everybody.filter { ![1254, 1255, 1256].contains($0) })
    #expect(walk.pages.map(\.unreadable.count) == [3, 0, 0])
    #expect(walk.pages.first?.unreadable.firstReason == "row 2: name is null")
  }

  @Test func `continues after a short page`() async throws {
    let walk = try await FakeComicVine(quirks: [.shortPage]).heroes().wholeWalk(size: 100)
    #expect(walk.pages.map(\.records.count) == [99, 100, 58])
    #expect(walk.ids == Self.everybody)
  }

  @Test func `trusts rows more than a total`() async throws {
    let service = try FakeComicVine(quirks: [.lowTotal])
    let walk = try await service.heroes().wholeWalk(size: 100)
    #expect(walk.ids == Self.everybody)
    #expect(walk.pages.map(\.total) == [nil, nil, nil, nil])
  }

  @Test func `stops at an empty page whatever the total promises`() async throws {
    let service = try FakeComicVine(quirks: [.emptyPromise])
    let walk = try await service.heroes().wholeWalk(size: 100)
    #expect(walk.end == .exhausted)
    #expect(service.requests.count == 1)
    #expect(walk.pages.map(\.total) == [nil])
  }

  @Test func `counts rows itself`() async throws {
    let walk = try await FakeComicVine(quirks: [.miscounted]).heroes().wholeWalk(size: 100)
    #expect(walk.ids == Self.everybody)
  }

  @Test func `returns a repeated row once`() async throws {
    let walk = try await FakeComicVine(quirks: [.shifting]).heroes().wholeWalk(size: 100)
    #expect(walk.ids == Self.everybody)
    // More rows than the total arrived, so it is ignored and one more page is fetched.
    #expect(walk.pages.map(\.records.count) == [100, 100, 58, 0])
  }

  @Test(arguments: [3, 20, 100])
  func `follows the page size of the service`(size: Int) async throws {
    let service = try FakeComicVine(quirks: [.ownLimit])
    let walk = try await service.heroes().wholeWalk(size: size)
    #expect(walk.ids == Self.everybody)
    // A page that is larger than requested is cut, not requested again.
    #expect(service.requests.count == 37)
  }

  @Test(arguments: [3, 20, 100])
  func `returns everyone if the service sends fewer rows than requested and does not say so`(
    size: Int
  ) async throws {
    let walk = try await FakeComicVine(quirks: [.silentLimit]).heroes().wholeWalk(size: size)
    #expect(walk.ids == Self.everybody)
    #expect(walk.end == .exhausted)
  }

  @Test func `returns at most the limit`() async throws {
    let walk = try await FakeComicVine(quirks: [.generous]).heroes().wholeWalk(size: 20)
    #expect(walk.ids == Self.everybody)
    #expect(walk.pages.allSatisfy { $0.records.count <= 20 })
  }

  @Test func `ends pagination if the service ignores the offset`() async throws {
    let service = try FakeComicVine(quirks: [.ignoresOffset])
    let walk = try await service.heroes().wholeWalk(size: 20)
    #expect(walk.ids == Array(Self.everybody.prefix(20)))
    #expect(walk.end == .nothingNew(pages: 3))
    #expect(service.requests.count == 4)
  }

  @Test func `rejects an object instead of a list`() async throws {
    let service = try FakeComicVine(quirks: [.wrongShape])
    let error = await #expect(throws: SourceError.self) {
      try await service.heroes().page(PageRequest())
    }
    #expect(error?.code == .malformed)
    #expect(error?.message.contains("results is an object instead of a list") == true)
  }

  @Test func `has a total of zero`() async throws {
    let page = try await FakeComicVine([]).heroes().page(PageRequest())
    #expect(page.total == 0)
    #expect(page.next == nil)
  }
}
