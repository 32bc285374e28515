import AggregatorCore
package import AggregatorFoundation
import AggregatorText

extension HTTPResponse {
  private static let maxWait = Duration.seconds(24 * 3600)

  /// The wait in the `Retry-After` field (RFC 9110, section 10.2.3), or else that until the quota resets
  /// (`X-RateLimit-Reset`), if none is left.
  ///
  /// - Returns: More than zero and at most a day; `nil` if the field is missing, past or invalid.
  package func retryAfter(from now: Date) -> Duration? {
    let reset = hasQuotaLeft == false ? header("x-ratelimit-reset") : nil
    guard let text = header("retry-after") ?? reset else { return nil }
    let wait: Duration
    if !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) {
      wait = Int64(text).map { Self.wait($0, from: now) } ?? Self.maxWait
    } else if let date = Date(httpDate: text) {
      let seconds = date.timeIntervalSince(now)
      wait = .seconds(min(seconds, 24 * 3600).rounded(.up))
    } else {
      return nil
    }
    return wait > .zero ? min(wait, Self.maxWait) : nil
  }

  /// False if the service says that the quota is used up (`X-RateLimit-Remaining`, as GitHub and others send it); `nil` if
  /// it does not say.
  var hasQuotaLeft: Bool? {
    header("x-ratelimit-remaining").map { $0.trimmed != "0" }
  }

  /// Some services send the seconds since 1970: a number within a day of now is read as such.
  private static func wait(_ seconds: Int64, from now: Date) -> Duration {
    let rest = Double(seconds) - now.timeIntervalSince1970
    let isDate = rest.magnitude <= maxWait / .seconds(1)
    return .seconds(isDate ? rest.rounded(.up) : min(Double(seconds), maxWait / .seconds(1)))
  }

  /// The URL with `rel="next"` in the `Link` header fields (RFC 8288).
  public var nextLink: String? { link("next") }

  package var lastLink: String? { link("last") }

  private func link(_ relation: Substring) -> String? {
    for field in headers where field.name == "link" {
      for link in field.value.matches(of: /<([^<>]*)>([^<]*)/) {
        let parameters = link.output.2.lowercased().split(separator: ";")
        for pair in parameters.map({ $0.split(separator: "=", maxSplits: 1) })
        where pair.count == 2 && pair[0].trimmed == "rel" {
          let value = pair[1].split { " \t,\"".contains($0) }
          if value.contains(relation) { return String(link.output.1) }
        }
      }
    }
    return nil
  }
}
