import AggregatorKit
import AggregatorSourceTesting
import AggregatorURLSession
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The rules for the session of an app alone; the other suites run over one too.
@Suite(.timeLimit(.minutes(10)))
struct AppSessionTests {
  @Test func `sends the session's own header fields`() async throws {
    try await withServer({ _ in .json("{}") }) { server in
      let configuration = URLSessionConfiguration.default
      configuration.httpAdditionalHeaders = ["X-App": "1", "User-Agent": "App/1"]
      let transport = HTTPTransport(session: URLSession(configuration: configuration))
      _ = try await transport.send(HTTPRequest(.get, server.baseURL))
      #expect(server.requests.first?.header("x-app") == "1")
      #expect(server.requests.first?.header("user-agent")?.hasPrefix("aggregator/") == true)
    }
  }

  @Test func `uses the session's protocol classes`() async throws {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [StubProtocol.self]
    let transport = HTTPTransport(session: URLSession(configuration: configuration))
    let url = try #require(URL(string: "https://stub.invalid/x"))
    let recorder = Recorder()
    let response = try await Observer.$current.withValue(recorder.observer) {
      try await transport.send(HTTPRequest(.get, url))
    }
    #expect(response.status == 203)
    #expect(response.body == Data("GET /x".utf8))
    #expect(recorder.events.count == 2)
  }

  @Test func `uses neither cookies nor the cache of the session`() async throws {
    let fields = [("Set-Cookie", "id=1; Path=/"), ("Cache-Control", "max-age=3600")]
    try await withServer({ _ in .status(200, "x", headers: fields) }) { server in
      let configuration = URLSessionConfiguration.default
      let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
      configuration.urlCache = cache
      let session = URLSession(configuration: configuration)
      let transport = HTTPTransport(session: session)
      for _ in 0..<2 { _ = try await transport.send(HTTPRequest(.get, server.baseURL)) }
      #expect(server.requests.map { $0.header("cookie") } == [nil, nil])
      #expect(cache.cachedResponse(for: URLRequest(url: server.baseURL)) == nil)
      #expect(session.configuration.urlCache === cache, "the session is unchanged")
    }
  }

  @Test func `leaves the session usable after the transport`() async throws {
    try await withServer({ _ in .json("{}") }) { server in
      let session = URLSession(configuration: .ephemeral)
      _ = try await HTTPTransport(session: session).send(HTTPRequest(.get, server.baseURL))
      let (data, _) = try await session.data(from: server.baseURL)
      #expect(data == Data("{}".utf8))
    }
  }

  @Test func `a closure can use the session itself`() async throws {
    try await withServer(replies: .redirect(to: "/b"), .json("[]")) { server in
      let session = URLSession(configuration: .ephemeral)
      let transport = HTTPTransport { request in try await session.response(to: request) }
      let response = try await transport.send(HTTPRequest(.get, server.baseURL))
      #expect(response.body == Data("[]".utf8))
      #expect(server.requests.map(\.path) == ["/", "/b"])
      #expect(server.requests.first?.header("user-agent")?.hasPrefix("aggregator/") == true)
    }
  }

  #if canImport(Darwin)
    @Test func `refuses a background session`() async throws {
      let session = URLSession(configuration: .background(withIdentifier: "aggregator.test"))
      defer { session.invalidateAndCancel() }
      let url = try #require(URL(string: "https://stub.invalid/"))
      let error = await #expect(throws: SourceError.self) {
        try await HTTPTransport(session: session).send(HTTPRequest(.get, url))
      }
      #expect(error?.code == .invalidSettings)
    }

    @Test func `lets the session's delegate collect metrics`() async throws {
      try await withServer({ _ in .json("{}") }) { server in
        let (collected, continuation) = AsyncStream.makeStream(of: Int.self)
        let session = URLSession(
          configuration: .ephemeral, delegate: MetricsDelegate(continuation), delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        _ = try await HTTPTransport(session: session).send(HTTPRequest(.get, server.baseURL))
        #expect(await collected.first { _ in true } == 1)
      }
    }
  #endif
}

#if canImport(Darwin)
  private final class MetricsDelegate: NSObject, URLSessionTaskDelegate {
    let collected: AsyncStream<Int>.Continuation

    init(_ collected: AsyncStream<Int>.Continuation) { self.collected = collected }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
      collected.yield(metrics.transactionMetrics.count)
    }
  }
#endif

extension URLSession {
  /// Sends one request without following its redirects.
  fileprivate func response(to wire: WireRequest) async throws -> HTTPResponse {
    var request = URLRequest(url: try wire.url)
    request.httpMethod = wire.method.rawValue
    request.httpBody = wire.body
    request.httpShouldHandleCookies = false
    for (name, value) in wire.headers { request.addValue(value, forHTTPHeaderField: name) }
    return try await withCheckedThrowingContinuation { continuation in
      let task = dataTask(with: request) { body, response, error in
        guard let response = response as? HTTPURLResponse else {
          return continuation.resume(throwing: error ?? URLError(.badServerResponse))
        }
        let fields = response.allHeaderFields.map { (name: "\($0)", value: "\($1)") }
        continuation.resume(
          returning: HTTPResponse(
            status: response.statusCode, headers: fields, body: body ?? Data()))
      }
      task.delegate = RedirectRefusal()
      task.resume()
    }
  }
}

private final class RedirectRefusal: NSObject, URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}

/// Answers requests to `stub.invalid` without a network.
private final class StubProtocol: URLProtocol {
  override class func canInit(with request: URLRequest) -> Bool {
    request.url?.host() == "stub.invalid"
  }

  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  override func startLoading() {
    guard let url = request.url,
      let response = HTTPURLResponse(
        url: url, statusCode: 203, httpVersion: "HTTP/1.1", headerFields: nil)
    else { return }
    client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    client?.urlProtocol(
      self, didLoad: Data("\(request.httpMethod ?? "") \(url.path())".utf8))
    client?.urlProtocolDidFinishLoading(self)
  }

  override func stopLoading() {}
}
