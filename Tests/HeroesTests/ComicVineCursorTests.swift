import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import HeroesSource
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ComicVineCursorTests {
  private struct Position: Codable {
    var p: Int
    var n: Int
    var s: Int
  }

  @Test func `continues a list from a cursor stored as text`() async throws {
    let service = try FakeComicVine()
    let heroes = try service.heroes()
    let next = try #require(try await heroes.page(PageRequest(limit: 5)).next)
    let cursor = try #require(PageCursor(next.description))
    let page = try await heroes.page(PageRequest(after: cursor, limit: 3))
    #expect(page.records.map(\.id) == FakeCharacter.cast[5..<8].map(\.id))
    #expect(service.requests.last?.query["offset"] == "5")
  }

  @Test func `continues in the middle of a search page`() async throws {
    let service = try FakeComicVine(searchLimit: 10)
    let heroes = try service.heroes()
    let query = try SearchQuery("spider")
    let whole = try await heroes.page(PageRequest(matching: query, limit: 10)).records
    let head = try await heroes.page(PageRequest(matching: query, limit: 10))
    let next = try #require(head.next.flatMap { PageCursor($0.description) })
    let middle = try await heroes.page(PageRequest(matching: query, after: next, limit: 3))
    let rest = try await heroes.page(PageRequest(matching: query, after: middle.next, limit: 10))
    #expect(whole == head.records)
    #expect(middle.records.count == 3)
    #expect(rest.records.count == 3)
    // The page size of the service stays, although the limits are 3 and 10, and the page is requested once.
    #expect(service.requests.map { $0.query["limit"] } == ["10", "10", "10"])
    #expect(service.requests.map { $0.query["page"] } == ["1", "1", "2"])
    let other = try service.heroes()
    let again = try await other.page(PageRequest(matching: query, after: middle.next, limit: 10))
    #expect(again.records == rest.records)
    #expect(service.requests.last?.query["limit"] == "10")
  }

  @Test func `keeps the page size of the service`() async throws {
    let service = try FakeComicVine(searchLimit: 10)
    _ = try await service.heroes().wholeWalk(matching: "spider", size: 50)
    #expect(service.requests.map { $0.query["limit"] } == ["50", "10"])
    #expect(service.requests.map { $0.query["page"] } == ["1", "2"])
  }

  @Test func `rejects cursors of a list or of another search`() async throws {
    let service = try FakeComicVine(searchLimit: 5)
    let heroes = try service.heroes()
    let list = try #require(try await heroes.page(PageRequest(limit: 5)).next)
    let search = try #require(
      try await heroes.page(PageRequest(matching: try SearchQuery("spider"), limit: 5)).next)
    for (text, cursor) in [("spider", list), ("anvil", search), (nil, search)] {
      let query = try text.map { try SearchQuery($0) }
      let error = await #expect(throws: SourceError.self) {
        try await heroes.page(PageRequest(matching: query, after: cursor))
      }
      #expect(error?.code == .invalidCursor)
    }
    #expect(service.requests.count == 2)
  }

  @Test(arguments: [-1, .min, .max, 1_000_000_001])
  func `rejects forged offsets`(offset: Int) async throws {
    let service = try FakeComicVine()
    let cursor = try CursorSeal("heroes", for: nil).close(offset)
    let error = await #expect(throws: SourceError.self) {
      try await service.heroes().page(PageRequest(after: cursor))
    }
    #expect(error?.code == .invalidCursor)
    #expect(service.requests.isEmpty)
  }

  @Test(arguments: [
    (0, 10, 0), (-1, 10, 0), (.max, 10, 0), (1, 0, 0), (1, 101, 0), (1, -1, 0), (1, 10, -1),
    (1, 10, .max), (.min, .min, .min), (.max, .max, .max),
  ])
  func `rejects forged search positions`(page: Int, size: Int, skip: Int) async throws {
    let service = try FakeComicVine()
    let query = try SearchQuery("spider")
    let cursor = try CursorSeal("heroes", for: query).close(Position(p: page, n: size, s: skip))
    let request = PageRequest(matching: query, after: cursor)
    let heroes = try service.heroes()
    let error = await #expect(throws: SourceError.self) { try await heroes.page(request) }
    #expect(error?.code == .invalidCursor)
    #expect(heroes.cursor(skipping: 10, from: request) == nil)
    #expect(service.requests.isEmpty)
  }

  @Test func `rejects text as offset`() async throws {
    let heroes = try FakeComicVine().heroes()
    let cursor = try CursorSeal("heroes", for: nil).close("20")
    let error = await #expect(throws: SourceError.self) {
      try await heroes.page(PageRequest(after: cursor))
    }
    #expect(error?.code == .invalidCursor)
  }

  // MARK: - Pages ahead

  @Test(arguments: [nil, "spider anvil"])
  func `skips to the same cursors that pages return`(text: String?) async throws {
    let heroes = try FakeComicVine(searchLimit: 10).heroes()
    let query = try text.map { try SearchQuery($0) }
    let start = PageRequest(matching: query, limit: 10)
    let first = try #require(try await heroes.page(start).next)
    let second = try #require(try await heroes.page(start.after(first)).next)
    #expect(heroes.cursor(skipping: 10, from: start) == first)
    #expect(heroes.cursor(skipping: 20, from: start) == second)
    #expect(heroes.cursor(skipping: 10, from: start.after(first)) == second)
  }

  @Test func `skips into the middle of a search page`() async throws {
    let heroes = try FakeComicVine(searchLimit: 10).heroes()
    let query = try SearchQuery("spider anvil")
    let first = try await heroes.page(PageRequest(matching: query, limit: 10)).next
    let request = PageRequest(matching: query, after: first, limit: 4)
    let third = try #require(try await heroes.page(request).next)
    #expect(heroes.cursor(skipping: 4, from: request) == third)
    let fourth = try #require(try await heroes.page(request.after(third)).next)
    #expect(heroes.cursor(skipping: 8, from: request) == fourth)
  }

  @Test(arguments: [nil, "spider"])
  func `does not skip beyond the possible pages`(text: String?) throws {
    let heroes = try FakeComicVine().heroes()
    let query = try text.map { try SearchQuery($0) }
    for limit in [1, 100] {
      let request = PageRequest(matching: query, limit: limit)
      #expect(heroes.cursor(skipping: .max, from: request) == nil)
      #expect(heroes.cursor(skipping: .max - 1, from: request) == nil)
    }
  }

  @Test(arguments: [nil, "spider anvil"])
  func `finds the same with pages in flight`(text: String?) async throws {
    let service = try FakeComicVine()
    let alone = try await service.heroes().wholeWalk(matching: text, size: 10)
    let ahead = try await service.heroes().wholeWalk(matching: text, size: 10, ahead: 6)
    #expect(ahead.ids == alone.ids)
    #expect(ahead.end == .exhausted)
  }
}
