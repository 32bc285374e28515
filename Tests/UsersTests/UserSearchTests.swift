import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing
import UsersSource

@Suite(.timeLimit(.minutes(10)))
struct UserSearchTests {
  /// A service that returns these people on every page.
  private func service(of people: [(email: String, first: String, last: String)]) throws
    -> FakeRandomUser
  {
    let service = try FakeRandomUser()
    let rows = people.map { person -> JSON in
      [
        "email": .string(person.email), "nat": "NO",
        "name": ["title": "Mr", "first": .string(person.first), "last": .string(person.last)],
      ]
    }
    service.fail(with: .json(JSON.object([.init("results", .array(rows))]).text))
    return service
  }

  @Test(arguments: [
    ("AINO", ["a@example.com"]), ("tormanen", ["a@example.com"]),
    ("TÖRMÄNEN aino", ["a@example.com"]),
    ("jose", ["b@example.org"]), ("núñez", ["b@example.org"]), ("NUNEZ", ["b@example.org"]),
    ("EXAMPLE.ORG", ["b@example.org"]), ("آوا", ["c@example.net"]), ("aino nunez", []), ("mr", []),
  ])
  func `finds by name, surname and e-mail, whatever the case and the accents`(
    query: String, ids: [String]
  ) async throws {
    let service = try service(of: [
      ("A@example.com", "Aino", "Törmänen"), ("b@example.org", "José", "Núñez"),
      ("c@example.net", "آوا", "کامروا"),
    ])
    let page = try await service.chain().page(PageRequest(matching: SearchQuery(query), limit: 1))
    #expect(page.records.map(\.id.description) == ids)
  }

  @Test func `scans 1000 people with a warning, and continues on demand`() async throws {
    let service = try FakeRandomUser()
    let chain = try service.chain(with: ["RANDOM_USER_PAGE_SIZE": "100"])
    let query = try SearchQuery("nobody-has-this-name")
    let page = try await chain.page(PageRequest(matching: query, limit: 5))
    #expect(page.records.isEmpty)
    #expect(service.requests.count == 10)
    // Ten of a hundred addresses repeat on their page.
    #expect(page.warnings.map(\.message) == ["searched only the first 900 records"])
    _ = try await chain.page(PageRequest(matching: query, after: page.next, limit: 5))
    #expect(service.requests.map { $0.query["page"] } == (1...20).map(\.description))
  }

  @Test func `returns everyone found once`() async throws {
    let service = try FakeRandomUser()
    let walk = try await service.chain(with: ["RANDOM_USER_PAGE_SIZE": "100"])
      .wholeWalk(matching: "same.person", size: 30, upTo: PaginationBound(pages: 3))
    #expect(Set(walk.ids).count == walk.ids.count)
    #expect(walk.ids.count == 10)
  }

  @Test func `shows a person by looking through the pages`() async throws {
    let service = try FakeRandomUser()
    let email = try #require(FakeRandomUser.emails(onPage: 3, of: 10, seed: "aggregator").first)
    let id = try #require(EmailAddress(email.uppercased()))
    let found = try await service.chain().item(id)
    #expect(found.item.email.description == email)
    #expect(found.provenance.origin == .live)
    #expect(service.requests.map { $0.query["page"] } == ["1", "2", "3"])
  }

  @Test func `reports how many people were scanned`() async throws {
    let service = try FakeRandomUser()
    let chain = try service.chain(with: ["RANDOM_USER_PAGE_SIZE": "500"])
    let id = try #require(EmailAddress("nobody@example.com"))
    let error = await #expect(throws: SourceError.self) { try await chain.item(id) }
    // The collection is endless, so the ID may exist.
    #expect(error?.code == .unsupported)
    // Of 500 on a page, 50 repeat on it, and 50 on the next one.
    #expect(error?.message == "record \"nobody@example.com\" not found among the first 850")
    #expect(service.requests.count == 2)
  }

  @Test func `shows a bundled person when the connection is refused`() async throws {
    let port = try RefusingPort()
    let chain = try FakeRandomUser().chain(with: ["RANDOM_USER_URL": port.baseURL.absoluteString])
    let id = try #require(EmailAddress(UsersPlugin().example.id.uppercased()))
    let found = try await chain.item(id)
    #expect(found.provenance.origin == .bundled)
    #expect(found.provenance.reason?.code == .unreachable)
    let stranger = try #require(EmailAddress("nobody@example.com"))
    let error = await #expect(throws: SourceError.self) { try await chain.item(stranger) }
    #expect(error?.code == .unreachable)
  }
}
