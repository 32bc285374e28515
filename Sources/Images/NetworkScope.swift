package import AggregatorHTTP
import Foundation

/// How far away a host is, as far as its name tells.
///
/// The data of a service says which images are fetched. It must not make this machine ask what only this
/// machine, or only its network, can reach, unless the service is there itself.
///
/// A name of the world that leads to a private address is not noticed: names are looked up when the
/// request is sent.
package enum NetworkScope: Int, Comparable {
  /// This machine.
  case machine
  /// A network that is not the world's: private, link-local or otherwise special addresses.
  case network
  /// Everything else.
  case scenarioEnvironment

  package static func < (left: NetworkScope, right: NetworkScope) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension Address {
  /// How far away the host is.
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
    // `127.1`, `2130706433` and `0x7f.1` are addresses to whoever looks them up.
    if last.isEmpty || last.hasPrefix("0x") || last.allSatisfy(\.isNumber) { return .machine }
    // The second is what some systems write into their hosts file.
    if last == "localhost" || labels.first == "localhost" && last.hasPrefix("localdomain") {
      return .machine
    }
    let isPrivate = ["local", "internal", "lan", "home", "corp", "intranet"].contains(last)
    return labels.count == 1 || isPrivate || host.hasSuffix(".home.arpa")
      ? .network : .scenarioEnvironment
  }
}

extension NetworkScope {
  /// By the registry of special addresses (RFC 6890).
  fileprivate init(v4 address: UInt32) {
    func isIn(_ a: UInt32, _ b: UInt32 = 0, _ c: UInt32 = 0, bits: UInt32) -> Bool {
      (address ^ (a << 24 | b << 16 | c << 8)) >> (32 - bits) == 0
    }
    if isIn(127, bits: 8) || isIn(0, bits: 8) {
      self = .machine
    } else if isIn(10, bits: 8) || isIn(172, 16, bits: 12) || isIn(192, 168, bits: 16)
      || isIn(169, 254, bits: 16) || isIn(100, 64, bits: 10) || isIn(192, bits: 24)
      || isIn(198, 18, bits: 15) || address >> 29 == 7
    {
      self = .network
    } else {
      self = .scenarioEnvironment
    }
  }

  /// By the registry of special addresses; those that stand for one of version 4 are where that is.
  fileprivate init(v6 bytes: [UInt8]) {
    let v4 = bytes.suffix(4).reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
    let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
    let isTranslated = bytes.starts(with: [0, 0x64, 0xFF, 0x9B])
    if isMapped || isTranslated {
      self = NetworkScope(v4: v4)
    } else if bytes.starts(with: [0x20, 0x02]) {
      // 6to4 (RFC 3056) leads to the address of version 4 inside of it.
      self = NetworkScope(v4: bytes[2..<6].reduce(0) { $0 << 8 | UInt32($1) })
    } else if bytes.starts(with: [0x20, 0x01, 0, 0]) {
      // Teredo (RFC 4380) leads through anything.
      self = .network
    } else if bytes.dropLast().allSatisfy({ $0 == 0 }), (bytes.last ?? 0) < 2 {
      self = .machine
    } else {
      // Only these are handed out to the world (RFC 4291, section 2.4).
      self = bytes[0] >> 5 == 1 ? .scenarioEnvironment : .network
    }
  }
}
