public import AggregatorKit
import Dispatch
import Foundation

/// A real HTTP/1.1 server on 127.0.0.1, for tests of sources.
///
/// It sends scripted replies, faults included, and records its requests:
///
/// ```swift
/// try await withServer { request in
///   request.path == "/heroes" ? .json(#"{"results": []}"#) : .status(404)
/// } do: { server in
///   let heroes = RemoteHeroes(at: server.baseURL)
///   …
///   #expect(server.requests.first?.query["limit"] == "20")
/// }
/// ```
///
/// It runs one thread for each connection until ``stop()`` or its deinitialisation, whatever its
/// replies are doing.
public final class LoopbackServer: Sendable {
  /// Returns the reply to a request, on the thread of the connection, which it may block.
  public typealias Handler = @Sendable (LoopbackRequest) -> LoopbackReply

  public let port: Int

  /// Reserves the port after ``stop()``, so that no server of another test gets it.
  private let keeper: LoopbackSocket
  private let requestLog = Watched(RequestLog())
  private let shutdownSignal: ShutdownSignal

  /// Has a member while the thread of the listening socket runs.
  private let listening = DispatchGroup()

  /// - Throws: `SourceError` with code `unreachable` if there is no free socket.
  public init(_ handler: @escaping Handler) throws(SourceError) {
    keeper = try LoopbackSocket.bound()
    port = keeper.port
    shutdownSignal = try ShutdownSignal()
    let listener = try LoopbackSocket.listening(on: port).release()
    listening.enter()
    Thread.detachNewThread { [listening, shutdownSignal, requestLog] in
      LoopbackSocket(owning: listener).acceptClients(until: shutdownSignal, requestLog, handler)
      listening.leave()
    }
  }

  /// Sends `replies` in order, then status 500; throws `unreachable` if there is no free socket.
  public convenience init(replies: [LoopbackReply]) throws(SourceError) {
    let script = Script(replies)
    try self.init { _ in script.next() ?? .status(500, "no scripted reply left") }
  }

  deinit { stop() }

  /// `http://127.0.0.1:PORT`.
  public var baseURL: URL { .loopback(port: port) }

  /// All requests so far, in the order in which they were completely received.
  public var requests: [LoopbackRequest] { requestLog.state.requests }

  public var connectionCount: Int { requestLog.state.connections }

  public var mostInFlight: Int { requestLog.state.mostInFlight }

  /// The number of bytes sent so far, heads included.
  public var bytesSent: Int { requestLog.state.bytesSent }

  /// Waits for `count` requests; returns fewer only if the server stopped or the task was cancelled, or at the ``WaitLimit``.
  public func requests(atLeast count: Int) async -> [LoopbackRequest] {
    await requestLog.wait {
      $0.isClosed || $0.requests.count >= count
    } orReport: {
      "requests received: \($0.requests.count) of \(count)"
    }
    return requests
  }

  /// Waits until all requests have been answered or given up by their clients, or the server stopped; see
  /// ``WaitLimit``.
  public func idle() async {
    await requestLog.wait {
      $0.isClosed || $0.inFlight == 0
    } orReport: {
      "requests in flight: \($0.inFlight)"
    }
  }

  /// Refuses new connections and aborts all replies: after it returns, none is accepted and nothing is sent.
  public func stop() {
    shutdownSignal.send()
    requestLog.change { $0.isClosed = true }
    // Only closing the socket ends it: until then the system accepts connections for the thread.
    listening.wait()
  }
}

/// Runs `body` with a server and stops it afterwards.
public func withServer<Value>(
  _ handler: @escaping LoopbackServer.Handler,
  do body: (LoopbackServer) async throws -> Value
) async throws -> Value {
  let server = try LoopbackServer(handler)
  defer { server.stop() }
  return try await body(server)
}

/// The server sends `replies` in order, then status 500.
public func withServer<Value>(
  replies: LoopbackReply..., do body: (LoopbackServer) async throws -> Value
) async throws -> Value {
  let server = try LoopbackServer(replies: replies)
  defer { server.stop() }
  return try await body(server)
}

struct RequestLog: Sendable {
  var requests: [LoopbackRequest] = []
  var connections = 0
  var inFlight = 0
  var mostInFlight = 0
  var bytesSent = 0
  /// True once the server has stopped, and nobody has to wait any more.
  var isClosed = false

  mutating func begin(_ request: LoopbackRequest) {
    requests.append(request)
    inFlight += 1
    mostInFlight = max(mostInFlight, inFlight)
  }
}

/// A request received by a ``LoopbackServer``.
public struct LoopbackRequest: Sendable {
  public let method: String

  /// The path as sent: percent-encoded, without the query.
  public let path: String

  /// The query as sent, without `?`; `nil` if there is none.
  public let rawQuery: String?

  /// The header fields in order, with lower-case names.
  public let headers: [(name: String, value: String)]

  public internal(set) var body = Data()

  /// The query in order, decoded as most servers do: `+` is a space.
  public var queryItems: [(name: String, value: String)] {
    (rawQuery ?? "").split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : "")
    }
  }

  /// The query by name; the first value if a name repeats.
  public var query: [String: String] {
    Dictionary(queryItems.map { ($0.name, $0.value) }) { first, _ in first }
  }

  /// The first value of a header field, whose name may be in any case.
  public func header(_ name: String) -> String? {
    headers.first { $0.name == name.lowercased() }?.value
  }

  /// Parses a head without its final blank line.
  init?(head: some Sequence<UInt8>) {
    let lines = String(decoding: Array(head), as: UTF8.self).split(separator: "\r\n")
    let words = lines.first?.split(separator: " ", omittingEmptySubsequences: false) ?? []
    guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return nil }
    let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    method = String(words[0])
    path = String(target[0])
    rawQuery = target.count > 1 ? String(target[1]) : nil
    headers = lines.dropFirst().compactMap { line in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      return (line[..<colon].lowercased(), String(value))
    }
  }

  var bodyLength: Int { header("content-length").flatMap { Int($0) }.map { max($0, 0) } ?? 0 }

  private static func decoded(_ text: some StringProtocol) -> String {
    let text = String(text).replacing("+", with: " ")
    return text.removingPercentEncoding ?? text
  }
}
