import Foundation
import Testing

@testable import AggregatorImages
@testable import AggregatorKit

@Suite struct ImageAddressTests {
  static let good = [
    ("https://cdn.example/1.jpg", "https://cdn.example/1.jpg"),
    ("  //cdn.example/gloves.jpg?v=15\n", "https://cdn.example/gloves.jpg?v=15"),
    ("HTTP://CDN.Example:80/A b.jpg#top", "http://cdn.example/A%20b.jpg"),
    ("https://cdn.example", "https://cdn.example/"),
    ("https://[2001:DB8::1]:8443/x", "https://[2001:db8::1]:8443/x"),
  ]

  @Test(arguments: good.indices)
  func `addresses are read as services write them`(index: Int) throws {
    let address = try #require(ImageAddress(Self.good[index].0))
    #expect(address.description == Self.good[index].1)
    #expect(address.url.absoluteString == Self.good[index].1)
    #expect(ImageAddress(address.description) == address)
    let text = try JSONEncoder().encode([address])
    #expect(try JSONDecoder().decode([ImageAddress].self, from: text) == [address])
  }

  @Test(arguments: [
    "", " ", "none", "//", "https://", "/a.jpg", "cdn.example/a.jpg", "ftp://cdn.example/a.jpg",
    "file:///etc/passwd", "data:image/png;base64,AAAA", "javascript:alert(1)",
    "https://user@cdn.example/a.jpg", "https://cdn.example:0/a.jpg", "https://a b/c.jpg",
    "https://cdn.example/" + String(repeating: "a", count: 5000),
  ])
  func `other text is not an address`(text: String) {
    #expect(ImageAddress(text) == nil)
  }

  static let hosts: [NetworkScope: [String]] = [
    .loopback: [
      "localhost", "localhost.localdomain", "LOCALHOST.", "cdn.localhost", "127.0.0.1", "127.1",
      "127.255.255.254",
      "0.0.0.0",
      "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "[::1]", "[::]", "[::ffff:127.0.0.1]",
      "[64:ff9b::7f00:1]", "1.2.3",
    ],
    .privateNetwork: [
      "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
      "192.0.0.8", "198.19.0.1", "224.0.0.1", "255.255.255.255", "[fe80::1]", "[fd00::1]",
      "[ff02::1]", "[::ffff:10.0.0.1]", "router", "nas.local", "metadata.google.internal",
      "printer.home.arpa", "box.lan",
    ],
    .internet: [
      "cdn.example", "9.255.255.255", "172.32.0.1", "172.15.255.255", "192.169.0.1", "8.8.8.8",
      "100.128.0.1", "223.255.255.255", "[2606:4700::1111]", "[::ffff:8.8.8.8]", "local.example",
      "10.example", "xn--bcher-kva.example",
    ],
  ]

  @Test(arguments: hosts.keys)
  func `the network of a host is judged by its name`(networkScope: NetworkScope) throws {
    for host in Self.hosts[networkScope] ?? [] {
      #expect(ImageAddress("https://\(host)/a.png")?.networkScope == networkScope, "\(host)")
    }
  }
}
