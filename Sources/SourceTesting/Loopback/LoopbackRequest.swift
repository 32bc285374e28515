public import Foundation

/// A request received by a ``LoopbackServer``.
public struct LoopbackRequest: Sendable {
  public let method: String

  /// The path as sent: percent-encoded, without the query.
  public let path: String

  /// The query as sent, without `?`; `nil` if there is none.
  public let rawQuery: String?

  /// The header fields in order, with lower-case names.
  public let headers: [(name: String, value: String)]

  public internal(set) var body = Data()

  /// The query in order, decoded as most servers do: `+` is a space.
  public var queryItems: [(name: String, value: String)] {
    (rawQuery ?? "").split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : "")
    }
  }

  /// The query by name; the first value if a name repeats.
  public var query: [String: String] {
    Dictionary(queryItems.map { ($0.name, $0.value) }) { first, _ in first }
  }

  /// The first value of a header field, whose name may be in any case.
  public func header(_ name: String) -> String? {
    headers.first { $0.name == name.lowercased() }?.value
  }

  /// Parses a head without its final blank line.
  init?(head: some Sequence<UInt8>) {
    let lines = String(decoding: Array(head), as: UTF8.self).split(separator: "\r\n")
    let words = lines.first?.split(separator: " ", omittingEmptySubsequences: false) ?? []
    guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return nil }
    let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    method = String(words[0])
    path = String(target[0])
    rawQuery = target.count > 1 ? String(target[1]) : nil
    headers = lines.dropFirst().compactMap { line in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      return (line[..<colon].lowercased(), String(value))
    }
  }

  var bodyLength: Int { header("content-length").flatMap { Int($0) }.map { max($0, 0) } ?? 0 }

  private static func decoded(_ text: some StringProtocol) -> String {
    let text = String(text).replacing("+", with: " ")
    return text.removingPercentEncoding ?? text
  }
}
