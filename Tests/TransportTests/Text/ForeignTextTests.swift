import AggregatorKit
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
}
