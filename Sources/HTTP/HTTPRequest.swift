public import AggregatorCore
public import Foundation

/// One HTTP request, with its secrets marked as such.
public struct HTTPRequest: Sendable {
  /// What is done.
  public enum Method: String, Sendable {
    /// Reads.
    case get = "GET"
    /// Sends a body.
    case post = "POST"
  }

  /// A part of a request that is either harmless or a secret.
  public enum Value: Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    /// Text that may be shown.
    case plain(String)
    /// Text that may not.
    case secret(Secret)

    /// Text that may be shown.
    public init(stringLiteral value: String) { self = .plain(value) }
  }

  /// A named value of the query or of the head.
  public struct Item: Sendable {
    /// The name.
    public let name: String
    /// The value.
    public let value: Value

    /// A named value.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value.
    public init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  /// What is done.
  public var method: Method

  /// The address, usually without a query: `https://host/path`.
  ///
  /// A query that it has goes first.
  public var url: URL

  /// The query, in order.
  ///
  /// Names and values are percent-encoded when the request is sent.
  public var query: [Item]

  /// Header fields beside those that the transport sets itself.
  public var headers: [Item]

  /// The body; `nil` for none.
  public var body: Data?

  /// How large the reply may be, and how long it may take.
  public var limits: HTTPLimits

  /// A request.
  ///
  /// - Parameters:
  ///   - method: What is done.
  ///   - url: The address without its query.
  ///   - query: The query, in order.
  ///   - headers: Header fields beside those that the transport sets itself.
  ///   - body: The body; `nil` for none.
  ///   - limits: How large the reply may be, and how long it may take.
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

  /// The address without user, query and fragment, as ``Provenance/endpoint`` shows it.
  public var endpoint: String {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "" }
    (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
    return parts.string ?? ""
  }
}

/// How large a reply may be, and how long it may take.
public struct HTTPLimits: Hashable, Sendable {
  /// The most bytes of a body, *after* decompression.
  public var bodyBytes: Int
  /// How long connecting may take.
  public var connect: Duration
  /// How long the line may be silent.
  public var idle: Duration
  /// How long the whole exchange may take.
  public var overall: Duration

  /// 16 MiB; 10 s to connect, 30 s of silence, 120 s overall.
  public static let standard = HTTPLimits(
    bodyBytes: 16 << 20, connect: .seconds(10), idle: .seconds(30), overall: .seconds(120))

  /// Limits.
  ///
  /// - Parameters:
  ///   - bodyBytes: The most bytes of a body, after decompression.
  ///   - connect: How long connecting may take.
  ///   - idle: How long the line may be silent.
  ///   - overall: How long the whole exchange may take.
  public init(bodyBytes: Int, connect: Duration, idle: Duration, overall: Duration) {
    self.bodyBytes = bodyBytes
    self.connect = connect
    self.idle = idle
    self.overall = overall
  }
}
