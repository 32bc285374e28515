public import AggregatorKit
import AggregatorSourceTesting
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
