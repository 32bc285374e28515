public import AggregatorKit
public import AggregatorTestSupport
import Foundation

/// randomuser.me v1.4 on 127.0.0.1: it rejects nothing, and silently does something else.
///
/// Deinitialisation stops it.
public final class FakeRandomUser: FakeService {
  public let server: InterruptibleServer

  /// - Parameters:
  ///   - portraits: The URL of the portraits, up to `/portraits`; `nil` for a host that does not exist.
  ///   - servesPictures: True if the service has the portraits itself, as ``FakePictures/picture``.
  public init(
    quirks: Set<RandomUserQuirk> = [], portraits: String? = nil, servesPictures: Bool = false
  ) throws(SourceError) {
    let responder = RandomUserHandler(
      quirks: quirks, servesPictures: servesPictures, portraits: portraits)
    server = try InterruptibleServer { responder.reply(to: $0) }
  }

  /// The email addresses of a page, in the service's own case, including repetitions.
  public static func emails(onPage page: Int, of size: Int, seed: String) -> [String] {
    (0..<size).map { FakePerson(seed: seed, page: Double(page), index: $0).email }
  }

  /// The value for `RANDOM_USER_URL`.
  public var url: URL { server.baseURL.appending(path: "api/") }

  public var settings: [String: String] {
    [
      "RANDOM_USER_URL": url.absoluteString, "RANDOM_USER_RATE": "off",
      "RANDOM_USER_PAGE_SIZE": "10",
    ]
  }
}

/// A reply of randomuser.me, or of a proxy in front of it, instead of people.
public enum RandomUserFault: CaseIterable, Sendable {
  /// Too many people requested: 429, JSON; 503, as before August 2020; or even 200.
  case tooMany, tooManyAs503, tooManyAs200
  /// An internal error: 500, JSON; or 200.
  case wrong, wrongAs200
  /// 500, plain text.
  case broken
  /// 404, plain text.
  case unknownVersion
  /// Cloudflare blocks the address: 403, HTML.
  case blocked
  /// 503, HTML.
  case outage
  /// A web page: 200, HTML.
  case page

  public var reply: LoopbackReply {
    switch self {
    case .tooMany: .json(Self.easeUp, status: 429)
    case .tooManyAs503: .json(Self.easeUp, status: 503)
    case .tooManyAs200: .json(Self.easeUp)
    case .wrong: .json(Self.uhOh, status: 500)
    case .wrongAs200: .json(Self.uhOh)
    case .broken: .status(500, "Internal Server Error", headers: Self.text)
    case .unknownVersion: .status(404, "Not Found", headers: Self.text)
    case .blocked: .html(title: "Attention Required! | Cloudflare", status: 403)
    case .outage: .html(title: "503 Service Unavailable", status: 503)
    case .page: .html(title: "Random User Generator | Home")
    }
  }

  private static let text = [("Content-Type", "text/plain; charset=utf-8")]

  private static let easeUp = """
    {"error":"Whoa, ease up there cowboy. You've requested 20192 users in the last minute. Help us \
    keep this service free and spare some bandwidth for other users please :)"}
    """
  private static let uhOh = """
    {"error":"Uh oh, something has gone wrong. Please tweet us @randomapi about the issue. Thank you."}
    """
}

/// An oddity in a successful page.
public enum RandomUserQuirk: CaseIterable, Sendable {
  /// `info` is missing.
  case withoutInfo
  /// `info` contains page 1.5.
  case halfPage
  /// `info` names another seed.
  case otherSeed
  /// Sends three people more than declared.
  case generous
  /// Rows 2 to 4 are unreadable: no email address, no name, null.
  case badRows
  /// The first row is in the format of version 1.2.
  case oldRow
  /// Pages are empty.
  case nobody
  /// The first half of a page repeats the second half of the previous one.
  case repeating
}

struct RandomUserHandler {
  let quirks: Set<RandomUserQuirk>
  let servesPictures: Bool
  /// `nil` for a host that does not exist.
  var portraits: String?

  func reply(to request: LoopbackRequest) -> LoopbackReply {
    if servesPictures, request.path.hasPrefix("/portraits/") { return FakePictures.reply }
    guard ["/api/", "/api", "/api/1.4/", "/api/1.4"].contains(request.path) else {
      return RandomUserFault.unknownVersion.reply
    }
    let query = request.query
    var seed = query["seed"] ?? "e821c0d323c754b3"
    if seed.utf8.count == 18 {
      // The last two characters select a nationality; if it does not exist, the service never
      // replies.
      guard let index = Int(seed.suffix(2), radix: 16), index <= 0x14 else { return .stalled }
      seed += "00"
    }
    let count = Self.count(query["results"])
    let page = Self.page(query["page"])
    var handler = self
    if servesPictures { handler.portraits = "\(request.origin)/portraits" }
    return .json(handler.body(seed: seed, page: page, count: count).text)
  }

  private func body(seed: String, page: Double, count: Int) -> JSON {
    let sent = quirks.contains(.nobody) ? 0 : count + (quirks.contains(.generous) ? 3 : 0)
    var rows = (0..<sent).map { index in
      var person = FakePerson(seed: seed, page: page, index: index)
      if let portraits { person.portraits = portraits }
      return person.json
    }
    if quirks.contains(.repeating), page > 1 {
      let half = rows.count / 2
      rows[..<half] = ArraySlice(
        (rows.count - half..<rows.count).map {
          FakePerson(seed: seed, page: page - 1, index: $0).json
        })
    }
    if quirks.contains(.badRows), rows.count > 3 {
      rows[1...3] = [["name": ["first": "A", "last": "B"]], ["email": "a@example.com"], nil]
    }
    if quirks.contains(.oldRow), !rows.isEmpty {
      rows[0] = FakePerson(seed: seed, page: page, index: 0).oldJSON
    }
    if quirks.contains(.withoutInfo) { return ["results": .array(rows)] }
    let said = quirks.contains(.halfPage) ? 1.5 : page
    return [
      "results": .array(rows),
      "info": [
        "seed": .string(quirks.contains(.otherSeed) ? "another" : seed), "results": .integer(count),
        "page": Int(exactly: said).map(JSON.integer) ?? .number(said), "version": "1.4",
      ],
    ]
  }

  /// Everything except integers from 1 to 5000 counts as 1.
  private static func count(_ text: String?) -> Int {
    text.flatMap { Double($0) }.flatMap { Int(exactly: $0) }.flatMap { 1...5000 ~= $0 ? $0 : nil }
      ?? 1
  }

  /// Everything except numbers from 1 to 10 000 counts as 1.
  private static func page(_ text: String?) -> Double {
    text.flatMap { Double($0) }.flatMap { 1...10_000 ~= $0 ? $0 : nil } ?? 1
  }
}
