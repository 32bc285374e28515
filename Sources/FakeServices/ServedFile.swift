import AggregatorKit
package import AggregatorTestSupport
package import Foundation

/// A file of a service that knows ranges (RFC 9110, section 14).
package struct ServedFile: Sendable {
  package var bytes: Data
  /// The header fields, among them those that identify its version.
  package var fields = [("ETag", "\"1\"")]
  /// The number of bytes after which a response ends too early; `nil` for none.
  package var cut: Int?

  /// A file of numbered lines.
  package init(_ count: Int) {
    var text = ""
    while text.utf8.count < count { text += "line \(text.utf8.count)\n" }
    bytes = Data(text.utf8.prefix(count))
  }

  package init(_ text: String) { bytes = Data(text.utf8) }

  package func reply(to request: LoopbackRequest) -> LoopbackReply {
    let condition = request.header("if-range")
    let range = request.header("range").flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
    guard let range, condition == nil || fields.contains(where: { $0.1 == condition }) else {
      return reply(200, from: 0)
    }
    guard range < bytes.count else {
      return .status(416, "", headers: [("Content-Range", "bytes */\(bytes.count)")])
    }
    let field = ("Content-Range", "bytes \(range)-\(bytes.count - 1)/\(bytes.count)")
    return reply(206, from: range, [field])
  }

  package func reply(
    _ status: Int, from start: Int, _ others: [(String, String)] = []
  ) -> LoopbackReply {
    let length = [("Content-Length", "\(bytes.count - start)")]
    let head = LoopbackReply.begin(status, headers: length + fields + others)
    guard let cut else { return head.sending(bytes.dropFirst(start)) }
    return head.sending(bytes.dropFirst(start).prefix(cut)).closing
  }
}
