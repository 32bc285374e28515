public import AggregatorKit
public import AggregatorSourceTesting
public import Foundation
import Synchronization

/// A service of this machine that behaves like a real one.
public protocol FakeService: Sendable {
  /// What answers.
  var server: InterruptibleServer { get }

  /// What the setting of its address has to be.
  var url: URL { get }

  /// All settings that lead to it.
  var settings: [String: String] { get }
}

/// A server of this machine whose next answers a test can replace.
///
/// It is stopped when nobody holds it any more.
public final class InterruptibleServer: Sendable {
  private let server: LoopbackServer
  private let interruption = Interruption()

  /// Starts it.
  ///
  /// - Parameter answer: What it answers where nothing else is wanted.
  /// - Throws: ``SourceError`` with code `unreachable` if the system gives no socket.
  init(
    _ answer: @escaping @Sendable (LoopbackRequest) -> LoopbackReply
  ) throws(SourceError) {
    server = try LoopbackServer { [interruption] request in
      interruption.next() ?? answer(request)
    }
  }

  /// Where it is.
  var baseURL: URL { server.baseURL }

  fileprivate var requests: [LoopbackRequest] { server.requests }

  fileprivate func requests(atLeast count: Int) async -> [LoopbackRequest] {
    await server.requests(atLeast: count)
  }

  fileprivate func fail(with reply: LoopbackReply, times: Int, after count: Int) {
    interruption.begin(reply, times, after: count)
  }

  fileprivate func recover() { interruption.end() }

  fileprivate func stop() { server.stop() }
}

extension FakeService {
  /// The real transport, which keeps this service alive.
  public var transport: some Transport { KeepingTransport(service: self) }

  /// All requests so far.
  public var requests: [LoopbackRequest] { server.requests }

  /// Waits until so many requests have come.
  ///
  /// - Parameter count: How many.
  /// - Returns: All requests so far.
  public func requests(atLeast count: Int) async -> [LoopbackRequest] {
    await server.requests(atLeast: count)
  }

  /// Answers the next requests with something else, whatever they ask for.
  ///
  /// - Parameters:
  ///   - reply: What to answer; see ``ComicVineFault`` and ``RandomUserFault``.
  ///   - times: How many requests; all that come by default.
  ///   - count: How many are answered as always before that.
  public func fail(with reply: LoopbackReply, times: Int = .max, after count: Int = 0) {
    server.fail(with: reply, times: times, after: count)
  }

  /// Answers as always again.
  public func recover() { server.recover() }

  /// Closes the port.
  public func stop() { server.stop() }
}

/// A reply that a service gives for a while instead of its own.
final class Interruption: Sendable {
  private let left = Mutex<(reply: LoopbackReply, times: Int, delay: Int)?>(nil)

  /// Gives a reply so many times, after so many requests that are answered as always.
  func begin(_ reply: LoopbackReply, _ times: Int, after delay: Int = 0) {
    left.withLock { $0 = (reply, times, delay) }
  }

  /// Gives no other reply any more.
  func end() { left.withLock { $0 = nil } }

  func next() -> LoopbackReply? {
    left.withLock { left in
      guard let (reply, times, delay) = left else { return nil }
      guard delay == 0 else {
        left = (reply, times, delay - 1)
        return nil
      }
      left = times > 1 ? (reply, times - 1, 0) : nil
      return reply
    }
  }
}

/// The real transport; the service lives as long as it.
struct KeepingTransport<Service: Sendable>: Transport {
  let service: Service

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    try await HTTPTransport.standard.send(request)
  }
}
