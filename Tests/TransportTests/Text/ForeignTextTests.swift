import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite
struct ForeignTextTests {
  @Test(arguments: [("", nil), (" \n\t", nil), ("\u{A0}", nil), (" a b\r\n", "a b")])
  func `is trimmed, or nil if blank`(text: String, rest: String?) {
    #expect(text.nonBlank == rest)
  }

  @Test(arguments: ["http://a.example", "HTTPS://a.example/b?c=d", "https://[::1]:8080/"])
  func `is a web URL`(text: String) {
    #expect(text.webAddress == text)
  }

  @Test(arguments: [
    "", "none", "//cdn.example/a", "javascript:alert(1)", "file:///etc/passwd", "https:",
    "https://",
    "https:///path", "mailto:a@b.example", "ftp://a.example", "a.example/https://b.example",
    "https://user:pw@a.example/", "https://bank.example@evil.example", "https://:pw@a.example",
  ])
  func `is not a web URL`(text: String) {
    #expect(text.webAddress == nil)
  }

  /// Most addresses are known by their characters alone.
  @Test func `is a web URL if Foundation's parser says so`() throws {
    var random = SeededGenerator(7)
    let pieces = [
      "https://", "http://", "HTTP://", "a.example", "a", "-", ".", ":80", ":", "@", "/", "//", "?",
      "#",
      "%41", "%", "q=1&b=", "é", " ", "[::1]", "~", "\"", "<", "\\", "|", "^", "{", "'", "(", "*",
      "!", "\u{0}",
    ]
    var counts = [true: 0, false: 0]
    for _ in 0..<20_000 {
      let text =
        (Bool.random(using: &random) ? "https://" : "")
        + (0..<Int.random(in: 0...6, using: &random))
        .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      let url = URL(string: text)
      let isAddress =
        ["http", "https"].contains(url?.scheme?.lowercased()) && url?.host()?.isEmpty == false
        && url?.user() == nil && url?.password() == nil
      #expect((text.webAddress == text) == isAddress, "\(text.debugDescription)")
      counts[isAddress, default: 0] += 1
    }
    #expect(counts.values.allSatisfy { $0 > 2000 }, "\(counts)")
  }
}
