package import AggregatorKit

/// The transport of the network, for services on this machine: requests with the standard timeouts have long ones.
package struct LongTimeoutTransport: Transport {
  package init() {}

  package func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    var request = request
    request.limits = request.limits.withLongTimeouts
    return try await HTTPTransport.standard.send(request)
  }
}

extension HTTPLimits {
  /// Ten minutes in place of the standard timeouts: on a busy machine, 30 s passed before a request was sent.
  package var withLongTimeouts: HTTPLimits {
    let (standard, long) = (HTTPLimits.standard, Duration.seconds(600))
    // A redirect has less time as a whole.
    let isLimited = overall < standard.overall - .seconds(60)
    guard (connect, idle) == (standard.connect, standard.idle), !isLimited else { return self }
    return HTTPLimits(bodyBytes: bodyBytes, connect: long, idle: long, overall: long)
  }
}
