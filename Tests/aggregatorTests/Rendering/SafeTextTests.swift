import AggregatorKit
import AggregatorSourceTesting
import AggregatorTerminal
import Testing

@testable import AggregatorProgramTesting

@Suite struct SafeTextTests {
  @Test(arguments: [
    ("plain", "plain"), ("", ""), ("日本 é 👩🏽‍🚀", "日本 é 👩🏽‍🚀"),
    ("\u{1B}[31mred\u{1B}[0m", "␛[31mred␛[0m"), ("\u{9B}31m", "�31m"), ("a\u{0}\u{7F}b", "a␀␡b"),
    ("\u{202E}evil\u{202C} \u{2066}x\u{2069}\u{200E}", "evil x"),
    ("ze\u{200B}ro\u{FEFF}\u{AD}", "zero"),
    ("a\u{2028}b\u{2029}c\nd\r\ne\tf", "a b c d e f"), ("\n a \n", "a "), ("a \n\n b", "a b"),
    ("x\u{E0041}\u{E007F}y", "xy"), ("\u{E000}\u{10FFFF}", "��"), ("\u{3164}a\u{115F}", "a"),
    ("e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}x", "e\u{301}\u{302}\u{303}\u{304}x"),
    ("\u{301}first", "first"), ("a \u{301}b", "a b"), ("\u{1161}", ""),
    ("a🏽 🏽👍🏽🏽", "a 👍🏽"),
  ])
  func `a line shows its true content`(text: String, safe: String) {
    #expect(Array(text.safeLine.unicodeScalars) == Array(safe.unicodeScalars))
  }

  @Test(arguments: [
    ("👩\u{200D}🚀", "👩\u{200D}🚀"), ("❤\u{FE0F}\u{200D}🔥", "❤\u{FE0F}\u{200D}🔥"),
    ("👩🏽\u{200D}🤝\u{200D}👩🏿", "👩🏽\u{200D}🤝\u{200D}👩🏿"), ("1\u{FE0F}\u{20E3}", "1\u{FE0F}\u{20E3}"),
    ("می\u{200C}خواهم", "می\u{200C}خواهم"), ("क\u{94D}\u{200D}ष", "क\u{94D}\u{200D}ष"),
    ("র\u{200D}\u{9CD}য", "র\u{200D}\u{9CD}য"), ("葛\u{E0100}", "葛\u{E0100}"),
  ])
  func `keeps joiners and selectors that affect emoji and scripts`(text: String, safe: String) {
    #expect(Array(text.safeLine.unicodeScalars) == Array(safe.unicodeScalars))
  }

  @Test(arguments: [
    ("a\u{200D}b", "ab"), ("\u{200D}م", "م"), ("م\u{200C}", "م"), ("م\u{200C} م", "م م"),
    ("م\u{200C}a", "مa"), ("م\u{200C}\u{200D}\u{200C}م", "م\u{200C}م"), ("👩\u{200D}a", "👩a"),
    ("a\u{FE0F}b", "ab"), ("1\u{FE0F}2", "12"), ("葛\u{E0100}\u{E0101}", "葛\u{E0100}"),
    (
      "👩\u{200D}👩\u{200D}👩\u{200D}👩\u{200D}👩",
      "👩\u{200D}👩\u{200D}👩\u{200D}👩👩"
    ),
  ])
  func `removes joiners and selectors without effect`(text: String, safe: String) {
    #expect(Array(text.safeLine.unicodeScalars) == Array(safe.unicodeScalars))
  }

  @Test(arguments: [
    ("one\ntwo", "one\ntwo"), ("one\r\n\r\n\r\n\r\ntwo", "one\n\ntwo"), ("a\rb", "a\nb"),
    ("\n\nfirst\n", "first"), ("one\u{2029}two\u{2028}three\u{85}four", "one\n\ntwo\nthree\nfour"),
    ("a\tb", "a b"), ("a\n\t b", "a\nb"), ("a\n \n \n b", "a\n\nb"), ("\u{1B}[1mx\n", "␛[1mx"),
  ])
  func `paragraphs keep their breaks`(text: String, safe: String) {
    #expect(Array(text.safeParagraphs.unicodeScalars) == Array(safe.unicodeScalars))
  }

  @Test func `sanitizing is idempotent`() {
    var random = SeededGenerator(2)
    for _ in 0..<3000 {
      let text = random.text(upTo: 25)
      for make in [\String.safeLine, \String.safeParagraphs, \String.safeCell] {
        let once = text[keyPath: make]
        #expect(
          once[keyPath: make].unicodeScalars.elementsEqual(once.unicodeScalars),
          "\(text.debugDescription)")
      }
    }
  }

  @Test(arguments: hostileTexts)
  func `no control sequence is left`(text: String) {
    #expect(!text.safeLine.unicodeScalars.contains { $0.isInvisible && !$0.isJoiner })
    #expect(!text.safeParagraphs.unicodeScalars.contains { $0.isInvisible && $0 != "\n" })
    #expect(
      !text.safeCell.unicodeScalars.contains {
        $0.isInvisible && !"\t\r\n".unicodeScalars.contains($0)
      })
  }
}

extension Unicode.Scalar {
  fileprivate var isJoiner: Bool { self == "\u{200C}" || self == "\u{200D}" }
}
