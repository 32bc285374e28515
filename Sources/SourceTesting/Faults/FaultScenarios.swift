import AggregatorKit
import Foundation

extension FaultScenario {
  /// All weathers, the fair one first.
  public static let all: [FaultScenario] =
    [fair] + busy + failing + connections + bodies + replies + pages

  /// Nothing is wrong.
  public static let fair = FaultScenario(
    "fair", "Nothing is wrong.", .fair, play: .answer { _ in nil })
}

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

extension FaultScenario {
  /// Longer than any reply of this machine takes, and short enough to be waited for.
  private static let silence = Duration.milliseconds(60)

  /// The connection fails.
  static let connections = [
    FaultScenario("refused", "Nobody listens.", .failing, says: [.unreachable], play: .refuse),
    FaultScenario(
      "reset", "The connection is reset instead of a reply.", .failing, says: [.connectionLost],
      play: .answer { _ in .reset }),
    FaultScenario(
      "closed", "The connection is closed instead of a reply.", .failing, says: [.connectionLost],
      play: .answer { _ in .closed }),
    FaultScenario(
      "stalled", "No reply ever comes.", .failing, says: [.timedOut], idle: silence,
      play: .answer { _ in .stalled }),
  ]

  /// The reply breaks off, or comes slowly.
  static let bodies = [
    FaultScenario(
      "cut", "The connection is closed in the middle of the body.", .failing,
      says: [.connectionLost],
      play: .body { .cut(after: $0.prefix($0.count / 2), of: $0.count) }),
    FaultScenario(
      "too-long", "Content-Length promises more than comes.", .failing, says: [.connectionLost],
      play: .body { .cut(after: $0, of: $0.count + 100) }),
    FaultScenario(
      "too-short", "Content-Length promises less than comes.", .failing, says: [.malformed],
      play: .body { .cut(after: $0, of: $0.count * 2 / 3) }),
    FaultScenario(
      "stalled-body", "The reply falls silent in the middle of the body.", .failing,
      says: [.timedOut], idle: silence,
      play: .body { .stalled(after: $0.prefix($0.count / 2), of: $0.count) }),
    FaultScenario(
      "slow", "The body drips, and comes in the end.", .passing,
      play: .body { .dripping($0, every: .milliseconds(2), size: max($0.count / 5, 1)) }),
    FaultScenario(
      "too-slow", "The body drips too slowly to come in time.", .failing, says: [.timedOut],
      overall: silence,
      play: .body { .dripping($0, every: .milliseconds(20), size: max($0.count / 50, 1)) }),
  ]
}

extension FaultScenario.Play {
  /// The service's own body, sent in another way.
  fileprivate static func body(_ send: @escaping @Sendable (Data) -> LoopbackReply) -> Self {
    .answer { send($0.fair().body) }
  }
}

extension FaultScenario {
  /// The reply is complete, and no answer.
  static let replies = [
    FaultScenario(
      "html-200", "An HTML page comes with status 200.", .failing, says: [.malformed],
      play: .answer { _ in .html(title: "Be right back") }),
    FaultScenario(
      "html-500", "An HTML page comes with status 500.", .failing, says: [.serverError],
      play: .answer { _ in .html(title: "Internal Server Error", status: 500) }),
    FaultScenario(
      "not-json", "The body is no JSON.", .failing, says: [.malformed],
      play: .answer { _ in .json(#"{"results": [{"id": 1, "name": "#) }),
    FaultScenario(
      "oversize", "The body is larger than the cap.", .failing, says: [.tooLarge],
      play: .answer { _ in .chunked(Data(repeating: 0x20, count: 64 << 10), times: 32) }),
    FaultScenario(
      "bomb", "A small body unpacks to 64 MiB.", .failing, says: [.tooLarge],
      play: .answer { _ in .gzipBomb(of: 64 << 20) }),
    FaultScenario(
      "redirect-loop", "Every call is redirected to itself.", .failing, says: [.rejected],
      play: .answer { _ in .redirect(to: "?again") }),
    FaultScenario(
      "redirect-away", "Every call is redirected to another host.", .failing, says: [.rejected],
      play: .answer { _ in .redirect(to: "http://elsewhere.invalid/") }),
  ]
}

extension FaultScenario {
  /// The pages of the service are not what they should be.
  static let pages = [
    FaultScenario(
      "repeated-page", "The second page is the first one again.", .strange, says: [.malformed],
      play: .change { $0.number == 2 ? $0.before : nil }),
    FaultScenario(
      "ignored-offset", "Every page is the first one.", .strange, says: [.malformed],
      play: .change { $0.number > 1 ? $0.first : nil }),
    FaultScenario(
      "empty-page", "The second page has no rows.", .strange, says: [.malformed],
      play: .change { $0.number == 2 ? $0.body?.replacingRows { _ in [] } : nil }),
    FaultScenario(
      "shrinking-total", "Each page tells a smaller total.", .strange, says: [.malformed],
      play: .change { $0.number > 1 ? $0.body?.dividingTotals(by: $0.number) : nil }),
    FaultScenario(
      "rows-gone", "Between two pages a row in front of them goes.", .strange, says: [.malformed],
      play: .change { page in
        page.number > 1 ? page.body?.replacingRows { Array($0.dropFirst()) } : nil
      }),
    FaultScenario(
      "rows-come", "Between two pages a row in front of them comes.", .strange, says: [.malformed],
      play: .change { page in
        guard page.number > 1, let last = page.before?.rows?.last else { return nil }
        return page.body?.replacingRows { [last] + $0.dropLast() }
      }),
    FaultScenario(
      // The others can be, so that no failure is in order.
      "bad-row", "The first row of every page cannot be read.", .unreadable,
      play: .change { $0.body?.replacingRows { [.null] + $0.dropFirst() } }),
    FaultScenario(
      "bad-rows", "No row can be read.", .unreadable, says: [.malformed],
      play: .change { $0.body?.replacingRows { $0.map { _ in .object([]) } } }),
  ]
}
