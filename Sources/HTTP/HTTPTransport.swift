public import AggregatorCore
import AggregatorFoundation

/// Sends HTTP requests.
///
/// ``HTTPTransport`` uses the network. Others wrap it or replace it: to record, to replay, to refuse, to
/// inject faults.
public protocol Transport: Sendable {
  /// Sends a request, waits for the whole response and returns it, whatever its status.
  ///
  /// - Throws: ``SourceError``: `unreachable`, `connectionLost`, `timedOut`, `tooLarge`, `malformed`
  ///   for invalid HTTP, or `cancelled`.
  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse
}

/// The ``Transport`` of the network: libcurl on Linux, URLSession on Apple systems.
///
/// - Names and values of the query are percent-encoded strictly: all but `A-Z a-z 0-9 - . _ ~`.
/// - Secrets are sent over `https` only, except to this machine.
/// - At most five redirects are followed, only on the same scheme, host and port, or from `http` to
///   `https` on the same host.
/// - Secrets of eight or more characters that a service repeats, in any encoding, are removed from its
///   response.
/// - There are no cookies and no cache. Certificates are always checked.
///
/// Requests are reported to the current ``Observer``.
///
/// On Apple systems `init(session:)` sends requests with a `URLSession` of the app, and on all systems
/// ``init(sendingBy:)`` with any other HTTP client. All points but the last hold for these, too; cookies,
/// caches and certificates are described there.
public struct HTTPTransport: Transport {
  private static let redirectLimit = 5

  private let engine: any HTTPEngine

  /// A transport that sends each request with an HTTP client of the app.
  ///
  /// Redirects, events, deadlines, limits and the rules for secrets are those of every transport. The
  /// closure sends one request and returns the response, whatever its status:
  ///
  /// - It does not follow redirects: it would send secrets to other hosts.
  /// - It checks certificates, and returns the body decompressed.
  /// - It ends soon after its task was cancelled, which happens at the request's overall limit. The size of
  ///   the body is checked when the closure returns; a client that can should stop at
  ///   ``HTTPLimits/bodyBytes`` itself, and after ``HTTPLimits/idle`` without data.
  /// - It throws ``SourceError``, `CancellationError`, on Apple systems `URLError`, or any other error, which is
  ///   reported as `connectionLost` without its text, because that may contain the URL.
  public init(
    sendingBy send: @escaping @Sendable (WireRequest) async throws -> HTTPResponse
  ) {
    self.init(engine: ClosureEngine(body: send))
  }

  package init(engine: any HTTPEngine) { self.engine = engine }

  /// Sends a request, follows redirects, and returns the whole response without the request's secrets.
  ///
  /// - Throws: ``SourceError`` as in ``Transport/send(_:)``, and `rejected` for a redirect that is not
  ///   followed, `invalidSettings` for a secret that would be sent unencrypted, `invalidRequest` for an invalid
  ///   request.
  public func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let scanner = SecretScanner(request.secrets)
    var wire = try WireRequest(request)
    request.responseStream?.hide(request.secrets)
    if request.responseStream == nil, let deadline = Deadline.current?.remaining() {
      // A caller with a longer deadline wants to wait for it.
      wire.limits.idle = max(wire.limits.idle, deadline)
      wire.limits.overall = max(wire.limits.overall, deadline)
    }
    let overall = wire.limits.overall
    // A link that the service wrote may have a key.
    var shown = LikelySecret.hidden(in: request.shownAddress)
    let begin = ContinuousClock.now
    for _ in 0...Self.redirectLimit {
      let response = try await exchange(wire, shown, scanner)
      guard let next = try wire.redirected(by: response, hiding: scanner) else {
        if request.receivesCredentials { return response }
        return scanner.redacted(request.responseStream?.taking(response) ?? response)
      }
      wire = next
      wire.limits.overall = overall - (.now - begin)
      // Without the query: the service wrote it, and may have put the secrets anywhere in it.
      shown = scanner.redacted(
        "\(wire.address.scheme)://\(wire.address.authority)\(wire.address.path)")
    }
    throw SourceError(
      .rejected, "\(wire.address.authority) redirects more than \(Self.redirectLimit) times")
  }

  private func exchange(
    _ wire: WireRequest, _ shown: String, _ scanner: SecretScanner
  ) async throws(SourceError) -> HTTPResponse {
    let observer = Observer.current
    let begin = ContinuousClock.now
    observer(.sent(method: wire.method.rawValue, address: shown))
    do {
      let response = try await engine.send(wire)
      observer(
        .received(
          status: response.status, bytes: response.body.count + (wire.responseStream?.count ?? 0),
          after: .now - begin, address: shown))
      return response
    } catch {
      let error = scanner.redacted(error)
      observer(.lost(error, after: .now - begin, address: shown))
      throw error
    }
  }
}
