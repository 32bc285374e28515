import AggregatorKit
import Foundation
import Testing

/// Following the link to a next page never leaves the service.
@Suite struct NextLinkTests {
  private static func request(
    _ address: String = "https://api.example/v1/quakes", query: [HTTPRequest.Item] = []
  ) throws -> HTTPRequest {
    HTTPRequest(.get, try #require(URL(string: address)), query: query)
  }

  private static func follow(_ link: String, from request: HTTPRequest) -> HTTPRequest? {
    request.storedLink(link, otherHosts: []).flatMap {
      request.following(storedLink: $0, otherHosts: [])
    }
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
  ])
  func `a link of the same host is followed`(link: String, address: String) throws {
    let first = try Self.request(query: [.init("size", "20")])
    let next = try #require(Self.follow(link, from: first))
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
    #expect(first.storedLink(link, otherHosts: ["other.example"]) == nil)
  }

  @Test func `a non-standard port must be the same`() throws {
    let first = try Self.request("http://127.0.0.1:8080/v1")
    let next = Self.follow("http://127.0.0.1:8080/v2", from: first)
    #expect(next?.url.absoluteString == "http://127.0.0.1:8080/v2")
    for link in ["http://127.0.0.1:8081/v2", "https://127.0.0.1:8080/v2", "http://127.0.0.1/v2"] {
      #expect(Self.follow(link, from: first) == nil)
    }
  }

  @Test func `a key is sent once, and is not in the stored link`() throws {
    let key = Secret("a-key-of-a-test")
    let first = try Self.request(query: [.init("size", "2"), .init("api key", .secret(key))])
    let link = try #require(
      first.storedLink("?api%20key=a-key-of-a-test&from=2", otherHosts: []))
    #expect(link == "/v1/quakes?from=2")
    let next = try #require(first.following(storedLink: link, otherHosts: []))
    #expect(next.url.absoluteString == "https://api.example/v1/quakes?from=2")
    #expect(next.query.map(\.name) == ["api key"])
  }

  @Test func `another host gets no secret, and never without TLS`() throws {
    var first = try Self.request(query: [.init("key", .secret(Secret("a-key-of-a-test")))])
    first.headers = [.init("Authorization", .secret(Secret("a-key-of-a-test")))]
    let hosts: Set<String> = ["other.example"]
    let link = try #require(
      first.storedLink("https://other.example/x?key=a-key-of-a-test&from=2", otherHosts: hosts))
    #expect(!link.contains("a-key"))
    let next = try #require(first.following(storedLink: link, otherHosts: hosts))
    #expect(next.url.absoluteString == "https://other.example/x?from=2")
    #expect(next.query.isEmpty)
    #expect(next.headers.isEmpty)
    #expect(first.storedLink("http://other.example/x", otherHosts: hosts) == nil)
    #expect(first.following(storedLink: link, otherHosts: []) == nil)
  }

  @Test(arguments: [
    "https://elsewhere.example/", "//elsewhere.example", "@elsewhere.example/",
    ".elsewhere.example/",
  ])
  func `a forged link does not lead to another host`(link: String) throws {
    let next = try Self.request().following(storedLink: link, otherHosts: [])
    #expect(next.map { $0.url.host() == "api.example" } ?? true)
  }
}
