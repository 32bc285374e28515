package import AggregatorKit
import Foundation

extension FaultScenario {
  /// All scenarios; the first one has no fault.
  public static let all: [FaultScenario] =
    [noFault] + tooManyRequests + serverErrors + connections + bodies + replies + pages

  public static let noFault = FaultScenario(
    "no-fault", "No fault.", .noFault, injection: .answer { _ in nil })

  static let tooManyRequests = [
    tooMany("429-seconds", "with Retry-After in seconds", wait: .seconds(3)) { _ in "2" },
    tooMany("429-date", "with Retry-After as a date", wait: .seconds(3)) {
      $0.addingTimeInterval(2).httpDate
    },
    tooMany("429-epoch", "with Retry-After as seconds since 1970", wait: .seconds(3)) {
      "\(Int($0.timeIntervalSince1970) + 2)"
    },
    tooMany("429-zero", "with Retry-After: 0") { _ in "0" },
    tooMany("429-no-retry-after", "without Retry-After") { _ in nil },
    FaultScenario(
      "429-transient", "Two requests get status 429 with Retry-After: 1.", .transient,
      codes: [.rateLimited],
      injection: .answer { $0.call <= 2 ? .tooMany(retryAfter: "1") : nil }),
  ]

  static let serverErrors = [500, 502, 503].flatMap { status in
    [
      FaultScenario(
        "\(status)-transient", "Two requests get status \(status).", .transient,
        codes: [.serverError],
        injection: .answer { $0.call <= 2 ? .html(title: "\(status)", status: status) : nil }),
      FaultScenario(
        "\(status)-persistent", "Every request gets status \(status).", .failing,
        codes: [.serverError], injection: .answer { _ in .html(title: "\(status)", status: status) }
      ),
    ]
  }

  private static func tooMany(
    _ name: String, _ how: String, wait: Duration? = nil,
    _ value: @escaping @Sendable (Date) -> String?
  ) -> FaultScenario {
    FaultScenario(
      name, "Every request gets status 429, \(how).", .failing, codes: [.rateLimited], wait: wait,
      injection: .answer { .tooMany(retryAfter: value($0.now)) })
  }

  /// Longer than any local reply takes, yet short enough to wait for.
  private static let silence = Duration.milliseconds(60)

  static let connections = [
    FaultScenario(
      "refused", "Connections are refused.", .failing, codes: [.unreachable], injection: .refuse),
    FaultScenario(
      "reset", "The connection is reset without a response.", .failing, codes: [.connectionLost],
      injection: .answer { _ in .reset }),
    FaultScenario(
      "closed", "The connection is closed without a response.", .failing, codes: [.connectionLost],
      injection: .answer { _ in .closed }),
    FaultScenario(
      "stalled", "No response ever arrives.", .failing, codes: [.timedOut], idle: silence,
      injection: .answer { _ in .stalled }),
  ]

  static let bodies = [
    FaultScenario(
      "cut", "The connection is closed in the middle of the body.", .failing,
      codes: [.connectionLost],
      injection: .body { .cut(after: $0.prefix($0.count / 2), of: $0.count) }),
    FaultScenario(
      "length-too-large", "Content-Length is larger than the body.", .failing,
      codes: [.connectionLost],
      injection: .body { .cut(after: $0, of: $0.count + 100) }),
    FaultScenario(
      "length-too-small", "Content-Length is smaller than the body.", .failing,
      codes: [.malformed],
      injection: .body { .cut(after: $0, of: $0.count * 2 / 3) }),
    FaultScenario(
      "stalled-body", "The response stalls in the middle of the body.", .failing,
      codes: [.timedOut], idle: silence,
      injection: .body { .stalled(after: $0.prefix($0.count / 2), of: $0.count) }),
    FaultScenario(
      "slow", "The body arrives slowly but completely.", .transient,
      injection: .body { .dripping($0, every: .milliseconds(2), size: max($0.count / 5, 1)) }),
    FaultScenario(
      "too-slow", "The body arrives too slowly.", .failing, codes: [.timedOut],
      overall: silence,
      injection: .body { .dripping($0, every: .milliseconds(20), size: max($0.count / 50, 1)) }),
  ]

  static let replies = [
    FaultScenario(
      "html-200", "An HTML page with status 200.", .failing, codes: [.malformed],
      injection: .answer { _ in .html(title: "Be right back") }),
    FaultScenario(
      "html-500", "An HTML page with status 500.", .failing, codes: [.serverError],
      injection: .answer { _ in .html(title: "Internal Server Error", status: 500) }),
    FaultScenario(
      "echoed-key", "An HTML page with status 500 repeats the key, bare and encoded.", .failing,
      codes: [.serverError],
      injection: .answer { context in
        guard !context.secrets.isEmpty else { return nil }
        let echo = context.secrets.map { $0.revealToken { $1.echo } }.joined(separator: " ")
        return .html(title: echo, status: 500)
      }),
    FaultScenario(
      "not-json", "The body is not JSON.", .failing, codes: [.malformed],
      injection: .answer { _ in .json(#"{"results": [{"id": 1, "name": "#) }),
    FaultScenario(
      "oversize", "The body exceeds the size limit.", .failing, codes: [.tooLarge],
      injection: .answer { _ in .chunked(Data(repeating: 0x20, count: 64 << 10), times: 32) }),
    FaultScenario(
      "gzip-bomb", "A small body decompresses to 64 MiB.", .failing, codes: [.tooLarge],
      injection: .answer { _ in .gzipBomb(of: 64 << 20) }),
    FaultScenario(
      "redirect-loop", "Every request is redirected to itself.", .failing, codes: [.rejected],
      injection: .answer { _ in .redirect(to: "?again") }),
    FaultScenario(
      "redirect-cross-host", "Every request is redirected to another host.", .failing,
      codes: [.rejected],
      injection: .answer { _ in .redirect(to: "http://elsewhere.invalid/") }),
  ]

  static let pages = [
    FaultScenario(
      "repeated-page", "The second page repeats the first one.", .inconsistent, codes: [.malformed],
      injection: .change { $0.number == 2 ? $0.before : nil }),
    FaultScenario(
      "ignored-offset", "Every page is the first one.", .inconsistent, codes: [.malformed],
      injection: .change { $0.number > 1 ? $0.first : nil }),
    FaultScenario(
      "empty-page", "The second page is empty.", .inconsistent, codes: [.malformed],
      injection: .change { $0.number == 2 ? $0.body?.replacingRows { _ in [] } : nil }),
    FaultScenario(
      "shrinking-total", "The total shrinks with each page.", .inconsistent, codes: [.malformed],
      injection: .change { $0.number > 1 ? $0.body?.dividingTotals(by: $0.number) : nil }),
    FaultScenario(
      "row-deleted", "An earlier row disappears between two pages.", .inconsistent,
      codes: [.malformed],
      injection: .change { page in
        page.number > 1 ? page.body?.replacingRows { Array($0.dropFirst()) } : nil
      }),
    FaultScenario(
      "row-inserted", "An earlier row appears between two pages.", .inconsistent,
      codes: [.malformed],
      injection: .change { page in
        guard page.number > 1, let last = page.before?.rows?.last else { return nil }
        return page.body?.replacingRows { [last] + $0.dropLast() }
      }),
    FaultScenario(
      // The other rows are readable, so an error would be wrong.
      "bad-row", "The first of several rows is unreadable.", .unreadable,
      injection: .change { $0.body?.replacingRows { $0.count > 1 ? [.null] + $0.dropFirst() : $0 } }
    ),
    FaultScenario(
      "bad-rows", "All rows are unreadable.", .unreadable, codes: [.malformed],
      injection: .change { $0.body?.replacingRows { $0.map { _ in .object([]) } } }),
  ]
}

extension LoopbackReply {
  fileprivate static func tooMany(retryAfter value: String?) -> LoopbackReply {
    .status(429, "slow down", headers: value.map { [("Retry-After", $0)] } ?? [])
  }
}

extension Date {
  /// An HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
  fileprivate var httpDate: String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: self)
  }
}

extension FaultScenario.Injection {
  /// The service's own body, sent differently.
  fileprivate static func body(_ send: @escaping @Sendable (Data) -> LoopbackReply) -> Self {
    .answer { send($0.original().body) }
  }
}

extension String {
  /// This key in some of the forms in which a service may repeat it, the shortest text first.
  fileprivate var echo: String {
    let references = unicodeScalars.map { "&#\($0.value);" }.joined()
    return
      "\(self) \(percentEncoded) \(Data(utf8).base64EncodedString()) \(uppercased()) \(references)"
  }
}

extension JSON {
  /// The rows of a reply: its largest list of objects; `nil` if there is none.
  package var rows: [JSON]? { rowsPath().map { value(at: $0.path) }?.elements }

  /// This value with other rows; `nil` if there are none, or if they stay the same.
  package func replacingRows(_ change: ([JSON]) -> [JSON]) -> JSON? {
    guard let path = rowsPath()?.path, let rows = value(at: path).elements else { return nil }
    let changed = change(rows)
    // `nil` in a conditional expression would be JSON's null.
    guard changed != rows else { return nil }
    return replacing(path[...], with: .array(changed))
  }

  /// This value with smaller totals; `nil` if it has none.
  package func dividingTotals(by divisor: Int) -> JSON? {
    let names: Set = ["total", "totalcount", "totalresults", "numberoftotalresults", "count"]
    guard case .object(let members) = self else { return nil }
    var changed = false
    let smaller = members.map { member -> Member in
      let name = member.name.lowercased().filter(\.isLetter)
      if names.contains(name), case .integer(let total) = member.value {
        changed = true
        return Member(member.name, .integer(total / divisor))
      }
      guard case .object = member.value, let value = member.value.dividingTotals(by: divisor)
      else { return member }
      changed = true
      return Member(member.name, value)
    }
    guard changed else { return nil }
    return .object(smaller)
  }

  private var elements: [JSON]? { if case .array(let elements) = self { elements } else { nil } }

  /// The path to the rows, and their number; ignores lists within rows.
  private func rowsPath() -> (path: [String], count: Int)? {
    switch self {
    case .array(let elements):
      let isRows = elements.contains { if case .object = $0 { true } else { false } }
      return isRows ? ([], elements.count) : nil
    case .object(let members):
      let paths = members.compactMap { member in
        member.value.rowsPath().map { (path: [member.name] + $0.path, count: $0.count) }
      }
      return paths.max { $0.count < $1.count }
    default: return nil
    }
  }

  private func value(at path: [String]) -> JSON { path.reduce(self) { $0[$1] ?? .null } }

  private func replacing(_ path: ArraySlice<String>, with value: JSON) -> JSON {
    guard let name = path.first, case .object(let members) = self else { return value }
    return .object(
      members.map { member in
        member.name == name
          ? Member(name, member.value.replacing(path.dropFirst(), with: value)) : member
      })
  }
}
