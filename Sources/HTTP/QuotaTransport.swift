package import AggregatorCore
package import AggregatorFoundation

/// Tells the rate limit of a source when a service says, in whatever response, that none of its quota is left.
///
/// Then no request is made until the reset, instead of one that the service refuses. A `Retry-After` is more precise, and is
/// told by the error that it comes with.
package struct QuotaTransport: Transport {
  private let base: any Transport
  private let now: @Sendable () -> Date

  package init(_ base: any Transport, now: @escaping @Sendable () -> Date) {
    self.base = base
    self.now = now
  }

  package func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let response = try await base.send(request)
    if let pause = response.retryAfter(from: now()) {
      Departure.current?.refuse(request.methodAndPath)
      if response.header("retry-after") == nil { Departure.current?.demand(pause) }
    }
    return response
  }
}
