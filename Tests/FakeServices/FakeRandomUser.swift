public import AggregatorKit
public import AggregatorSourceTesting
public import Foundation

/// randomuser.me v1.4 as it is, on 127.0.0.1: it refuses nothing, and silently does something else.
///
/// It is stopped when nobody holds it any more.
public final class FakeRandomUser: FakeService {
  /// What answers.
  public let server: InterruptibleServer

  /// Starts the service.
  ///
  /// - Parameters:
  ///   - quirks: What is wrong with its pages.
  ///   - portraits: Where the portraits are, up to `/portraits`.
  /// - Throws: ``SourceError`` with code `unreachable` if the system gives no socket.
  public init(
    quirks: Set<RandomUserQuirk> = [], portraits: String? = nil
  ) throws(SourceError) {
    let responder = RandomUserHandler(quirks: quirks, portraits: portraits)
    server = try InterruptibleServer { responder.reply(to: $0) }
  }

  /// The e-mail addresses of a page, in the service's own case, with all repetitions.
  ///
  /// - Parameters:
  ///   - page: Which page.
  ///   - size: How many people it has.
  ///   - seed: Of which collection.
  /// - Returns: One address for each person.
  public static func emails(onPage page: Int, of size: Int, seed: String) -> [String] {
    (0..<size).map { FakePerson(seed: seed, page: Double(page), index: $0).email }
  }

  /// What `RANDOM_USER_URL` has to be.
  public var url: URL { server.baseURL.appending(path: "api/") }

  /// Address, a page size of 10, and no rate.
  public var settings: [String: String] {
    [
      "RANDOM_USER_URL": url.absoluteString, "RANDOM_USER_RATE": "off",
      "RANDOM_USER_PAGE_SIZE": "10",
    ]
  }
}

/// What randomuser.me, or what stands in front of it, says instead of people.
public enum RandomUserFault: CaseIterable, Sendable {
  /// More people were asked for than is liked: 429, JSON; or 503, as before August 2020; or even 200.
  case tooMany, tooManyAs503, tooManyAs200
  /// Something has gone wrong: 500, JSON; or 200.
  case wrong, wrongAs200
  /// 500, plain text.
  case broken
  /// 404, plain text.
  case unknownVersion
  /// The address is not liked: 403, HTML of Cloudflare.
  case blocked
  /// 503, HTML.
  case outage
  /// A page for people: 200, HTML.
  case page

  /// The reply.
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

/// What can be wrong with a page of people that says that all is well.
public enum RandomUserQuirk: CaseIterable, Sendable {
  /// There is no `info`.
  case withoutInfo
  /// `info` says page 1.5.
  case halfPage
  /// `info` names another seed.
  case otherSeed
  /// Sends three people more than it says.
  case generous
  /// The second, third and fourth row cannot be read: no e-mail address, no name, null.
  case badRows
  /// The first row is as in version 1.2.
  case oldRow
  /// Nobody comes.
  case nobody
  /// The first half of a page is the second half of the page before.
  case repeating
}

/// Answers requests as randomuser.me does.
struct RandomUserHandler {
  let quirks: Set<RandomUserQuirk>
  /// Where the portraits are; `nil` for a place that there is not.
  var portraits: String?

  func reply(to request: LoopbackRequest) -> LoopbackReply {
    guard ["/api/", "/api", "/api/1.4/", "/api/1.4"].contains(request.path) else {
      return RandomUserFault.unknownVersion.reply
    }
    let query = request.query
    var seed = query["seed"] ?? "e821c0d323c754b3"
    if seed.utf8.count == 18 {
      // The last two characters are taken for a nationality; of one that there is not, no answer comes.
      guard let index = Int(seed.suffix(2), radix: 16), index <= 0x14 else { return .stalled }
      seed += "00"
    }
    let count = Self.count(query["results"])
    let page = Self.page(query["page"])
    return .json(body(seed: seed, page: page, count: count).text)
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

  /// What is no whole number from 1 to 5000 is 1.
  private static func count(_ text: String?) -> Int {
    text.flatMap { Double($0) }.flatMap { Int(exactly: $0) }.flatMap { 1...5000 ~= $0 ? $0 : nil }
      ?? 1
  }

  /// What is no number from 1 to 10 000 is 1.
  private static func page(_ text: String?) -> Double {
    text.flatMap { Double($0) }.flatMap { 1...10_000 ~= $0 ? $0 : nil } ?? 1
  }
}
