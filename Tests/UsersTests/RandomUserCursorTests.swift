import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing
import UsersSource

@Suite(.timeLimit(.minutes(10)))
struct RandomUserCursorTests {
  @Test func `skips to the same cursor that the page returns`() async throws {
    let users = try FakeRandomUser().users()
    var request = PageRequest(limit: 10)
    for _ in 1...3 {
      let next = try #require(try await users.page(request).next)
      #expect(users.cursor(skipping: 10, from: request) == next)
      request = request.after(next)
    }
    let start = PageRequest(limit: 4)
    let part = try await users.page(start)
    #expect(users.cursor(skipping: 4, from: start) == part.next)
    #expect(users.cursor(skipping: 30, from: PageRequest()) == request.cursor)
  }

  @Test func `does not skip to impossible pages`() throws {
    let users = try FakeRandomUser().users()
    #expect(users.cursor(skipping: 10, from: PageRequest(matching: try SearchQuery("ada"))) == nil)
    let start = users.cursor(skipping: 1, from: PageRequest())
    #expect(users.cursor(skipping: .max, from: PageRequest(after: start)) == nil)
    for stranger in Self.strangers {
      #expect(users.cursor(skipping: 10, from: PageRequest(after: stranger)) == nil)
    }
  }

  @Test(arguments: [(10, 4), (10, 10), (100, 60)])
  func `rejects cursors of another page size`(size: Int, limit: Int) async throws {
    let service = try FakeRandomUser()
    let page = try await service.users(pagesOf: size).page(PageRequest(limit: limit))
    let users = try service.users(pagesOf: 5)
    let error = await #expect(throws: SourceError.self) {
      try await users.page(PageRequest(after: page.next))
    }
    #expect(error?.code == .invalidCursor)
    #expect(error?.message == "the cursor was made with a different page size")
    #expect(users.cursor(skipping: 1, from: PageRequest(after: page.next)) == nil)
    #expect(service.requests.count == 1)
  }

  private static let seal = CursorSeal("users", for: nil)

  private static let strangers: [PageCursor?] = [
    try? seal.close(["p": 0, "s": 0, "n": 10]), try? seal.close(["p": 10_001, "s": 0, "n": 10]),
    try? seal.close(["p": 1, "s": -1, "n": 10]), try? seal.close(["p": 1, "s": 10, "n": 10]),
    try? seal.close(["p": Int.max, "s": 9, "n": 10]), try? seal.close(["p": 2, "s": 0]),
    try? seal.close(20), try? CursorSeal("products", for: nil).close(20),
    try? CursorSeal("users.bundled", for: nil).close(20),
    try? CursorSeal("users.slice", for: nil).close(["s": 1, "n": 10]), PageCursor("x"),
  ]

  @Test(arguments: strangers)
  func `rejects foreign cursors`(cursor: PageCursor?) async throws {
    let cursor = try #require(cursor)
    let service = try FakeRandomUser()
    let users = try service.users()
    let error = await #expect(throws: SourceError.self) {
      try await users.page(PageRequest(after: cursor))
    }
    #expect(error?.code == .invalidCursor)
    #expect(service.requests.isEmpty)
  }

  @Test func `accepts its own cursors in another process`() async throws {
    let next = try await FakeRandomUser().users().page(PageRequest(limit: 4)).next
    let cursor = try #require(next.flatMap { PageCursor($0.description) })
    let page = try await FakeRandomUser().users().page(PageRequest(after: cursor, limit: 4))
    #expect(page.records.map(\.id) == Array(FakeRandomUser.everybody(onPages: 1...1)[4..<8]))
  }
}
