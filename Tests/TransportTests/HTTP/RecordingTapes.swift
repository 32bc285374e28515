import AggregatorKit
import Foundation
import Synchronization

/// A directory for a recording; it goes away with the test.
final class Tape: Sendable {
  let path: String

  init() {
    path = FileManager.default.temporaryDirectory.appending(path: "tape-\(UUID().uuidString)").path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  func text(of name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\(name)")), as: UTF8.self)
  }

  /// The joined contents of all files.
  func text() throws -> String { try names.map { try text(of: $0) }.joined() }

  func write(_ text: String, to name: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
  }

  func mode(of name: String = "") throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.posixPermissions] as? Int
  }
}

/// A transport that gives its outcomes in order.
final class ScriptedTransport: Transport {
  private let rest: Mutex<ArraySlice<Result<HTTPResponse, SourceError>>>

  init(_ outcomes: Result<HTTPResponse, SourceError>...) { rest = Mutex(outcomes[...]) }

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let next = rest.withLock { $0.popFirst() }
    return try (next ?? .failure(SourceError(.connectionLost, "the script is over"))).get()
  }
}

extension HTTPRequest {
  /// A request to `https://host`.
  static func tape(
    _ path: String = "/a", query: [(String, String)] = [], key: String? = nil, body: String? = nil
  ) -> HTTPRequest {
    HTTPRequest(
      body == nil ? .get : .post, URL(filePath: path, relativeTo: nil).onHost,
      query: query.map { .init($0.0, .plain($0.1)) }
        + (key.map { [.init("api_key", .secret(Secret($0)))] } ?? []),
      body: body.map { Data($0.utf8) })
  }
}

extension URL {
  fileprivate var onHost: URL {
    var parts = URLComponents()
    (parts.scheme, parts.host, parts.path) = ("https", "host", path)
    return parts.url ?? self
  }
}

extension HTTPResponse {
  /// A reply with this body.
  static func tape(
    _ body: String, status: Int = 200, headers: [(name: String, value: String)] = []
  ) -> HTTPResponse {
    HTTPResponse(status: status, headers: headers, body: Data(body.utf8))
  }
}
