import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing
import UsersSource

/// Checks that the fake service has the oddities of the real one.
@Suite(.timeLimit(.minutes(10)))
struct FakeRandomUserTests {
  private func ask(
    _ service: FakeRandomUser, _ query: [(String, String)], path: String = ""
  ) async throws -> HTTPResponse {
    try await service.transport.send(
      HTTPRequest(
        .get, service.url.appending(path: path), query: query.map { .init($0, .plain($1)) }))
  }

  private func reply(_ query: [(String, String)]) async throws -> Reply {
    try JSONDecoder().decode(
      Reply.self, from: try await ask(try FakeRandomUser(), [("seed", "abc")] + query).body)
  }

  @Test(arguments: [
    ("0", 1), ("-3", 1), ("5001", 1), ("1.5", 1), ("abc", 1), ("", 1), ("1e1", 10), ("7", 7),
  ])
  func `returns one person for an invalid number`(
    results: String, count: Int
  ) async throws {
    let reply = try await reply([("results", results)])
    #expect(reply.results.count == count)
    #expect(reply.info.results == count)
  }

  @Test(arguments: [
    ("0", 1.0), ("-1", 1), ("x", 1), ("10001", 1), ("10000", 10_000), ("1.5", 1.5), ("2", 2),
  ])
  func `treats an invalid page as page 1`(page: String, given: Double) async throws {
    #expect(try await reply([("page", page)]).info.page == given)
  }

  @Test func `has pages that are not parts of larger ones`() async throws {
    let large = try await reply([("results", "10")]).results.map(\.email)
    #expect(try await reply([("results", "5")]).results.map(\.email) == Array(large.prefix(5)))
    let second = try await reply([("results", "5"), ("page", "2")]).results.map(\.email)
    #expect(second != Array(large.suffix(5)))
    #expect(try await reply([("results", "10")]).results.map(\.email) == large)
  }

  @Test func `glues seed and page together`() {
    let one = FakeRandomUser.emails(onPage: 23, of: 9, seed: "abc")
    #expect(one == FakeRandomUser.emails(onPage: 3, of: 9, seed: "abc2"))
  }

  @Test func `repeats addresses on a page and from page to page, in another case`() {
    let first = FakeRandomUser.emails(onPage: 1, of: 10, seed: "abc")
    let second = FakeRandomUser.emails(onPage: 2, of: 10, seed: "abc")
    #expect(first[0] != first[1] && first[0] == first[1].lowercased())
    #expect(first[9] != second[9] && first[9] == second[9].lowercased())
    #expect(Set(first.map { $0.lowercased() }).count == 9)
  }

  @Test func `changes a seed of 18 characters`() async throws {
    let response = try await ask(try FakeRandomUser(), [("seed", "aggregator-seed-0a")])
    #expect(
      String(decoding: response.body, as: UTF8.self).contains(#""seed":"aggregator-seed-0a00""#))
  }

  @Test func `knows its own version only`() async throws {
    #expect(try await ask(try FakeRandomUser(), [], path: "1.4/").status == 200)
    let response = try await ask(try FakeRandomUser(), [], path: "9.9/")
    #expect(response.status == 404)
    #expect(String(decoding: response.body, as: UTF8.self) == "Not Found")
  }

  @Test func `has the portraits of its people if it is told to`() async throws {
    let service = try FakeRandomUser(servesPictures: true)
    let users = try await service.users().page(PageRequest(limit: 3)).records
    #expect(users.count >= 3)
    let images = UsersPlugin().images(in: service.environment(), files: nil)
    for (user, size) in zip(users, ImageSize.allCases) {
      let image = try await images.image(of: user, size).item
      #expect(image.bytes == FakePictures.picture)
    }
  }

  @Test func `sends all oddities`() async throws {
    let text = String(
      decoding: try await ask(try FakeRandomUser(), [("results", "21")]).body, as: UTF8.self)
    for piece in [
      #""postcode":93027"#, #""postcode":"0150""#, #""postcode":"Z4B 4T0""#, #""value":null"#,
      "NaNNA259undefined", "کامروا", #""latitude":"-35.4549""#, #""offset":"+5:45""#, #""age":7"#,
      "Mademoiselle", "L11 N65-0536", "T09:18:33.666Z", #""nat":"US""#,
    ] {
      #expect(text.contains(piece), "\(piece)")
    }
  }

  private struct Reply: Decodable {
    struct Person: Decodable { let email: String }
    struct Info: Decodable {
      let page: Double
      let results: Int
    }
    let results: [Person]
    let info: Info
  }
}
