import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LimitTests {
  private func limits(
    _ bodyBytes: Int = 16 << 20, connect: Duration = .seconds(10), idle: Duration = .seconds(30),
    overall: Duration = .seconds(60)
  ) -> HTTPLimits {
    HTTPLimits(bodyBytes: bodyBytes, connect: connect, idle: idle, overall: overall)
  }

  @Test func `a limit that a deadline has shortened a little is named as it was typed`() {
    let limits: [(Duration, String)] = [
      (.seconds(1) - .microseconds(30), "1 s"), (.milliseconds(1994), "2 s"), (.seconds(2), "2 s"),
      (.milliseconds(1970), "1970 ms"), (.milliseconds(2005), "2005 ms"),
    ]
    for (limit, text) in limits {
      #expect(
        SourceError.unfinished("h:1", within: limit).message
          == "no complete response from h:1 within \(text)")
    }
  }

  @Test(arguments: Engine.allCases)
  func `accepts a body of exactly the limit`(engine: Engine) async throws {
    let body = Data(repeating: 0x61, count: 100_000)
    try await withServer({ $0.path == "/chunked" ? .chunked(body, times: 1) : .ok(body) }) {
      server in
      let transport = engine.transport()
      for path in ["plain", "chunked"] {
        let url = server.baseURL.appending(path: path)
        let whole = try await transport.send(HTTPRequest(.get, url, limits: limits(100_000)))
        #expect(whole.body == body)
        let error = await #expect(throws: SourceError.self) {
          try await transport.send(HTTPRequest(.get, url, limits: limits(99_999)))
        }
        #expect(error?.code == .tooLarge)
        #expect(error?.message == "the response is larger than 99999 bytes")
      }
    }
  }

  @Test(arguments: Engine.allCases)
  func `rejects a long body, an endless one and a decompression bomb`(engine: Engine) async throws {
    let block = Data(repeating: 0x20, count: 1 << 20)
    var replies: [LoopbackReply] = [.chunked(block, times: 100)]
    // URLSession on Linux reads ahead before it is stopped: an endless body takes all memory.
    if !engine.isForeign { replies += [.chunked(block, times: nil), .gzipBomb()] }
    for reply in replies {
      try await withServer(replies: reply) { server in
        let error = await #expect(throws: SourceError.self) {
          try await engine.transport().send(HTTPRequest(.get, server.baseURL))
        }
        #expect(error?.message == "the response is larger than 16 MiB")
        // Data that was sent but not read is in the buffers of the system.
        withKnownIssue("URLSession on Linux reads ahead of whoever stops it", isIntermittent: true)
        {
          #expect(server.bytesSent < 32 << 20)
        } when: {
          engine.isForeign
        }
      }
    }
  }

  /// URLSession reads until the limit.
  @Test(arguments: Engine.allCases.filter { $0.rawValue == "curl" })
  func `rejects a body whose head says that it is too long, without reading it`(
    engine: Engine
  ) async throws {
    try await withServer(replies: .stalled(after: Data("{".utf8), of: 17 << 20)) { server in
      let error = await #expect(throws: SourceError.self) {
        try await engine.transport().send(HTTPRequest(.get, server.baseURL))
      }
      #expect(error?.message == "the response is larger than 16 MiB")
    }
  }

  @Test(arguments: Engine.allCases.filter { !$0.isForeign })
  func `rejects an endless header`(engine: Engine) async throws {
    let field = Data("X-Filler: \(String(repeating: "a", count: 1000))\r\n".utf8)
    try await withServer(replies: .endlessHead(field)) { server in
      let error = await #expect(throws: SourceError.self) {
        try await engine.transport().send(
          HTTPRequest(
            .get, server.baseURL, limits: limits(idle: .seconds(60), overall: .seconds(60)))
        )
      }
      #expect(error?.code == .tooLarge)
    }
  }

  static let silences: [LoopbackReply] = [
    .stalled, .stalled(after: Data("{".utf8), of: 100), .json("{}").after(.seconds(60)),
  ]

  @Test(arguments: Engine.allCases, silences.indices)
  func `ends an idle connection`(engine: Engine, index: Int) async throws {
    try await withServer(replies: Self.silences[index]) { server in
      let clock = ContinuousClock()
      let begin = clock.now
      let error = await #expect(throws: SourceError.self) {
        try await engine.transport().send(
          HTTPRequest(.get, server.baseURL, limits: limits(idle: .milliseconds(100))))
      }
      #expect(error?.code == .timedOut)
      #expect(error?.message == "no data from 127.0.0.1:\(server.port) for 100 ms")
      #expect(clock.now - begin >= .milliseconds(100))
    }
  }

  @Test(arguments: Engine.allCases)
  func `waits for a slow body that is not idle`(engine: Engine) async throws {
    let body = Data("0123456789A".utf8)
    // It takes longer than the limit as a whole, which is ten times the time between two bytes.
    try await withServer(replies: .dripping(body, every: .milliseconds(200))) { server in
      let response = try await engine.transport().send(
        HTTPRequest(.get, server.baseURL, limits: limits(idle: .milliseconds(2000))))
      #expect(response.body == body)
    }
  }

  @Test(arguments: Engine.allCases)
  func `ends an exchange that takes too long overall`(engine: Engine) async throws {
    // It would be complete after 1.2 s.
    let slow = LoopbackReply.dripping(Data(count: 60), every: .milliseconds(20))
    try await withServer(replies: slow) { server in
      let error = await #expect(throws: SourceError.self) {
        try await engine.transport().send(
          HTTPRequest(.get, server.baseURL, limits: limits(overall: .milliseconds(150))))
      }
      #expect(error?.code == .timedOut)
      #expect(
        error?.message == "no complete response from 127.0.0.1:\(server.port) within 150 ms")
    }
  }

  @Test(arguments: Engine.allCases)
  func `counts redirects towards the total time`(engine: Engine) async throws {
    try await withServer({ _ in .redirect(to: "/again").after(.milliseconds(60)) }) { server in
      let error = await #expect(throws: SourceError.self) {
        try await engine.transport().send(
          HTTPRequest(.get, server.baseURL, limits: limits(overall: .milliseconds(150))))
      }
      #expect(error?.code == .timedOut)
      #expect(server.requests.count <= 3)
    }
  }

  @Test(arguments: Engine.allCases)
  func `ends a connection attempt that takes too long`(engine: Engine) async throws {
    // Its queue is full, so the system does not answer further connections.
    let port = try UnansweringPort()
    let begin = ContinuousClock.now
    let error = await #expect(throws: SourceError.self) {
      try await engine.transport().send(
        HTTPRequest(
          .get, port.baseURL, limits: limits(connect: .milliseconds(100), idle: .milliseconds(150)))
      )
    }
    #expect(error?.code == .timedOut)
    #expect(ContinuousClock.now - begin < .seconds(30), "not the time of the whole")
    let message =
      engine.limitsConnecting
      ? "no connection to 127.0.0.1:\(port.port) within 100 ms"
      : "no data from 127.0.0.1:\(port.port) for 150 ms"
    #expect(error?.message == message)
  }
}
