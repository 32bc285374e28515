public import AggregatorCore
import Foundation

/// The real ``Transport``: libcurl on Linux, URLSession on Apple systems.
///
/// - The query's names and values are percent-encoded strictly: only `A-Z a-z 0-9 - . _ ~` stay.
/// - Secrets go over `https`, or to this machine; never over plain `http` to another.
/// - At most five redirects are followed, and only on the same scheme, host and port, or from `http` to
///   `https` on the same host.
/// - Secrets of eight characters or more that a service repeats are removed from its reply.
/// - There are no cookies and no cache, and certificates are always checked.
///
/// Requests are reported to the current ``Observer``.
public struct HTTPTransport: Transport {
  /// The transport of this process: connections are kept and shared by all its users.
  public static let standard = HTTPTransport()

  private static let redirectLimit = 5

  private let engine: any HTTPEngine

  /// A transport with connections of its own.
  public init() {
    #if canImport(Darwin)
      self.init(engine: URLSessionEngine())
    #else
      self.init(engine: CurlEngine())
    #endif
  }

  /// A transport over an engine.
  package init(engine: any HTTPEngine) { self.engine = engine }

  /// Sends a request, follows its redirects, and waits for the whole reply.
  ///
  /// - Parameter request: What to send.
  /// - Returns: The reply, whatever its status, without the request's secrets.
  /// - Throws: ``SourceError``: `unreachable`, `connectionLost`, `timedOut`, `tooLarge`, `malformed`
  ///   for what is not HTTP, `rejected` for a redirect that is not followed, `badSettings` for a secret
  ///   that would travel readably, `badUsage` for a request that cannot be sent, or `cancelled`.
  public func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let redactor = Redactor(request.secrets)
    var wire = try WireRequest(request)
    if let deadline = Deadline.current?.remaining() {
      // Whoever set a longer deadline means to wait for it.
      wire.limits.idle = max(wire.limits.idle, deadline)
      wire.limits.overall = max(wire.limits.overall, deadline)
    }
    let overall = wire.limits.overall
    var shown = request.shownAddress
    let begin = ContinuousClock.now
    for _ in 0...Self.redirectLimit {
      let response = try await exchange(wire, shown, redactor)
      guard let next = try wire.redirected(by: response, hiding: redactor) else {
        return redactor.redacted(response)
      }
      wire = next
      wire.limits.overall = overall - (.now - begin)
      // Without the query, because the service wrote it: who knows where it put the secrets.
      shown = redactor.redacted(
        "\(wire.address.scheme)://\(wire.address.authority)\(wire.address.path)")
    }
    throw SourceError(
      .rejected, "\(wire.address.authority) redirects more than \(Self.redirectLimit) times")
  }

  /// One hop, with its events.
  private func exchange(
    _ wire: WireRequest, _ shown: String, _ redactor: Redactor
  ) async throws(SourceError) -> HTTPResponse {
    let observer = Observer.current
    let begin = ContinuousClock.now
    observer(.sent(method: wire.method.rawValue, address: shown))
    do {
      let response = try await engine.send(wire)
      observer(
        .received(
          status: response.status, bytes: response.body.count, after: .now - begin, address: shown))
      return response
    } catch {
      var error = error
      error.message = redactor.redacted(error.message)
      observer(.lost(error, after: .now - begin, address: shown))
      throw error
    }
  }
}
