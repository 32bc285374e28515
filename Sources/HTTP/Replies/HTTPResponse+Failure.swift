public import AggregatorCore
import AggregatorFormats
public import AggregatorFoundation
import AggregatorText

extension HTTPResponse {
  /// This response if its status means success.
  ///
  /// | status | code of the error |
  /// |---|---|
  /// | 2xx | none |
  /// | 401, 407 | `invalidKey` of a service that requires a key, else `rejected` |
  /// | 408 | `timedOut` |
  /// | 420, 425, 429; 403 with `Retry-After` or no quota left | `rateLimited` |
  /// | 404, 410, other 4xx, 3xx, 1xx | `rejected` |
  /// | 5xx and beyond | `serverError` |
  ///
  /// A source for which 404 means an absent record checks ``status`` before it calls this.
  ///
  /// `wantsKey` is `true` if a key was sent; a date in `Retry-After` is compared to `now`.
  ///
  /// - Throws: ``SourceError`` as in the table, with the service's `Retry-After`, and a message with
  ///   the service, the status and an excerpt of the body.
  public func checked(
    by service: String, wantsKey: Bool = false, now: Date
  ) throws(SourceError) -> HTTPResponse {
    switch status {
    case 200..<300: return self
    case 401 where wantsKey, 407 where wantsKey:
      throw failure(.invalidKey, "invalid API key for \(service) (\(status))", now)
    case 408: throw failure(.timedOut, "\(service) timed out (\(status))", now)
    case 403 where header("retry-after") != nil || hasUsedUpQuota, 420, 425, 429:
      throw failure(.rateLimited, "rate limited by \(service) (\(status))", now)
    case ..<500: throw failure(.rejected, "\(service) refused the request (\(status))", now)
    default: throw failure(.serverError, "\(service) failed (\(status))", now)
    }
  }

  private func failure(_ code: SourceError.Code, _ message: String, _ now: Date) -> SourceError {
    let wait = retryAfter(from: now)
    return SourceError(
      code, message + excerpt,
      remedy: wait.map { "retry in \($0.text)" }, retryAfter: wait)
  }

  /// A summary of the body for an error message: at most 80 characters on one line.
  ///
  /// It is the title of an HTML page, the `error`, `message` or `detail` of a JSON object, or the start of
  /// plain text; `nil` for anything else.
  package var summary: String? {
    let head = body.prefix(Self.summaryWindow)
    let text: Substring? =
      switch body.firstSignificantByte {
      case UInt8(ascii: "<"): String(decoding: head, as: UTF8.self).htmlTitle
      case UInt8(ascii: "{"): body.count > head.count ? nil : envelopeMessage
      case UInt8(ascii: "["), nil: nil
      default: String(validating: head, as: UTF8.self)?[...]
      }
    let line = text?.oneLine(atMost: 80) ?? ""
    return line.isEmpty ? nil : line
  }

  /// The summary in quotes after a colon; empty for none.
  package var excerpt: String { summary.map { ": \"\($0)\"" } ?? "" }

  private static let summaryWindow = 16 << 10

  private var envelopeMessage: Substring? {
    JSONText(body).flatMap { JSON($0).errorWords(isText: true) }?[...]
  }

  /// A failure that the body reports although the status means success; `nil` if it reports none.
  ///
  /// That is `ok` or `success` that is false, or a `status` such as `error`; a GraphQL `errors` that is not empty
  /// (https://spec.graphql.org/October2021/#sec-Errors); and, of a response without rows, an `error` that is neither
  /// null, false, empty nor `OK`, which Comic Vine sends with every success.
  ///
  /// The message has the service's own words. The code is `rejected`, or `rateLimited` if they say so, with the wait
  /// that the header fields name; a time in them is compared to `now`.
  public func reportedFailure(by service: String, hasRows: Bool, now: Date) -> SourceError? {
    guard !hasRows || mayReportFailure, let text = JSONText(body) else { return nil }
    var envelope = JSON(text)
    // The members are those of the only element of a document.
    if conversion?.format == .xml, case .object(let members) = envelope {
      envelope = members[0].value
    }
    guard case .object = envelope else { return nil }
    let isDenied = ["ok", "success"].contains { envelope[$0] == .bool(false) }
    let isNamed = ["error", "fail", "failed", "failure"].contains(envelope["status"]?.words ?? "")
    let hasErrors = envelope["errors"].map { $0.words != nil || $0.hasElements } ?? false
    let isError = !hasRows && (isNamed || envelope["error"]?.words != nil)
    guard isDenied || hasErrors || isError else { return nil }
    let words = envelope.errorWords
    let line = words.map { "\"\($0.oneLine(atMost: 120))\"" } ?? "no reason given"
    let isLimit = words?.contains(/(?i)rate.?limit|too many requests/) == true
    return SourceError(
      isLimit ? .rateLimited : .rejected, "\(service) reports an error: \(line)",
      remedy: isLimit ? "try again later" : nil, retryAfter: isLimit ? retryAfter(from: now) : nil,
      cause: ReportedFailure(in: envelope))
  }

  /// False if the body has none of the names that matter: reading it again would take as long as the first time.
  private var mayReportFailure: Bool {
    // Rows of a file are a list, which has no names of its own.
    guard body.firstSignificantByte != UInt8(ascii: "[") else { return false }
    let names = [#""ok""#, #""success""#, #""errors""#].map { Array($0.utf8) }
    // Foundation's search of data takes about a hundred times as long.
    return body.withUnsafeBytes { bytes in
      var index = 0
      // Quotes are everywhere; few of these letters follow one.
      while let quote = bytes.firstQuote(from: index), quote + 1 < bytes.count {
        switch bytes[quote + 1] {
        case UInt8(ascii: "o"), UInt8(ascii: "s"), UInt8(ascii: "e"):
          if names.contains(where: { bytes[quote...].starts(with: $0) }) { return true }
        default: break
        }
        index = quote + 1
      }
      return false
    }
  }
}

/// A failure that only the body of a successful response reports.
package struct ReportedFailure: Error {
  /// True for an error of GraphQL, whose specification says that it is one.
  package let isGraphQL: Bool

  /// False if the body has other members than those that report the failure, and so may be a record that has failed.
  package let isWhole: Bool

  private static let names: Set<String> = [
    "ok", "success", "status", "error", "errors", "message", "detail", "code",
  ]

  fileprivate init(in envelope: JSON) {
    let names = envelope.members.map(\.name)
    isGraphQL =
      envelope["errors"]?.hasElements == true && envelope["data"] ?? .null == .null
      && names.allSatisfy { ["errors", "data", "extensions"].contains($0) }
    isWhole = names.allSatisfy(Self.names.contains)
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func firstQuote(from index: Int) -> Int? {
    guard let start = baseAddress,
      let found = memchr(start + index, Int32(UInt8(ascii: "\"")), count - index)
    else { return nil }
    return UnsafeRawPointer(found) - start
  }
}

extension Data {
  /// The first byte that is neither white space (RFC 8259) nor part of a byte order mark.
  package var firstSignificantByte: UInt8? {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    return dropFirst(starts(with: mark) ? mark.count : 0).first {
      ![0x20, 0x09, 0x0A, 0x0D].contains($0)
    }
  }
}

extension String {
  /// The content of the first `title` element, with the five entities of XML decoded.
  fileprivate var htmlTitle: Substring? {
    guard let title = firstMatch(of: /(?i)<title[^<>]*>([^<]*)</) else { return nil }
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
    return entities.reduce(title.1) { $0.replacing($1.0, with: $1.1)[...] }
  }
}

extension JSON {
  /// The words of an error in the body of a response, rather as text than as a number; `nil` if there are none.
  var errorWords: String? { errorWords(isText: true) ?? errorWords(isText: false) }

  fileprivate func errorWords(isText: Bool) -> String? {
    ["error", "errors", "message", "detail"].lazy
      .compactMap { self[$0]?.words(isText: isText) }.first
  }

  /// The text of a member that names an error; `nil` if it says that there is none.
  var words: String? { words(isText: true) ?? words(isText: false) }

  private func words(isText: Bool) -> String? {
    switch self {
    case .null, .bool(false), .integer(0): nil
    case .bool, .integer, .number: isText ? nil : text
    case .string(let text): ["", "ok"].contains(text.trimmed.lowercased()) ? nil : text
    case .array(let elements): elements.lazy.compactMap { $0.words(isText: isText) }.first
    case .object(let members):
      ["message", "detail", "title", "description", "error", "code"].lazy
        .compactMap { self[$0]?.words(isText: isText) }.first
        ?? members.lazy.compactMap { $0.value.words(isText: isText) }.first
    }
  }

  /// True for a list of more than null.
  fileprivate var hasElements: Bool {
    if case .array(let elements) = self { elements.contains { $0 != .null } } else { false }
  }
}
