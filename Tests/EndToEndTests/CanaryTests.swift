import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The key is nowhere but in the requests to its service.
@Suite struct CanaryTests {
  static let commands = [
    "heroes list --all", "heroes list --json", "heroes next", "heroes search spider",
    "heroes search spider --csv",
    "heroes show 1443 7", "heroes show 7 --ndjson --no-fallback", "heroes list --no-fallback",
    "heroes open 1443 --print-url", "countries list", "countries deal", "sources show heroes",
    "config list --json", "config get COMIC_VINE_API_KEY",
  ]

  /// Faults, all of which repeat the request including its key.
  static let faults: [String: @Sendable (LoopbackRequest) -> LoopbackReply] = [
    "an echo as names": { request in
      let echo = "\(request.path)?\(request.rawQuery ?? "")"
      return .json(
        #"{"error":"OK","limit":100,"number_of_total_results":1,"status_code":1,"results":"#
          + (request.path.contains("4005")
            ? #"{"id":7,"name":"\#(echo)","site_detail_url":"http://x.example/\#(echo)"}"#
            : #"[{"id":7,"name":"\#(echo)"},{"id":"\#(echo)"}]"#) + "}")
    },
    "an echo in other forms": { request in
      let key = key(in: request)
      let references = key.unicodeScalars.map { "&#\($0.value);" }.joined()
      let escapes = key.unicodeScalars.map { "\\u00\(String($0.value, radix: 16))" }.joined()
      let names = [
        key.lowercased(), references, escapes, "\(key.prefix(3))<b>\(key.dropFirst(3))</b>",
        "\(key.prefix(3))\u{200B}\(key.dropFirst(3))", Data(key.utf8).base64EncodedString(),
      ]
      let rows = names.enumerated().map { #"{"id":\#($0 + 1),"name":"\#($1)","deck":"\#($1)"}"# }
      return .json(
        #"{"error":"OK","limit":100,"number_of_total_results":6,"status_code":1,"results":"#
          + (request.path.contains("4005") ? rows[0] : "[\(rows.joined(separator: ","))]") + "}")
    },
    "an echo as error": { request in
      .json(
        #"{"error":"bad key \#(key(in: request))","status_code":104,"results":[]}"#)
    },
    "401": { request in
      .json(#"{"error":"\#(key(in: request))","status_code":100,"results":[]}"#, status: 401)
    },
    "a page": { request in .html(title: "no \(key(in: request))", status: 500) },
    "nonsense": { request in .json(#"{"status_code": "\#(key(in: request))"#) },
    "another host": { request in
      .redirect(to: "http://localhost:9/\(key(in: request))?\(request.rawQuery ?? "")")
    },
    "itself": { request in .redirect(to: "\(request.path)?\(request.rawQuery ?? "")&more=1") },
    "a header": { request in
      .status(
        429, "slow down", headers: [("Retry-After", key(in: request)), ("X-Key", key(in: request))])
    },
    "silence": { _ in .stalled },
    "a cut body": { request in .cut(after: Data(key(in: request).utf8), of: 1000) },
  ]

  /// The key that came with a request.
  private static func key(in request: LoopbackRequest) -> String { request.query["api_key"] ?? "" }

  @Test(arguments: faults.keys.sorted())
  func `the key is in no output and in no file`(fault: String) async throws {
    let service = try FakeServer(try #require(Self.faults[fault]))
    let sandbox = try Sandbox()
    for command in Self.commands {
      let waits = ["list", "next", "search", "show", "deal", "open"].contains {
        command.contains(" \($0)")
      }
      let outcome = try await Binary.run(
        "\(command) --verbose" + (waits ? " --timeout 300ms" : ""), environment: service.settings,
        in: sandbox)
      #expect(outcome.status != nil && outcome.status != 70, "\(command): \(outcome)")
      for (name, text) in [("output", outcome.output), ("errors", outcome.errors)] {
        #expect(!text.uppercased().contains("CANARY/6F1E"), "\(command), \(name): \(text)")
      }
    }
    for request in service.requests {
      let key = request.path.hasPrefix("/api/") ? FakeServer.key : nil
      #expect(request.query["api_key"] == key, "\(request.path)")
    }
    for file in try sandbox.files(under: "home") {
      // Bytes, because not all of them are text; nothing of directories, which have none.
      let bytes = try? Data(contentsOf: sandbox.home.appending(path: file))
      let text = String(decoding: bytes ?? Data(), as: UTF8.self).uppercased()
      #expect(!text.contains("CANARY/6F1E"), "\(file)")
    }
  }
}
