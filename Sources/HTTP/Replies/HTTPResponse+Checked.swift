public import AggregatorCore
public import Foundation

extension HTTPResponse {
  /// The reply if its status says that the service did what it was asked.
  ///
  /// | status | code of the error |
  /// |---|---|
  /// | 2xx | none |
  /// | 401, 407 | `invalidKey` of a service that wants a key, else `rejected` |
  /// | 408 | `timedOut` |
  /// | 420, 425, 429 | `rateLimited` |
  /// | 404, 410, other 4xx, 3xx, 1xx | `rejected` |
  /// | 5xx and beyond | `serverError` |
  ///
  /// A source for which 404 is an answer looks at ``status`` before it calls this.
  ///
  /// - Parameters:
  ///   - service: The service's name, for the message.
  ///   - wantsKey: Whether the service was given a key.
  ///   - now: The date from which a `Retry-After` that is a date counts: the environment's.
  /// - Returns: This reply.
  /// - Throws: ``SourceError`` as in the table, with the service's `Retry-After`, and a message that
  ///   names service and status and quotes a short piece of the body.
  public func checked(
    by service: String, wantsKey: Bool = false, now: Date
  ) throws(SourceError) -> HTTPResponse {
    switch status {
    case 200..<300: return self
    case 401 where wantsKey, 407 where wantsKey:
      throw complaint(.invalidKey, "\(service) does not accept the key (\(status))", now)
    case 408: throw complaint(.timedOut, "\(service) gave up waiting (\(status))", now)
    case 420, 425, 429:
      throw complaint(.rateLimited, "\(service) asks to slow down (\(status))", now)
    case ..<500: throw complaint(.rejected, "\(service) refused the request (\(status))", now)
    default: throw complaint(.serverError, "\(service) failed (\(status))", now)
    }
  }

  private func complaint(_ code: SourceError.Code, _ message: String, _ now: Date) -> SourceError {
    let wait = retryAfter(from: now)
    return SourceError(
      code, message + (summary.map { ": \($0)" } ?? ""),
      remedy: wait.map { "retry in \($0.text)" }, retryAfter: wait)
  }
}
