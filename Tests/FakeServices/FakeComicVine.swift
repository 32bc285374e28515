public import AggregatorKit
import AggregatorSourceTesting
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
