import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RedirectTests {
  @Test(
    arguments: Engine.allCases, ["/b?x=1", "b?x=1", "//127.0.0.1:PORT/b?x=1", "BASE/b?x=1#part"])
  func `follows to the same host`(engine: Engine, location: String) async throws {
    try await withServer({ request in
      guard request.path == "/a" else { return .json("[]") }
      let host = request.header("host") ?? ""
      let port = host.split(separator: ":").last ?? ""
      return .redirect(
        to: location.replacing("BASE", with: "http://\(host)").replacing("PORT", with: port))
    }) { server in
      let response = try await engine.transport().send(
        HTTPRequest(.get, server.baseURL.appending(path: "a"), headers: [.init("X-A", "1")]))
      #expect(response.body == Data("[]".utf8))
      #expect(server.requests.map(\.path) == ["/a", "/b"])
      #expect(server.requests.last?.rawQuery == "x=1")
      #expect(server.requests.last?.header("x-a") == "1")
    }
  }

  @Test(
    arguments: Engine.allCases,
    [
      (301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST"),
    ])
  func `repeats a POST or turns it into a GET`(
    engine: Engine, expectation: (status: Int, method: String)
  )
    async throws
  {
    try await withServer(
      replies: .redirect(to: "/b", status: expectation.status), .json("{}")
    ) { server in
      _ = try await engine.transport().send(
        HTTPRequest(
          .post, server.baseURL, headers: [.init("Content-Type", "text/plain")],
          body: Data("x".utf8)))
      let isKept = expectation.method == "POST"
      #expect(server.requests.map(\.method) == ["POST", expectation.method])
      #expect(server.requests.last?.body == Data(isKept ? "x".utf8 : "".utf8))
      #expect(server.requests.last?.header("content-type") == (isKept ? "text/plain" : nil))
    }
  }

  @Test(arguments: Engine.allCases)
  func `follows at most five redirects`(engine: Engine) async throws {
    try await withServer({ _ in .redirect(to: "/again") }) { server in
      let error = await #expect(throws: SourceError.self) {
        try await engine.transport().send(HTTPRequest(.get, server.baseURL))
      }
      #expect(error?.code == .rejected)
      #expect(error?.message == "127.0.0.1:\(server.port) redirects more than 5 times")
      #expect(server.requests.count == 6)
    }
    let five = Array(repeating: LoopbackReply.redirect(to: "/again"), count: 5)
    let server = try LoopbackServer(replies: five + [.json("{}")])
    #expect(try await engine.transport().send(HTTPRequest(.get, server.baseURL)).status == 200)
  }

  @Test(arguments: Engine.allCases)
  func `does not follow to another port`(engine: Engine) async throws {
    try await withServer({ _ in .json("{}") }) { other in
      try await withServer(replies: .redirect(to: "\(other.baseURL)/x")) { server in
        let error = await #expect(throws: SourceError.self) {
          try await engine.transport().send(HTTPRequest(.get, server.baseURL))
        }
        #expect(error?.code == .rejected)
        #expect(
          error?.message.hasSuffix("redirects to another host (127.0.0.1:\(other.port))") == true)
        #expect(other.connectionCount == 0)
      }
    }
  }

  @Test(
    arguments: Engine.allCases,
    [
      ("http://example.invalid/", SourceError.Code.rejected, "to another host (example.invalid)"),
      ("//EXAMPLE.invalid", .rejected, "to another host (example.invalid)"),
      ("http://localhost/", .rejected, "to another host (localhost)"),
      ("https://127.0.0.1/", .rejected, "from http to https"),
      ("file:///etc/passwd", .rejected, "to a URL that is not plain http(s)"),
      ("FILE:/etc/passwd", .rejected, "to a URL that is not plain http(s)"),
      ("data:text/plain,x", .rejected, "to a URL that is not plain http(s)"),
      ("javascript:alert(1)", .rejected, "to a URL that is not plain http(s)"),
      ("http:", .rejected, "to a URL that is not plain http(s)"),
      ("http://user:pass@127.0.0.1/", .rejected, "to a URL that is not plain http(s)"),
      ("http://127.0.0.1@example.invalid/", .rejected, "to a URL that is not plain http(s)"),
      ("http://%31%32%37.0.0.1/", .rejected, "to a URL that is not plain http(s)"),
      (#"http://127.0.0.1\@example.invalid/"#, .rejected, "to a URL that is not plain http(s)"),
      ("http://127.0.0.1:99999/", .rejected, "to a URL that is not plain http(s)"),
      ("http://[::1", .malformed, "to an invalid URL"),
      ("", .malformed, "to an invalid URL"),
      ("/" + String(repeating: "a", count: 9000), .malformed, "to an invalid URL"),
    ])
  func `does not follow elsewhere`(
    engine: Engine, trap: (location: String, code: SourceError.Code, words: String)
  ) async throws {
    try await withServer(replies: .redirect(to: trap.location)) { server in
      let error = await #expect(throws: SourceError.self) {
        try await engine.transport().send(HTTPRequest(.get, server.baseURL))
      }
      #expect(error?.code == trap.code)
      #expect(error?.message == "127.0.0.1:\(server.port) redirects \(trap.words)")
      #expect(server.requests.count == 1)
    }
  }

  @Test(arguments: Engine.allCases)
  func `returns a 3xx without Location`(engine: Engine) async throws {
    try await withServer(replies: .status(302, "x"), .redirect(to: "/y", status: 304)) { server in
      let transport = engine.transport()
      let first = try await transport.send(HTTPRequest(.get, server.baseURL))
      #expect(first.status == 302)
      let second = try await transport.send(HTTPRequest(.get, server.baseURL))
      #expect(second.status == 304)
    }
  }

  @Test(arguments: [
    ("http://a.example/x", "https://a.example/y", true),
    ("http://a.example:8080/x", "https://a.example/y", false),
    ("http://a.example/x", "https://a.example:8443/y", false),
    ("https://a.example/x", "http://a.example/y", false),
    ("https://a.example/x", "https://A.EXAMPLE:443/y", true),
    ("https://a.example/x", "https://b.example/y", false),
    ("https://a.example/x", "https://a.example.b.example/y", false),
  ])
  func `goes from http to https on the same host, never back`(
    from: String, to: String, isFollowed: Bool
  ) async throws {
    // No engine could do this on one machine: names and well-known ports.
    let engine = ScriptedEngine([
      HTTPResponse(status: 301, headers: [("Location", to)]), HTTPResponse(status: 200),
    ])
    let url = try #require(URL(string: from))
    var refusal: SourceError?
    do {
      _ = try await HTTPTransport(engine: engine).send(HTTPRequest(.get, url))
    } catch {
      refusal = error
    }
    #expect(refusal?.code == (isFollowed ? nil : .rejected))
    #expect(engine.requests.count == (isFollowed ? 2 : 1))
  }
}
