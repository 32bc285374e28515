import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import HeroesSource
import Testing

/// Checks that the fake service has the oddities of the real one.
@Suite(.timeLimit(.minutes(10)))
struct FakeComicVineTests {
  private static let key = HTTPRequest.Item("api_key", .plain(FakeComicVine.key))
  private static let json = HTTPRequest.Item("format", "json")

  private func ask(
    _ service: FakeComicVine, _ path: String, _ query: [HTTPRequest.Item] = [key, json],
    headers: [HTTPRequest.Item] = []
  ) async throws -> HTTPResponse {
    try await service.transport.send(
      HTTPRequest(.get, service.url.appending(path: path), query: query, headers: headers))
  }

  private func text(_ response: HTTPResponse) -> String {
    String(decoding: response.body, as: UTF8.self)
  }

  @Test func `sends a hundred rows of seventeen fields, minified and escaped`() async throws {
    let response = try await ask(try FakeComicVine(), "characters/")
    #expect(response.header("content-type") == "application/json; charset=utf-8")
    #expect(text(response).contains(#""number_of_total_results":257,"status_code":1,"#))
    #expect(text(response).contains(#"Se\u00f1or Niebla \ud83c\udf2b"#))
    #expect(text(response).contains(#"https:\/\/comicvine.example\/"#))
    #expect(text(response).contains(#"Noon\r\nThe Line\n\n"#))
    #expect(!text(response).contains("issue_credits"))
    let rows = try JSONDecoder().decode(Rows.self, from: response.body).results
    #expect(rows.count == 100)
    #expect(rows.first?.count == 17)
  }

  @Test func `sends twenty-nine fields of one character, hundreds of KB`() async throws {
    let response = try await ask(try FakeComicVine(), "character/4005-1253/")
    let result = try JSONDecoder().decode(Row.self, from: response.body).results
    #expect(result.count == 29)
    #expect(response.body.count > 150_000)
  }

  @Test func `has the pictures of its characters if it is told to`() async throws {
    let service = try FakeComicVine(servesPictures: true)
    let heroes = try await service.heroes().page(PageRequest(limit: 3)).records
    let images = HeroesPlugin().images(in: service.environment(), files: nil)
    for size in ImageSize.allCases {
      let image = try await images.image(of: heroes[0], size).item
      #expect(image.bytes == FakePictures.picture && image.type == .png)
    }
    #expect(heroes.map(\.id) == [1253, 1254, 1255])
    // Neither has a picture: one of them has the placeholder.
    for hero in heroes.dropFirst() { #expect(try images.address(of: hero, .small) == nil) }
  }

  @Test func `compresses replies`() async throws {
    let plain = try await ask(try FakeComicVine(), "character/4005-1253/")
    let packed = try await ask(try FakeComicVine(isCompressed: true), "character/4005-1253/")
    #expect(packed.header("content-encoding") == "gzip")
    #expect(packed.body == plain.body)
  }

  @Test(arguments: [
    ("characters/", [json], 401, #""status_code":100"#),
    ("characters/", [HTTPRequest.Item("api_key", "x"), json], 401, "Invalid API Key"),
    ("characters/", [key], 200, "<?xml"),
    ("characters/", [key, .init("format", "jsonp")], 200, "argument"),
    ("characters/", [key, json, .init("limit", "many")], 200, "<!DOCTYPE html>"),
    (
      "characters/", [key, json, .init("limit", "101"), .init("offset", "-3")], 200, #""limit":100"#
    ),
    ("characters/", [key, json, .init("offset", "300")], 200, #""results":[]"#),
    ("character/4005-7/", [key, json], 200, #""status_code":101,"results":[]"#),
    ("character/4050-1253/", [key, json], 404, #""status_code":102"#),
    ("voume/4005-7/", [key, json], 404, "Error in URL Format"),
    ("search/", [key, json, .init("query", "spider")], 200, #""number_of_total_results":945"#),
  ])
  func `replies to invalid requests like the real service`(
    path: String, query: [HTTPRequest.Item], status: Int, piece: String
  ) async throws {
    let response = try await ask(try FakeComicVine(), path, query)
    #expect(response.status == status)
    #expect(text(response).contains(piece))
  }

  @Test func `repeats the key in a redirect without a slash`() async throws {
    let service = try FakeComicVine()
    let response = try await ask(service, "character/4005-1253")
    #expect(response.status == 200)
    #expect(
      service.requests.map(\.path) == ["/api/character/4005-1253", "/api/character/4005-1253/"])
    #expect(service.requests.map { $0.query["api_key"] } == [FakeComicVine.key, FakeComicVine.key])
  }

  @Test func `rejects the user agents of libraries`() async throws {
    let response = try await ask(
      try FakeComicVine(), "characters/", headers: [.init("User-Agent", "curl/7.88.1")])
    #expect(response.status == 403)
  }

  @Test func `ignores a key in a header`() async throws {
    let response = try await ask(
      try FakeComicVine(), "characters/", [Self.json],
      headers: [.init("Authorization", .plain(FakeComicVine.key))])
    #expect(response.status == 401)
  }

  private struct Rows: Decodable { let results: [[String: SkippedValue]] }
  private struct Row: Decodable { let results: [String: SkippedValue] }
  private struct SkippedValue: Decodable { init(from decoder: any Decoder) {} }
}
