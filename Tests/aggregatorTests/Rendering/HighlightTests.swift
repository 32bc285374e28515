import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

/// The matches of a search in bold.
@Suite struct HighlightTests {
  @Test(arguments: [
    ("spiderman", "Ultimate Spider-Man", "Ultimate [Spider-Man]"),
    ("obrien", "O’Brien’s", "[O’Brien]’s"),
    ("dc", "(D.C.) and DC", "([D.C].) and [DC]"),
    ("curaçao", "in CURACAO", "in [CURACAO]"),
    ("sorensen", "Sørensen-Løkke", "[Sørensen]-Løkke"),
    ("man spider", "Spider-Man", "[Spider]-[Man]"),
    ("spider spiderman", "Spider-Man", "[Spider-Man]"),
    ("x", "Spider-Man", "Spider-Man"),
    ("- .", "Spider-Man.", "Spider-Man."),
    ("한", "\u{1112}\u{1161}\u{11AB}국", "[\u{1112}\u{1161}\u{11AB}]국"),
  ])
  func `highlights what the search finds`(query: String, text: String, expected: String) {
    let bold = expected.replacing("[", with: "\u{1B}[1m").replacing("]", with: "\u{1B}[0m")
    #expect(Style(isOn: true).highlighting(query, in: text) == bold)
    #expect(Style(isOn: false).highlighting(query, in: text) == text)
  }
}
