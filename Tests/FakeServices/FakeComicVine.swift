public import AggregatorKit
public import AggregatorSourceTesting
public import Foundation

/// Comic Vine as it is, on 127.0.0.1: its lists, its search, its single characters and its errors.
///
/// ```swift
/// let service = try FakeComicVine(quirks: [.badRows])
/// service.fail(with: ComicVineFault.velocity.reply, times: 2)
/// … Settings(service.settings) …
/// #expect(service.requests.count == 3)
/// ```
///
/// It is stopped when nobody holds it any more.
public final class FakeComicVine: FakeService {
  /// The key that it accepts: a canary, found in no other text, which percent-encoding and JSON change.
  public static let key = "canary/7f3a+9c51e2d84b06"

  /// What answers.
  public let server: InterruptibleServer

  /// Starts the service.
  ///
  /// - Parameters:
  ///   - characters: Whom it knows.
  ///   - quirks: What is wrong with its answers.
  ///   - searchLimit: The most rows that a page of a search has: 100, or 10 as since July 2026.
  ///   - isCompressed: Whether it packs what it sends, for those who accept that.
  /// - Throws: ``SourceError`` with code `unreachable` if the system gives no socket.
  public init(
    _ characters: [FakeCharacter] = FakeCharacter.cast, quirks: Set<ComicVineQuirk> = [],
    searchLimit: Int = 100, isCompressed: Bool = false
  ) throws(SourceError) {
    let responder = ComicVineHandler(
      characters: characters.sorted { $0.id < $1.id }, quirks: quirks, searchLimit: searchLimit,
      isCompressed: isCompressed)
    server = try InterruptibleServer { responder.reply(to: $0) }
  }

  /// What `COMIC_VINE_URL` has to be.
  public var url: URL { server.baseURL.appending(path: "api") }

  /// Address, key, and no rate.
  public var settings: [String: String] {
    [
      "COMIC_VINE_URL": url.absoluteString, "COMIC_VINE_API_KEY": Self.key,
      "COMIC_VINE_RATE": "off",
    ]
  }
}

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

/// What can be wrong with an answer of Comic Vine that says that all is well.
public enum ComicVineQuirk: CaseIterable, Sendable {
  /// Promises 945 rows and sends none.
  case emptyPromise
  /// `number_of_page_results` is not the number of rows.
  case miscounted
  /// `number_of_total_results` is less than what was sent.
  case lowTotal
  /// The first page lacks its last row, which is nowhere else either.
  case shortPage
  /// Every later page begins with the last row of the one before.
  case shifting
  /// The second, third and fourth row of the first page cannot be read: a name is null, an id is text,
  /// a row is null.
  case badRows
  /// Whatever the offset or page, the first rows come.
  case ignoresOffset
  /// Sends pages of 7 rows, and says so, whatever the limit.
  case ownLimit
  /// Sends 3 rows more than its `limit` says.
  case generous
  /// `results` is an object where a list belongs, and a list where an object does.
  case wrongShape
}
