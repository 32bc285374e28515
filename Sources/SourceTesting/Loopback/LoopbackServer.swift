public import AggregatorKit
public import Foundation
import Synchronization

/// A real HTTP/1.1 server on 127.0.0.1, for the tests of whoever writes a source.
///
/// It answers what it is told to, faults included, and remembers what it was asked:
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
/// It lives on threads of its own, one for each connection, and ends in ``stop()`` or when nobody holds
/// it any more, whatever its replies are doing.
public final class LoopbackServer: Sendable {
  /// Makes the reply to a request.
  ///
  /// It is called on the connection's thread and may block it.
  public typealias Handler = @Sendable (LoopbackRequest) -> LoopbackReply

  /// The port.
  public let port: Int

  /// Keeps the port after ``stop()``, so that a server of another test does not answer in its place.
  private let keeper: LoopbackSocket
  private let requestLog = RequestLog()
  private let shutdownSignal: ShutdownSignal

  /// Starts a server that makes its replies.
  ///
  /// - Parameter handler: Makes the reply to a request.
  /// - Throws: `SourceError` with code `unreachable` if the system gives no socket.
  public init(_ handler: @escaping Handler) throws(SourceError) {
    keeper = try LoopbackSocket.bound()
    port = keeper.port
    let listener = try LoopbackSocket.listening(on: port)
    shutdownSignal = try ShutdownSignal()
    listener.serve(until: shutdownSignal, recordingIn: requestLog, handler)
  }

  /// Starts a server that gives its replies in order, to whoever asks.
  ///
  /// - Parameter replies: The replies. A request beyond the last one is answered with status 500.
  /// - Throws: `SourceError` with code `unreachable` if the system gives no socket.
  public convenience init(replies: [LoopbackReply]) throws(SourceError) {
    let script = LoopbackScript(replies)
    try self.init { _ in script.next() }
  }

  deinit { stop() }

  /// The address, without a path: `http://127.0.0.1:PORT`.
  public var baseURL: URL { .loopback(port: port) }

  /// All requests so far, in the order in which they were complete.
  public var requests: [LoopbackRequest] { requestLog.state.withLock(\.requests) }

  /// How many connections were opened so far.
  public var connectionCount: Int { requestLog.state.withLock(\.connections) }

  /// The most requests that were being answered at the same time.
  public var mostInFlight: Int { requestLog.state.withLock(\.mostInFlight) }

  /// How many bytes were sent so far, heads included.
  public var bytesSent: Int { requestLog.state.withLock(\.bytesSent) }

  /// Waits until requests have come in, which is better than to sleep.
  ///
  /// - Parameter count: How many requests to wait for.
  /// - Returns: All requests so far; fewer than `count` only if the server was stopped or the task was
  ///   cancelled.
  public func requests(atLeast count: Int) async -> [LoopbackRequest] {
    await requestLog.requests(atLeast: count)
  }

  /// Refuses connections from then on, and breaks off all replies.
  public func stop() {
    shutdownSignal.ring()
    requestLog.close()
  }
}

/// Runs `body` with a server that is stopped afterwards.
///
/// - Parameters:
///   - handler: Makes the reply to a request.
///   - body: What to do while the server runs.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws, or `SourceError` if the system gives no socket.
public func withServer<Value>(
  _ handler: @escaping LoopbackServer.Handler,
  do body: (LoopbackServer) async throws -> Value
) async throws -> Value {
  let server = try LoopbackServer(handler)
  defer { server.stop() }
  return try await body(server)
}

/// Runs `body` with a server that gives its replies in order and is stopped afterwards.
///
/// - Parameters:
///   - replies: The replies. A request beyond the last one is answered with status 500.
///   - body: What to do while the server runs.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws, or `SourceError` if the system gives no socket.
public func withServer<Value>(
  replies: LoopbackReply..., do body: (LoopbackServer) async throws -> Value
) async throws -> Value {
  let server = try LoopbackServer(replies: replies)
  defer { server.stop() }
  return try await body(server)
}

/// Replies that are given one after the other.
private final class LoopbackScript: Sendable {
  private let rest: Mutex<ArraySlice<LoopbackReply>>

  init(_ replies: [LoopbackReply]) { rest = Mutex(replies[...]) }

  func next() -> LoopbackReply {
    rest.withLock { $0.popFirst() } ?? .status(500, "the script of the server has no reply left")
  }
}

/// What a ``LoopbackServer`` remembers.
final class RequestLog: Sendable {
  struct State {
    var requests: [LoopbackRequest] = []
    var connections = 0
    var inFlight = 0
    var mostInFlight = 0
    var bytesSent = 0
    fileprivate var waiters: [Int: (count: Int, waiter: CheckedContinuation<Void, Never>)] = [:]
    fileprivate var lastWaiter = 0
    fileprivate var isClosed = false
  }

  let state = Mutex(State())

  func noteConnection() { state.withLock { $0.connections += 1 } }

  func begin(_ request: LoopbackRequest) {
    update { state in
      state.requests.append(request)
      state.inFlight += 1
      state.mostInFlight = max(state.mostInFlight, state.inFlight)
    }
  }

  func end() { state.withLock { $0.inFlight -= 1 } }

  func noteSent(_ bytes: Int) { state.withLock { $0.bytesSent += bytes } }

  /// Lets go of everybody who waits.
  func close() { update { $0.isClosed = true } }

  func requests(atLeast count: Int) async -> [LoopbackRequest] {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        update { $0.waiters[id] = (count, waiter) }
        // The handler may have run before there was anybody to let go.
        if Task.isCancelled { leave(id) }
      }
    } onCancel: {
      leave(id)
    }
    return state.withLock(\.requests)
  }

  private func leave(_ id: Int) {
    state.withLock { $0.waiters.removeValue(forKey: id) }?.waiter.resume()
  }

  /// Changes the state, and lets go of those who have waited for that.
  private func update(_ change: (inout State) -> Void) {
    let done = state.withLock { state in
      change(&state)
      let done = state.waiters.filter { state.isClosed || $0.value.count <= state.requests.count }
      for id in done.keys { state.waiters[id] = nil }
      return done.values.map(\.waiter)
    }
    for waiter in done { waiter.resume() }
  }
}
