package import AggregatorCore
package import AggregatorFoundation
import AggregatorText

/// An HTTP request without its secrets, and its outcome.
package struct RecordedExchange: Sendable {
  package enum Outcome: Sendable {
    case reply(HTTPResponse)
    case failure(SourceError)
    /// No data until the caller's deadline.
    case silence
  }

  /// The end of the exchange, in whole seconds.
  package var time: Date

  package var request: RecordedRequest

  package var outcome: Outcome
}

extension RecordedExchange {
  /// The recorded header fields of a response: those that describe its content, its age, the time of a
  /// retry, and further pages.
  ///
  /// All others differ from response to response, belong to the connection, or may be private, such as
  /// `Set-Cookie`.
  private static let recordedFields: Set = [
    "age", "cache-control", "content-language", "content-range", "content-type", "date", "etag",
    "expires", "last-modified", "link", "location", "retry-after",
  ]

  private static let recordedPrefixes = [
    "ratelimit", "x-next", "x-page", "x-pagination", "x-per-page", "x-ratelimit", "x-total",
    "x-wp-total",
  ]

  /// The part of an exchange to record.
  ///
  /// - Throws: ``SourceError`` with code `notRecorded` if it contains a secret that cannot be removed.
  init(
    _ request: HTTPRequest, _ outcome: Outcome, at time: Date, without scanner: SecretScanner
  ) throws(SourceError) {
    self.time = time
    self.request = RecordedRequest(
      method: request.method, address: scanner.redacted(request.shownAddress),
      headers: request.headers.map {
        (scanner.redacted($0.name), scanner.redacted($0.value.shown))
      },
      body: try Self.redacted(request.body ?? Data(), scanner))
    switch outcome {
    case .reply(var response):
      response.headers = response.headers.filter { field in
        Self.recordedFields.contains(field.name)
          || Self.recordedPrefixes.contains { field.name.hasPrefix($0) }
      }.map { (scanner.redacted($0.name), scanner.redacted($0.value)) }
      response.body = try Self.redacted(response.body, scanner)
      self.outcome = .reply(response)
    case .failure(let error):
      var error = scanner.redacted(error)
      // It has no text form.
      error.cause = nil
      self.outcome = .failure(error)
    case .silence:
      self.outcome = .silence
    }
  }

  /// A body without secrets, if it is still valid without them.
  private static func redacted(_ body: Data, _ scanner: SecretScanner) throws(SourceError) -> Data {
    let bytes = Array(body)
    let clean = scanner.redacted(bytes)
    let isSafe =
      clean == bytes
      || String(validating: bytes, as: UTF8.self) != nil
        && (JSONFormatter.compact(bytes) == nil) == (JSONFormatter.compact(clean) == nil)
    guard isSafe, !scanner.finds(in: clean) else { throw .containsSecret }
    return Data(clean)
  }
}

extension SourceError {
  static let containsSecret = SourceError(
    .notRecorded, "not recorded: the exchange contains a key in a form that cannot be removed",
    remedy: "if your key is shorter than 8 characters, record with a longer one")

  /// A secret that decoding would change cannot be searched for in everything that is written.
  static let escapedSecret = SourceError(
    .notRecorded,
    "not recorded: a key contains an escape sequence, such as %41, &lt; or a backslash",
    remedy: "record with another key")
}

/// The parts of a request, without secrets, that distinguish it from others.
package struct RecordedRequest: Sendable {
  let method: HTTPRequest.Method

  /// The URL with its query, secret values as `REDACTED`.
  package let address: String

  /// The header fields, for information: they are not compared.
  let headers: [(name: String, value: String)]

  let body: Data

  let endpoint: String

  let query: [QueryItem]

  struct QueryItem {
    let name: String
    let value: String

    /// `true` if the value is a secret that was removed.
    var isRedacted: Bool { value == Secret.mark }
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
    endpoint = String(parts[0])
    query = parts.dropFirst().flatMap { $0.split(separator: "&") }.map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      // A plus sign is a space, as in forms; a true one is always encoded.
      let text = parts.map { part in
        let part = String(part).replacing("+", with: " ")
        return part.percentDecoded ?? part
      }
      return QueryItem(name: text[0], value: text.count > 1 ? text[1] : "")
    }
  }

  init(_ request: HTTPRequest) {
    self.init(
      method: request.method, address: request.shownAddress, body: request.body ?? Data())
  }

  /// Describes the differences from a recorded request, the most important first; empty if it matches.
  ///
  /// Compared are the method, the URL without its query, the query as a set without items that are secret
  /// on either side, and the body, without white space and the order of members in JSON.
  package func differences(from recorded: RecordedRequest) -> [String] {
    var differences: [String] = []
    if method != recorded.method { differences.append("is a \(recorded.method.rawValue)") }
    if endpoint != recorded.endpoint {
      differences.append("requests \(recorded.endpoint.oneLine(atMost: 120))")
    }
    differences += queryDifferences(from: recorded)
    if !body.hasSameContent(as: recorded.body) {
      differences.append("has \(recorded.body.text), not \(body.text)")
    }
    return differences
  }

  private func queryDifferences(from recorded: RecordedRequest) -> [String] {
    let all = query + recorded.query
    let names = Set(all.map(\.name)).subtracting(all.filter(\.isRedacted).map(\.name))
    return names.sorted().compactMap { name in
      let values = query.filter { $0.name == name }.map(\.value).sorted()
      let others = recorded.query.filter { $0.name == name }.map(\.value).sorted()
      guard values != others else { return nil }
      func text(_ values: [String]) -> String {
        values.map { "\(name)=\($0)".oneLine(atMost: 40) }.joined(separator: "&")
      }
      if others.isEmpty { return "has no \(text(values))" }
      return "has \(text(others))" + (values.isEmpty ? "" : ", not \(text(values))")
    }
  }
}

extension Data {
  fileprivate func hasSameContent(as other: Data) -> Bool {
    if self == other { return true }
    guard let json = JSONText(self), let otherJSON = JSONText(other) else { return false }
    return JSON(canonical: json) == JSON(canonical: otherJSON)
  }

  /// A short text: `the body {"skip":0,"take":20}`.
  fileprivate var text: String {
    if isEmpty { return "no body" }
    let bytes = JSONFormatter.compact(Array(self)) ?? Array(self)
    return "the body \(String(decoding: bytes, as: UTF8.self).oneLine(atMost: 60))"
  }
}
