#if os(Linux)
  import AggregatorKit
  import Foundation
  import AggregatorSourceTesting
  import Testing

  @testable import AggregatorHTTP

  @Suite(.timeLimit(.minutes(10)))
  struct CurlTests {
    @Test func `explains how to install libcurl if it is missing`() async throws {
      try await withServer({ _ in .json("{}") }) { server in
        let transport = HTTPTransport(engine: CurlEngine(libraries: ["libnothing.so.4"]))
        let error = await #expect(throws: SourceError.self) {
          try await transport.send(HTTPRequest(.get, server.baseURL))
        }
        #expect(error?.code == .unreachable)
        #expect(error?.message == "libcurl is not installed")
        #expect(error?.remedy == "run \"apt-get install libcurl4\"")
      }
    }

    @Test func `rejects a library that is not libcurl`() async throws {
      let transport = HTTPTransport(engine: CurlEngine(libraries: ["libc.so.6", "libcurl.so.4"]))
      try await withServer({ _ in .json("{}") }) { server in
        let response = try await transport.send(HTTPRequest(.get, server.baseURL))
        #expect(response.status == 200)
      }
    }

    @Test func `reads interim replies, repeated and folded fields`() async throws {
      let reply = LoopbackReply.raw(
        Data(
          """
          HTTP/1.1 103 Early Hints\r
          Link: </style.css>\r
          \r
          HTTP/1.1 200 OK\r
          X-A: 1\r
          X-A: \t2 \r
          X-F: a\r
            b\r
          X-Empty:\r
            \r
          \r
          body
          """.utf8))
      try await withServer(replies: reply) { server in
        let response = try await HTTPTransport(engine: CurlEngine()).send(
          HTTPRequest(.get, server.baseURL))
        #expect(response.status == 200)
        #expect(response.headers.map(\.name) == ["x-a", "x-a", "x-f", "x-empty"])
        #expect(response.headers.map(\.value) == ["1", "2", "a b", ""])
        #expect(response.body == Data("body".utf8))
      }
    }

    @Test func `takes no stray reply on a kept connection for an answer`() async throws {
      let received = DispatchSemaphore(value: 0)
      try await withServer({ request in
        let reply = LoopbackReply.json("\"\(request.path)\"")
        guard request.path == "/1" else { return reply }
        return reply.followed(by: .json("\"stray\"")) { received.wait() }
      }) { server in
        let transport = HTTPTransport(engine: CurlEngine())
        func body(of path: String) async throws -> String {
          let request = HTTPRequest(.get, server.baseURL.appending(path: path))
          return String(decoding: try await transport.send(request).body, as: UTF8.self)
        }
        let first = try await body(of: "1")
        #expect(first == "\"/1\"")
        let sent = server.bytesSent
        received.signal()
        while server.bytesSent == sent { await Task.yield() }
        for path in ["2", "3", "4"] {
          let next = try await body(of: path)
          #expect(next == "\"/\(path)\"")
        }
        #expect(server.connectionCount == 2)
      }
    }

    @Test(arguments: [
      (5, SourceError.Code.unreachable, "could not resolve the proxy for h:1"),
      (6, .unreachable, "could not resolve host h:1"),
      (7, .unreachable, "cannot connect to h:1: no route to host"),
      (60, .unreachable, "TLS connection to h:1 failed: it is rotten"),
      (35, .unreachable, "TLS connection to h:1 failed: it is rotten"),
      (28, .timedOut, "no complete response from h:1 within 120 s"),
      (16, .connectionLost, "lost the connection to h:1"),
      (55, .connectionLost, "lost the connection to h:1"),
      (61, .malformed, "invalid compression in the response from h:1"),
      (8, .malformed, "invalid HTTP response from h:1"),
      (42, .connectionLost, "the request to h:1 failed (libcurl error 42)"),
    ])
    func `converts the error codes of libcurl`(code: Int32, kind: SourceError.Code, words: String) {
      let context = CurlContext(
        authority: "h:1", limits: .standard, isConnected: true, systemError: EHOSTUNREACH,
        message: "it is\n\u{202E}rotten")
      let error = SourceError(curl: code, context)
      #expect(error.code == kind)
      #expect(error.message == words)
      #expect((error.cause is UnknownHost) == (code == 6))
    }

    @Test(arguments: [
      ("Failed to connect to h port 1 after 0 ms: Connection refused", "h:1", "h:1"),
      ("Failed to connect to ::1 port 1 after 0 ms", "h:1", "the proxy ::1:1"),
      ("Failed to connect to p port 3128 after 0 ms", "h:1", "the proxy p:3128"),
      ("Failed to connect to h port 3128 after 0 ms", "h:1", "the proxy h:3128"),
      ("Failed to connect to h port 443 after 0 ms", "h", "h"),
      ("Failed to connect to ::1 port 8 after 0 ms", "[::1]:8", "[::1]:8"),
      ("", "h:1", "h:1"), ("Failed to connect to p port 99999999", "h:1", "h:1"),
    ])
    func `names the proxy if that cannot be reached`(
      message: String, authority: String, target: String
    ) {
      let context = CurlContext(
        authority: authority, limits: .standard, isConnected: false, systemError: ECONNREFUSED,
        message: message)
      let error = SourceError(curl: 7, context)
      #expect(error.code == .unreachable)
      #expect(error.message == "cannot connect to \(target): connection refused")
      #expect((error.remedy != nil) == target.hasPrefix("the proxy"))
    }

    @Test func `a proxy that refuses a tunnel is not the host's fault`() {
      let context = CurlContext(
        authority: "h", limits: .standard, isConnected: false,
        message: "CONNECT tunnel failed, response 403")
      #expect(
        SourceError(curl: 56, context).message == "the proxy refused to connect to h")
    }

    @Test(arguments: [70_000, 110_000, 200_000])
    func `a long header line is not a lack of memory`(length: Int) async throws {
      let head = "HTTP/1.1 200 OK\r\nX-A: \(String(repeating: "a", count: length))\r\n"
      let reply = LoopbackReply.raw(Data((head + "Content-Length: 2\r\n\r\n{}").utf8))
      try await withServer(replies: reply) { server in
        let transport = HTTPTransport(engine: CurlEngine())
        do throws(SourceError) {
          let response = try await transport.send(HTTPRequest(.get, server.baseURL))
          #expect(response.header("x-a")?.count == length)
        } catch {
          #expect(error.code == .tooLarge)
          #expect(
            error.message
              == "a header line of the response from \(server.baseURL.host() ?? ""):"
              + "\(server.baseURL.port ?? 0) is too long")
        }
      }
    }
  }
#endif
