import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite
struct FoldedTextTests {
  @Test(
    arguments: [
      ("Curaçao", "curacao"), ("CURACAO", "curacao"), ("Curac\u{327}ao", "curacao"),
      ("Åland", "aland"), ("\u{212B}land", "aland"), ("İstanbul", "istanbul"),
      ("ISTANBUL", "istanbul"), ("Iñárritu", "inarritu"), ("Straße", "strasse"),
      ("STRASSE", "strasse"), ("ẞ", "ss"), ("Ｃｕｒａ", "cura"), ("ﬁn", "fin"), ("\u{212A}", "k"),
      ("ΣΊΣΥΦΟΣ", "σισυφοσ"), ("Σίσυφος", "σισυφοσ"), ("Türkiye", "turkiye"), ("", ""),
      ("Øresund", "oresund"), ("São Tomé & Príncipe", "sao tome & principe"), ("日本", "日本"),
      ("한", "한"), ("\u{1112}\u{1161}\u{11AB}", "한"), ("が", "が"), ("か\u{3099}", "が"), ("🇦🇽", "🇦🇽"),
    ] as [(String, String)])
  func `ignores case, diacritics and width`(text: String, folded: String) {
    #expect(Array(FoldedText(text).text.utf8) == Array(folded.utf8))
  }

  @Test(arguments: [
    ("Sørensen", "sorensen"), ("Łódź", "lodz"), ("Işık", "isik"), ("Đorđe", "dorde"),
    ("Æthelred Œuvre", "aethelred oeuvre"), ("Þór Guðmundsson", "thor gudmundsson"),
    ("Ħal Ŧ ŋ ĳ ŀ ĸ", "hal t n ij l k"), ("Ǿ", "o"), ("Ｌ", "l"),
  ])
  func `writes letters that Unicode does not decompose as others`(text: String, folded: String) {
    #expect(FoldedText(text).text == folded)
  }

  @Test(arguments: [
    ("O’Brien", "obrien"), ("O'Brien", "obrien"), ("Spider-Man", "spiderman"),
    ("Spider\u{2011}Man", "spiderman"), ("Washington, D.C.", "washington dc"),
    ("WALL·E", "walle"), ("ʻOkina", "okina"), ("co\u{AD}op", "coop"), ("１．５", "15"),
    ("日－本", "日本"), ("ŉ", "n"), ("C++ & C#", "c++ & c#"), ("a@b.example", "a@bexample"),
  ])
  func `ignores punctuation that writers leave out`(text: String, folded: String) {
    #expect(FoldedText(text).text == folded)
  }

  @Test func `folds Latin letters in the same way, alone, side by side and in other text`() {
    let letters = (0..<0x180).compactMap(Unicode.Scalar.init)
    var random = SeededGenerator(3)
    let mixed = (0..<2000).map { _ in
      (0..<8).compactMap { _ in letters.randomElement(using: &random) }
    }
    for scalars in letters.map({ [$0] }) + mixed {
      let text = String(String.UnicodeScalarView(scalars))
      // 日 folds by Foundation, with its neighbors.
      #expect(FoldedText(text + "日").text == FoldedText(text).text + "日")
      #expect(FoldedText(FoldedText(text).text) == FoldedText(text))
    }
  }

  @Test(arguments: [
    "Curaçao", "İstanbul", "Straße", "한", "\u{301}", "ガｶﾞ", "ŉ", "O’Ｂ－Ø", "\u{1112}-\u{1161}",
  ])
  func `is idempotent`(text: String) {
    let once = FoldedText(text)
    #expect(FoldedText(once.text) == once)
  }

  @Test(arguments: [
    ("Curaçao", "racao", true), ("Curacao", "ÇÃO", true), ("Curaçao", "", true),
    ("Curaçao", "curaçaos", false), ("", "a", false), ("", "", true), ("aab", "ab", true),
    ("São Tomé", "tome sao", false), ("Spider-Man", "spiderman", true),
    ("Spiderman", "spider-man", true), ("Spider-Man", "er-m", true), ("Łódź", "LODZ", true),
  ])
  func `finds a word anywhere`(text: String, word: String, isFound: Bool) {
    #expect(FoldedText(text).contains(FoldedText(word)) == isFound)
  }

  @Test(arguments: [
    (["sao", "TOME"], true), (["tomé", "são"], true), (["sao", "x"], false), ([], true),
  ])
  func `finds all words in any order`(words: [String], isFound: Bool) {
    #expect(FoldedText("São Tomé & Príncipe").containsAll(words.map { FoldedText($0) }) == isFound)
  }
}
