public import AggregatorKit
public import AggregatorSourceTesting
import Foundation

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
