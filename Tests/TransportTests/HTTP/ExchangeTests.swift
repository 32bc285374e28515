import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ExchangeTests {
  @Test(arguments: Engine.allCases)
  func `returns status, header and body`(engine: Engine) async throws {
    let reply = LoopbackReply.status(
      404, "nothing here",
      headers: [("X-One", " spaced "), ("X-Two", "")])
    try await withServer(replies: reply) { server in
      let response = try await engine.transport().send(HTTPRequest(.get, server.baseURL))
      #expect(response.status == 404)
      #expect(response.header("X-ONE") == "spaced")
      #expect(response.header("x-two") == "")
      #expect(response.header("content-length") == "12")
      #expect(response.body == Data("nothing here".utf8))
    }
  }

  @Test(arguments: Engine.allCases)
  func `sends only its own header fields`(engine: Engine) async throws {
    try await withServer(replies: .json("{}")) { server in
      _ = try await engine.transport().send(HTTPRequest(.get, server.baseURL.appending(path: "a/")))
      let request = try #require(server.requests.first)
      #expect(request.method == "GET")
      #expect(request.path == "/a/")
      #expect(request.rawQuery == nil)
      #expect(request.header("user-agent")?.hasPrefix("aggregator/0.1.0 (") == true)
      #expect(request.header("accept") == "*/*")
      #expect(request.header("accept-encoding")?.contains("gzip") == true)
      #expect(request.header("content-type") == nil)
      #expect(request.header("cookie") == nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `reuses the connection`(engine: Engine) async throws {
    try await withServer({ _ in .json("{}") }) { server in
      let transport = engine.transport()
      for _ in 0..<20 { _ = try await transport.send(HTTPRequest(.get, server.baseURL)) }
      #expect(server.requests.count == 20)
      #expect(server.connectionCount == 1)
    }
  }

  @Test(arguments: Engine.allCases)
  func `uses no cookies and no cache`(engine: Engine) async throws {
    let reply = LoopbackReply.status(
      200, "x", headers: [("Set-Cookie", "id=1; Path=/"), ("Cache-Control", "max-age=3600")])
    try await withServer({ _ in reply }) { server in
      let transport = engine.transport()
      for _ in 0..<2 { _ = try await transport.send(HTTPRequest(.get, server.baseURL)) }
      #expect(server.requests.map { $0.header("cookie") } == [nil, nil])
    }
  }

  @Test(arguments: Engine.allCases)
  func `posts a body unchanged`(engine: Engine) async throws {
    let body = Data(#"{"skip": 0, "note": "Zoë"}"#.utf8) + Data(repeating: 0xFF, count: 100_000)
    try await withServer(replies: .json("{}"), .json("{}")) { server in
      let transport = engine.transport()
      _ = try await transport.send(
        HTTPRequest(
          .post, server.baseURL, headers: [.init("Content-Type", "application/json")], body: body))
      _ = try await transport.send(HTTPRequest(.post, server.baseURL))
      #expect(server.requests.map(\.method) == ["POST", "POST"])
      #expect(server.requests.map(\.body) == [body, Data()])
      #expect(server.requests[0].header("content-type") == "application/json")
      #expect(server.requests[0].header("expect") == nil)
      #expect(server.requests[1].header("content-length") == "0")
    }
  }

  @Test(arguments: Engine.allCases)
  func `the server decodes percent-encoded text unchanged`(engine: Engine) async throws {
    let value = "a+b c,d:e&f=g/h?i#j%20;é日'\"\\\u{1}~-._"
    try await withServer(replies: .json("{}")) { server in
      let request = HTTPRequest(
        .get, server.baseURL.appending(path: "search"),
        query: [.init("q+[]", .plain(value)), .init("e", "")])
      _ = try await engine.transport().send(request)
      let seen = try #require(server.requests.first)
      #expect(seen.queryItems.map(\.name) == ["q+[]", "e"])
      #expect(seen.queryItems.map(\.value) == [value, ""])
      #expect(seen.rawQuery?.contains(/[^A-Za-z0-9._~=&%-]/) == false)
    }
  }

  @Test(arguments: Engine.allCases)
  func `keeps the query of a base URL`(engine: Engine) async throws {
    try await withServer(replies: .json("{}")) { server in
      let url = try #require(URL(string: "\(server.baseURL)/i%20mage.jpg?w=1&h=2"))
      _ = try await engine.transport().send(HTTPRequest(.get, url, query: [.init("k", "v")]))
      #expect(server.requests.first?.path == "/i%20mage.jpg")
      #expect(server.requests.first?.rawQuery == "w=1&h=2&k=v")
    }
  }

  @Test(arguments: Engine.allCases)
  func `sends many requests at once`(engine: Engine) async throws {
    try await withServer({ .json("\"\($0.query["n"] ?? "")\"") }) { server in
      let transport = engine.transport()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<100 {
          group.addTask {
            let response = try await transport.send(
              HTTPRequest(.get, server.baseURL, query: [.init("n", "\(number)")]))
            #expect(response.body == Data("\"\(number)\"".utf8))
          }
        }
        try await group.waitForAll()
      }
      #expect(server.requests.count == 100)
    }
  }

  @Test(arguments: Engine.allCases)
  func `reads a body in chunks and a body that ends with the connection`(engine: Engine)
    async throws
  {
    let untilClose = LoopbackReply.raw(
      Data("HTTP/1.1 200 OK\r\nX-Folded: a\r\n b\r\n\r\nbody".utf8))
    try await withServer(replies: .chunked(Data("abc".utf8), times: 3), untilClose) { server in
      let transport = engine.transport()
      let chunked = try await transport.send(HTTPRequest(.get, server.baseURL))
      #expect(chunked.body == Data("abcabcabc".utf8))
      let open = try await transport.send(HTTPRequest(.get, server.baseURL))
      #expect(open.body == Data("body".utf8))
    }
  }

  @Test(arguments: Engine.allCases)
  func `unpacks gzip`(engine: Engine) async throws {
    // printf '{"name": "Zoë"}' | gzip -9n | base64
    let packed = try #require(Data(base64Encoded: gzipped))
    try await withServer(replies: .gzipped(packed)) { server in
      let response = try await engine.transport().send(HTTPRequest(.get, server.baseURL))
      #expect(response.body == Data(#"{"name": "Zoë"}"#.utf8))
    }
  }

  @Test(arguments: Engine.allCases)
  func `unpacks deflate`(engine: Engine) async throws {
    // python3: zlib.compress('{"name": "Zoë"}'.encode(), 9), base64
    let packed = try #require(Data(base64Encoded: deflated))
    let reply = LoopbackReply.ok(packed, headers: [("Content-Encoding", "deflate")])
    try await withServer(replies: reply) { server in
      let response = try await engine.transport().send(HTTPRequest(.get, server.baseURL))
      #expect(response.body == Data(#"{"name": "Zoë"}"#.utf8))
    }
  }

  @Test(arguments: Engine.allCases)
  func `skips interim responses and keeps repeated fields`(engine: Engine) async throws {
    let reply = LoopbackReply.raw(
      Data(
        """
        HTTP/1.1 103 Early Hints\r
        Link: </style.css>\r
        \r
        HTTP/1.1 200 OK\r
        X-A: 1\r
        X-A: \t2 \r
        X-Empty:\r
        X-Colon: a:b: c\r
        \r
        body
        """.utf8))
    try await withServer(replies: reply) { server in
      let response = try await engine.transport().send(HTTPRequest(.get, server.baseURL))
      #expect(response.status == 200)
      // URLSession joins them.
      let repeated = response.headers.filter { $0.name == "x-a" }.map(\.value)
      #expect(repeated.joined(separator: ",").replacing(" ", with: "") == "1,2")
      #expect(response.header("x-empty") == "")
      #expect(response.header("x-colon") == "a:b: c")
      #expect(response.header("link") == nil || engine.isForeign, "of the interim response")
      #expect(response.body == Data("body".utf8))
    }
  }

  @Test(arguments: Engine.allCases, [204, 205, 304, 418, 599])
  func `returns a response without a body`(engine: Engine, status: Int) async throws {
    let reply = LoopbackReply.status(status, headers: [("X-A", "1")])
    try await withServer({ _ in reply }) { server in
      let transport = engine.transport()
      for _ in 0..<2 {
        let response = try await transport.send(HTTPRequest(.get, server.baseURL))
        #expect(response.status == status)
        #expect(response.header("x-a") == "1")
        #expect(response.body.isEmpty)
      }
    }
  }

  private let deflated = "eNqrVspLzE1VslJQiso/vFqpFgAtgwWz"
  private let gzipped = "H4sIAAAAAAACA6tWykvMTVWyUlCKyj+8WqkWAJdyX5UQAAAA"
}
