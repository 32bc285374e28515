import AggregatorSourceTesting
import Foundation
import Synchronization

/// An API of 25 lamps in pages of 10 for sources that are added, on 127.0.0.1.
final class FakeLamps: Sendable {
  /// The key that it accepts; requests without any are served, too.
  static let key = "hunter2hunter2"

  /// Replies to the page of this number of the list; `nil` for the page itself.
  typealias Behavior = @Sendable (_ number: Int) -> LoopbackReply?

  let server: LoopbackServer
  private let script: Script

  private final class Script: Sendable {
    let behavior = Mutex<Behavior>({ _ in nil })
    let keys = Mutex<Set<String>>([FakeLamps.key])
  }

  init() throws {
    let script = Script()
    self.script = script
    server = try LoopbackServer { request in
      let keys = [
        request.header("X-Api-Key"), request.header("Authorization").map { "\($0.dropFirst(7))" },
        request.header("Cookie").map { "\($0.dropFirst(8))" }, request.query["api_key"],
      ]
      guard script.keys.withLock({ $0.isSuperset(of: keys.compactMap(\.self)) }) else {
        return .json(#"{"error": "who are you?"}"#, status: 401)
      }
      let query = request.query["q"]
      let ids = (1...25).filter { query == nil || "lamp \($0)".contains(query ?? "") }
      let number = request.query["page"].flatMap { Int($0) } ?? 1
      let behavior = script.behavior.withLock(\.self)
      if query == nil, let reply = behavior(number) { return reply }
      return .json(Self.page(number, of: ids))
    }
  }

  /// Makes a key of the same account valid.
  func accept(_ key: String) { script.keys.withLock { _ = $0.insert(key) } }

  /// Changes how it replies.
  func behave(_ behavior: @escaping Behavior) { script.behavior.withLock { $0 = behavior } }

  static func page(_ number: Int, of ids: [Int] = Array(1...25))
    -> String
  {
    let rows = ids.dropFirst(max(number - 1, 0) * 10).prefix(10).map {
      #"{"html_url": "https://lamps.example/\#($0)", "id": \#($0), "#
        + #""maker": {"name": "Lumen"}, "name": "lamp \#($0)"}"#
    }
    return
      #"{"page": \#(number), "total": \#(ids.count), "lamps": [\#(rows.joined(separator: ","))]}"#
  }

  var url: String { "\(server.baseURL)/lamps" }

  /// The numbers of the pages that were requested.
  var pages: [String] { server.requests.map { $0.query["page"] ?? "1" } }
}

extension TestHome {
  /// The path of a file in the folder of added sources.
  func manifestPath(_ file: String) -> String { "home/.config/aggregator/sources/\(file)" }

  func hasFile(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: sandbox.root.appending(path: path).path)
  }

  static let settingsFile = "home/.config/aggregator/config.xcconfig"

  /// Adds the lamps.
  func add(_ lamps: FakeLamps, _ options: String = "") async throws -> Outcome {
    try await run("sources add lamps \(lamps.url) --rate off \(options)")
  }
}
