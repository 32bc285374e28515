import AggregatorKit
import Testing

@testable import AggregatorBrowse
@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

@Suite struct ScreenTests {
  /// Values of a hostile service.
  static let hostile = [
    "\u{1B}[2J\u{1B}[1;1Hgone", "\u{1B}]52;c;aGk=\u{7}", "\u{9B}31mred", "two\nlines\r\nand\ttabs",
    "日本語の名前がとても長い", "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}", "👨‍👩‍👧‍👦👍🏽❤️🇩🇪",
    "שלום עולם", "\u{202E}reversed\u{202C}", "\u{200B}\u{FEFF}nothing\u{AD}", "क्षत्रियक्षत्रिय",
    "\u{0}\u{8}\u{7F}", String(repeating: "W", count: 5000), "", "\u{1F469}\u{200D}", "ก็็็็็็็็็็",
  ]

  @Test(arguments: hostile, [0, 1, 2, 3, 7, 20])
  func `a text stays in its cells`(text: String, width: Int) {
    var screen = Screen(width: 30, height: 3)
    for row in 0..<3 { screen.put(String(repeating: ".", count: 30), at: 0, row, width: 30) }
    let taken = screen.put(text, at: 5, 1, width: width)
    #expect(taken <= width)
    for row in 0..<3 {
      for (column, cell) in screen.row(row).enumerated()
      where row != 1 || !(5..<5 + width).contains(column) {
        #expect(cell.character == ".", "\(column), \(row)")
      }
    }
  }

  @Test(arguments: hostile)
  func `no text leaves the screen`(text: String) {
    var screen = Screen(width: 4, height: 1)
    screen.put(text, at: 3, 0, width: 100)
    screen.put(text, at: -1, 0, width: 100)
    screen.put(text, at: 0, 1, width: 100)
    screen.put(text, at: 4, 0, width: 100)
    #expect(screen.lines[0].displayWidth <= 4)
  }

  @Test func `half of a wide character never stays`() {
    var screen = Screen(width: 4, height: 1)
    screen.put("日本", at: 0, 0, width: 4)
    screen.put("x", at: 1, 0, width: 1)
    #expect(screen.lines == [" x本"])
    screen.put("y", at: 2, 0, width: 1)
    #expect(screen.lines == [" xy"])
  }

  @Test(arguments: hostile)
  func `output has no other escape sequences than its own`(text: String) {
    var screen = Screen(width: 20, height: 2)
    screen.put(text, at: 2, 0, width: 15)
    var writer = ScreenWriter()
    let output = writer.frame(screen)
    let rest = output.replacing(/\u{1B}\[(\?2026[hl]|2[JK]|[0-9;]*[Hm])/, with: "")
    #expect(!rest.unicodeScalars.contains { $0.properties.generalCategory == .control })
  }

  @Test func `only what has changed is written`() {
    var writer = ScreenWriter()
    var screen = Screen(width: 20, height: 5)
    screen.put("same", at: 0, 0, width: 20)
    _ = writer.frame(screen)
    #expect(writer.frame(screen) == "")
    screen.put("new", at: 4, 3, width: 20)
    let output = writer.frame(screen)
    #expect(output.contains("\u{1B}[4;5H"))
    #expect(output.contains("new"))
    #expect(!output.contains("same"))
    writer.reset()
    #expect(writer.frame(screen).contains("same"))
  }

  @Test func `the next cell after an uncertain character is addressed`() {
    var screen = Screen(width: 20, height: 1)
    screen.put("❤️x", at: 0, 0, width: 20)
    var writer = ScreenWriter()
    #expect(writer.frame(screen).contains("❤️\u{1B}[1;3Hx"))
  }
}

@Suite struct InputDecoderTests {
  private func decoded(_ text: String) -> [Input] {
    var decoder = InputDecoder()
    return decoder.take(Array(text.utf8)) + decoder.take([], isComplete: true)
  }

  @Test func `keys`() {
    let keys: [Input] = [
      .key(.character("a")), .key(.character("é")), .key(.enter), .key(.tab), .key(.backspace),
      .key(.control("l")), .key(.up), .key(.down), .key(.pageUp), .key(.delete), .key(.shiftRight),
      .key(.backTab), .key(.control("j")),
    ]
    #expect(
      decoded("aé\r\t\u{7F}\u{C}\u{1B}[A\u{1B}OB\u{1B}[5~\u{1B}[3~\u{1B}[1;2C\u{1B}[Z\n") == keys)
  }

  @Test func `an escape is a key once nothing follows`() {
    var decoder = InputDecoder()
    #expect(decoder.take([0x1B]) == [])
    #expect(decoder.isWaiting)
    #expect(decoder.take([], isComplete: true) == [.key(.escape)])
    #expect(decoder.take([0x1B]) == [])
    #expect(decoder.take(Array("[B".utf8)) == [.key(.down)])
    #expect(decoded("\u{1B}\u{1B}[B") == [.key(.escape), .key(.down)])
  }

  @Test func `a key with Alt is neither an escape nor its letter`() {
    #expect(decoded("\u{1B}d\u{1B}b") == [.key(.alt("d")), .key(.alt("b"))])
    #expect(decoded("\u{1B}[1;5C\u{1B}[1;3D") == [.key(.alt("f")), .key(.alt("b"))])
    #expect(decoded("\u{1B}\u{7F}x") == [.key(.control("w")), .key(.character("x"))])
    #expect(decoded("\u{1B}\rx") == [.key(.character("x"))])
  }

  @Test func `the mouse`() {
    #expect(
      decoded("\u{1B}[<0;3;7M\u{1B}[<0;3;7m\u{1B}[<64;1;1M\u{1B}[<65;1;2M")
        == [
          .click(column: 2, row: 6), .wheel(column: 0, row: 0, isUp: true),
          .wheel(column: 0, row: 1, isUp: false),
        ])
    #expect(decoded("\u{1B}[<0;99999;1M\u{1B}[<0;0;0M\u{1B}[<;;M") == [])
  }

  @Test func `pasted text is no keys, in whatever pieces it comes`() {
    let bytes = Array("\u{1B}[200~q\u{1B}[Ad\u{1B}[201~x".utf8)
    for cut in bytes.indices {
      var decoder = InputDecoder()
      let inputs = decoder.take(Array(bytes[..<cut])) + decoder.take(Array(bytes[cut...]))
      #expect(inputs == [.paste("q\u{1B}[Ad"), .key(.character("x"))], "\(cut)")
    }
  }

  @Test func `unknown sequences and bytes that are no text are skipped`() {
    #expect(
      decoded("\u{1B}[?1;2cx\u{1B}[99~y\u{1B}Ozz") == [
        .key(.character("x")), .key(.character("y")), .key(.character("z")),
      ])
    var decoder = InputDecoder()
    #expect(
      decoder.take([0xFF, 0xC3, 0x28, 0x80, 0x61]) == [
        .key(.character("(")), .key(.character("a")),
      ])
    // One without an end is skipped up to the next letter.
    #expect(decoder.take(Array("\u{1B}[".utf8) + Array(repeating: 0x30, count: 100)) == [])
    #expect(decoder.take([0x61, 0x62]) == [.key(.character("b"))])
  }
}
