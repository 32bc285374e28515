import AggregatorKit
import Foundation

/// Answers every request with one reply.
struct CannedTransport: Transport {
  let reply: HTTPResponse

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse { reply }
}

extension PluginEnvironment {
  /// An environment in which nothing but the input differs from case to case.
  static func fuzzing(
    _ transport: some Transport, store: (any Store)? = nil
  ) -> PluginEnvironment {
    let settings = [
      "COMIC_VINE_API_KEY": "0123456789abcdef", "COMIC_VINE_RATE": "off",
      "RANDOM_USER_RATE": "off", "RANDOM_USER_SEED": "aggregator", "RANDOM_USER_PAGE_SIZE": "10",
    ]
    return PluginEnvironment(
      settings: Settings(settings), transport: transport, store: store,
      now: { Date(timeIntervalSince1970: 1_795_169_400) }, random: { 0 })
  }
}
