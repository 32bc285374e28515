import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing
import UsersSource

@Suite(.timeLimit(.minutes(10)))
struct RandomUserPageTests {
  @Test func `requests consecutive pages of one seed and size`() async throws {
    let service = try FakeRandomUser()
    _ = try await service.users().wholeWalk(size: 10, upTo: PaginationBound(pages: 3))
    #expect(service.requests.map(\.path) == ["/api/", "/api/", "/api/"])
    #expect(service.requests.map { $0.query["page"] } == ["1", "2", "3"])
    // Other parameters, such as gender, nat or inc, return other people.
    #expect(
      service.requests.allSatisfy { $0.queryItems.map(\.name) == ["seed", "results", "page"] })
    #expect(Set(service.requests.map { $0.query["seed"] }) == ["aggregator"])
    #expect(Set(service.requests.map { $0.query["results"] }) == ["10"])
  }

  @Test(arguments: [1, 3, 7, 9, 10, 11, 25, 1000])
  func `returns everyone once, whatever the limit`(size: Int) async throws {
    let service = try FakeRandomUser()
    let walk = try await service.users().wholeWalk(size: size, upTo: PaginationBound(items: 40))
    #expect(walk.ids == Array(FakeRandomUser.everybody(onPages: 1...5).prefix(40)))
    #expect(walk.pages.allSatisfy { $0.records.count <= size })
    // A page that is cut is requested once.
    #expect(service.requests.map { $0.query["page"] } == ["1", "2", "3", "4", "5"])
    #expect(service.requests.allSatisfy { $0.query["results"] == "10" })
  }

  @Test func `returns a person with a repeated address once`() async throws {
    let page = try await FakeRandomUser().users().page(PageRequest(limit: 10))
    #expect(page.records.map(\.email) == FakeRandomUser.everybody(onPages: 1...1))
    #expect(page.records.count == 9)
    #expect(page.records.allSatisfy { $0.email.description == $0.email.description.lowercased() })
    let walk = try await FakeRandomUser().users().wholeWalk(
      size: 10, upTo: PaginationBound(pages: 5))
    let people = 9 + 4 * 8
    #expect(walk.ids.count == people)
    #expect(Set(walk.ids).count == walk.ids.count)
  }

  @Test func `ends where the service would restart`() async throws {
    let service = try FakeRandomUser()
    let users = try service.users()
    let cursor = try #require(users.cursor(skipping: 99_990, from: PageRequest()))
    let page = try await users.page(PageRequest(after: cursor, limit: 10))
    #expect(service.requests.first?.query["page"] == "10000")
    #expect(page.records.count == 9)
    #expect(page.next == nil)
    #expect(users.cursor(skipping: 100_000, from: PageRequest()) == nil)
  }

  @Test(arguments: ["0", "5001", "-1", "1.5", "many", "1e3"])
  func `rejects a page size that the service would change`(size: String) throws {
    let environment = try FakeRandomUser().environment(with: ["RANDOM_USER_PAGE_SIZE": size])
    let error = #expect(throws: SourceError.self) { try UsersPlugin().remote(in: environment) }
    #expect(error?.code == .invalidSettings)
  }

  @Test func `never sends a seed of 18 characters`() async throws {
    let service = try FakeRandomUser()
    _ = try await service.users().page(PageRequest())
    #expect(try #require(service.requests.first?.query["seed"]).utf8.count != 18)
  }

  @Test(arguments: [
    (#"{"seed":"aggregator","results":1,"page":1}"#, "1 instead of 10"),
    (#"{"seed":"aggregator","results":10,"page":2}"#, "page 2 instead of 1"),
    (#"{"seed":"aggregator","results":10,"page":1.5}"#, "page 1.5 instead of 1"),
    (#"{"seed":"aggregator00","results":10,"page":1}"#, "another seed"),
  ])
  func `rejects people that were not requested`(info: String, words: String) async throws {
    let service = try FakeRandomUser()
    service.fail(with: .json(#"{"results":[],"info":\#(info)}"#))
    let users = try service.users()
    let error = await #expect(throws: SourceError.self) { try await users.page(PageRequest()) }
    #expect(error?.code == .malformed)
    #expect(error?.message.hasSuffix(words) == true)
  }

  @Test(arguments: [RandomUserQuirk.halfPage, .otherSeed])
  func `rejects parameters that were not requested`(quirk: RandomUserQuirk) async throws {
    let users = try FakeRandomUser(quirks: [quirk]).users()
    let error = await #expect(throws: SourceError.self) { try await users.page(PageRequest()) }
    #expect(error?.code == .malformed)
    #expect(error?.message.contains("different people") == true)
  }

  @Test func `accepts pages without info`() async throws {
    let walk = try await FakeRandomUser(quirks: [.withoutInfo]).users()
      .wholeWalk(size: 10, upTo: PaginationBound(pages: 2))
    #expect(walk.ids == FakeRandomUser.everybody(onPages: 1...2))
  }

  @Test(arguments: [4, 12, 100])
  func `ignores people beyond the page size`(size: Int) async throws {
    let walk = try await FakeRandomUser(quirks: [.generous]).users()
      .wholeWalk(size: size, upTo: PaginationBound(items: 17))
    #expect(walk.ids == FakeRandomUser.everybody(onPages: 1...2))
  }

  @Test func `drops rows that cannot be read, and counts them once`() async throws {
    let walk = try await FakeRandomUser(quirks: [.badRows]).users()
      .wholeWalk(size: 4, upTo: PaginationBound(pages: 2))
    #expect(walk.pages.map(\.unreadable.count) == [3, 0])
    #expect(walk.pages.first?.unreadable.firstReason == "row 2: email is missing")
    #expect(walk.ids.count == 7)
  }

  @Test func `does not take an empty page for the end of a list without one`() async throws {
    let users = try FakeRandomUser(quirks: [.nobody]).users()
    let error = await #expect(throws: SourceError.self) { try await users.page(PageRequest()) }
    #expect(error?.code == .malformed)
  }

  @Test func `reports endpoint and date`() async throws {
    let service = try FakeRandomUser()
    let page = try await service.users().page(PageRequest())
    #expect(page.provenance.origin == .live)
    #expect(page.provenance.fetchedAt == Fixture.date)
    #expect(page.provenance.endpoint == service.url.absoluteString)
    #expect(page.total == nil)
  }
}
