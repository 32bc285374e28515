import AggregatorKit
import Testing

@Suite struct OneLineTests {
  @Test(arguments: [
    ("  a \r\n\t b ", 80, "a b"), ("abc", 3, "abc"), ("abcd", 3, "abc…"), ("a b", 2, "a…"),
    ("a\u{202E}b\u{1B}", 80, "ab"), ("\u{200B}", 80, ""),
    ("a \u{FF9E}", 80, "a \u{FF9E}"),
  ])
  func `is short and on one line`(text: String, most: Int, line: String) {
    #expect(text.oneLine(atMost: most) == line)
  }

  @Test func `counts the parts of a broken emoji separately`() {
    let family = String(repeating: "👩\u{200D}👩\u{200D}👧", count: 10)
    #expect(family.oneLine(atMost: 6) == "👩👩👧👩👩👧…")
    #expect(family.oneLine(atMost: 7) == "👩👩👧👩👩👧…")
  }

  @Test func `limits the marks on a letter`() {
    let line = ("e" + String(repeating: "\u{301}", count: 1000)).oneLine(atMost: 1)
    #expect(line.unicodeScalars.count == 12)
  }
}
