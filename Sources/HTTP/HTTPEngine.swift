package import AggregatorCore
public import AggregatorFoundation
import AggregatorText

/// Sends a single HTTP request to a single server.
///
/// ``HTTPTransport`` does what all engines have in common: secrets, redirects, events. An engine never
/// follows a redirect, keeps no cookies and no cache, checks certificates, decodes `gzip` and `deflate`,
/// enforces the limits, and names the host in its errors but never the full URL.
package protocol HTTPEngine: Sendable {
  /// Sends a request as ``Transport/send(_:)`` does.
  ///
  /// An engine that can hands the body to the request's ``ResponseStream`` while it arrives. From all others the transport
  /// takes the whole body, of at most ``HTTPLimits/bodyBytes``.
  func send(_ request: WireRequest) async throws(SourceError) -> HTTPResponse
}

/// A request as it goes over the wire: the only value in which secrets are readable.
///
/// The closure of ``HTTPTransport/init(sendingBy:)`` receives it. Its description shows the method and
/// the host only.
public struct WireRequest: Sendable {
  public internal(set) var method: HTTPRequest.Method
  package internal(set) var address: Address
  /// Valid header fields, without `Content-Length` and those of the connection, which the engine sets.
  public internal(set) var headers: [(name: String, value: String)]
  /// The body, possibly empty; `nil` for a GET.
  public internal(set) var body: Data?
  /// The limits of this exchange: a redirect has less time left.
  public internal(set) var limits: HTTPLimits
  package internal(set) var responseStream: ResponseStream?

  /// The URL with its query, secrets included.
  ///
  /// - Throws: ``SourceError`` with code `invalidRequest` if Foundation rejects it.
  public var url: URL {
    get throws(SourceError) {
      guard let url = URL(string: address.text) else {
        throw SourceError(.invalidRequest, "invalid URL for \(address.authority)")
      }
      return url
    }
  }
}

extension WireRequest: CustomStringConvertible, CustomReflectable {
  /// The method and the host: nothing secret.
  public var description: String { "\(method.rawValue) \(address.authority)" }

  /// Hides the secrets from `dump` and other mirrors.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - From a request

extension WireRequest {
  private static let userAgent = "aggregator/\(Version.current) (Swift command line and library)"

  /// Encodes a request, with its secrets.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings` if a secret would be sent unencrypted, `invalidRequest`
  ///   if the URL or a header field is invalid.
  init(_ request: HTTPRequest) throws(SourceError) {
    guard var address = Address(request.url) else {
      throw SourceError(
        .invalidRequest,
        "invalid URL \"\(request.endpoint)\": must be an http(s) URL without user name")
    }
    guard request.secrets.isEmpty || address.scheme == "https" || address.isLoopback else {
      throw SourceError(
        .invalidSettings, "refusing to send a key unencrypted to \(address.authority)",
        remedy: "use an https:// URL")
    }
    address.query = request.plainQuery

    var headers = request.plainHeaders
    for field in headers where !Self.isValid(field) {
      // Neither part is quoted: the value may be a secret, and the name is as broken.
      throw SourceError(.invalidRequest, "invalid header field in the request")
    }
    for field in [(name: "User-Agent", value: Self.userAgent), (name: "Accept", value: "*/*")]
    where !headers.contains(where: { $0.name.lowercased() == field.name.lowercased() }) {
      headers.append(field)
    }
    self.init(
      method: request.method, address: address, headers: headers,
      body: request.method == .get ? nil : request.body ?? Data(), limits: request.limits,
      responseStream: request.responseStream)
    // A large file may take any time, as long as it arrives.
    if responseStream != nil { limits.overall = .seconds(7 * 24 * 3600) }
  }

  /// `true` if the name is a token and the value has no control characters (RFC 9110, section 5), so
  /// that neither can begin another field or request.
  private static func isValid(_ field: (name: String, value: String)) -> Bool {
    let isToken = field.name.utf8.allSatisfy(\.isTokenCharacter)
    let isText = field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    return !field.name.isEmpty && isToken && isText
  }

  // MARK: - Redirects

  private static let locationLimit = 8192

  /// The request that a redirect leads to (RFC 9110, section 15.4); `nil` if it is not a redirect.
  ///
  /// - Parameter scanner: Hides the request's secrets, which the service may repeat anywhere.
  /// - Throws: ``SourceError`` with code `rejected` if it leads to another host, `malformed` if the
  ///   target is invalid.
  func redirected(
    by response: HTTPResponse, hiding scanner: SecretScanner
  ) throws(SourceError) -> WireRequest? {
    guard [301, 302, 303, 307, 308].contains(response.status),
      let location = response.header("location")
    else { return nil }
    guard !location.isEmpty, location.utf8.count <= Self.locationLimit,
      let url = URL(string: location, relativeTo: URL(string: address.text))?.absoluteURL
    else {
      throw SourceError(.malformed, "\(address.authority) redirects to an invalid URL")
    }
    guard let target = Address(url) else {
      throw SourceError(
        .rejected, "\(address.authority) redirects to a URL that is not plain http(s)")
    }
    guard address.allowsRedirect(to: target) else {
      let isOtherScheme = target.host == address.host && target.scheme != address.scheme
      let change =
        isOtherScheme
        ? "from \(address.scheme) to \(target.scheme)"
        : "to another host (\(scanner.redacted(target.authority)))"
      throw SourceError(.rejected, "\(address.authority) redirects \(change)")
    }
    var next = self
    next.address = target
    let isRead = method == .get || method == .head
    if response.status <= 303, method == .post || response.status == 303 && !isRead {
      next.method = .get
      next.body = nil
      next.headers.removeAll { $0.name.lowercased() == "content-type" }
    }
    return next
  }
}

extension UInt8 {
  /// `true` for a character of a header field's name (RFC 9110, section 5.6.2).
  package var isTokenCharacter: Bool {
    isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(self)
  }
}

extension Address {
  /// `true` if the request, with its secrets, may be repeated there.
  fileprivate func allowsRedirect(to target: Address) -> Bool {
    guard host == target.host else { return false }
    let isSame = scheme == target.scheme && port == target.port
    return isSame || (target.scheme == "https" && isStandardPort && target.isStandardPort)
  }
}

// MARK: - Failures

/// The failures that all engines report with the same text.
extension SourceError {
  package static func tooLarge(_ bytes: Int, _ part: String = "the response") -> SourceError {
    SourceError(.tooLarge, "\(part) is larger than \(bytes.binarySize)")
  }

  /// This error with a remedy, if the response to a request was too large.
  package func remediedForSize(of request: HTTPRequest) -> SourceError {
    guard code == .tooLarge, remedy == nil else { return self }
    var error = self
    error.remedy = Remedy(
      request.url.isFileURL
        ? "write its records as NDJSON, one on each line, or allow a larger file"
        : "request smaller pages, or allow a larger response", .allowMoreBytes)
    return error
  }

  package static func notConnected(_ authority: String, within limit: Duration) -> SourceError {
    SourceError(.timedOut, "no connection to \(authority) within \(limit.brief)")
  }

  package static func silent(_ authority: String, for limit: Duration) -> SourceError {
    SourceError(.timedOut, "no data from \(authority) for \(limit.brief)")
  }

  package static func unfinished(_ authority: String, within limit: Duration) -> SourceError {
    SourceError(.timedOut, "no complete response from \(authority) within \(limit.brief)")
  }

  package static func unknownHost(_ authority: String) -> SourceError {
    SourceError(.unreachable, "could not resolve host \(authority)", cause: UnknownHost())
  }

  package static func closedWithoutReply(_ authority: String) -> SourceError {
    SourceError(.connectionLost, "\(authority) closed the connection without a response")
  }

  package static func cutShort(_ authority: String) -> SourceError {
    SourceError(.connectionLost, "\(authority) closed the connection in the middle of the response")
  }

  package static func broken(_ authority: String) -> SourceError {
    SourceError(.connectionLost, "lost the connection to \(authority)")
  }

  package static func wronglyCompressed(_ authority: String) -> SourceError {
    SourceError(.malformed, "invalid compression in the response from \(authority)")
  }
}

extension Int {
  /// `16 MiB`, `64 KiB` or `1000 bytes`: exact, in the largest unit that divides it.
  fileprivate var binarySize: String {
    if self > 0, isMultiple(of: 1 << 20) { return "\(self >> 20) MiB" }
    if self > 0, isMultiple(of: 1 << 10) { return "\(self >> 10) KiB" }
    return "\(self) bytes"
  }
}

extension Duration {
  /// Whole milliseconds, rounded up, from 1 to 24 days, for C interfaces.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds < 2_147_483 else { return 2_147_483_000 }
    let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return Int32(Swift.max(1, seconds * 1000 + rest))
  }

  /// `10 s` or `250 ms`; `2 s` is what a deadline of as much leaves, which has lost up to 20 ms before the request.
  fileprivate var brief: String {
    let seconds = (milliseconds + 20) / 1000
    return milliseconds <= seconds * 1000 ? "\(seconds) s" : "\(milliseconds) ms"
  }
}

/// HTTP over a client of the app, of which only the overall time and the size of the body are limited.
struct ClosureEngine: HTTPEngine {
  let body: @Sendable (WireRequest) async throws -> HTTPResponse

  func send(_ request: WireRequest) async throws(SourceError) -> HTTPResponse {
    if Task.isCancelled { throw .cancelled }
    Departure.current?.note()
    let (authority, limits) = (request.address.authority, request.limits)
    let end = ContinuousClock.now + limits.overall
    let result = await withTaskGroup(of: Result<HTTPResponse, SourceError>.self) { group in
      group.addTask {
        do {
          return .success(try await body(request))
        } catch let error as SourceError {
          return .failure(error)
        } catch is CancellationError {
          return .failure(.cancelled)
        } catch {
          let client = error as? any ClientError
          return .failure(client?.sourceError(authority: authority) ?? .broken(authority))
        }
      }
      group.addTask {
        await ContinuousClock().reaches(end)
          ? .failure(.unfinished(authority, within: limits.overall)) : .failure(.cancelled)
      }
      defer { group.cancelAll() }
      return await group.next() ?? .failure(.cancelled)
    }
    let response = try result.get()
    guard response.body.count <= limits.bodyBytes else { throw .tooLarge(limits.bodyBytes) }
    return response
  }
}

/// An error of an HTTP client that says what has failed.
package protocol ClientError: Error {
  /// The same as an error of a source, without the client's text, which may contain the URL.
  func sourceError(authority: String) -> SourceError
}

/// The cause of `unreachable` if a name of a host, or the network, is not known.
package struct UnknownHost: Error {}
