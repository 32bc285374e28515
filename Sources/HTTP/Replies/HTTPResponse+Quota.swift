import AggregatorCore
package import AggregatorFoundation
import AggregatorText

// A service's quota: the number of requests that are left, and the time of its next reset.
extension HTTPResponse {
  /// The longest wait that a service can demand, in seconds.
  private static let maxWait = 24.0 * 3600

  /// The wait in the `Retry-After` field (RFC 9110, section 10.2.3), or else ``quotaPause(from:)``.
  ///
  /// - Returns: More than zero and at most a day; `nil` if the service names no wait.
  package func retryAfter(from now: Date) -> Duration? {
    guard let text = header("retry-after"), let wait = Self.wait(text, from: now) else {
      return quotaPause(from: now)
    }
    return wait > .zero ? wait : nil
  }

  /// The time until the quota is reset, if none of it is left.
  ///
  /// The fields are `RateLimit` of the IETF draft (`"burst";r=0;t=30`; draft-ietf-httpapi-ratelimit-headers), those of
  /// its earlier versions (`RateLimit-Remaining` and `RateLimit-Reset`, or `remaining=0, reset=30`), and the older ones
  /// that begin with `X-RateLimit-` or `X-Rate-Limit-`. A reset is in seconds, or a time: in seconds or milliseconds since
  /// 1970, as a date of HTTP, or in the form of ISO 8601.
  ///
  /// A service may have several quotas: the last reset counts. A negative number, any other text, and a field that is
  /// repeated with another value are ignored.
  ///
  /// - Returns: More than zero and at most a day; `nil` if there is quota left, or if the service does not say it.
  package func quotaPause(from now: Date) -> Duration? {
    let waits = usedUpQuotas.compactMap { reset in
      reset.flatMap { Self.wait($0, from: now, allowsFraction: true) }
    }
    return waits.max().flatMap { $0 > .zero ? $0 : nil }
  }

  /// True if the service says that a quota is used up.
  var hasUsedUpQuota: Bool { !usedUpQuotas.isEmpty }

  /// The resets of the quotas that are used up; `nil` for one without.
  private var usedUpQuotas: [String?] {
    var resets: [String?] = []
    for name in ["ratelimit", "x-ratelimit", "x-rate-limit"]
    where uniqueValue("\(name)-remaining")?.isZero ?? false {
      resets.append(uniqueValue("\(name)-reset"))
    }
    // The only item of an earlier version has its members apart.
    var members: [String: String] = [:]
    for field in headers where field.name == "ratelimit" {
      for item in field.value.split(unquoted: ",") {
        let pairs = item.split(unquoted: ";").map { $0.split(separator: "=", maxSplits: 1) }
          .filter { $0.count == 2 }
        let parameters = Dictionary(pairs.map { ($0[0].trimmed, $0[1].trimmed) }) { $1 }
        if parameters["r"]?.isZero ?? false { resets.append(parameters["t"]) }
        members.merge(parameters) { first, _ in first }
      }
    }
    if members["remaining"]?.isZero ?? false { resets.append(members["reset"]) }
    return resets
  }

  /// The value of a field; `nil` if it is missing, or there with different values.
  private func uniqueValue(_ name: String) -> String? {
    let values = Set(headers.filter { $0.name == name }.map(\.value.trimmed))
    return values.count == 1 ? values.first : nil
  }

  /// The wait that a text says, in seconds or as a time: zero to a day, zero for a time that is past; `nil` for any other text.
  private static func wait(
    _ text: String, from now: Date, allowsFraction: Bool = false
  ) -> Duration? {
    let isNumber = text.utf8.allSatisfy {
      UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || allowsFraction && $0 == UInt8(ascii: ".")
    }
    let seconds: Double
    if isNumber, let number = Double(text) {
      let time = number < 1e11 ? number : number / 1000
      let rest = time - now.timeIntervalSince1970
      // Some services send the time of the end: near to now, or longer than any wait.
      seconds = rest.magnitude <= maxWait || number > 366 * maxWait ? rest : number
    } else if let date = Date(httpDate: text) ?? Period(text)?.date {
      seconds = date.timeIntervalSince(now)
    } else {
      return nil
    }
    return .seconds(min(max(seconds.rounded(.up), 0), maxWait))
  }
}

extension String {
  /// True for `0`, in any number of digits.
  fileprivate var isZero: Bool { !isEmpty && utf8.allSatisfy { $0 == UInt8(ascii: "0") } }
}

extension StringProtocol {
  /// The parts between separators, except those inside of strings (RFC 9651, section 3.3.3).
  fileprivate func split(unquoted separator: Character) -> [SubSequence] {
    var isQuoted = false
    var isEscaped = false
    return split { character in
      defer { isEscaped = isQuoted && !isEscaped && character == "\\" }
      if character == "\"", !isEscaped { isQuoted.toggle() }
      return character == separator && !isQuoted
    }
  }
}

extension Period {
  /// The start; `nil` if the period is longer than a day.
  fileprivate var date: Date? { isDate ? Date(timeIntervalSince1970: start) : nil }
}
