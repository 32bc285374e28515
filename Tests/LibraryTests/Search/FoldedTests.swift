import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite
struct FoldedTests {
  @Test(arguments: [
    ("Curaçao", "curacao"), ("CURACAO", "curacao"), ("Curac\u{327}ao", "curacao"),
    ("Åland", "aland"), ("\u{212B}land", "aland"), ("İstanbul", "istanbul"),
    ("ISTANBUL", "istanbul"), ("Iñárritu", "inarritu"), ("Straße", "strasse"),
    ("STRASSE", "strasse"), ("ẞ", "ss"), ("Ｃｕｒａ", "cura"), ("ﬁn", "fin"), ("\u{212A}", "k"),
    ("ΣΊΣΥΦΟΣ", "σισυφοσ"), ("Σίσυφος", "σισυφοσ"), ("Türkiye", "turkiye"), ("", ""),
    ("Øresund", "øresund"), ("São Tomé & Príncipe", "sao tome & principe"), ("日本", "日本"),
    ("한", "한"), ("\u{1112}\u{1161}\u{11AB}", "한"), ("が", "が"), ("か\u{3099}", "が"), ("🇦🇽", "🇦🇽"),
  ])
  func `ignores case, diacritics and width`(text: String, folded: String) {
    #expect(Array(Folded(text).text.utf8) == Array(folded.utf8))
  }

  @Test func `folds Latin letters as Foundation folds them, alone and side by side`() {
    let letters = (0..<0x180).compactMap(Unicode.Scalar.init)
    var random = SeededGenerator(3)
    let mixed = (0..<2000).map { _ in
      (0..<8).compactMap { _ in letters.randomElement(using: &random) }
    }
    for scalars in letters.map({ [$0] }) + mixed {
      let text = String(String.UnicodeScalarView(scalars))
      let expected = text.folding(
        options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
      #expect(Folded(text).text == expected.precomposedStringWithCanonicalMapping)
    }
  }

  @Test(arguments: ["Curaçao", "İstanbul", "Straße", "한", "\u{301}", "ガｶﾞ", "ŉ"])
  func `is idempotent`(text: String) {
    let once = Folded(text)
    #expect(Folded(once.text) == once)
  }

  @Test(arguments: [
    ("Curaçao", "racao", true), ("Curacao", "ÇÃO", true), ("Curaçao", "", true),
    ("Curaçao", "curaçaos", false), ("", "a", false), ("", "", true), ("aab", "ab", true),
    ("São Tomé", "tome sao", false),
  ])
  func `finds a word anywhere`(text: String, word: String, isFound: Bool) {
    #expect(Folded(text).contains(Folded(word)) == isFound)
  }

  @Test(arguments: [
    (["sao", "TOME"], true), (["tomé", "são"], true), (["sao", "x"], false), ([], true),
  ])
  func `finds all words in any order`(words: [String], isFound: Bool) {
    #expect(Folded("São Tomé & Príncipe").containsAll(words.map { Folded($0) }) == isFound)
  }
}
