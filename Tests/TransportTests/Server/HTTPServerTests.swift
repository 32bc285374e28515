import AggregatorHTTP
import AggregatorKit
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(
  .timeLimit(.minutes(10)), .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"))
struct HTTPServerTests {
  private static let echo: HTTPServer.Handler = { request in
    let query = request.query.map { "\($0.name)=\($0.value)" }
    return .text(
      "\(request.method) \(request.path) \(query) \(String(decoding: request.body, as: UTF8.self))")
  }

  @Test(arguments: [
    ("/", "[] []"), ("/a/", #"["a"] []"#), ("//a", #"["", "a"] []"#),
    ("/heroes/AC%2FDC%25", #"["heroes", "AC/DC%"] []"#), ("/%C3%A4+b", #"["ä+b"] []"#),
    ("/..%2f../x", #"["../..", "x"] []"#),
    ("/s?query=a+b%2Bc&&empty&x=1=2", #"["s"] ["query=a b+c", "empty=", "x=1=2"]"#),
    ("http://127.0.0.1/a?b=c", #"["a"] ["b=c"]"#),
  ])
  func `decodes a target`(target: String, expected: String) async throws {
    try await withHTTPServer(Self.echo) { server in
      let response = try await RawClient(to: server.port).get(target)
      #expect(response.text == "GET \(expected) ")
    }
  }

  @Test(arguments: ["/%", "/%4", "/%zz", "/%00", "/%ff", "/a?%", "/a?x=%00", "/a?x=%C3", "a", "*"])
  func `refuses an invalid target`(target: String) async throws {
    try await withHTTPServer(Self.echo) { server in
      let client = try RawClient(to: server.port)
      #expect(try await client.get(target).status == 400)
    }
  }

  /// Its refusals have a header field of their own, which names what is known of the request.
  private static let refusing = HTTPServer.Responder(respond: echo) { refusal, request in
    var response = ServerResponse(refusal.status, "text/plain", Array(refusal.code.utf8))
    response.set("X-Refused", "\(request.method) \(request.header("X-Name") ?? "none")")
    return response
  }

  @Test(arguments: [
    ("GET /%00 HTTP/1.1\r\n", 400, "invalidRequest"),
    ("GET /?query=%ff HTTP/1.1\r\n", 400, "invalidRequest"),
    ("GET / HTTP/1.1\r\nContent-Length: 99999999999\r\n", 413, "bodyTooLarge"),
    (
      "GET / HTTP/1.1\r\nX-Filler: \(String(repeating: "a", count: 20_000))\r\n", 431,
      "headTooLarge"
    ),
  ])
  func `leaves the response to a refusal to its owner`(
    head: String, status: Int, code: String
  ) async throws {
    try await withHTTPServer(Self.refusing) { server in
      let client = try RawClient(to: server.port)
      await client.send("\(head)Host: x\r\nX-Name: a b\r\n\r\n")
      let response = try await client.response()
      #expect(response.status == status)
      #expect(response.text == code)
      #expect(response.header("X-Refused") == "GET a b")
    }
  }

  @Test(arguments: [
    "Content-Length: 5\r\nTransfer-Encoding: chunked", "Content-Length: 0\r\nContent-Length: 5",
    "Transfer-Encoding: chunked\r\nContent-Length: 5", "Content-Length : 5",
    "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding:\r\n chunked\r\nContent-Length: 5", "Content-Length: 5\r\n 6",
  ])
  func `refuses a request whose end is unclear, and those behind it`(fields: String) async throws {
    try await withHTTPServer(Self.refusing) { server in
      let client = try RawClient(to: server.port)
      await client.send(
        "POST / HTTP/1.1\r\nHost: x\r\n\(fields)\r\n\r\n0\r\n\r\nGET /second HTTP/1.1\r\nHost: x\r\n\r\n"
      )
      let response = try await client.response()
      #expect(response.status == 400)
      #expect(response.header("Connection") == "close")
      #expect(response.header("X-Refused") == "POST none")
      await #expect(throws: (any Error).self) { try await client.response() }
    }
  }

  @Test(arguments: ["Content-Length: 5\r\ncontent-length: 5", "TRANSFER-ENCODING: Chunked"])
  func `answers a request behind one whose end is clear`(fields: String) async throws {
    try await withHTTPServer(Self.echo) { server in
      let client = try RawClient(to: server.port)
      await client.send(
        "POST / HTTP/1.1\r\nHost: x\r\n\(fields)\r\n\r\n0\r\n\r\nGET /second HTTP/1.1\r\nHost: x\r\n\r\n"
      )
      #expect(try await client.response().status == 200)
      #expect(try await client.response().text == #"GET ["second"] [] "#)
    }
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/7.0\r\nHost: x\r\n\r\n", "GET\r\n\r\n",
    "\u{0}\u{1}\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n",
  ])
  func `survives invalid requests`(request: String) async throws {
    try await withHTTPServer(Self.echo) { server in
      let client = try RawClient(to: server.port)
      await client.send(request)
      client.endSending()
      await client.waitForClose()
      #expect(try await RawClient(to: server.port).get("/").status == 200)
    }
  }

  @Test func `answers several requests on a connection`() async throws {
    try await withHTTPServer(Self.echo) { server in
      let client = try RawClient(to: server.port)
      for number in 1...3 {
        #expect(try await client.get("/\(number)").text == #"GET ["\#(number)"] [] "#)
      }
    }
  }

  @Test func `answers pipelined requests in their order`() async throws {
    try await withHTTPServer(Self.echo) { server in
      let client = try RawClient(to: server.port)
      await client.send(
        (1...20).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
      for number in 1...20 {
        #expect(try await client.response().text == #"GET ["\#(number)"] [] "#)
      }
    }
  }

  @Test func `answers HEAD as GET without a body`() async throws {
    try await withHTTPServer(Self.echo) { server in
      let client = try RawClient(to: server.port)
      let head = try await client.get("/a", method: "HEAD")
      #expect(head.status == 200)
      #expect(head.header("Content-Length") == "\(#"GET ["a"] [] "#.utf8.count)")
      // The next response follows at once.
      #expect(try await client.get("/b").text == #"GET ["b"] [] "#)
    }
  }

  @Test func `passes on methods, bodies and header fields`() async throws {
    try await withHTTPServer { request in
      let body = String(decoding: request.body, as: UTF8.self)
      return .text(
        "\(request.method) \(request.header("X-NAME") ?? "none") \(body) \(request.client)")
    } do: { server in
      let client = try RawClient(to: server.port)
      await client.send(
        "DELETE /a HTTP/1.1\r\nHost: x\r\nx-name: ä b\r\nContent-Length: 4\r\n\r\nbody")
      #expect(try await client.response().text == "DELETE ä b body 127.0.0.1")
      await client.send(
        "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n"
      )
      #expect(try await client.response().text == "POST none body 127.0.0.1")
    }
  }

  @Test func `does not let a header field begin another one`() async throws {
    try await withHTTPServer { _ in
      ServerResponse(200, "text/plain", [], headers: [.init("X-A", "a\r\nX-B: b")])
    } do: { server in
      let response = try await RawClient(to: server.port).get("/")
      #expect(response.status == 200)
      #expect(response.header("X-B") == nil)
    }
  }

  @Test func `cancels the handler of a client that leaves`() async throws {
    let gate = Gate()
    let cancelled = Counter()
    try await withHTTPServer { _ in
      do throws(SourceError) { try await gate.pass() } catch { cancelled.add() }
      return .text("")
    } do: { server in
      do {
        let client = try RawClient(to: server.port)
        await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await gate.holds(1)
        withExtendedLifetime(client) {}
      }
      await cancelled.reaches(1)
    }
  }

  // MARK: - Starting

  @Test func `reports a port in use`() async throws {
    try await withHTTPServer(Self.echo) { server in
      let error = #expect(throws: SourceError.self) {
        try HTTPServer(on: "localhost", port: server.port, Self.echo)
      }
      #expect(error?.code == .storage)
      #expect(error?.message == "port \(server.port) is in use")
      #expect(error?.remedy?.text == "choose another port")
    }
  }

  @Test func `reports a missing library`() throws {
    let error = #expect(throws: SourceError.self) {
      try HTTPServer(on: "localhost", port: 0, libraries: ["libmissing.so.12"], Self.echo)
    }
    #expect(error?.code == .storage)
    #expect(error?.message == "libmicrohttpd 0.9.70 or later is not installed")
    #expect(error?.remedy?.text == "run \"apt-get install libmicrohttpd12\"")
  }

  @Test(arguments: ["", "example.org", "127.0.0.1.1", "192.0.2.1"])
  func `reports an invalid address`(address: String) throws {
    let error = #expect(throws: SourceError.self) {
      try HTTPServer(on: address, port: 0, Self.echo)
    }
    #expect(error?.code == .invalidSettings)
  }

  @Test(arguments: [-1, 65536])
  func `reports an invalid port`(port: Int) throws {
    let error = #expect(throws: SourceError.self) {
      try HTTPServer(on: "localhost", port: port, Self.echo)
    }
    #expect(error?.code == .invalidSettings)
  }
}
