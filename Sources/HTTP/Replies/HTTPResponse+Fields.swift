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

extension Date {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// A date in one of the three forms of HTTP (RFC 9110, section 5.6.7):
  /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
  ///
  /// `DateFormatter` is slow to create, and depends on the system's locales.
  package init?(httpDate text: String) {
    // All three have the same parts; only day, month and year are in different positions.
    let words = text.split { " ,-:".contains($0) }.dropFirst()
    guard words.count >= 6 else { return nil }
    let parts = Array(words)
    let isC = Self.months.contains(String(parts[0]))
    let (day, month) = isC ? (parts[1], parts[0]) : (parts[0], parts[1])
    let (year, time) = isC ? (parts[5], parts[2...4]) : (parts[2], parts[3...5])
    guard isC ? parts.count == 6 : parts.count == 7 && parts[6] == "GMT",
      let monthIndex = Self.months.firstIndex(of: String(month)),
      [2, 4].contains(year.count), let day = Int(day), let year = Int(year)
    else { return nil }
    let clock = time.compactMap { Int($0) }
    guard clock.count == 3 else { return nil }
    var components = DateComponents(
      timeZone: .gmt, year: year < 100 ? year + (year < 70 ? 2000 : 1900) : year,
      month: monthIndex + 1, day: day, hour: clock[0], minute: clock[1], second: clock[2])
    components.calendar = Calendar(identifier: .gregorian)
    guard 1...31 ~= day, 0...23 ~= clock[0], 0...59 ~= clock[1], 0...60 ~= clock[2],
      let date = components.date
    else { return nil }
    self = date
  }
}
