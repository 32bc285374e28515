import AggregatorCore
import AggregatorText

#if os(Linux)
  import AggregatorFoundation

  /// The state of a transfer that failed.
  struct CurlContext {
    let authority: String
    let limits: HTTPLimits
    /// `true` if it was connected, including TLS.
    let isConnected: Bool
    /// The `errno` of the last failed connect; 0 for none.
    var systemError: Int32 = 0
    var hasHead = true
    /// libcurl's own message, which may quote the server's certificate.
    var message = ""

    /// The host and port to which no connection was possible, if they are not the service's.
    fileprivate var proxy: String? {
      guard
        let match = message.prefixMatch(
          of: /Failed to connect to ([^ ]+) port ([0-9]{1,5})(?![0-9])/)
      else { return nil }
      let (host, port) = (String(match.1), String(match.2))
      // A standard port is not part of the authority.
      let isService = [host, "[\(host)]"].contains { name in
        authority == "\(name):\(port)" || authority == name && ["80", "443"].contains(port)
      }
      return isService ? nil : "\(host):\(port)"
    }
  }

  extension SourceError {
    /// Converts an error code of libcurl (libcurl-errors(3)).
    init(curl code: Int32, _ context: CurlContext) {
      let authority = context.authority
      switch code {
      case 5: self.init(.unreachable, "could not resolve the proxy for \(authority)")
      case 6: self.init(.unreachable, "could not resolve host \(authority)")
      case 7:
        let reason = context.systemError
        let words = reason == 0 ? "" : ": " + String(cString: strerror(reason)).lowercased()
        let proxy = context.proxy.map { "the proxy \($0)" }
        self.init(
          .unreachable, "cannot connect to \(proxy ?? authority)\(words)",
          remedy: proxy.map { _ in "check the variables http_proxy, https_proxy and all_proxy" })
      case 35, 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98:
        let words = context.message.oneLine(atMost: 160)
        self.init(
          .unreachable,
          "TLS connection to \(authority) failed" + (words.isEmpty ? "" : ": \(words)"))
      case 28 where !context.isConnected && context.limits.connect < context.limits.overall:
        self = .notConnected(authority, within: context.limits.connect)
      case 28: self = .unfinished(authority, within: context.limits.overall)
      case 52: self = .closedWithoutReply(authority)
      case 18: self = .cutShort(authority)
      // "CONNECT tunnel failed, response 403"
      case 56 where context.message.contains("CONNECT"), 97:
        self.init(.unreachable, "the proxy refused to connect to \(authority)")
      case 16, 55, 56, 92, 95: self = .broken(authority)
      case 61: self = .wronglyCompressed(authority)
      // libcurl before 8.6 reports a line above its own limit, some 100 KB, as if memory had run out.
      case 27 where !context.hasHead, 100:
        self.init(.tooLarge, "a header line of the response from \(authority) is too long")
      case 27: self.init(.tooLarge, "not enough memory for the response from \(authority)")
      case 1, 3, 8: self.init(.malformed, "invalid HTTP response from \(authority)")
      default:
        self.init(.connectionLost, "the request to \(authority) failed (libcurl error \(code))")
      }
    }
  }
#endif
