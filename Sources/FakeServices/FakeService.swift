public import AggregatorKit
public import AggregatorTestSupport
import Foundation
import Synchronization

/// A local service that behaves like the real one.
public protocol FakeService: Sendable {
  var server: InterruptibleServer { get }

  /// The value for the setting of its address.
  var url: URL { get }

  /// All settings that point to it.
  var settings: [String: String] { get }
}

/// A local server whose next replies a test can replace.
///
/// Deinitialisation stops it.
public final class InterruptibleServer: Sendable {
  private let server: LoopbackServer
  private let interruption = Interruption()
  private let answer: CurrentAnswer

  init(_ answer: @escaping CurrentAnswer.Answer) throws(SourceError) {
    let answer = CurrentAnswer(answer)
    self.answer = answer
    server = try LoopbackServer { [interruption] request in
      interruption.next(for: request) ?? answer.get()(request)
    }
  }

  fileprivate func become(_ other: InterruptibleServer) { answer.set(other.answer.get()) }

  var baseURL: URL { server.baseURL }

  fileprivate var requests: [LoopbackRequest] { server.requests }

  fileprivate func requests(atLeast count: Int) async -> [LoopbackRequest] {
    await server.requests(atLeast: count)
  }

  fileprivate func idle() async { await server.idle() }

  fileprivate func fail(
    with reply: LoopbackReply, times: Int, after count: Int,
    where matches: @escaping @Sendable (LoopbackRequest) -> Bool
  ) {
    interruption.begin(reply, times, after: count, where: matches)
  }

  fileprivate func recover() { interruption.end() }

  fileprivate func stop() { server.stop() }
}

/// The regular replies of a service, which may change.
final class CurrentAnswer: Sendable {
  typealias Answer = @Sendable (LoopbackRequest) -> LoopbackReply

  private let answer: Mutex<Answer>

  init(_ answer: @escaping Answer) { self.answer = Mutex(answer) }

  func get() -> Answer { answer.withLock(\.self) }

  func set(_ new: @escaping Answer) { answer.withLock { $0 = new } }
}

extension FakeService {
  /// Replies as another service of the same kind from now on, at the same address: its records have changed.
  public func become(_ other: Self) { server.become(other.server) }

  /// The real transport, which retains this service.
  public var transport: some Transport { KeepingTransport(service: self) }

  public var requests: [LoopbackRequest] { server.requests }

  /// Waits for at least `count` requests, and returns all.
  public func requests(atLeast count: Int) async -> [LoopbackRequest] {
    await server.requests(atLeast: count)
  }

  /// Waits until no request is in flight.
  public func idle() async { await server.idle() }

  /// Replaces the next replies, whatever is requested; see ``ComicVineFault`` and
  /// ``RandomUserFault``.
  ///
  /// - Parameters:
  ///   - times: The number of replies to replace.
  ///   - count: The number of regular replies before that. Of requests that arrive together, which one is
  ///     counted first is open.
  ///   - matches: The requests that are counted; the others get their regular replies.
  public func fail(
    with reply: LoopbackReply, times: Int = .max, after count: Int = 0,
    where matches: @escaping @Sendable (LoopbackRequest) -> Bool = { _ in true }
  ) {
    server.fail(with: reply, times: times, after: count, where: matches)
  }

  /// Returns to the regular replies.
  ///
  /// It does not end a pause that an earlier reply has demanded, such as ``ComicVineFault/quota``: sources keep to it, by the
  /// time of their environment.
  public func recover() { server.recover() }

  /// Closes the port.
  public func stop() { server.stop() }
}

extension LoopbackRequest {
  /// The scheme, host and port that the client has called: `http://127.0.0.1:8080`.
  var origin: String { "http://\(header("host") ?? "")" }
}

/// A temporary replacement of a service's replies.
final class Interruption: Sendable {
  private struct Plan {
    let reply: LoopbackReply
    var times: Int
    var delay: Int
    let matches: @Sendable (LoopbackRequest) -> Bool
  }

  private let plan = Mutex<Plan?>(nil)

  func begin(
    _ reply: LoopbackReply, _ times: Int, after delay: Int = 0,
    where matches: @escaping @Sendable (LoopbackRequest) -> Bool = { _ in true }
  ) {
    plan.withLock { $0 = Plan(reply: reply, times: times, delay: delay, matches: matches) }
  }

  func end() { plan.withLock { $0 = nil } }

  func next(for request: LoopbackRequest) -> LoopbackReply? {
    plan.withLock { plan in
      guard let current = plan, current.matches(request) else { return nil }
      guard current.delay == 0 else {
        plan?.delay -= 1
        return nil
      }
      if current.times > 1 { plan?.times -= 1 } else { plan = nil }
      return current.reply
    }
  }
}

/// The real transport, which retains the service.
struct KeepingTransport<Service: Sendable>: Transport {
  let service: Service

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    try await LongTimeoutTransport().send(request)
  }
}
