public import AggregatorCore
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
    case 403 where isRateLimit, 420, 425, 429:
      throw failure(.rateLimited, "rate limited by \(service) (\(status))", now)
    case ..<500: throw failure(.rejected, "\(service) refused the request (\(status))", now)
    default: throw failure(.serverError, "\(service) failed (\(status))", now)
    }
  }

  /// True if a service that forbids a request says when it may be sent again.
  private var isRateLimit: Bool { header("retry-after") != nil || hasQuotaLeft == false }

  private func failure(_ code: SourceError.Code, _ message: String, _ now: Date) -> SourceError {
    let wait = retryAfter(from: now)
    return SourceError(
      code, message + (summary.map { ": \($0)" } ?? ""),
      remedy: wait.map { "retry in \($0.text)" }, retryAfter: wait)
  }
}

extension HTTPResponse {
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

  private static let summaryWindow = 16 << 10

  private var envelopeMessage: Substring? {
    let envelope = try? JSONText(body)?.read([String: MessageText].self)
    return ["error", "message", "detail"].lazy.compactMap { envelope?[$0]?.text }.first?[...]
  }

  /// A string; any other value is ignored.
  private struct MessageText: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws {
      text = try? decoder.singleValueContainer().decode(String.self)
    }
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
