package import AggregatorCore

#if os(Linux)
  import Foundation

  /// The state of a transfer that failed.
  package struct CurlContext {
    /// The host, and the port unless it is standard.
    package var authority: String
    package var limits: HTTPLimits
    /// `true` if it was connected, including TLS.
    package var isConnected: Bool
    /// The `errno` of the last failed connect; 0 for none.
    package var systemError: Int32
    /// libcurl's own message, which may quote the server's certificate.
    package var message: String

    package init(
      authority: String, limits: HTTPLimits, isConnected: Bool, systemError: Int32 = 0,
      message: String = ""
    ) {
      self.authority = authority
      self.limits = limits
      self.isConnected = isConnected
      self.systemError = systemError
      self.message = message
    }
  }

  extension SourceError {
    /// Converts an error code of libcurl (libcurl-errors(3)).
    package init(curl code: Int32, _ context: CurlContext) {
      let authority = context.authority
      switch code {
      case 5: self.init(.unreachable, "could not resolve the proxy for \(authority)")
      case 6: self.init(.unreachable, "could not resolve host \(authority)")
      case 7:
        let reason = context.systemError
        let words = reason == 0 ? "" : ": " + String(cString: strerror(reason)).lowercased()
        self.init(.unreachable, "cannot connect to \(authority)\(words)")
      case 35, 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98:
        let words = context.message.oneLine(atMost: 160)
        self.init(
          .unreachable,
          "TLS connection to \(authority) failed" + (words.isEmpty ? "" : ": \(words)")
        )
      case 28
      where !context.isConnected
        && context.limits.connect < context.limits.overall:
        self = .notConnected(authority, within: context.limits.connect)
      case 28: self = .unfinished(authority, within: context.limits.overall)
      case 52: self = .closedWithoutReply(authority)
      case 18: self = .cutShort(authority)
      case 16, 55, 56, 92, 95: self = .broken(authority)
      case 61: self = .wronglyCompressed(authority)
      case 27: self.init(.tooLarge, "not enough memory for the response from \(authority)")
      case 1, 3, 8: self.init(.malformed, "invalid HTTP response from \(authority)")
      case 97: self.init(.unreachable, "the proxy refused to connect to \(authority)")
      default:
        self.init(.connectionLost, "the request to \(authority) failed (libcurl error \(code))")
      }
    }
  }
#endif
