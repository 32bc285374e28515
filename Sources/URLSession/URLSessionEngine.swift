package import AggregatorCore
public import AggregatorHTTP

#if canImport(FoundationNetworking)
  import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension HTTPTransport {
  #if canImport(Darwin)
    /// The shared transport of this process, which reuses connections.
    public static let standard = HTTPTransport()

    /// A transport with connections of its own.
    public init() { self.init(engine: URLSessionEngine()) }
  #endif

  /// A transport that sends requests with a `URLSession` of the app: with its proxies, protocol classes
  /// and TLS settings, and its own header fields.
  ///
  /// Redirects, events, deadlines, limits and the rules for secrets are those of every transport. Cookies,
  /// and responses in the session's cache, are neither used nor stored.
  ///
  /// The session's delegate still receives what the transport does not need, such as authentication
  /// challenges and metrics; it may then accept other certificates, or a password for a 401. On Linux, where
  /// a task cannot have a delegate of its own, the transport uses another session of the same
  /// configuration, without that delegate.
  ///
  /// - Parameter session: A session that is not invalidated while the transport is in use. With a
  ///   background session each request throws ``SourceError`` with code `invalidSettings`.
  public init(session: URLSession) {
    self.init(engine: URLSessionEngine(session))
  }
}

/// HTTP over URLSession, the engine on Apple systems.
///
/// It takes bodies whole, also those for a ``ResponseStream``: a file is limited to ``HTTPLimits/bodyBytes``.
///
/// URLSession has no limit for connecting alone (it counts as idle time), joins repeated header fields,
/// and does not limit the size of the header.
package final class URLSessionEngine: HTTPEngine {
  // The engine enforces the limits: URLSession on Linux has whole seconds only.
  fileprivate static let noTimeout: TimeInterval = 7 * 24 * 3600

  private let exchanges = URLSessionExchanges()
  private let session: URLSession
  private let isOwnSession: Bool
  private let isBackground: Bool

  /// An engine that uses a session of the app, or one of its own.
  package init(_ session: URLSession? = nil) {
    isBackground = session?.configuration.identifier != nil
    #if canImport(Darwin)
      self.session = session ?? Self.session(.ephemeral, exchanges)
      isOwnSession = session == nil
    #else
      // Here a task's own delegate receives redirects and challenges, but no data; and the session's
      // configuration is not a copy.
      let copy = session?.configuration.copy() as? URLSessionConfiguration
      self.session = Self.session(copy ?? .ephemeral, exchanges)
      isOwnSession = true
    #endif
  }

  // The session retains its delegate until it is invalidated.
  deinit { if isOwnSession { session.finishTasksAndInvalidate() } }

  private static func session(
    _ configuration: URLSessionConfiguration, _ exchanges: URLSessionExchanges
  ) -> URLSession {
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    configuration.httpMaximumConnectionsPerHost = 32
    configuration.timeoutIntervalForRequest = noTimeout
    return URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
  }

  package func send(_ request: WireRequest) async throws(SourceError) -> HTTPResponse {
    if Task.isCancelled { throw .cancelled }
    guard !isBackground else {
      throw SourceError(
        .invalidSettings, "a background URLSession cannot be used for requests",
        remedy: "use a session with the default or ephemeral configuration")
    }
    let task = session.dataTask(with: try URLRequest(request))
    // Before the session's delegate, which receives all that this one does not implement.
    if !isOwnSession { task.delegate = exchanges }
    exchanges.open(task, request)
    Departure.current?.note()
    let result = await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.exchanges.watch(task) }
      defer { group.cancelAll() }
      return await withTaskCancellationHandler {
        await withCheckedContinuation { self.exchanges.begin(task, $0) }
      } onCancel: {
        self.exchanges.stop(task, because: .cancelled)
      }
    }
    return try result.get()
  }
}

extension URLRequest {
  fileprivate init(_ request: WireRequest) throws(SourceError) {
    self.init(
      url: try request.url, cachePolicy: .reloadIgnoringLocalCacheData,
      timeoutInterval: URLSessionEngine.noTimeout)
    httpMethod = request.method.rawValue
    httpBody = request.body
    httpShouldHandleCookies = false
    for (name, value) in request.headers { addValue(value, forHTTPHeaderField: name) }
  }
}

// MARK: - Errors

extension URLError: ClientError {
  /// The same as an error of a source, without URLSession's own text, which may quote the URL.
  package func sourceError(authority: String) -> SourceError {
    switch code {
    case .cannotConnectToHost: SourceError(.unreachable, "cannot connect to \(authority)")
    case .cannotFindHost, .dnsLookupFailed: .unknownHost(authority)
    case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
      SourceError(.unreachable, "no network connection")
    case .appTransportSecurityRequiresSecureConnection:
      SourceError(.unreachable, "this system requires https for \(authority)")
    case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
      .clientCertificateRequired:
      SourceError(.unreachable, "TLS connection to \(authority) failed")
    case .timedOut: SourceError(.timedOut, "\(authority) did not respond in time")
    case .badServerResponse: .closedWithoutReply(authority)
    case .cannotParseResponse, .unsupportedURL, .badURL:
      SourceError(.malformed, "invalid HTTP response from \(authority)")
    case .cannotDecodeContentData, .cannotDecodeRawData: .wronglyCompressed(authority)
    case .unknown: unknownError(authority: authority)
    case .cancelled: .cancelled
    default: .broken(authority)
    }
  }

  /// On Linux several failures are `unknown`; only libcurl's text distinguishes them.
  private func unknownError(authority: String) -> SourceError {
    let words = localizedDescription
    return if words.contains("SSL") || words.contains("certificate") {
      SourceError(.unreachable, "TLS connection to \(authority) failed")
    } else if words.contains("transfer closed") {
      .cutShort(authority)
    } else if words.contains("Too large response headers") {
      SourceError(.tooLarge, "the header of the response is too large")
    } else if words.contains("content unencoding") {
      .wronglyCompressed(authority)
    } else {
      .broken(authority)
    }
  }
}
