import AggregatorKit
import Testing

@testable import AggregatorTerminal

@Suite struct YAMLTests {
  /// The rule as a regular expression, which takes a hundred times as long.
  private static func isPlain(_ text: String) -> Bool {
    text.wholeMatch(of: /[A-Za-z][A-Za-z0-9_.\/@\-]*(?: [A-Za-z0-9_.\/@\-]+)*/) != nil
      && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
  }

  @Test func `words are plain, and everything else is quoted`() {
    let signs = [
      "a", "Z", "n", "0", "9", "_", ".", "/", "@", "-", " ", ":", "#", "`", "[", "{", "\n", "é",
    ]
    var texts = [""]
    var longest = [""]
    for _ in 0..<3 {
      longest = longest.flatMap { text in signs.map { text + $0 } }
      texts += longest
    }
    texts += [
      "True", "FALSE", "null", "Yes", "no", "On", "OFF", "y", "N", "nulls", "no way", "a  b",
      "a b ",
      "Spider-Man", "New York City", "a/b@c.d_e", "3 words", "e\u{301}", "word\r\n", "café au lait",
    ]
    let wrong = texts.filter { $0.isPlainYAML != Self.isPlain($0) }
    #expect(wrong.isEmpty)
    #expect("Spider-Man".isPlainYAML)
    #expect(!"a: b".isPlainYAML)
  }

  @Test(arguments: [(1e21, "1.0e+21"), (1.5e300, "1.5e+300"), (2.5, "2.5")])
  func `a number is one in YAML 1.1, too`(number: Double, text: String) {
    #expect(JSON.number(number).yaml == text)
  }
}
