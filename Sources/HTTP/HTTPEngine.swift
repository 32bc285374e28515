package import AggregatorCore
package import Foundation

/// What speaks HTTP: sends one request to one server and waits for its reply.
///
/// ``HTTPTransport`` does what all engines have in common: secrets, redirects, events. An engine never
/// follows a redirect, keeps no cookies and no cache, checks certificates, decodes `gzip` and `deflate`,
/// stops at the limits, and names in its errors the host and never the address.
package protocol HTTPEngine: Sendable {
  /// Sends one request.
  ///
  /// - Parameter request: The request as it goes over the wire.
  /// - Returns: The reply, whatever its status.
  /// - Throws: ``SourceError``: `unreachable`, `connectionLost`, `timedOut`, `tooLarge`, `malformed`
  ///   for what is not HTTP, or `cancelled`.
  func send(_ request: WireRequest) async throws(SourceError) -> HTTPResponse
}

/// A request as it goes over the wire: the only value in which secrets are readable.
package struct WireRequest: Sendable {
  /// What is done.
  package var method: HTTPRequest.Method
  /// Where it goes.
  package var address: Address
  /// Valid header fields; `Content-Length` and what belongs to the connection is the engine's business.
  package var headers: [(name: String, value: String)]
  /// The body of a POST.
  package var body: Data?
  /// How large the reply may be, and how long it may take.
  package var limits: HTTPLimits
}

extension WireRequest: CustomStringConvertible, CustomReflectable {
  /// The method and the host: nothing secret.
  package var description: String { "\(method.rawValue) \(address.authority)" }

  /// Hides the secrets from `dump` and other mirrors.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
