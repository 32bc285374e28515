import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import CountriesSource
import Foundation
import HeroesSource
import ProductsSource
import Testing
import UsersSource

@testable import AggregatorProgramTesting
@testable import AggregatorServer
@testable import AggregatorTerminal
@testable import AggregatorWeb

@Suite(.timeLimit(.minutes(10))) struct WireReplayTests {
  // MARK: - Sources that read from the replay

  @Test func `countries read the same from the replay as from the recording`() async throws {
    try await compare(CountriesPlugin(), "COUNTRIES_URL", PageRequest(limit: 20))
  }

  @Test func `heroes read the same from the replay as from the recording`() async throws {
    let settings = ["COMIC_VINE_API_KEY": "any-key-at-all", "COMIC_VINE_RATE": "off"]
    let plugin = HeroesPlugin()
    for request in [
      PageRequest(limit: 20), PageRequest(limit: 7), PageRequest(limit: 1),
      PageRequest(matching: try SearchQuery("spider"), limit: 2),
    ] {
      try await compare(plugin, "COMIC_VINE_URL", request, settings)
    }
    let environment = try environment(plugin, "COMIC_VINE_URL", settings)
    let hero = try await plugin.remote(in: environment.value).item(1253).item
    #expect(hero.realName == "Ilse Varga")
    await #expect { try await plugin.remote(in: environment.value).item(999_999_999) } throws: {
      ($0 as? SourceError)?.code == .notFound
    }
  }

  @Test func `products read the same from the replay as from the recording`() async throws {
    for limit in [7, 20] {
      try await compare(ProductsPlugin(), "PRODUCTS_URL", PageRequest(limit: limit))
    }
  }

  @Test func `users read the same from the replay as from the recording`() async throws {
    let settings = ["RANDOM_USER_PAGE_SIZE": "10", "RANDOM_USER_RATE": "off"]
    try await compare(
      UsersPlugin(now: { Fixture.date }), "RANDOM_USER_URL", PageRequest(limit: 10), settings)
  }

  /// A server must live as long as its environment.
  private struct Served {
    let value: PluginEnvironment
    let server: LoopbackServer
  }

  private func fixture(of plugin: some Plugin) -> Fixture {
    let folder = plugin.name.prefix(1).uppercased() + plugin.name.dropFirst() + "Tests"
    return Fixture("working", beside: Repository.root.appending(path: "Tests/\(folder)/x").path)
  }

  /// An environment with a server in the place of the service.
  private func environment(
    _ plugin: some Plugin, _ key: String, _ settings: [String: String]
  ) throws -> Served {
    let replay = WireReplay(try Recording(fixture(of: plugin).directory))
    let server = try LoopbackServer { request in LoopbackReply(replay.response(to: .init(request)))
    }
    let service = plugin.settings.first { $0.key == key }?.defaultValue
    let path = URLComponents(string: try #require(service))?.path ?? ""
    let address = server.baseURL.absoluteString + path
    return Served(
      value: PluginEnvironment(
        settings: SourceSettings(settings.merging([key: address]) { $1 }),
        transport: LongTimeoutTransport(), now: { Fixture.date }),
      server: server)
  }

  /// Reads two pages from a replay on a socket, and from the recording itself.
  private func compare<P: Plugin>(
    _ plugin: P, _ key: String, _ request: PageRequest, _ settings: [String: String] = [:]
  ) async throws {
    let served = try environment(plugin, key, settings)
    var recorded = try fixture(of: plugin).environment(for: plugin, with: settings)
    recorded.now = { Fixture.date }
    var pages: [[JSON]] = []
    for environment in [served.value, recorded] {
      let source = try plugin.source(in: environment).cachePolicy(.noFallback)
      let first = try await source.page(request)
      #expect(first.provenance.origin == .live)
      var records = first.records
      if let next = first.next { records += try await source.page(request.after(next)).records }
      #expect(!records.isEmpty)
      pages.append(records.map { plugin.fields.object(of: $0) })
    }
    #expect(pages.first == pages.last)
    #expect(!served.server.requests.isEmpty)
  }

  // MARK: - Requests

  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  /// Replays exchanges: the lines of each request and, after `###`, of its outcome.
  private func replay(_ exchanges: String...) throws -> WireReplay {
    for (number, exchange) in exchanges.enumerated() {
      try sandbox.write(
        "# aggregator recording 1\n# 2026-01-05T09:12:44Z\n\(exchange)\n",
        to: "tape/\(1000 + number).http")
    }
    return WireReplay(try Recording(sandbox.root.appending(path: "tape")))
  }

  private func ask(
    _ replay: WireReplay, _ target: String, by method: String = "GET", body: String = "",
    host: String? = "127.0.0.1:9000"
  ) -> ServerResponse {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    return replay.response(
      to: ServerRequest(
        method: method, rawPath: String(parts[0]),
        rawQuery: parts.count > 1 ? String(parts[1]) : nil,
        headers: host.map { [.init("Host", $0)] } ?? [], body: Array(body.utf8)))
  }

  @Test func `answers identical requests in their order, then with the last one`() throws {
    let replay = try replay(
      "GET https://host/a\n\n### HTTP 503\nretry-after: 2\n\nbusy",
      "GET https://host/b\n\n### HTTP 200\n\nother",
      "GET https://host/a\n\n### HTTP 200\n\nfirst", "GET https://host/a\n\n### HTTP 200\n\nlast")
    #expect(ask(replay, "/a").header("Retry-After") == "2")
    for text in ["first", "last", "last", "last"] {
      let response = ask(replay, "/a")
      #expect(response.status == 200)
      #expect(response.text == text)
    }
    #expect(ask(replay, "/b").text == "other")
    #expect(ask(replay, "/b", by: "HEAD").text == "other")
  }

  @Test(arguments: [
    "/a?x=1&q=two+words&key=mine", "/a?q=two%20words&x=1", "/a?key=&q=two%20words&x=1",
    "/a?%71=two%20words&x=1&key=a&key=b",
  ])
  func `a query matches in any order and encoding, with any key`(target: String) throws {
    let replay = try replay(
      "GET https://host/a?key=REDACTED&q=two%20words&x=1\n\n### HTTP 200\n\nfound")
    #expect(ask(replay, target).text == "found")
  }

  @Test(arguments: [
    "/a?q=two%2Bwords&x=1", "/a?q=two%20words", "/a?q=two%20words&x=1&y=2", "/b?q=two%20words&x=1",
    "/a/?q=two%20words&x=1", "/%61?q=two%20words&x=1", "//a?q=two%20words&x=1", "/",
  ])
  func `another path or query does not match`(target: String) throws {
    let replay = try replay(
      "GET https://host/a?key=REDACTED&q=two%20words&x=1\n\n### HTTP 200\n\nfound")
    #expect(ask(replay, target).status == 404)
  }

  @Test(arguments: [
    (#"{"skip": 0, "take": 20}"#, 201), (#"{"take":20,"skip":0}"#, 201), (#"{"take":20}"#, 404),
    (#"{"skip":"0","take":20}"#, 404), ("", 404), ("{", 404),
  ])
  func `a JSON body matches with its members in any order`(body: String, status: Int) throws {
    let replay = try replay(
      "POST http://localhost:3000/offset\n\n{\"skip\": 0,\n\"take\": 20}\n\n### HTTP 201\n\n[]")
    #expect(ask(replay, "/offset", by: "POST", body: body).status == status)
  }

  @Test func `a URL without a path is the root`() throws {
    let replay = try replay(
      "GET https://host\n\n### HTTP 200\n\nroot", "GET https://host?a=1\n\n### HTTP 200\n\nquery")
    #expect(ask(replay, "/").text == "root")
    #expect(ask(replay, "/?a=1").text == "query")
  }

  // MARK: - Responses

  @Test func `header fields are those of the service, but for the connection`() throws {
    let replay = try replay(
      """
      GET https://host/a

      ### HTTP 206
      content-type: text/csv
      transfer-encoding: chunked
      content-length: 99
      content-encoding: gzip
      connection: close
      date: Mon, 05 Jan 2026 09:12:44 GMT
      x-total-count: 7
      x-total-count: 8

      a,b
      """)
    let response = ask(replay, "/a")
    #expect(response.status == 206)
    #expect(response.headers.map(\.name) == ["content-type", "x-total-count", "x-total-count"])
    #expect(response.headers.map(\.value) == ["text/csv", "7", "8"])
    #expect(response.text == "a,b")
  }

  @Test func `links lead to the replay`() throws {
    let replay = try replay(
      """
      GET https://host/a

      ### HTTP 200
      link: <https://host/a?page=2>; rel="next", <https://host.example/a>; rel="other"
      content-type: text/plain

      https://host/a
      """, "GET https://host:8443/old\n\n### HTTP 301\nlocation: https://host:8443/new")
    let response = ask(replay, "/a")
    #expect(
      response.header("Link")
        == #"<http://127.0.0.1:9000/a?page=2>; rel="next", <https://host.example/a>; rel="other""#)
    #expect(response.text == "https://host/a")
    #expect(ask(replay, "/old").header("Location") == "http://127.0.0.1:9000/new")
    #expect(ask(replay, "/old", host: nil).header("Location") == "/new")
  }

  @Test func `a recorded failure is one of a gateway`() throws {
    let replay = try replay(
      "GET https://host/a\n\n### failed unreachable\nmessage: no route\nretry-after: 1.5",
      "GET https://host/b\n\n### failed timedOut\nmessage: no answer",
      "GET https://host/c\n\n### silent")
    let response = ask(replay, "/a")
    #expect(response.status == 502)
    #expect(response.header("Retry-After") == "2")
    #expect(response.text == "no route, as recorded\n")
    #expect(ask(replay, "/b").status == 504)
    #expect(ask(replay, "/c").status == 504)
  }

  // MARK: - Unknown requests

  @Test func `an unknown request is 404 with the recorded ones, the most similar first`() throws {
    let replay = try replay(
      "GET https://host/b\n\n### HTTP 200\n\nb",
      "GET https://host/a?key=REDACTED&page=1&q=x\n\n### HTTP 200\n\na1",
      "GET https://host/a?key=REDACTED&page=2&q=y\n\n### HTTP 200\n\na2")
    let response = ask(replay, "/a?key=secret-key&page=2&q=x&z=1")
    #expect(response.status == 404)
    #expect(response.header("Content-Type") == "text/plain; charset=utf-8")
    #expect(
      response.text == """
        GET /a?key=REDACTED&page=2&q=x&z=1 is not in the recording.

        Recorded, the most similar first:

        1001.http: GET /a?key=REDACTED&page=1&q=x
          has page=1, not page=2, has no z=1

        1002.http: GET /a?key=REDACTED&page=2&q=y
          has q=y, not q=x, has no z=1

        1000.http: GET /b
          requests /b, has no page=2, has no q=x, has no z=1

        """)
    #expect(ask(replay, "/b", by: "PUT").text.hasPrefix("PUT /b is not in the recording."))
    #expect(ask(replay, "/b", by: "PUT").text.contains("1000.http: GET /b\n"))
  }

  @Test func `a long recording is not listed completely, and hostile text is harmless`() throws {
    for number in 0..<30 {
      _ = try sandbox.write(
        "# aggregator recording 1\n# 2026-01-05T09:12:44Z\nGET https://host/\(number)\n\n### HTTP 200\n",
        to: "tape/\(number)-x.http")
    }
    let replay = WireReplay(try Recording(sandbox.root.appending(path: "tape")))
    let text = ask(replay, "/\u{1B}[31m\n\u{202E}" + String(repeating: "x", count: 10_000)).text
    #expect(text.contains("and 10 more"))
    #expect(text.utf8.count < 4000)
    #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0 != "\u{202E}" })
  }
}

extension ServerResponse {
  fileprivate var text: String {
    guard case .bytes(let bytes) = body else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension ServerRequest {
  fileprivate init(_ request: LoopbackRequest) {
    self.init(
      method: request.method, rawPath: request.path, path: [], rawQuery: request.rawQuery,
      headers: request.headers.map { .init($0.name, $0.value) }, body: Array(request.body))
  }
}

extension LoopbackReply {
  fileprivate init(_ response: ServerResponse) {
    self = .status(
      response.status, response.text, headers: response.headers.map { ($0.name, $0.value) })
  }
}
