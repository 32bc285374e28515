#if os(Linux)
  import AggregatorHTTP
  import AggregatorKit
  import Foundation
  import AggregatorSourceTesting
  import Testing

  @Suite(.timeLimit(.minutes(5)))
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
    }
  }
#endif
