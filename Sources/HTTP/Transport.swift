public import AggregatorCore

/// What sends one HTTP request.
///
/// ``HTTPTransport`` is the real one. Others wrap it or stand in for it: to record, to replay, to
/// refuse, to fail on purpose.
public protocol Transport: Sendable {
  /// Sends a request and waits for the whole reply.
  ///
  /// - Parameter request: What to send.
  /// - Returns: The reply, whatever its status.
  /// - Throws: ``SourceError``: `unreachable`, `connectionLost`, `timedOut`, `tooLarge`, `malformed`
  ///   for what is not HTTP, or `cancelled`.
  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse
}
