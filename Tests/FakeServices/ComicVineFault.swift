public import AggregatorSourceTesting

/// What Comic Vine, or what stands in front of it, says instead of an answer.
public enum ComicVineFault: CaseIterable, Sendable {
  /// The hour's quota for this kind of request is used up: 420, JSON.
  case quota
  /// Too fast: 429, HTML.
  case velocity
  /// The address or the `User-Agent` is not liked: 403, HTML of Cloudflare.
  case blocked
  /// 500, HTML.
  case broken
  /// 502, HTML.
  case badGateway
  /// 503, HTML.
  case unavailable
  /// A page for people where JSON was asked for: 200, HTML.
  case page
  /// The address is locked out for days: 200, HTML.
  case abnormalTraffic

  /// The reply.
  public var reply: LoopbackReply {
    switch self {
    case .quota:
      .json(
        #"{"error":"Rate limit exceeded.  Slow down cowboy.","limit":0,"offset":0,"#
          + #""number_of_page_results":0,"number_of_total_results":0,"status_code":107,"results":[]}"#,
        status: 420)
    case .velocity:
      .status(
        429, "<html><head><title>429</title></head><body>429 Too Many Requests</body></html>",
        headers: [("Content-Type", "text/html")])
    case .blocked: .html(title: "Attention Required! | Cloudflare", status: 403)
    case .broken: .html(title: "500 Internal Server Error", status: 500)
    case .badGateway: .html(title: "502 Bad Gateway", status: 502)
    case .unavailable: .html(title: "503 Service Temporarily Unavailable", status: 503)
    case .page: .html(title: "Comic Vine - Comics, Comic Art, Comic Reviews")
    case .abnormalTraffic: .html(title: "Abnormal Traffic Detected")
    }
  }
}
