public import AggregatorCore
public import AggregatorFoundation
import AggregatorText

/// One HTTP request, with its secrets marked as such.
public struct HTTPRequest: Sendable {
  /// The method of a request, such as `GET`; capital letters matter.
  public struct Method: RawRepresentable, Hashable, Sendable {
    public static let get = Method("GET")
    /// The response has no body.
    public static let head = Method("HEAD")
    public static let post = Method("POST")
    public static let put = Method("PUT")
    public static let patch = Method("PATCH")
    public static let delete = Method("DELETE")
    public static let options = Method("OPTIONS")

    /// The methods above.
    package static let common = [get, head, post, put, patch, delete, options]

    public let rawValue: String

    /// Creates any other method; `nil` if the name is no token (RFC 9110, section 9.1).
    public init?(rawValue: String) {
      guard !rawValue.isEmpty, rawValue.utf8.allSatisfy(\.isTokenCharacter) else { return nil }
      self.rawValue = rawValue
    }

    private init(_ name: String) { rawValue = name }
  }

  /// The value of a query item or header field.
  public enum Value: Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    /// Text that may be shown.
    case plain(String)
    /// Text that must never be shown or recorded.
    case secret(Secret)

    public init(stringLiteral value: String) { self = .plain(value) }

    /// The text as it is sent: keep it where it cannot be shown.
    fileprivate var text: String {
      if case .secret(let secret) = self { secret.reveal(\.self) } else { shown }
    }

    /// The text, `REDACTED` for a secret.
    var shown: String {
      if case .plain(let text) = self { text } else { Secret.mark }
    }
  }

  /// A query item or header field.
  public struct Item: Sendable {
    public let name: String
    public let value: Value

    public init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }

    var isSecret: Bool { if case .secret = value { true } else { false } }
  }

  public var method: Method

  /// The URL, usually without a query (`https://host/path`): its own is sent before ``query``.
  public var url: URL

  /// The query, in order; names and values are percent-encoded when the request is sent.
  public var query: [Item]

  /// Header fields in addition to those that the transport sets itself.
  public var headers: [Item]

  public var body: Data?
  public var limits: HTTPLimits

  /// Secrets in the body, and others that the response must not repeat.
  package var otherSecrets: [Secret] = []

  /// True if the response consists of credentials, which would be damaged if secrets were removed from it.
  package var receivesCredentials = false

  /// Receives the body of a successful response, which then is not limited in size and time as a whole.
  package var responseStream: ResponseStream?

  public init(
    _ method: Method, _ url: URL, query: [Item] = [], headers: [Item] = [],
    body: Data? = nil, limits: HTTPLimits = .standard
  ) {
    self.method = method
    self.url = url
    self.query = query
    self.headers = headers
    self.body = body
    self.limits = limits
  }

  /// The URL without user, query and fragment, as in ``Provenance/endpoint``.
  public var endpoint: String {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "" }
    (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
    return parts.string ?? ""
  }
}

/// The limits on the size of a response and on the duration of an exchange.
public struct HTTPLimits: Hashable, Sendable {
  /// The most bytes of a body, *after* decompression.
  public var bodyBytes: Int
  /// The longest time to connect.
  public var connect: Duration
  /// The longest time without any data.
  public var idle: Duration
  /// The longest time for the whole exchange.
  public var overall: Duration

  /// 16 MiB; 10 s to connect, 30 s without data, 120 s overall.
  public static let standard = HTTPLimits(
    bodyBytes: 16 << 20, connect: .seconds(10), idle: .seconds(30), overall: .seconds(120))

  public init(bodyBytes: Int, connect: Duration, idle: Duration, overall: Duration) {
    self.bodyBytes = bodyBytes
    self.connect = connect
    self.idle = idle
    self.overall = overall
  }
}

extension HTTPRequest {
  var secrets: [Secret] {
    (query + headers).compactMap { item in
      if case .secret(let secret) = item.value { secret } else { nil }
    } + otherSecrets
  }

  /// The header fields as they are sent, with secrets.
  var plainHeaders: [(name: String, value: String)] { headers.map { ($0.name, $0.value.text) } }

  /// The query as it is sent, with secrets; `nil` for none.
  var plainQuery: String? { encodedQuery(\.text) }

  /// `GET /path`, without query and secrets, of at most 80 characters.
  package var methodAndPath: String {
    let path = SecretScanner(secrets).redacted(url.path(percentEncoded: true))
    return "\(method.rawValue) \(path.isEmpty ? "/" : path)".oneLine(atMost: 80)
  }

  /// The URL with its query as it is sent, secret values as `REDACTED`.
  package var shownAddress: String {
    encodedQuery(\.shown).map { "\(endpoint)?\($0)" } ?? endpoint
  }

  private func encodedQuery(_ text: (Value) -> String) -> String? {
    let items = query.map { "\($0.name.percentEncoded)=\(text($0.value).percentEncoded)" }
    let query = [url.query(percentEncoded: true)].compactMap(\.self) + items
    return query.isEmpty ? nil : query.joined(separator: "&")
  }
}

/// Guesses by names and values which parts of a request are secrets.
package enum LikelySecret {
  /// The parameters that carry keys, without `-` and `_`.
  private static let parameters: Set<String> = [
    "apikey", "key", "token", "accesstoken", "authtoken", "secret", "clientsecret", "appid",
    "appkey", "subscriptionkey", "password", "auth", "signature",
  ]

  /// Returns true for a query parameter that probably authenticates, by its name as it is or percent-encoded.
  package static func isParameter(_ name: some StringProtocol) -> Bool {
    let name = String(name).percentDecoded ?? String(name)
    return parameters.contains(name.lowercased().filter { $0.isLetter || $0.isNumber })
  }

  /// The text with `REDACTED` for the values of such parameters of addresses in it.
  ///
  /// Every address that is requested passes through it, so it compiles no regular expression.
  package static func hidden(in text: String) -> String {
    var shown = ""
    var (kept, rest) = (text.startIndex, text.utf8[...])
    while let start = rest.firstIndex(where: "?&".utf8.contains) {
      rest = rest[rest.index(after: start)...]
      let name = rest.prefix { !endsParameter($0) && !"=?".utf8.contains($0) }
      rest = rest[name.endIndex...]
      guard rest.first == UInt8(ascii: "="), isParameter(String(Substring(name))) else { continue }
      let value = rest.index(after: rest.startIndex)
      rest = rest[value...].drop { !endsParameter($0) }
      shown += text[kept..<value] + Secret.mark
      kept = rest.startIndex
    }
    return shown + text[kept...]
  }

  private static func endsParameter(_ byte: UInt8) -> Bool {
    byte <= UInt8(ascii: " ") || #"&#<>""#.utf8.contains(byte)
  }
}

/// A complete HTTP response, without those secrets of the request that the service repeats in it.
public struct HTTPResponse: Sendable {
  public var status: Int

  /// The header fields in the order of arrival, with lower-case names.
  public var headers: [(name: String, value: String)]

  /// The body, decompressed.
  public var body: Data

  /// The version of HTTP, the status and its reason as they arrived, such as `HTTP/1.1 200 OK`; `nil` if the engine does
  /// not tell, or the response is a recorded one.
  package var statusLine: String?

  /// Set if the body was sent in another format than JSON, which it has now.
  package var conversion: Conversion?

  public init(status: Int, headers: [(name: String, value: String)] = [], body: Data = Data()) {
    self.status = status
    self.headers = headers.map { ($0.name.lowercased(), $0.value) }
    self.body = body
  }

  /// The value of a header field, whose name may be in any case; the first of several.
  public func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name == name }?.value
  }
}
