import AggregatorKit
import Foundation
import Testing

/// Following the link to a next page never leaves the service.
@Suite struct LinkPositionTests {
  private static func request(
    _ address: String = "https://api.example/v1/quakes", query: [HTTPRequest.Item] = []
  ) throws -> HTTPRequest {
    HTTPRequest(.get, try #require(URL(string: address)), query: query)
  }

  private static func follow(_ link: String, from request: HTTPRequest) throws -> HTTPRequest? {
    try LinkPosition().next(after: 2, of: 2, link: link, in: request)?.request(from: request)
  }

  @Test(arguments: [
    ("/v1/quakes?from=20", "https://api.example/v1/quakes?from=20"),
    ("?from=20&size=5", "https://api.example/v1/quakes?from=20&size=5"),
    ("more/2", "https://api.example/v1/more/2"),
    ("//api.example/x", "https://api.example/x"),
    ("https://API.example/v2?a=%2F", "https://api.example/v2?a=%2F"),
    ("https://api.example:443/v2", "https://api.example/v2"),
    // A service behind a proxy does not know its public address.
    ("http://api.example/v2?page=2", "https://api.example/v2?page=2"),
    ("https://api.example//twice", "https://api.example//twice"),
    (" /v1/quakes?from=3\n", "https://api.example/v1/quakes?from=3"),
  ])
  func `a link of the same host is followed`(link: String, address: String) throws {
    let first = try Self.request(query: [.init("size", "20")])
    let next = try #require(try Self.follow(link, from: first))
    #expect(next.url.absoluteString == address)
    #expect(next.query.isEmpty)
  }

  @Test(arguments: [
    "https://elsewhere.example/v1", "//elsewhere.example/", "https://api.example@evil.example/",
    "https://user@api.example/", "https://api.example:8443/", "http://api.example:443/",
    "ftp://api.example/", "file:///etc/passwd", "javascript:alert(1)", "https://api.example.evil/",
    "https:///v1", "http://[::1]/",
  ])
  func `a link to anywhere else is rejected`(link: String) throws {
    let first = try Self.request()
    let error = #expect(throws: SourceError.self) { try Self.follow(link, from: first) }
    #expect(error?.code == .rejected)
  }

  @Test func `a non-standard port must be the same`() throws {
    let first = try Self.request("http://127.0.0.1:8080/v1")
    let next = try Self.follow("http://127.0.0.1:8080/v2", from: first)
    #expect(next?.url.absoluteString == "http://127.0.0.1:8080/v2")
    for link in ["http://127.0.0.1:8081/v2", "https://127.0.0.1:8080/v2", "http://127.0.0.1/v2"] {
      #expect(throws: SourceError.self) { try Self.follow(link, from: first) }
    }
  }

  @Test func `a key is sent once, and is not in a position`() throws {
    let key = Secret("a-key-of-a-test")
    let first = try Self.request(query: [.init("size", "2"), .init("api key", .secret(key))])
    let position = try LinkPosition().next(
      after: 2, of: 2, link: "?api%20key=a-key-of-a-test&from=2", in: first)
    let text = String(decoding: try JSONEncoder().encode(position), as: UTF8.self)
    #expect(!text.contains("a-key"))
    let next = try #require(try position?.request(from: first))
    #expect(next.url.absoluteString == "https://api.example/v1/quakes?from=2")
    #expect(next.query.map(\.name) == ["api key"])
  }

  @Test func `the rest of a page comes before its link`() throws {
    let first = try Self.request()
    let some = try #require(try LinkPosition().next(after: 2, of: 5, link: "?from=5", in: first))
    #expect(some.skip == 2)
    #expect(try some.request(from: first).url == first.url)
    let rest = try #require(try some.next(after: 5, of: 5, link: "?from=5", in: first))
    #expect(rest.skip == 0)
    #expect(try rest.request(from: first).url.absoluteString.hasSuffix("?from=5") == true)
  }

  @Test(arguments: [nil, "", "  "])
  func `the end is a reply without a link`(link: String?) throws {
    #expect(try LinkPosition().next(after: 2, of: 2, link: link, in: try Self.request()) == nil)
  }

  @Test(arguments: [
    #"{"link": "https://elsewhere.example/", "skip": 0}"#,
    #"{"link": "//elsewhere.example", "skip": -1}"#, #"{"link": "@elsewhere.example/", "skip": 0}"#,
    #"{"link": ".elsewhere.example/", "skip": 0}"#, #"{"skip": 9999999999}"#,
  ])
  func `a forged position does not lead to another host`(json: String) throws {
    let position = try JSONDecoder().decode(LinkPosition.self, from: Data(json.utf8))
    let first = try Self.request()
    let error = #expect(throws: SourceError.self) { try position.request(from: first) }
    #expect(error?.code == .invalidCursor)
  }
}
