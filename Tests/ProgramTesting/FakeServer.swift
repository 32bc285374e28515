import AggregatorSourceTesting
import Foundation

/// A loopback server that replaces Comic Vine and the list of countries.
final class FakeServer: Sendable {
  /// The API key: a canary that occurs in no other text, and that percent-encoding changes.
  static let key = "CANARY/6f1e+0c27"

  private let server: LoopbackServer

  /// A server that always sends the same reply.
  init(_ reply: LoopbackReply = .stalled) throws { server = try LoopbackServer { _ in reply } }

  /// A server that computes its replies.
  init(_ handler: @escaping LoopbackServer.Handler) throws { server = try LoopbackServer(handler) }

  /// Settings for both services at this server, with a key and without a rate limit.
  var settings: [String: String?] {
    [
      "COMIC_VINE_URL": "\(server.baseURL)/api", "COMIC_VINE_API_KEY": Self.key,
      "COMIC_VINE_RATE": "off", "COUNTRIES_URL": "\(server.baseURL)/countries.json",
    ]
  }

  var requests: [LoopbackRequest] { server.requests }
  var connectionCount: Int { server.connectionCount }
  func requests(atLeast count: Int) async -> [LoopbackRequest] {
    await server.requests(atLeast: count)
  }
}
