package import AggregatorCore
import AggregatorHTTP
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension URLError: ClientError {
  package func sourceError(authority: String) -> SourceError {
    SourceError(urlError: self, authority: authority)
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
