import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FaultTests {
  static let faults: [(LoopbackReply, SourceError.Code, String)] = [
    (.closed, .connectionLost, "closed the connection without a response"),
    (.reset, .connectionLost, "lost the connection"),
    (.reset(after: Data("{".utf8), of: 100), .connectionLost, "lost the connection"),
    (.cut(after: Data("{\"a\":".utf8), of: 100), .connectionLost, "in the middle of the response"),
    (
      .raw(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel".utf8)),
      .connectionLost,
      "in the middle of the response"
    ),
    (.raw(Data("SSH-2.0-OpenSSH_9.2\r\n".utf8)), .malformed, "invalid HTTP response"),
    (.raw(Data([0, 1, 2, 3, 0xFF])), .malformed, "invalid HTTP response"),
    (.gzipped(Data("this is not gzip".utf8)), .malformed, "invalid compression"),
  ]

  @Test(arguments: Engine.allCases, faults.indices)
  func `reports the fault`(engine: Engine, index: Int) async throws {
    let (reply, code, words) = Self.faults[index]
    try await withServer(replies: reply) { server in
      let error = await #expect(throws: SourceError.self) {
        try await engine.transport().send(HTTPRequest(.get, server.baseURL))
      }
      #expect(error?.code == code)
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
  }

  @Test(arguments: Engine.allCases)
  func `reports a refused connection`(engine: Engine) async throws {
    let port = try RefusingPort()
    let error = await #expect(throws: SourceError.self) {
      try await engine.transport().send(HTTPRequest(.get, port.baseURL))
    }
    #expect(error?.code == .unreachable)
    #expect(error?.message.hasPrefix("cannot connect to 127.0.0.1:\(port.port)") == true)
  }

  @Test(arguments: Engine.allCases)
  func `reports an unknown host`(engine: Engine) async throws {
    // The top-level domain never exists (RFC 6761), and a label over 63 bytes is never looked up.
    let host = String(repeating: "a", count: 64) + ".invalid"
    let url = try #require(URL(string: "https://\(host)/"))
    let error = await #expect(throws: SourceError.self) {
      try await engine.transport().send(HTTPRequest(.get, url))
    }
    #expect(error?.code == .unreachable)
  }

  @Test(arguments: Engine.allCases)
  func `reports a server without TLS`(engine: Engine) async throws {
    try await withServer({ _ in .json("{}") }) { server in
      let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
      let error = await #expect(throws: SourceError.self) {
        try await engine.transport().send(HTTPRequest(.get, url))
      }
      #expect(error?.code == .unreachable)
      #expect(error?.message.hasPrefix("TLS connection to 127.0.0.1:\(server.port) failed") == true)
    }
  }

  @Test(arguments: Engine.allCases)
  func `stops reading at the declared length`(engine: Engine) async throws {
    try await withServer(replies: .cut(after: Data("abcdef".utf8), of: 3), .json("{}")) { server in
      let transport = engine.transport()
      let response = try await transport.send(HTTPRequest(.get, server.baseURL))
      #expect(response.body == Data("abc".utf8))
      let next = try await transport.send(HTTPRequest(.get, server.baseURL))
      #expect(next.body == Data("{}".utf8))
    }
  }

  @Test(arguments: Engine.allCases)
  func `continues after a fault`(engine: Engine) async throws {
    try await withServer(replies: .reset, .closed, .json("[]")) { server in
      let transport = engine.transport()
      for _ in 0..<2 {
        await #expect(throws: SourceError.self) {
          try await transport.send(HTTPRequest(.post, server.baseURL))
        }
      }
      let response = try await transport.send(HTTPRequest(.post, server.baseURL))
      #expect(response.body == Data("[]".utf8))
    }
  }

  @Test(arguments: Engine.allCases)
  func `reconnects if an idle connection was closed`(engine: Engine) async throws {
    try await withServer(replies: .json("{}"), .closed, .json("[]")) { server in
      let transport = engine.transport()
      _ = try await transport.send(HTTPRequest(.get, server.baseURL))
      let response = try await transport.send(HTTPRequest(.get, server.baseURL))
      #expect(response.body == Data("[]".utf8))
      #expect(server.connectionCount == 2)
    }
  }

  @Test(
    arguments: Engine.allCases,
    [
      "Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\", qop=\"auth\"", "Bearer", "Negotiate",
      "NTLM", "",
    ])
  func `does not request a user name`(engine: Engine, challenge: String) async throws {
    let reply = LoopbackReply.status(401, "who?", headers: [("WWW-Authenticate", challenge)])
    try await withServer({ _ in reply }) { server in
      let transport = engine.transport()
      for method in [HTTPRequest.Method.get, .post] {
        let response = try await transport.send(HTTPRequest(method, server.baseURL))
        #expect(response.status == 401)
        #expect(response.body == Data("who?".utf8))
      }
      #expect(server.requests.count == 2)
    }
  }
}
