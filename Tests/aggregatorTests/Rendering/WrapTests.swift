import AggregatorKit
import AggregatorSourceTesting
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

@Suite struct WrapTests {
  @Test(arguments: [
    ("one two three", 7, ["one two", "three"]), ("", 5, []), ("   ", 5, []),
    ("abcdefgh", 3, ["abc", "def", "gh"]),
    ("a abcdefgh b", 4, ["a", "abcd", "efgh", "b"]), ("日本語です", 4, ["日本", "語で", "す"]),
    ("日本、語", 4, ["日", "本、", "語"]), ("a  b", 9, ["a b"]), ("one\n\ntwo", 9, ["one", "", "two"]),
    ("no\u{A0}break here", 9, ["no\u{A0}break", "here"]), ("日本語", 1, ["日", "本", "語"]),
    ("ok 日本", 5, ["ok 日", "本"]), ("abc", 3, ["abc"]), ("a \u{FF9E}", 9, ["a \u{FF9E}"]),
    ("👩🏽‍🚀👩🏽‍🚀", 2, ["👩🏽‍🚀", "👩🏽‍🚀"]),
  ])
  func `text breaks at spaces and beside ideographs`(text: String, width: Int, lines: [String]) {
    #expect(Wrap(width).lines(of: text) == lines)
  }

  @Test func `the first line may have another width`() {
    #expect(Wrap(3, rest: 7).lines(of: "one two three") == ["one", "two", "three"])
    #expect(Wrap(7, rest: 3).lines(of: "one two six") == ["one two", "six"])
    #expect(Wrap(5, rest: 3).lines(of: "abcdefghij") == ["abcde", "fgh", "ij"])
    let lines = Wrap(3, rest: 9, count: 2).lines(of: "one two three six\nten abcdefghijk")
    #expect(lines == ["one", "two", "three six", "ten", "abcdefghi", "jk"])
    #expect(Wrap(3, rest: 9, count: 0).lines(of: "one two") == ["one two"])
  }

  /// A quadratic algorithm takes minutes here.
  @Test(
    .timeLimit(.minutes(10)),
    arguments: ["x", "日", "क्", "\u{1100}", "ก\u{E33}\u{E33}", "x ", "\u{1B}", "e\u{301}"])
  func `a huge word takes linear time`(part: String) {
    let text = String(repeating: part, count: 100_000).safeLine
    let lines = Wrap(2).lines(of: text)
    #expect(lines.count >= 50_000)
    #expect(lines.allSatisfy { $0.displayWidth <= 2 })
  }

  @Test func `no line is too wide and no word is lost`() {
    var random = SeededGenerator(3)
    for _ in 0..<2000 {
      let text = random.text(upTo: 40).safeParagraphs
      let width = Int.random(in: 2...20, using: &random)
      let lines = Wrap(width).lines(of: text)
      #expect(lines.allSatisfy { $0.displayWidth <= width }, "\(text.debugDescription) at \(width)")
      let words: [Unicode.Scalar] = text.unicodeScalars.filter { !$0.properties.isWhitespace }
      let wrapped: [Unicode.Scalar] = lines.joined().unicodeScalars.filter {
        !$0.properties.isWhitespace
      }
      #expect(wrapped == words, "\(text.debugDescription)")
    }
  }
}
