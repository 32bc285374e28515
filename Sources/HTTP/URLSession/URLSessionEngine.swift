#if canImport(Darwin) || URLSessionOnLinux
  package import AggregatorCore
  import Foundation
  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// HTTP over URLSession, the engine on Apple systems.
  ///
  /// URLSession has no limit for connecting alone (it counts as idle time), joins repeated header fields,
  /// and does not limit the size of the header.
  package final class URLSessionEngine: HTTPEngine {
    private let exchanges = URLSessionExchanges()
    private let session: URLSession

    package init() {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.urlCache = nil
      configuration.httpCookieStorage = nil
      configuration.httpShouldSetCookies = false
      configuration.urlCredentialStorage = nil
      configuration.httpMaximumConnectionsPerHost = 32
      // The engine enforces the limits: URLSession on Linux has whole seconds only.
      configuration.timeoutIntervalForRequest = 7 * 24 * 3600
      session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    // The session retains its delegate until it is invalidated.
    deinit { session.finishTasksAndInvalidate() }

    package func send(_ request: WireRequest) async throws(SourceError) -> HTTPResponse {
      if Task.isCancelled { throw .cancelled }
      guard let task = URLRequest(request).map(session.dataTask) else {
        throw SourceError(.invalidRequest, "invalid URL for \(request.address.authority)")
      }
      exchanges.open(task, request)
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
    fileprivate init?(_ request: WireRequest) {
      guard let url = URL(string: request.address.text) else { return nil }
      self.init(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
      httpMethod = request.method.rawValue
      httpBody = request.body
      httpShouldHandleCookies = false
      for (name, value) in request.headers { addValue(value, forHTTPHeaderField: name) }
    }
  }

  extension SourceError {
    /// Converts an error of URLSession, whose own text is not shown because it may quote the URL.
    init(urlError error: URLError?, authority: String) {
      switch error?.code {
      case .cannotConnectToHost: self.init(.unreachable, "cannot connect to \(authority)")
      case .cannotFindHost, .dnsLookupFailed:
        self.init(.unreachable, "could not resolve host \(authority)")
      case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
        self.init(.unreachable, "no network connection")
      case .appTransportSecurityRequiresSecureConnection:
        self.init(.unreachable, "this system requires https for \(authority)")
      case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
        .clientCertificateRequired:
        self.init(.unreachable, "TLS connection to \(authority) failed")
      case .timedOut: self.init(.timedOut, "\(authority) did not respond in time")
      case .badServerResponse: self = .closedWithoutReply(authority)
      case .cannotParseResponse, .unsupportedURL, .badURL:
        self.init(.malformed, "invalid HTTP response from \(authority)")
      case .cannotDecodeContentData, .cannotDecodeRawData: self = .wronglyCompressed(authority)
      case .unknown: self.init(unknown: error?.localizedDescription ?? "", authority: authority)
      case .cancelled: self = .cancelled
      default: self = .broken(authority)
      }
    }

    /// On Linux several failures are `unknown`; only libcurl's text distinguishes them.
    private init(unknown words: String, authority: String) {
      if words.contains("SSL") || words.contains("certificate") {
        self.init(.unreachable, "TLS connection to \(authority) failed")
      } else if words.contains("transfer closed") {
        self = .cutShort(authority)
      } else if words.contains("Too large response headers") {
        self.init(.tooLarge, "the header of the response is too large")
      } else if words.contains("content unencoding") {
        self = .wronglyCompressed(authority)
      } else {
        self = .broken(authority)
      }
    }
  }
#endif
