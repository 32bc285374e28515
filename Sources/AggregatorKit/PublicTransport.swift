package import AggregatorCore
import AggregatorFoundation
package import AggregatorHTTP
import AggregatorImages

/// A transport that refuses requests to this machine and to private networks, for URLs that a model has chosen.
///
/// A name is refused, too, if it leads to such an address when the request is sent.
package struct PublicTransport: Transport {
  private let transport: any Transport
  private let allowed: Set<String>

  /// - Parameter allowed: Hosts that may be private, as in a URL.
  package init(_ transport: any Transport, allowing allowed: [String]) {
    self.transport = transport
    self.allowed = Set(allowed.map { $0.lowercased() })
  }

  package func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    if let address = Address(request.url), !allowed.contains(address.host) {
      var isPublic = address.networkScope == .internet
      if isPublic { isPublic = await Self.addresses(of: address.host).allSatisfy(Self.isPublic) }
      guard isPublic else {
        throw SourceError(
          .rejected, "\(address.host) is this machine or in a private network",
          remedy: "a person can allow it: mcp --allow-host \(address.host)")
      }
    }
    return try await transport.send(request)
  }

  private static func isPublic(_ numeric: String) -> Bool {
    let host = numeric.contains(":") ? "[\(numeric)]" : numeric
    return URL(string: "http://\(host)/").flatMap { Address($0) }?.networkScope == .internet
  }

  /// The addresses of a name; none if it is unknown here, as behind a proxy.
  private static func addresses(of host: String) async -> [String] {
    await withCheckedContinuation { continuation in
      SystemThread.start { continuation.resume(returning: numericAddresses(of: host)) }
    }
  }

  private static func numericAddresses(of host: String) -> [String] {
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, nil, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var addresses: [String] = []
    var next = list
    while let info = next?.pointee {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let length = socklen_t(text.count)
      if getnameinfo(info.ai_addr, info.ai_addrlen, &text, length, nil, 0, NI_NUMERICHOST) == 0 {
        // Without the zone of a link-local address.
        let bytes = text.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: "%")) }
        addresses.append(String(decoding: bytes.map(UInt8.init(bitPattern:)), as: UTF8.self))
      }
      next = info.ai_next
    }
    return addresses
  }
}
