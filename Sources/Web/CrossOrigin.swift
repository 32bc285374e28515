package import AggregatorServer

// Requests of pages of other origins (https://fetch.spec.whatwg.org/#http-cors-protocol).

extension ServerResponse {
  /// The answer to the question whether a page may send a request; ``allow(_:)`` names the page's origin.
  package static func preflight(for request: ServerRequest) -> ServerResponse {
    ServerResponse(
      204, "text/plain; charset=utf-8", [],
      headers: [
        .init("Access-Control-Allow-Methods", "GET, POST, DELETE"),
        .init(
          "Access-Control-Allow-Headers",
          request.header("Access-Control-Request-Headers") ?? "Authorization"),
        .init("Access-Control-Max-Age", "600"),
      ])
  }

  /// Lets the pages of an origin read it; cookies are not for them.
  package mutating func allow(_ origin: String) {
    set("Access-Control-Allow-Origin", origin)
    set("Access-Control-Expose-Headers", "Age, ETag, Link, Retry-After, X-Aggregator-Origin")
    headers.append(.init("Vary", "Origin"))
  }
}
