import CountriesSource
import Foundation
import Testing

struct CountryCodeTests {
  @Test(arguments: ["FR", "fr", "Fr", "fR"])
  func `is upper-case however it was typed`(text: String) throws {
    let code = try #require(CountryCode(text))
    #expect(code.description == "FR")
    #expect(try JSONEncoder().encode([code]) == Data(#"["FR"]"#.utf8))
    #expect(
      try JSONDecoder().decode([CountryCode].self, from: Data("[\"\(text)\"]".utf8)) == [code])
  }

  @Test(arguments: [
    "", "F", "FRA", "F1", "é", "FÉ", " FR", "FR\n", "@A", "[a", "\u{FF26}\u{FF32}", "ß",
  ])
  func `is two ASCII letters`(text: String) {
    #expect(CountryCode(text) == nil)
  }
}
