package import AggregatorCore
package import Foundation

/// One HTTP request without its secrets, and what came of it.
package struct RecordedExchange: Sendable {
  /// What came of a request.
  package enum Outcome: Sendable {
    /// A reply, whatever its status.
    case reply(HTTPResponse)
    /// No reply.
    case failure(SourceError)
    /// Nothing at all until the caller's deadline passed.
    case silence
  }

  /// When it was over, in whole seconds.
  package var time: Date

  /// What was asked.
  package var request: RecordedRequest

  /// What came of it.
  package var outcome: Outcome
}

extension RecordedExchange {
  /// The header fields of a reply that are kept: what tells how to read it, how old it is, when to come
  /// back, and where more is.
  ///
  /// Everything else changes from reply to reply, belongs to the connection, or may be private, as
  /// `Set-Cookie` is.
  private static let keptFields: Set = [
    "age", "cache-control", "content-language", "content-range", "content-type", "date", "etag",
    "expires", "last-modified", "link", "location", "retry-after",
  ]

  /// How the names of fields begin in which services tell about pages and rates.
  private static let keptPrefixes = [
    "ratelimit", "x-next", "x-page", "x-pagination", "x-per-page", "x-ratelimit", "x-total",
    "x-wp-total",
  ]

  /// What is written down of an exchange.
  ///
  /// - Parameters:
  ///   - request: What was asked.
  ///   - outcome: What came of it.
  ///   - time: When it was over.
  ///   - scan: What finds secrets.
  /// - Throws: ``SourceError`` with code `notRecorded` if it holds a secret that cannot be removed.
  init(
    _ request: HTTPRequest, _ outcome: Outcome, at time: Date, without scan: SecretScanner
  ) throws(SourceError) {
    self.time = time
    self.request = RecordedRequest(
      method: request.method, address: scan.redacted(request.shownAddress),
      headers: request.headers.map { item in
        switch item.value {
        case .plain(let text): (scan.redacted(item.name), scan.redacted(text))
        case .secret: (scan.redacted(item.name), Redactor.mark)
        }
      },
      body: try Self.redacted(request.body ?? Data(), scan))
    switch outcome {
    case .reply(var response):
      response.headers = response.headers.filter { field in
        Self.keptFields.contains(field.name)
          || Self.keptPrefixes.contains { field.name.hasPrefix($0) }
      }.map { (scan.redacted($0.name), scan.redacted($0.value)) }
      response.body = try Self.redacted(response.body, scan)
      self.outcome = .reply(response)
    case .failure(let error):
      // Without its cause, which nobody can write down.
      self.outcome = .failure(
        SourceError(
          error.code, scan.redacted(error.message),
          remedy: error.remedy.map { Remedy(scan.redacted($0.text), $0.action) },
          retryAfter: error.retryAfter))
    case .silence:
      self.outcome = .silence
    }
  }

  /// A body without secrets, if it means the same without them.
  private static func redacted(_ body: Data, _ scan: SecretScanner) throws(SourceError) -> Data {
    let bytes = Array(body)
    let clean = scan.redacted(bytes)
    let isSafe =
      clean == bytes
      || String(validating: bytes, as: UTF8.self) != nil
        && (JSONFormatter.compact(bytes) == nil) == (JSONFormatter.compact(clean) == nil)
    guard isSafe, !scan.finds(in: clean) else { throw .tellsSecret }
    return Data(clean)
  }
}

extension SourceError {
  /// An exchange holds a secret that cannot be removed.
  static let tellsSecret = SourceError(
    .notRecorded, "nothing was recorded: a key is in the exchange in a form that cannot be removed",
    remedy: "if your key is shorter than 8 characters, record with a longer one")
}
