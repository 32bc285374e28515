public import Core
public import Foundation
public import SourceTesting

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

  private let server: LoopbackServer
  private let interruption = Interruption()

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
    let desk = ComicVineDesk(
      characters: characters.sorted { $0.id < $1.id }, quirks: quirks, searchLimit: searchLimit,
      isCompressed: isCompressed)
    server = try LoopbackServer { [interruption] request in
      interruption.next() ?? desk.reply(to: request)
    }
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

  /// The real transport, which keeps this service alive.
  public var transport: some Transport { KeepingTransport(service: self) }

  /// All requests so far.
  public var requests: [LoopbackRequest] { server.requests }

  /// Waits until so many requests have come.
  ///
  /// - Parameter count: How many.
  /// - Returns: All requests so far.
  public func requests(atLeast count: Int) async -> [LoopbackRequest] {
    await server.requests(atLeast: count)
  }

  /// Answers the next requests with something else, whatever they ask for.
  ///
  /// - Parameters:
  ///   - reply: What to answer; see ``ComicVineFault``.
  ///   - times: How many requests; all that come by default.
  ///   - count: How many are answered well before that.
  public func fail(with reply: LoopbackReply, times: Int = .max, after count: Int = 0) {
    interruption.begin(reply, times, after: count)
  }

  /// Answers well again.
  public func recover() { interruption.end() }

  /// Closes the port.
  public func stop() { server.stop() }
}
