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
    init(urlError error: URLError?, place: String) {
      switch error?.code {
      case .cannotConnectToHost: self.init(.unreachable, "cannot connect to \(place)")
      case .cannotFindHost, .dnsLookupFailed:
        self.init(.unreachable, "the host \(place) is unknown")
      case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
        self.init(.unreachable, "there is no network")
      case .appTransportSecurityRequiresSecureConnection:
        self.init(.unreachable, "this system allows \(place) only over https")
      case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
        .clientCertificateRequired:
        self.init(.unreachable, "no secure connection to \(place)")
      case .timedOut: self.init(.timedOut, "\(place) did not answer in time")
      case .badServerResponse: self = .closedWithoutReply(place)
      case .cannotParseResponse, .unsupportedURL, .badURL:
        self.init(.malformed, "\(place) does not speak HTTP")
      case .cannotDecodeContentData, .cannotDecodeRawData: self = .wronglyCompressed(place)
      case .unknown: self.init(unknown: error?.localizedDescription ?? "", place: place)
      case .cancelled: self = .cancelled
      default: self = .broken(place)
      }
    }

    /// On Linux several failures are `unknown`, and only libcurl's words tell them apart.
    private init(unknown words: String, place: String) {
      if words.contains("SSL") || words.contains("certificate") {
        self.init(.unreachable, "no secure connection to \(place)")
      } else if words.contains("transfer closed") {
        self = .cutShort(place)
      } else if words.contains("Too large response headers") {
        self.init(.tooLarge, "the head of the reply is too large")
      } else if words.contains("content unencoding") {
        self = .wronglyCompressed(place)
      } else {
        self = .broken(place)
      }
    }
  }
#endif
