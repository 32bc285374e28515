import AggregatorKit
import Foundation

/// A server that stands in front of a service, and plays a weather while it is told to.
///
/// Whatever is sent through this transport comes to that server first, over a real socket. In fair
/// weather the request is passed on to the service, by the service's own transport.
final class FaultProxy: Transport {
  /// Bodies larger than this are not read.
  private static let cap = 1 << 20

  let responder: FaultResponder
  private let nobody: RefusingPort
  private let server: LoopbackServer

  /// A server in front of the service that a transport leads to.
  init(
    of service: any Transport, now: @escaping @Sendable () -> Date
  ) throws(SourceError) {
    let responder = FaultResponder(of: service, now: now)
    self.responder = responder
    nobody = try RefusingPort()
    server = try LoopbackServer { responder.reply(to: $0) }
  }

  deinit { server.stop() }

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let (ticket, scenario) = responder.admit(request)
    defer { responder.dismiss(ticket) }
    var isRefused = false
    if case .refuse = scenario.play { isRefused = true }
    var request = request.sent(to: isRefused ? nobody.port : server.port)
    request.headers.append(.init(FaultResponder.ticket, "\(ticket)"))
    request.limits = HTTPLimits(
      bodyBytes: min(request.limits.bodyBytes, Self.cap), connect: scenario.limits.overall,
      idle: scenario.limits.idle, overall: scenario.limits.overall)
    // The deadline of the call would lengthen these limits, which shall come first.
    return try await Deadline.$current.withValue(nil) { [request] in
      await Result { () async throws(SourceError) in
        try await HTTPTransport.standard.send(request)
      }
    }.get()
  }
}

extension HTTPRequest {
  /// The same request, sent to a port of 127.0.0.1.
  func sent(to port: Int) -> HTTPRequest {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return self }
    (parts.scheme, parts.host, parts.port) = ("http", "127.0.0.1", port)
    var request = self
    request.url = parts.url ?? url
    return request
  }
}
