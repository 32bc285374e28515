public import AggregatorCore
public import AggregatorFoundation
package import AggregatorHTTP
import AggregatorText

/// The `http` or `https` URL of an image, without user name and password.
///
/// It comes from a service, so it is not trusted until it is parsed here.
public struct ImageAddress: RecordID {
  private static let maxLength = 4096

  /// The URL, with its host in lower case and without a fragment.
  public let description: String

  public let url: URL

  let address: Address

  /// Parses an absolute URL, or one without a scheme (`//cdn…`), which becomes `https`; `nil` for any other text.
  public init?(_ description: String) {
    guard let text = description.nonBlank, text.utf8.count <= Self.maxLength,
      let url = URL(string: text.hasPrefix("//") ? "https:" + text : text),
      let address = Address(url), let plain = URL(string: address.text),
      // Percent-encoding may lengthen it: a character of three bytes takes nine.
      address.text.utf8.count <= Self.maxLength
    else { return nil }
    self.description = address.text
    self.url = plain
    self.address = address
  }

  /// The host, and the port unless it is standard: `cdn.example`.
  package var authority: String { address.authority }

  package var networkScope: NetworkScope { address.networkScope }
}

extension ImageAddress: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let address = ImageAddress(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "not an http(s) URL")
    }
    self = address
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

/// The size of an image, if a service has several.
public enum ImageSize: String, CaseIterable, Sendable {
  /// For a list.
  case small
  /// For a page about one record.
  case medium
  /// The largest one for a screen.
  case large
}

/// The network of a host, judged by its name.
///
/// The data of a service determines which images are fetched. It must not cause requests to this machine
/// or its private network, unless the service itself is there.
///
/// A public name that resolves to a private address is not detected: names are resolved when the request
/// is sent.
package enum NetworkScope: Comparable {
  case loopback
  /// Private, link-local and other special addresses.
  case privateNetwork
  case internet
}

extension Address {
  package var networkScope: NetworkScope {
    let host = host.hasSuffix(".") ? String(host.dropLast()) : host
    var v4 = in_addr()
    if inet_pton(AF_INET, host, &v4) == 1 { return NetworkScope(v4: UInt32(bigEndian: v4.s_addr)) }
    var v6 = in6_addr()
    if host.hasPrefix("["), inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &v6) == 1 {
      return withUnsafeBytes(of: v6) { NetworkScope(v6: Array($0)) }
    }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    let last = labels.last ?? ""
    // `127.1`, `2130706433` and `0x7f.1` are addresses to resolvers.
    if last.isEmpty || last.hasPrefix("0x") || last.allSatisfy(\.isNumber) { return .loopback }
    // The second is in the hosts file of some systems.
    if last == "localhost" || labels.first == "localhost" && last.hasPrefix("localdomain") {
      return .loopback
    }
    let isPrivate = ["local", "internal", "lan", "home", "corp", "intranet"].contains(last)
    return labels.count == 1 || isPrivate || host.hasSuffix(".home.arpa")
      ? .privateNetwork : .internet
  }
}

extension NetworkScope {
  /// By the registry of special addresses (RFC 6890).
  fileprivate init(v4 address: UInt32) {
    func isIn(_ a: UInt32, _ b: UInt32 = 0, _ c: UInt32 = 0, bits: UInt32) -> Bool {
      (address ^ (a << 24 | b << 16 | c << 8)) >> (32 - bits) == 0
    }
    if isIn(127, bits: 8) || isIn(0, bits: 8) {
      self = .loopback
    } else if isIn(10, bits: 8) || isIn(172, 16, bits: 12) || isIn(192, 168, bits: 16)
      || isIn(169, 254, bits: 16) || isIn(100, 64, bits: 10) || isIn(192, bits: 24)
      || isIn(198, 18, bits: 15) || address >> 29 == 7
    {
      self = .privateNetwork
    } else {
      self = .internet
    }
  }

  /// By the registry of special addresses; those that contain an IPv4 address are judged by it.
  fileprivate init(v6 bytes: [UInt8]) {
    let v4 = bytes.suffix(4).reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
    let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
    let isTranslated = bytes.starts(with: [0, 0x64, 0xFF, 0x9B])
    if isMapped || isTranslated {
      self = NetworkScope(v4: v4)
    } else if bytes.starts(with: [0x20, 0x02]) {
      // 6to4 (RFC 3056) leads to the IPv4 address in it.
      self = NetworkScope(v4: bytes[2..<6].reduce(0) { $0 << 8 | UInt32($1) })
    } else if bytes.starts(with: [0x20, 0x01, 0, 0]) {
      // Teredo (RFC 4380) may lead anywhere.
      self = .privateNetwork
    } else if bytes.dropLast().allSatisfy({ $0 == 0 }), (bytes.last ?? 0) < 2 {
      self = .loopback
    } else {
      // Global unicast addresses (RFC 4291, section 2.4).
      self = bytes[0] >> 5 == 1 ? .internet : .privateNetwork
    }
  }
}
