import AggregatorCore
package import AggregatorFoundation
import AggregatorText

/// An `http` or `https` URL, parsed so strictly that every engine understands it in the same way.
///
/// Text that one parser takes for a host and another for a user name could send a key to the wrong host.
/// So user names are rejected, and a host consists of letters, digits, `.`, `-` and `_`, or is an IPv6 address.
package struct Address: Hashable, Sendable {
  package let scheme: String
  /// The host in lower case; an IPv6 address in brackets.
  package let host: String
  /// The port, also if it is the standard port of the scheme.
  package let port: Int
  /// The path, percent-encoded; at least `/`.
  package let path: String
  /// The query as it is sent, without `?`; `nil` for none.
  package var query: String?

  /// Parses an absolute URL, whose fragment is ignored; `nil` if it is invalid.
  package init?(_ url: URL) {
    guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
      url.user() == nil, url.password() == nil,
      let host = url.host(percentEncoded: true)?.lowercased(), let plain = Self.host(host)
    else { return nil }
    let port = url.port ?? Self.standardPort(of: scheme)
    guard 1...65535 ~= port else { return nil }
    let path = url.path(percentEncoded: true)
    let query = url.query(percentEncoded: true)
    for byte in (path + (query ?? "")).utf8 where !(0x21...0x7E ~= byte) { return nil }
    self.scheme = scheme
    self.host = plain
    self.port = port
    self.path = path.hasPrefix("/") ? path : "/" + path
    self.query = query
  }

  /// The address as text, with the query and any secrets in it.
  package var text: String {
    "\(scheme)://\(authority)\(path)" + (query.map { "?" + $0 } ?? "")
  }

  /// The host, and the port unless it is the standard port of the scheme: `127.0.0.1:8080`.
  package var authority: String { isStandardPort ? host : "\(host):\(port)" }

  package var isStandardPort: Bool { port == Self.standardPort(of: scheme) }

  /// `true` if the host is this machine: `localhost`, 127.0.0.0/8 (RFC 1122) or `::1` (RFC 4291).
  package var isLoopback: Bool {
    if host == "localhost" { return true }
    var v4 = in_addr()
    if inet_pton(AF_INET, host, &v4) == 1 { return UInt32(bigEndian: v4.s_addr) >> 24 == 127 }
    var v6 = in6_addr()
    guard inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &v6) == 1 else { return false }
    return withUnsafeBytes(of: v6) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
  }

  private static func standardPort(of scheme: String) -> Int { scheme == "https" ? 443 : 80 }

  private static func host(_ text: String) -> String? {
    let inner = text.hasPrefix("[") && text.hasSuffix("]") ? text.dropFirst().dropLast() : text[...]
    // Bytes of a text in a loop: what any sequence can do is not made for this one where options are for size.
    var (isName, isAddress) = (!inner.isEmpty, false)
    for byte in String(inner).utf8 {
      isAddress = isAddress || byte == UInt8(ascii: ":")
      isName = isName && byte.isUnreserved && byte != UInt8(ascii: "~")
    }
    if isAddress {
      var v6 = in6_addr()
      return inet_pton(AF_INET6, String(inner), &v6) == 1 ? "[\(inner)]" : nil
    }
    return isName && inner.count == text.count && text.utf8.count <= 255 ? text : nil
  }
}
