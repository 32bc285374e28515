import AggregatorKit
import AggregatorSourceTesting
import AggregatorTerminal
import Testing

@testable import AggregatorProgramTesting

@Suite struct FittingTests {
  @Test(arguments: [
    ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("ab cd", 4, "ab…"), ("abc", 1, "…"), ("abc", 0, ""),
    ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("", 0, ""),
    ("👩🏽‍🚀👩🏽‍🚀", 3, "👩🏽‍🚀…"), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
  ])
  func `text that is too wide ends in an ellipsis`(text: String, width: Int, fitted: String) {
    #expect(text.fitted(to: width) == fitted)
  }

  @Test func `fitted text never exceeds the width`() {
    var random = SeededGenerator(1)
    for _ in 0..<2000 {
      let text = random.text(upTo: 30).safeLine
      let width = Int.random(in: 0...20, using: &random)
      let fitted = text.fitted(to: width)
      #expect(fitted.displayWidth <= width, "\(text.debugDescription) at \(width)")
      #expect(fitted == text || fitted.isEmpty || fitted.hasSuffix("…"))
    }
  }

  @Test(arguments: [
    ("/tmp/files/lamps.json", 13, "/tmp…mps.json"), ("127.0.0.1:80/lamps", 12, "127.…0/lamps"),
    ("/short", 6, "/short"), ("/日本語/灯.json", 10, "/日….json"), ("/path", 2, "/…"),
  ])
  func `the ends of a path are shown`(text: String, width: Int, fitted: String) {
    #expect(text.isPath)
    let cut = text.fittedInMiddle(width)
    #expect(cut == fitted && cut.displayWidth <= width)
  }

  @Test func `a consonant cluster wider than the line is cut between its letters`() {
    let cluster = String(repeating: "क्", count: 50) + "ष"
    let beginning = cluster[...].prefix(cells: 10)
    #expect(beginning.displayWidth == 10)
    #expect(cluster.unicodeScalars.starts(with: beginning.unicodeScalars))
  }
}
