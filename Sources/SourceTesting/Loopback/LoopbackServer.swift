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
    let listener = try LoopbackSocket.listening(on: port)
    shutdownSignal = try ShutdownSignal()
    listener.serve(
      until: shutdownSignal, recordingIn: requestLog, within: listening, handler)
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

  /// Waits for `count` requests; returns fewer only if the server stopped or the task was cancelled.
  public func requests(atLeast count: Int) async -> [LoopbackRequest] {
    await requestLog.wait { $0.isClosed || $0.requests.count >= count }
    return requests
  }

  /// Waits until all requests have been answered or given up by their clients, or the server stopped.
  public func idle() async { await requestLog.wait { $0.isClosed || $0.inFlight == 0 } }

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
