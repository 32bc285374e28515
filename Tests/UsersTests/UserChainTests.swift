import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing
import UsersSource

@Suite(.timeLimit(.minutes(10)))
struct UserChainTests {
  @Test(arguments: [1, 3, 7, 10, 25])
  func `returns everyone once with one request per page`(
    size: Int
  ) async throws {
    let service = try FakeRandomUser()
    let walk = try await service.chain().wholeWalk(size: size, upTo: PaginationBound(items: 41))
    #expect(walk.ids == FakeRandomUser.everybody(onPages: 1...5))
    #expect(service.requests.map { $0.query["page"] } == ["1", "2", "3", "4", "5"])
    #expect(service.requests.allSatisfy { $0.query["results"] == "10" })
  }

  @Test(arguments: [4, 10, 15])
  func `rejects cursors of another page size`(items: Int) async throws {
    let service = try FakeRandomUser()
    let walk = try await service.chain().wholeWalk(size: items, upTo: PaginationBound(items: items))
    let cursor = try #require(walk.pages.last?.next)
    let asked = service.requests.count
    let chain = try service.chain(with: ["RANDOM_USER_PAGE_SIZE": "20"])
    let error = await #expect(throws: SourceError.self) {
      try await chain.page(PageRequest(after: cursor))
    }
    #expect(error?.code == .invalidCursor)
    #expect(error?.message == "the cursor was made with a different page size")
    #expect(service.requests.count == asked)
  }

  @Test func `falls back to bundled data when the connection is refused`() async throws {
    let port = try RefusingPort()
    let chain = try FakeRandomUser().chain(with: ["RANDOM_USER_URL": port.baseURL.absoluteString])
    let page = try await chain.page(PageRequest(limit: 5))
    #expect(page.records.count == 5)
    #expect(page.provenance.origin == .bundled)
    #expect(page.provenance.reason?.code == .unreachable)
    let more = try await chain.page(PageRequest(after: page.next, limit: 5))
    #expect(more.provenance.origin == .bundled)
    #expect(Set(more.records.map(\.id)).isDisjoint(with: page.records.map(\.id)))
  }

  @Test(arguments: [(RandomUserFault.tooMany, 1), (.blocked, 1), (.wrongAs200, 3), (.broken, 3)])
  func `falls back to bundled data when the service refuses`(
    fault: RandomUserFault, requests: Int
  ) async throws {
    let service = try FakeRandomUser()
    service.fail(with: fault.reply)
    let page = try await service.chain().page(PageRequest())
    #expect(page.provenance.origin == .bundled)
    #expect(page.provenance.reason != nil)
    #expect(service.requests.count == requests)
  }

  @Test func `retries after a failure`() async throws {
    let service = try FakeRandomUser()
    service.fail(with: RandomUserFault.wrong.reply, times: 2)
    let page = try await service.chain().page(PageRequest())
    #expect(page.provenance.origin == .live)
    #expect(service.requests.count == 3)
  }

  // MARK: - The rate

  @Test func `counts people and not requests`() async throws {
    let service = try FakeRandomUser()
    let clock = ManualClock()
    let chain = try service.chain(with: ["RANDOM_USER_RATE": "35/5m"], clock: clock)
    let walk = try await chain.wholeWalk(size: 10, upTo: PaginationBound(pages: 3))
    let next = PageRequest(after: walk.pages.last?.next)
    // Thirty people were fetched; ten more would be forty.
    let error = await #expect(throws: SourceError.self) { try await chain.page(next) }
    #expect(error?.code == .rateLimited)
    #expect(error?.retryAfter == .milliseconds(300_100))
    #expect(service.requests.count == 3)
    clock.advance(by: .seconds(301))
    #expect(try await chain.page(next).records.count == 9)
  }

  @Test func `limits the rate to 20000 people in five minutes`() async throws {
    let service = try FakeRandomUser()
    service.fail(with: .json(#"{"results":[7],"info":{"results":5000}}"#))
    let chain = try service.chain(
      with: [
        "RANDOM_USER_RATE": UsersPlugin.rate.defaultValue ?? "", "RANDOM_USER_PAGE_SIZE": "5000",
      ],
      cachePolicy: .noFallback, clock: ManualClock())
    let failure = await #expect(throws: SourceError.self) {
      for try await _ in chain.pages(size: 5000, ahead: 0) {}
      for try await _ in chain.pages(size: 5000, ahead: 0) {}
    }
    #expect(failure?.code == .rateLimited)
    #expect(service.requests.count == 4)
  }
}
