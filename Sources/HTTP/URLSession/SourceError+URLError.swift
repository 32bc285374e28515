#if canImport(Darwin) || URLSessionOnLinux
  import Foundation
  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  extension SourceError {
    /// The failure that an error of URLSession stands for.
    ///
    /// - Parameters:
    ///   - error: What URLSession said; its own words are not shown, because they may quote the address.
    ///   - place: The host, and the port where it is not the scheme's own.
    init(urlError error: URLError?, authority: String) {
      switch error?.code {
      case .cannotConnectToHost: self.init(.unreachable, "cannot connect to \(authority)")
      case .cannotFindHost, .dnsLookupFailed:
        self.init(.unreachable, "the host \(authority) is unknown")
      case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
        self.init(.unreachable, "there is no network")
      case .appTransportSecurityRequiresSecureConnection:
        self.init(.unreachable, "this system allows \(authority) only over https")
      case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
        .clientCertificateRequired:
        self.init(.unreachable, "no secure connection to \(authority)")
      case .timedOut: self.init(.timedOut, "\(authority) did not answer in time")
      case .badServerResponse: self = .closedWithoutReply(authority)
      case .cannotParseResponse, .unsupportedURL, .badURL:
        self.init(.malformed, "\(authority) does not speak HTTP")
      case .cannotDecodeContentData, .cannotDecodeRawData: self = .wronglyCompressed(authority)
      case .unknown: self.init(unknown: error?.localizedDescription ?? "", authority: authority)
      case .cancelled: self = .cancelled
      default: self = .broken(authority)
      }
    }

    /// On Linux several failures are `unknown`, and only libcurl's words tell them apart.
    private init(unknown words: String, authority: String) {
      if words.contains("SSL") || words.contains("certificate") {
        self.init(.unreachable, "no secure connection to \(authority)")
      } else if words.contains("transfer closed") {
        self = .cutShort(authority)
      } else if words.contains("Too large response headers") {
        self.init(.tooLarge, "the head of the reply is too large")
      } else if words.contains("content unencoding") {
        self = .wronglyCompressed(authority)
      } else {
        self = .broken(authority)
      }
    }
  }
#endif
