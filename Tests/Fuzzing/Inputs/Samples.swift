import AggregatorKit
import Foundation

/// Realistic inputs: the recordings in the repository.
enum Samples {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func recordings(_ source: String) -> [[UInt8]] {
    ["working", "failing"].flatMap { files(in: "Tests/\(source)Tests/Recordings/\($0)") }
  }

  /// The bodies of the recorded replies to requests whose address contains `part`.
  static func replies(_ source: String, to part: String = "") -> [[UInt8]] {
    recordings(source).compactMap { recording in
      guard let exchange = try? RecordedExchange(Data(recording)),
        case .reply(let response) = exchange.outcome, response.status == 200,
        part.isEmpty || exchange.request.address.contains(part)
      else { return nil }
      return Array(response.body)
    }
  }

  private static func files(in directory: String) -> [[UInt8]] {
    let path = root.appending(path: directory)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path.path())) ?? []
    return names.sorted().compactMap { try? Array(Data(contentsOf: path.appending(path: $0))) }
  }
}

struct CannedTransport: Transport {
  let reply: HTTPResponse

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse { reply }
}

extension PluginEnvironment {
  /// An environment in which only the input varies.
  static func fuzzing(
    _ transport: some Transport, store: (any SourceStore)? = nil
  ) -> PluginEnvironment {
    let settings = [
      "COMIC_VINE_API_KEY": "0123456789abcdef", "COMIC_VINE_RATE": "off",
      "RANDOM_USER_RATE": "off", "RANDOM_USER_SEED": "aggregator", "RANDOM_USER_PAGE_SIZE": "10",
    ]
    return PluginEnvironment(
      settings: SourceSettings(settings), transport: transport, store: store,
      now: { Date(timeIntervalSince1970: 1_795_169_400) }, random: { 0 })
  }
}
