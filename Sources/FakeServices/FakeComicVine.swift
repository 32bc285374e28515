public import AggregatorKit
public import AggregatorTestSupport
import Foundation

/// Comic Vine on 127.0.0.1: lists, search, single characters and errors.
///
/// ```swift
/// let service = try FakeComicVine(quirks: [.badRows])
/// service.fail(with: ComicVineFault.velocity.reply, times: 2)
/// … SourceSettings(service.settings) …
/// #expect(service.requests.count == 3)
/// ```
///
/// Deinitialisation stops it.
public final class FakeComicVine: FakeService {
  /// The valid key: a canary that occurs nowhere else, and that percent-encoding and JSON change.
  public static let key = "canary/7f3a+9c51e2d84b06"

  public let server: InterruptibleServer

  /// - Parameters:
  ///   - searchLimit: The page size limit of a search: 100, or 10 as since July 2026.
  ///   - servesPictures: True if the service has the pictures that are ``FakeCharacter/Picture/drawn``, as
  ///     ``FakePictures/picture``; else they are at a host that does not exist.
  public init(
    _ characters: [FakeCharacter] = FakeCharacter.cast, quirks: Set<ComicVineQuirk> = [],
    searchLimit: Int = 100, isCompressed: Bool = false, servesPictures: Bool = false
  ) throws(SourceError) {
    let responder = ComicVineHandler(
      characters: characters.sorted { $0.id < $1.id }, quirks: quirks, searchLimit: searchLimit,
      isCompressed: isCompressed, servesPictures: servesPictures)
    server = try InterruptibleServer { responder.reply(to: $0) }
  }

  /// The value for `COMIC_VINE_URL`.
  public var url: URL { server.baseURL.appending(path: "api") }

  public var settings: [String: String] {
    [
      "COMIC_VINE_URL": url.absoluteString, "COMIC_VINE_API_KEY": Self.key,
      "COMIC_VINE_RATE": "off",
    ]
  }
}

/// A reply of Comic Vine, or of a proxy in front of it, instead of an answer.
public enum ComicVineFault: CaseIterable, Sendable {
  /// The hourly quota for this kind of request is used up: 420, JSON.
  ///
  /// The source then sends nothing until the next full hour of its environment's time, at least 5 minutes, also after
  /// `recover()`: a test advances its `clock` and `now`, or sets another key. To test "Try again" use ``broken``.
  case quota
  /// Too many requests: 429, HTML.
  case velocity
  /// Cloudflare blocks the address or the `User-Agent`: 403, HTML.
  case blocked
  /// 500, HTML.
  case broken
  /// 502, HTML.
  case badGateway
  /// 503, HTML.
  case unavailable
  /// A web page instead of JSON: 200, HTML.
  case page
  /// The address is locked out for days: 200, HTML.
  case abnormalTraffic

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

/// An oddity in a successful answer of Comic Vine.
public enum ComicVineQuirk: CaseIterable, Sendable {
  /// Promises 945 rows and sends none.
  case emptyPromise
  /// `number_of_page_results` differs from the number of rows.
  case miscounted
  /// `number_of_total_results` is less than the number of rows sent.
  case lowTotal
  /// The first page lacks its last row, which is never sent.
  case shortPage
  /// Every later page begins with the last row of the previous one.
  case shifting
  /// Rows 2 to 4 of the first page are unreadable: a name is null, an ID is text, a row is null.
  case badRows
  /// Always sends the first rows.
  case ignoresOffset
  /// Sends pages of 7 rows, and declares that size, whatever the limit.
  case ownLimit
  /// Sends pages of 7 rows, whatever the limit, and does not say so: there is no `limit`.
  case silentLimit
  /// The total is the number of rows sent so far.
  case pageTotal
  /// Sends 3 rows more than its declared `limit`.
  case generous
  /// Sends all rows, whatever the filter.
  case ignoresFilter
  /// Sends rows by ID, whatever the order.
  case ignoresSort
  /// `results` is an object instead of a list, or a list instead of an object.
  case wrongShape
}
