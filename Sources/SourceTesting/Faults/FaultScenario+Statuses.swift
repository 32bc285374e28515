import AggregatorKit
import Foundation

extension FaultScenario {
  /// The service asks to be left alone.
  static let busy = [
    tooMany("429-seconds", "with Retry-After in seconds", wait: .seconds(3)) { _ in "2" },
    tooMany("429-date", "with Retry-After as a date", wait: .seconds(3)) {
      $0.addingTimeInterval(2).httpDate
    },
    tooMany("429-epoch", "with Retry-After as seconds since 1970", wait: .seconds(3)) {
      "\(Int($0.timeIntervalSince1970) + 2)"
    },
    tooMany("429-zero", "with Retry-After: 0") { _ in "0" },
    tooMany("429-silent", "without Retry-After") { _ in nil },
    FaultScenario(
      "429-passing", "Two calls are answered with 429 and Retry-After: 1.", .passing,
      says: [.rateLimited],
      play: .answer { $0.call <= 2 ? .tooMany(retryAfter: "1") : nil }),
  ]

  /// The service fails.
  static let failing = [500, 502, 503].flatMap { status in
    [
      FaultScenario(
        "\(status)-passing", "Two calls are answered with \(status).", .passing,
        says: [.serverError],
        play: .answer { $0.call <= 2 ? .html(title: "\(status)", status: status) : nil }),
      FaultScenario(
        "\(status)-for-ever", "Every call is answered with \(status).", .failing,
        says: [.serverError], play: .answer { _ in .html(title: "\(status)", status: status) }),
    ]
  }

  private static func tooMany(
    _ name: String, _ how: String, wait: Duration? = nil,
    _ value: @escaping @Sendable (Date) -> String?
  ) -> FaultScenario {
    FaultScenario(
      name, "Every call is answered with 429, \(how).", .failing, says: [.rateLimited], wait: wait,
      play: .answer { .tooMany(retryAfter: value($0.now)) })
  }
}

extension LoopbackReply {
  fileprivate static func tooMany(retryAfter value: String?) -> LoopbackReply {
    .status(429, "slow down", headers: value.map { [("Retry-After", $0)] } ?? [])
  }
}

extension Date {
  /// This date as in `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
  fileprivate var httpDate: String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let parts = calendar.dateComponents(
      [.weekday, .day, .month, .year, .hour, .minute, .second], from: self)
    func two(_ number: Int?) -> String {
      let number = number ?? 0
      return number < 10 ? "0\(number)" : "\(number)"
    }
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    let date = [
      two(parts.day), months[(parts.month ?? 1) - 1], "\(parts.year ?? 0)",
    ].joined(separator: " ")
    let time = [parts.hour, parts.minute, parts.second].map(two).joined(separator: ":")
    return "\(days[(parts.weekday ?? 1) - 1]), \(date) \(time) GMT"
  }
}
