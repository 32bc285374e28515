import AggregatorKit
import AggregatorTerminal
import Foundation
import Testing

@testable import AggregatorProgramTesting

@Suite struct DisplayWidthTests {
  @Test(
    arguments: [
      ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한국", 4), ("ｱ", 1), ("Ａ", 2),
      ("\u{1112}\u{1161}\u{11AB}", 2), ("🦸", 2), ("❤", 1), ("❤️", 2), ("👍🏽", 2), ("☝🏽", 2),
      ("👩🏽‍🚀", 2), ("👨‍👩‍👧‍👦", 2), ("❤️‍🔥", 2), ("🏳️‍🌈", 2), ("🇫🇷", 2), ("🇫🇷🇩🇪", 4), ("1️⃣", 2), ("©️", 2),
      ("©", 1), ("§", 1), ("…", 1), ("кот", 3), ("قط", 2), ("กำ", 2), ("\u{200B}", 0), ("का", 2),
      ("\u{1B}", 0), ("\u{85}", 0), ("\u{600}", 1), ("─", 1), ("𠀀", 2), ("\u{1F3FD}", 2),
    ] as [(String, Int)])
  func `text has the width defined by Unicode`(text: String, cells: Int) {
    #expect(text.displayWidth == cells)
  }

  /// Requires Debian's unicode-data 15.0, from which the table is generated.
  @Test(.enabled(if: UnicodeFile.isInstalled))
  func `every recommended emoji is two cells wide`() throws {
    let emoji = try UnicodeFile.emojiTest.split(separator: "\n").filter {
      $0.contains("; fully-qualified")
    }
    try #require(emoji.count > 3000)
    for line in emoji {
      let scalars = line.prefix { $0 != ";" }.split(separator: " ")
        .compactMap { UInt32($0, radix: 16).flatMap(Unicode.Scalar.init) }
      var text = ""
      text.unicodeScalars.append(contentsOf: scalars)
      #expect(text.displayWidth == 2, "\(line)")
    }
  }
}

private enum UnicodeFile {
  static var isInstalled: Bool { (try? emojiTest.contains("# Version: 15.0")) ?? false }
  static var emojiTest: String {
    get throws {
      try String(contentsOfFile: "/usr/share/unicode/emoji/emoji-test.txt", encoding: .utf8)
    }
  }
}
