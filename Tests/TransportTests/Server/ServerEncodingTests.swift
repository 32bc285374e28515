import AggregatorHTTP
import AggregatorKit
import Foundation
import Testing

@testable import AggregatorServer

@Suite(.timeLimit(.minutes(10)))
struct ServerEncodingTests {
  private static let long = String(repeating: "Spider-Man, ", count: 1000)

  private func request(_ headers: KeyValuePairs<String, String> = [:], _ method: String = "GET")
    -> ServerRequest
  {
    ServerRequest(
      method: method, rawPath: "/",
      headers: headers.map { ServerRequest.Parameter($0.key, $0.value) })
  }

  private func response(
    _ text: String = long, type: String = "application/json", status: Int = 200,
    headers: KeyValuePairs<String, String> = [:]
  ) -> ServerResponse {
    ServerResponse(
      status, type, Array(text.utf8),
      headers: headers.map { ServerRequest.Parameter($0.key, $0.value) })
  }

  private func count(_ response: ServerResponse) -> Int? {
    if case .bytes(let bytes) = response.body { bytes.count } else { nil }
  }

  @Test(arguments: [
    "gzip", "deflate, gzip;q=0.5", "br , GZIP", "*", "x-gzip", "gzip;q=1.0, identity;q=0",
  ])
  func `compresses for clients that accept gzip`(accepted: String) {
    let encoded = response().encoded(for: request(["Accept-Encoding": accepted]))
    #expect(encoded.header("Content-Encoding") == "gzip")
    #expect(encoded.header("Vary") == "Accept-Encoding")
    #expect(count(encoded).map { $0 < 500 } == true)
  }

  @Test(arguments: ["", "br", "gzip;q=0", "*, gzip;q=0", "*;q=0.0", "identity"])
  func `does not compress for others`(accepted: String) {
    let encoded = response().encoded(for: request(["Accept-Encoding": accepted]))
    #expect(encoded.header("Content-Encoding") == nil)
    #expect(encoded.header("Vary") == "Accept-Encoding")
    #expect(count(encoded) == Self.long.utf8.count)
  }

  @Test(arguments: [
    "text/html; charset=utf-8", "application/json", "application/problem+json",
    "application/javascript", "text/css",
  ])
  func `compresses text`(type: String) {
    let encoded = response(type: type).encoded(for: request(["Accept-Encoding": "gzip"]))
    #expect(encoded.header("Content-Encoding") == "gzip")
  }

  @Test(arguments: ["image/png", "image/jpeg", "application/octet-stream"])
  func `does not compress images`(type: String) {
    let encoded = response(type: type).encoded(for: request(["Accept-Encoding": "gzip"]))
    #expect(encoded.header("Content-Encoding") == nil)
    #expect(encoded.header("Vary") == nil)
    #expect(encoded.header("ETag") != nil)
  }

  @Test func `compresses only what becomes smaller`() {
    let gzip = request(["Accept-Encoding": "gzip"])
    let short = response(String(repeating: "a", count: 1024)).encoded(for: gzip)
    #expect(short.header("Content-Encoding") == nil)
    #expect(short.header("Vary") == nil)
    let encoded = response(String(repeating: "a", count: 1025)).encoded(for: gzip)
    #expect(encoded.header("Content-Encoding") == "gzip")
    var generator = SeededGenerator(1)
    let noise = ServerResponse(
      200, "text/plain", (0..<2000).map { _ in UInt8.random(in: 0...255, using: &generator) })
    let incompressible = noise.encoded(for: gzip)
    #expect(incompressible.header("Content-Encoding") == nil)
    #expect(count(incompressible) == 2000)
    #expect(incompressible.header("ETag") == noise.encoded(for: request()).header("ETag"))
  }

  @Test func `keeps other fields that responses vary by`() {
    let encoded = response(headers: ["Vary": "Cookie"]).encoded(for: request())
    #expect(encoded.header("Vary") == "Cookie, Accept-Encoding")
  }

  @Test func `leaves event streams alone`() {
    let events = ServerResponse(events: AsyncStream { $0.finish() })
    let encoded = events.encoded(for: request(["Accept-Encoding": "gzip"]))
    #expect(encoded.headers == events.headers)
  }

  // MARK: - Entity tags

  @Test func `has another tag for each body and encoding`() throws {
    let plain = try #require(response().encoded(for: request()).header("ETag"))
    let other = try #require(response("\(Self.long).").encoded(for: request()).header("ETag"))
    let gzip = try #require(
      response().encoded(for: request(["Accept-Encoding": "gzip"])).header("ETag"))
    #expect(Set([plain, other, gzip]).count == 3)
    #expect(plain.hasPrefix("\"") && plain.hasSuffix("\""))
    #expect(gzip == "\(plain.dropLast())-gzip\"")
  }

  @Test(arguments: ["identity", "gzip"])
  func `returns 304 for a known tag`(encoding: String) throws {
    let first = response(headers: ["X-A": "a"]).encoded(
      for: request(["Accept-Encoding": encoding]))
    let tag = try #require(first.header("ETag"))
    for list in [tag, "W/\(tag)", "\"a\", \(tag),\"b\"", "*"] {
      let second = response(headers: ["X-A": "a"]).encoded(
        for: request(["Accept-Encoding": encoding, "If-None-Match": list]))
      #expect(second.status == 304)
      #expect(count(second) == count(first))
      #expect(second.header("ETag") == tag)
      #expect(second.header("Vary") == "Accept-Encoding")
      #expect(second.header("X-A") == "a")
      #expect(second.header("Content-Encoding") == nil)
    }
  }

  @Test func `does not return 304 for other tags`() throws {
    let gzip = try #require(
      response().encoded(for: request(["Accept-Encoding": "gzip"])).header("ETag"))
    // A client that does not accept gzip cannot use the compressed body.
    for list in ["\"a\"", gzip, "", String(gzip.dropFirst())] {
      #expect(response().encoded(for: request(["If-None-Match": list])).status == 200)
    }
  }

  @Test func `tags only responses that may be stored`() {
    #expect(response(status: 404).encoded(for: request()).header("ETag") == nil)
    #expect(response().encoded(for: request([:], "POST")).header("ETag") == nil)
    let secret = response(headers: ["Cache-Control": "no-store"])
    #expect(secret.encoded(for: request(["If-None-Match": "*"])).status == 200)
    #expect(secret.encoded(for: request()).header("ETag") == nil)
  }

  @Test func `keeps a tag of the handler`() {
    let tagged = response(headers: ["ETag": "\"v1\""])
    #expect(tagged.encoded(for: request()).header("ETag") == "\"v1\"")
    #expect(tagged.encoded(for: request(["If-None-Match": "\"v1\""])).status == 304)
  }

  // MARK: - Over the network

  @Test func `is decoded by clients`() async throws {
    try await withHTTPServer { _ in
      .text(Self.long)
    } do: { server in
      let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
      let decoded = try await HTTPTransport().send(HTTPRequest(.get, url))
      #expect(decoded.body == Data(Self.long.utf8))
      let client = try RawClient(to: server.port)
      let raw = try await client.get("/", "Accept-Encoding: gzip\r\n")
      #expect(raw.header("Content-Encoding") == "gzip")
      #expect(raw.body.starts(with: [0x1F, 0x8B]))
      let tag = try #require(raw.header("ETag"))
      let known = try await client.get("/", "Accept-Encoding: gzip\r\nIf-None-Match: \(tag)\r\n")
      #expect(known.status == 304)
      #expect(known.header("ETag") == tag)
      // The length is that of the answer that the client has, and nothing of it precedes the next answer.
      #expect(known.header("Content-Length") == "\(raw.body.count)")
      let head = try await client.get("/", "Accept-Encoding: gzip\r\n", method: "HEAD")
      #expect(head.header("ETag") == tag)
      #expect(head.header("Content-Length") == "\(raw.body.count)")
    }
  }
}
