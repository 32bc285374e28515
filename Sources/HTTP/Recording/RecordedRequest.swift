import AggregatorCore
import Foundation

/// What was asked, without secrets, as far as it tells one request from another.
package struct RecordedRequest: Sendable {
  /// What is done.
  let method: HTTPRequest.Method

  /// The address with its query, secret values as `REDACTED`.
  package let address: String

  /// The header fields, for the reader: they do not count when requests are compared.
  let headers: [(name: String, value: String)]

  /// The body; empty for none.
  let body: Data

  /// The address without the query.
  let authority: String

  /// The query, decoded.
  let query: [QueryItem]

  /// A name and a value of a query.
  struct QueryItem: Hashable, Comparable {
    let name: String
    let value: String

    /// Whether the value is a secret that was removed.
    var isRedacted: Bool { value == Redactor.mark }

    static func < (left: QueryItem, right: QueryItem) -> Bool {
      (left.name, left.value) < (right.name, right.value)
    }
  }

  init(
    method: HTTPRequest.Method, address: String, headers: [(name: String, value: String)] = [],
    body: Data
  ) {
    self.method = method
    self.address = address
    self.headers = headers
    self.body = body
    let parts = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    authority = String(parts[0])
    query = parts.dropFirst().flatMap { $0.split(separator: "&") }.map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let text = parts.map { $0.removingPercentEncoding ?? String($0) }
      return QueryItem(name: text[0], value: text.count > 1 ? text[1] : "")
    }
  }

  /// A request that is about to be sent.
  init(_ request: HTTPRequest) {
    self.init(
      method: request.method, address: request.shownAddress, body: request.body ?? Data())
  }
}

extension RecordedRequest {
  /// How this request differs from a recorded one, in words, what weighs most first.
  ///
  /// Compared are the method, the address without its query, the query as a set, where what is a secret
  /// on either side does not count, and the body, where white space in JSON does not count.
  ///
  /// - Parameter recorded: What was asked when it was recorded.
  /// - Returns: Nothing if it is the same request.
  package func differences(from recorded: RecordedRequest) -> [String] {
    var differences: [String] = []
    if method != recorded.method { differences.append("is a \(recorded.method.rawValue)") }
    if authority != recorded.authority {
      differences.append("asks \(recorded.authority.oneLine(atMost: 120))")
    }
    differences += queryDifferences(from: recorded)
    if body != recorded.body, body.compactJSON != recorded.body.compactJSON {
      differences.append("has \(recorded.body.text), not \(body.text)")
    }
    return differences
  }

  private func queryDifferences(from recorded: RecordedRequest) -> [String] {
    let hidden = Set((query + recorded.query).filter(\.isRedacted).map(\.name))
    let own = query.filter { !hidden.contains($0.name) }.sorted()
    let theirs = recorded.query.filter { !hidden.contains($0.name) }.sorted()
    guard own != theirs else { return [] }
    let names = Set((own + theirs).map(\.name)).sorted()
    return names.compactMap { name in
      let values = own.filter { $0.name == name }.map(\.value)
      let others = theirs.filter { $0.name == name }.map(\.value)
      guard values != others else { return nil }
      func words(_ values: [String]) -> String {
        values.map { "\(name)=\($0)".oneLine(atMost: 40) }.joined(separator: "&")
      }
      if others.isEmpty { return "has no \(words(values))" }
      return "has \(words(others))" + (values.isEmpty ? "" : ", not \(words(values))")
    }
  }
}

extension Data {
  /// The text without white space if this is JSON, else these bytes.
  fileprivate var compactJSON: [UInt8] { JSONFormatter.compact(Array(self)) ?? Array(self) }

  /// The body in a few words: `the body {"skip":0,"take":20}`.
  fileprivate var text: String {
    isEmpty
      ? "no body" : "the body \(String(decoding: compactJSON, as: UTF8.self).oneLine(atMost: 60))"
  }
}
