package import AggregatorCore

#if os(Linux)
  import Foundation

  /// What is known about a transfer that failed.
  package struct CurlContext {
    /// The host, and the port where it is not the scheme's own.
    package var authority: String
    package var limits: HTTPLimits
    /// Whether the connection stood, with TLS.
    package var isConnected: Bool
    /// The `errno` of the last failed connect; 0 for none.
    package var systemError: Int32
    /// libcurl's own words; they may quote the server's certificate.
    package var words: String

    package init(
      authority: String, limits: HTTPLimits, isConnected: Bool, systemError: Int32 = 0,
      words: String = ""
    ) {
      self.authority = authority
      self.limits = limits
      self.isConnected = isConnected
      self.systemError = systemError
      self.words = words
    }
  }

  extension SourceError {
    /// The failure that a code of libcurl stands for (libcurl-errors(3)).
    package init(curl code: Int32, _ circumstances: CurlContext) {
      let authority = circumstances.authority
      switch code {
      case 5: self.init(.unreachable, "the proxy for \(authority) is unknown")
      case 6: self.init(.unreachable, "the host \(authority) is unknown")
      case 7:
        let reason = circumstances.systemError
        let words = reason == 0 ? "" : ": " + String(cString: strerror(reason)).lowercased()
        self.init(.unreachable, "cannot connect to \(authority)\(words)")
      case 35, 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98:
        let words = circumstances.words.oneLine(atMost: 160)
        self.init(
          .unreachable, "no secure connection to \(authority)" + (words.isEmpty ? "" : ": \(words)")
        )
      case 28
      where !circumstances.isConnected
        && circumstances.limits.connect < circumstances.limits.overall:
        self = .notConnected(authority, within: circumstances.limits.connect)
      case 28: self = .unfinished(authority, within: circumstances.limits.overall)
      case 52: self = .closedWithoutReply(authority)
      case 18: self = .cutShort(authority)
      case 16, 55, 56, 92, 95: self = .broken(authority)
      case 61: self = .wronglyCompressed(authority)
      case 27: self.init(.tooLarge, "there is not enough memory for the reply from \(authority)")
      case 1, 3, 8: self.init(.malformed, "\(authority) does not speak HTTP")
      case 97: self.init(.unreachable, "the proxy for \(authority) refused")
      default: self.init(.connectionLost, "the exchange with \(authority) failed (libcurl \(code))")
      }
    }
  }
#endif
