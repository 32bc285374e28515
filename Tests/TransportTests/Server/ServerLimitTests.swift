import AggregatorKit
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(
  .timeLimit(.minutes(10)), .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"))
struct ServerLimitTests {
  private static func limits(_ change: (inout ServerLimits) -> Void) -> ServerLimits {
    var limits = ServerLimits.longTimeouts
    change(&limits)
    return limits
  }

  // MARK: - Sizes

  @Test func `limits the head`() async throws {
    try await withHTTPServer(limits: Self.limits { $0.headBytes = 4096 }) { _ in
      .text("ok")
    } do: { server in
      for (count, status) in [(3900, 200), (4096, 431), (100_000, 431)] {
        let field = "X-Filler: \(String(repeating: "a", count: count))\r\n"
        let response = try await RawClient(to: server.port).get("/", field)
        #expect(response.status == status)
      }
    }
  }

  @Test func `limits a long target and many fields`() async throws {
    try await withHTTPServer { _ in
      .text("ok")
    } do: { server in
      let long = String(repeating: "a", count: 50_000)
      let refusal = try await RawClient(to: server.port).get("/\(long)")
      #expect([414, 431].contains(refusal.status))
      let fields = String(repeating: "a:b\r\n", count: 10_000)
      let second = try await RawClient(to: server.port).get("/", fields)
      #expect(second.status == 431)
    }
  }

  /// libmicrohttpd would make a record of each parameter and of each cookie.
  @Test func `answers every query and cookie that is not too long`() async throws {
    try await withHTTPServer { request in
      .text("\(request.query.count) \(request.headers.count) \(request.header("Cookie") ?? "")")
    } do: { server in
      for count in [1, 1000, 4000, 8000] {
        let query = Array(repeating: "a", count: count).joined(separator: "&")
        let response = try await RawClient(to: server.port).get("/?\(query)")
        #expect(response.text == "\(count) 1 ")
      }
      for count in [9000, 12_000, 16_000] {
        let value = String(repeating: "a", count: count)
        #expect(try await RawClient(to: server.port).get("/?a=\(value)").text == "1 1 ")
      }
      for count in [1, 300, 3000] {
        let cookies = Array(repeating: "a=b", count: count).joined(separator: "; ")
        let response = try await RawClient(to: server.port).get("/", "Cookie: \(cookies)\r\n")
        #expect(response.text == "0 2 \(cookies)")
      }
    }
  }

  @Test func `refuses every longer request by a response`() async throws {
    let responder = HTTPServer.Responder(respond: { _ in .text("ok") }) { refusal, _ in
      var response = ServerResponse.text(refusal.code)
      response.status = refusal.status
      response.set("X-Guard", "on")
      return response
    }
    try await withHTTPServer(responder) { server in
      for count in [17_000, 20_000, 30_000, 31_000, 32_000, 32_700, 33_000, 40_000, 60_000] {
        for target in [
          "/?\(String(repeating: "a", count: count))",
          "/?a=\(String(repeating: "b&", count: count / 2))",
        ] {
          let response = try await RawClient(to: server.port).get(target)
          #expect(response.status == 431, "\(count)")
          #expect(response.text == "headTooLarge")
          #expect(response.header("X-Guard") == "on")
          #expect(response.header("Connection") == "close")
        }
      }
      for count in [480, 600, 900] {
        let fields = String(repeating: "a:b\r\n", count: count)
        let response = try await RawClient(to: server.port).get("/", fields)
        #expect(response.status == 431, "\(count)")
        #expect(response.header("X-Guard") == "on")
      }
      // The response of libmicrohttpd.
      for count in [70_000, 1_000_000] {
        let target = "/?\(String(repeating: "a", count: count))"
        #expect(try await RawClient(to: server.port).get(target).status == 414)
      }
      let head = try await RawClient(to: server.port).get(
        "/?\(String(repeating: "a", count: 20_000))", method: "HEAD")
      #expect(head.status == 431)
    }
  }

  @Test(arguments: [true, false])
  func `limits the body`(isChunked: Bool) async throws {
    try await withHTTPServer(limits: Self.limits { $0.bodyBytes = 1000 }) { request in
      .text("\(request.body.count)")
    } do: { server in
      for (count, status) in [(1000, 200), (1001, 413), (16_000, 413)] {
        let client = try RawClient(to: server.port)
        let body = String(repeating: "a", count: count)
        let size = String(count, radix: 16)
        await client.send("POST / HTTP/1.1\r\nHost: x\r\n")
        await client.send(
          isChunked
            ? "Transfer-Encoding: chunked\r\n\r\n\(size)\r\n\(body)\r\n0\r\n\r\n"
            : "Content-Length: \(count)\r\n\r\n\(body)")
        let response = try await client.response()
        #expect(response.status == status)
        if status == 200 { #expect(response.text == "1000") }
      }
    }
  }

  @Test func `refuses a huge body before it arrives`() async throws {
    try await withHTTPServer { _ in
      .text("ok")
    } do: { server in
      let client = try RawClient(to: server.port)
      await client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
      #expect(try await client.response().status == 413)
      await client.waitForClose()
    }
  }

  // MARK: - Times

  @Test(arguments: [
    "", "GET / HTTP/1.1\r\nHost: x\r\nX-Drip: ",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n9000\r\n",
  ])
  func `closes connections of clients that drip-feed a request`(beginning: String) async throws {
    try await withHTTPServer(limits: Self.limits { $0.request = .milliseconds(200) }) { _ in
      .text("ok")
    } do: { server in
      let client = try RawClient(to: server.port)
      await client.send(beginning)
      await client.drip("a")
    }
  }

  @Test func `limits the time of a second request`() async throws {
    // Ten times what a first request takes on a busy machine.
    try await withHTTPServer(limits: Self.limits { $0.request = .seconds(2) }) { _ in
      .text("ok")
    } do: { server in
      let client = try RawClient(to: server.port)
      _ = try await client.get("/")
      await client.send("GET / HTTP/1.1\r\n")
      await client.drip("a")
    }
  }

  @Test func `closes idle connections`() async throws {
    try await withHTTPServer(limits: Self.limits { $0.idle = .seconds(2) }) { _ in
      .text("ok")
    } do: { server in
      let client = try RawClient(to: server.port)
      _ = try await client.get("/")
      await client.waitForClose()
    }
  }

  @Test func `closes connections of clients that do not read`() async throws {
    let limits = Self.limits { limits in
      (limits.response, limits.bytesPerSecond) = (.milliseconds(200), 1 << 30)
    }
    let body = String(repeating: "a", count: 32 << 20)
    let handled = Counter()
    let server = try HTTPServer(on: "localhost", port: 0, limits: limits) { _ in
      handled.add()
      return .text(body)
    }
    let client = try RawClient(to: server.port, bufferSize: 4096)
    await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await handled.reaches(1)
    // Waits for the response, unless it is given up.
    await server.stop(within: .seconds(600))
    withExtendedLifetime(client) {}
  }

  // MARK: - Connections

  /// The clients send the beginning of a request, and then nothing.
  private func attack(
    _ server: HTTPServer, count: Int, from addresses: [String]
  ) async throws -> [RawClient] {
    var clients: [RawClient] = []
    for number in 0..<count {
      let client = try RawClient(to: server.port, from: addresses[number % addresses.count])
      await client.send("GET / HT")
      clients.append(client)
    }
    return clients
  }

  @Test(arguments: [1, 4])
  func `answers while others keep 200 connections half open`(addresses: Int) async throws {
    let limits = Self.limits { ($0.connections, $0.connectionsPerAddress) = (128, 64) }
    try await withHTTPServer(limits: limits) { _ in
      .text("ok")
    } do: { server in
      // 4 addresses have 50 connections each, so that only the total is over its limit.
      let clients = try await attack(
        server, count: 200, from: (1...addresses).map { "127.0.0.\($0)" })
      for _ in 1...3 {
        #expect(try await RawClient(to: server.port).get("/").text == "ok")
      }
      // The oldest were closed for the newest.
      for client in clients.prefix(addresses == 1 ? 200 - 64 : 200 - 128) {
        await client.waitForClose()
      }
    }
  }

  @Test func `answers many clients at the same time`() async throws {
    try await withHTTPServer { _ in
      .text("ok")
    } do: { server in
      // libmicrohttpd takes 128 events at a time.
      var clients: [RawClient] = []
      for _ in 0..<129 { clients.append(try RawClient(to: server.port)) }
      for _ in 0..<50 {
        await RawClient.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n", on: clients)
        for client in clients {
          let response = try await client.response()
          #expect(response.text == "ok")
        }
      }
    }
  }

  @Test func `refuses connections while all others are being answered`() async throws {
    let gate = Gate()
    let limits = Self.limits { $0.connectionsPerAddress = 4 }
    try await withHTTPServer(limits: limits) { _ in
      try? await gate.pass()
      return .text("ok")
    } do: { server in
      let busy = try await attack(server, count: 4, from: ["127.0.0.1"])
      for client in busy { await client.send("TP/1.1\r\nHost: x\r\n\r\n") }
      await gate.holds(4)
      await (try RawClient(to: server.port)).waitForClose()
      // Other addresses have their own limit.
      let other = try RawClient(to: server.port, from: "127.0.0.2")
      await other.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      await gate.holds(5)
      gate.open()
      for client in busy + [other] { #expect(try await client.response().text == "ok") }
    }
  }
}
