import AggregatorKit
package import AggregatorServer
import AggregatorTerminal

/// An error of the API: problem details (RFC 9457).
package struct Problem: Error, Equatable {
  package let status: Int
  package let code: String
  package let message: String
  package var hint: String?
  /// The time to wait before a retry, in seconds.
  package var retryAfter: Int?
  /// The methods of the path, for status 405.
  package var allowed: [String] = []
  /// Where a service that wants a key probably takes it, as ``SourceAdding/Key/place``; `nil` if none is wanted.
  package var keyPlace: String?
  /// True if the record was deleted on this machine, and can be restored.
  package var isOfDeleted = false
  /// True if the service was not asked for a record, and may have it.
  package var isUnasked = false

  package init(_ status: Int, _ code: String, _ message: String, hint: String? = nil) {
    self.status = status
    self.code = code
    self.message = message
    self.hint = hint
  }

  package init(_ error: any Error) {
    switch error {
    case let problem as Problem: self = problem
    case let error as CommandError: self.init(error)
    case let error as SourceError:
      self.init(Self.status(of: error), error.code.description, error.message)
      isOfDeleted = error.cause is DeletedRecord
      isUnasked = error.remedy == .refresh
      // Who asks for local data alone gets no other by waiting, and has no options.
      guard error.code != .offline else { return }
      hint = error.remedy.flatMap(Self.hint)
      // At most a day: a service may name any time.
      retryAfter = error.retryAfter.map {
        Int(min(max($0 / .seconds(1), 1), 86_400).rounded(.up))
      }
      // Clients expect one; this is how long a breaker stays open at most.
      if retryAfter == nil, status == 429 || status == 503 { retryAfter = 30 }
    default: self.init(500, "internal", "internal error")
    }
  }

  /// The problem for an error of what the command line does, too.
  init(_ error: CommandError) {
    let status =
      switch error.code {
      case .usage: 400
      case .notFound: 404
      case .io, .bug: 500
      case .tryLater: 503
      default: 502
      }
    self.init(status, error.code == .usage ? "invalidRequest" : "\(error.code)", error.message)
    if case .words(let words)? = error.hint { hint = words }
    if status == 503 { retryAfter = 30 }
    self = suggesting(error.suggestion)
  }

  /// This problem with a hint that begins with what was probably meant.
  package func suggesting(_ name: String?) -> Problem {
    guard let name else { return self }
    var problem = self
    problem.hint = ["did you mean \"\(name)\"?", hint?.capitalizedFirst].compactMap(\.self)
      .joined(separator: " ")
    return problem
  }

  /// A remedy for clients, which have other ways than commands.
  private static func hint(_ remedy: Remedy) -> String? {
    if remedy == .refresh { return "cache=reload asks the service" }
    let words = remedy.text.split(separator: " ")
    if remedy.action == .command, words.count > 1, words[1] == "sync" {
      let records = words.count == 2 ? "all records" : "more records"
      return "sync \(words[0]) to ask the service for \(records)"
    }
    // Whoever reads it has to retry.
    return remedy.action == nil
      ? remedy.text.replacing(#/^retry in /#, with: "try again in ") : nil
  }

  private static func status(of error: SourceError) -> Int {
    switch error.code {
    case .unsupported where error.isOfUnreadList: 404
    case .invalidRequest: 400
    // The page of a cursor that another query or an older state has made does not exist.
    case .notFound, .notRecorded, .nothingCached, .invalidCursor: 404
    case .rateLimited: 429
    case .unsupported: 501
    case .circuitOpen, .busy, .offline, .missingKey, .cancelled: 503
    case .timedOut: 504
    case .storage, .unusableStore, .invalidSettings: 500
    default: 502
    }
  }

  package var response: ServerResponse {
    var response = ServerResponse(
      status, "application/problem+json",
      Array(
        JSON.object([
          .init("type", "about:blank"), .init("title", .string(reason)),
          .init("status", .integer(status)), .init("detail", .string(message)),
          .init("code", .string(code)), .init("hint", hint.json),
        ]).text.utf8),
      headers: [.init("Cache-Control", "no-store")])
    if let retryAfter { response.set("Retry-After", String(retryAfter)) }
    if status == 401 { response.set("WWW-Authenticate", "Bearer") }
    if status == 406 { response.set("Vary", "Accept") }
    if !allowed.isEmpty { response.allow(allowed) }
    return response
  }

  /// The words of the status (RFC 9110, section 15).
  private var reason: String {
    switch status {
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 409: "Conflict"
    case 413: "Content Too Large"
    case 415: "Unsupported Media Type"
    case 421: "Misdirected Request"
    case 422: "Unprocessable Content"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    default: "Error"
    }
  }
}

extension ServerResponse {
  /// Names the methods of a path (RFC 9110, section 10.2.1).
  package mutating func allow(_ methods: [String]) {
    let implied = methods.contains("GET") ? ["HEAD", "OPTIONS"] : ["OPTIONS"]
    set("Allow", (methods + implied).joined(separator: ", "))
  }
}
