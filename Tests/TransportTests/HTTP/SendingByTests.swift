import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10)))
struct SendingByTests {
  static let key = "Canary+7/k3y"

  private func request(_ url: URL, limits: HTTPLimits = .standard) -> HTTPRequest {
    HTTPRequest(
      .get, url, query: [.init("k", .secret(Secret(Self.key)))],
      headers: [.init("X-A", "1")], limits: limits)
  }

  /// A transport whose closure sends with the client of an engine.
  private func transport(over engine: Engine) -> HTTPTransport {
    let client = engine.engine()
    return HTTPTransport { try await client.send($0) }
  }

  @Test(arguments: Engine.allCases)
  func `follows a redirect and reports each exchange`(engine: Engine) async throws {
    try await withServer(replies: .redirect(to: "/b?x=\(Self.key)"), .json("\"\(Self.key)\"")) {
      server in
      let recorder = Recorder()
      let response = try await Observer.$current.withValue(recorder.observer) {
        try await transport(over: engine).send(request(server.baseURL))
      }
      #expect(String(decoding: response.body, as: UTF8.self) == "\"REDACTED\"")
      #expect(server.requests.map(\.path) == ["/", "/b"])
      #expect(server.requests.map { $0.header("x-a") } == ["1", "1"])
      let first = "\(server.baseURL)?k=REDACTED"
      let second = "\(server.baseURL)/b"
      let lines = recorder.events.map { event in
        switch event {
        case .sent(let method, let address): "\(method) \(address)"
        case .received(let status, _, _, let address): "\(status) \(address)"
        default: "\(event)"
        }
      }
      #expect(lines == ["GET \(first)", "302 \(first)", "GET \(second)", "200 \(second)"])
    }
  }

  @Test(arguments: Engine.allCases)
  func `does not follow to another host`(engine: Engine) async throws {
    try await withServer({ _ in .json("{}") }) { other in
      try await withServer(replies: .redirect(to: "\(other.baseURL)/x")) { server in
        let error = await #expect(throws: SourceError.self) {
          try await transport(over: engine).send(request(server.baseURL))
        }
        #expect(error?.code == .rejected)
        #expect(other.connectionCount == 0)
      }
    }
  }

  @Test func `gives the closure all of the request and shows no key of it`() async throws {
    let seen = Mutex<WireRequest?>(nil)
    let transport = HTTPTransport { request in
      seen.withLock { $0 = request }
      return HTTPResponse(status: 204)
    }
    let url = try #require(URL(string: "https://a.example/p"))
    var request = request(url)
    request.method = .post
    request.body = Data("b".utf8)
    _ = try await transport.send(request)
    let sent = seen.withLock { $0 }
    let wire = try #require(sent)
    let address = try wire.url
    #expect(address.absoluteString == "https://a.example/p?k=Canary%2B7%2Fk3y")
    #expect(wire.method == .post)
    #expect(wire.body == Data("b".utf8))
    #expect(wire.headers.map(\.name) == ["X-A", "User-Agent", "Accept"])
    #expect(wire.limits == .standard)
    #expect("\(wire)" == "POST a.example")
  }

  @Test func `does not call the closure for a key that would be unencrypted`() async throws {
    let transport = HTTPTransport { _ in
      Issue.record("sent")
      return HTTPResponse(status: 200)
    }
    let url = try #require(URL(string: "http://a.example/"))
    let error = await #expect(throws: SourceError.self) { try await transport.send(request(url)) }
    #expect(error?.code == .invalidSettings)
  }

  @Test func `cancels the closure at the overall limit`() async throws {
    let limits = HTTPLimits(
      bodyBytes: 1, connect: .seconds(60), idle: .seconds(60), overall: .milliseconds(50))
    let gate = Gate()
    let wasCancelled = Mutex(false)
    let transport = HTTPTransport { _ in
      do {
        try await gate.pass()
      } catch {
        wasCancelled.withLock { $0 = true }
      }
      return HTTPResponse(status: 200)
    }
    let url = try #require(URL(string: "https://a.example/"))
    let error = await #expect(throws: SourceError.self) {
      try await transport.send(request(url, limits: limits))
    }
    #expect(error?.code == .timedOut)
    #expect(error?.message == "no complete response from a.example within 50 ms")
    let hasEnded = wasCancelled.withLock { $0 }
    #expect(hasEnded)
  }

  @Test func `ends when its task is cancelled`() async throws {
    let gate = Gate()
    let transport = HTTPTransport { _ in
      try await gate.pass()
      return HTTPResponse(status: 200)
    }
    let url = try #require(URL(string: "https://a.example/"))
    let task = Task { try await transport.send(request(url)) }
    await gate.holds(1)
    task.cancel()
    let error = await #expect(throws: SourceError.self) { try await task.value }
    #expect(error?.code == .cancelled)
  }

  @Test(arguments: [(10, nil), (11, SourceError.Code.tooLarge)])
  func `checks the size of the body`(bytes: Int, code: SourceError.Code?) async throws {
    let limits = HTTPLimits(
      bodyBytes: 10, connect: .seconds(60), idle: .seconds(60), overall: .seconds(60))
    let transport = HTTPTransport { _ in HTTPResponse(status: 200, body: Data(count: bytes)) }
    let url = try #require(URL(string: "https://a.example/"))
    var found: SourceError.Code?
    do {
      _ = try await transport.send(request(url, limits: limits))
    } catch {
      found = error.code
    }
    #expect(found == code)
  }

  struct Foreign: Error { let text = SendingByTests.key }

  static let failures: [(any Error, SourceError.Code, String)] =
    [
      (SourceError(.malformed, "bad \(key)"), .malformed, "bad REDACTED"),
      (CancellationError(), .cancelled, "cancelled"),
      (Foreign(), .connectionLost, "lost the connection to a.example"),
      (URLError(.cannotFindHost), .unreachable, "could not resolve host a.example"),
      (URLError(.timedOut), .timedOut, "a.example did not respond in time"),
    ]

  @Test(arguments: failures.indices)
  func `converts errors without their text`(index: Int) async throws {
    let (failure, code, message) = Self.failures[index]
    let transport = HTTPTransport { _ in throw failure }
    let url = try #require(URL(string: "https://a.example/"))
    let recorder = Recorder()
    let error = await Observer.$current.withValue(recorder.observer) {
      await #expect(throws: SourceError.self) { try await transport.send(request(url)) }
    }
    #expect(error?.code == code)
    #expect(error?.message == message)
    #expect(!"\(error as Any) \(recorder.events)".contains("Canary"))
    guard case .lost = recorder.events.last else {
      Issue.record("\(recorder.events)")
      return
    }
  }
}
