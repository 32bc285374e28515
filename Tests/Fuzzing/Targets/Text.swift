import AggregatorKit
import AggregatorTerminal
import Foundation

/// Text processing for display.
extension FuzzTarget {
  static let text = [safeText, width, wrap, oneLine, html, webAddress]

  private static let prose = [
    "Spider-Man", "日本語のテキスト、です。", "Zürich e\u{301}", "👩🏽‍🚀 and 🇫🇷 and ❤️ 1️⃣", "क्‍ष मी‌خواهم",
    "a\tb\r\nc\n\nd", "\u{1B}[31mred\u{1B}[0m", "\u{202E}abc\u{202C}",
  ]

  private static let safeText = FuzzTarget("safe-text", texts: prose) { text in
    let forms: [(String, @Sendable (String) -> String)] = [
      ("safeLine", \.safeLine), ("safeParagraphs", \.safeParagraphs), ("safeCell", \.safeCell),
    ]
    for (name, form) in forms {
      let safe = form(text)
      try expect(form(safe) == safe, "\(name) is not the same when it is made safe again")
      let kept: Set<Unicode.Scalar> =
        switch name {
        case "safeLine": ["\u{200C}", "\u{200D}"]
        case "safeParagraphs": ["\u{200C}", "\u{200D}", "\n"]
        default: ["\u{200C}", "\u{200D}", "\n", "\r", "\t"]
        }
      let bad = safe.unicodeScalars.first { scalar in
        scalar.isInvisible && !kept.contains(scalar)
          && scalar.properties.generalCategory != .nonspacingMark
      }
      try expect(bad == nil, "\(name) has U+\(String(bad?.value ?? 0, radix: 16))")
    }
  }

  private static let width = FuzzTarget("width", texts: prose) { text in
    let safe = text.safeLine
    let width = safe.displayWidth
    try expect(text.displayWidth >= 0 && width >= 0, "a width is negative")
    try expect((safe + " ab").displayWidth == width + 3, "ASCII after it is not three cells")
    try expect(("ab " + safe).displayWidth == width + 3, "ASCII before it is not three cells")
    for cells in [0, 1, 2, 3, 7, 40] {
      let fitted = safe.fitted(to: cells)
      try expect(fitted.displayWidth <= cells, "fitted to \(cells) it takes \(fitted.displayWidth)")
      try expect(width > cells || fitted == safe, "what fits \(cells) cells is cut")
      let prefix = safe[...].prefix(cells: cells)
      try expect(prefix.displayWidth <= cells, "a prefix of \(cells) is wider")
    }
  }

  private static let wrap = FuzzTarget("wrap", texts: prose) { text in
    let safe = text.safeParagraphs
    let letters = safe.unicodeScalars.filter { !$0.properties.isWhitespace }
    for cells in [2, 5, 24] {
      let lines = Wrap(cells).lines(of: safe)
      let widest = lines.map(\.displayWidth).max() ?? 0
      try expect(widest <= cells, "a line of \(cells) cells takes \(widest)")
      let left = lines.joined().unicodeScalars.filter { !$0.properties.isWhitespace }
      try expect(left.elementsEqual(letters), "letters are lost at a width of \(cells)")
    }
  }

  private static let oneLine = FuzzTarget("one-line", texts: prose) { text in
    for most in [1, 3, 80] {
      let line = text.oneLine(atMost: most)
      try expect(line.count <= most + 1, "\(line.count) characters instead of \(most)")
      try expect(!line.unicodeScalars.contains(where: \.isInvisible), "it has what cannot be seen")
    }
    let words = nearest(to: text, in: ["heroes", "users", text])
    try expect(words.map { ["heroes", "users", text].contains($0) } ?? true, "nearest made a word")
  }

  private static let markup = [
    "<p>The <b>quick</b> &amp; <a href=\"/x?a=1&b=2\" data-ref-id='4'>brown</a><br/>fox</p>",
    "<ul><li>one</li><li></li></ul><h2>Title</h2><!-- c --><script>if (a<b) {}</script>",
    "<figure><img src=x><noscript>no</noscript></figure><table><tr><td>1<td>2</table>&#x41;&#66;",
  ]

  private static let html = FuzzTarget(
    "html", texts: markup,
    tokens: [
      "<", ">", "</", "/>", "<!", "<!--", "-->", "--!>", "<?", "<p>", "</p>", "<br>", "<li>",
      "</ul>", "<script>", "</script>", "<style", "<td>", "&", "&#", "&#x", "&amp;", "&nbsp;",
      "&#0;", "&#x110000;", "&#128;", "&bogus;", "=\"", "='", " a=",
    ]
  ) { text in
    let plain = text.strippingHTML()
    try expect(
      plain.unicodeScalars.count <= text.unicodeScalars.count, "the text is longer than its markup")
    let ends = [plain.unicodeScalars.first, plain.unicodeScalars.last]
    try expect(
      !ends.contains { $0?.properties.isWhitespace == true }, "white space is at an end")
  }

  private static let webAddress = FuzzTarget("web-address", texts: ["https://host/path?q=1#f"]) {
    text in
    let address = text.webAddress
    try expect(address == nil || address == text, "an address was changed")
    try expect(text.nonBlank != "", "nonBlank is blank")
    let encoded = text.percentEncoded
    try expect(encoded.utf8.allSatisfy { 0x21...0x7E ~= $0 }, "percent-encoding leaves something")
    // Foundation would remove a byte order mark.
    var decoded: [UInt8] = []
    var rest = Array(encoded.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      decoded.append(byte == UInt8(ascii: "%") ? UInt8(digits, radix: 16) ?? 0 : byte)
      if byte == UInt8(ascii: "%") { rest = rest.dropFirst(2) }
    }
    try expect(decoded == Array(text.utf8), "percent-encoding loses something")
  }
}

/// Search terms and searched text.
extension FuzzTarget {
  static let searching = [folded, query]

  private static let words = [
    "Curaçao", "Ｆｕｌｌ", "한글 ガ ｶﾞ", "İstanbul ẞ Σς", "a  b\u{A0}c", "Ø’B－D.C.",
  ]

  private static let folded = FuzzTarget("folded", texts: words) { text in
    let folded = FoldedText(text)
    try expect(folded.contains(folded), "it does not contain itself")
    // A mark may come to another letter when the punctuation between them is left out.
    let hasMarks = text.unicodeScalars.contains {
      $0.properties.isGraphemeExtend || $0.properties.isEmojiModifier
    }
    try expect(
      hasMarks || FoldedText(folded.text) == folded, "folded again it is another text")
    // 日 makes Foundation fold it.
    guard text.unicodeScalars.allSatisfy({ $0.value < 0x180 }) else { return }
    try expect(FoldedText(text + "日").text == folded.text + "日", "Foundation folds it otherwise")
  }

  private static let query = FuzzTarget("query", texts: words) { text in
    guard let query = try? SearchQuery(text) else {
      return try expect(
        FoldedText(text).text.allSatisfy(\.isWhitespace), "it is refused although it has words")
    }
    try expect((try? SearchQuery(query.text)) == query, "read again it is another query")
    try expect(!query.words.isEmpty, "it has no words")
    // A mark folds differently after a letter.
    let isPlain = query.text.allSatisfy { letter in
      letter.isASCII || letter.unicodeScalars.count == 1 && letter.isLetter && letter != "ﾞ"
    }
    let matches = FoldedText(query.text).containsAll(query.words)
    try expect(matches || !isPlain, "it does not match itself")
  }
}
