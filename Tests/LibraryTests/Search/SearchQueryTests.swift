import AggregatorKit
import Testing

@Suite
struct SearchQueryTests {
  @Test(arguments: ["", " ", "\t\r\n", "\u{A0}\u{3000}\u{2028}", ".", "- ’", "\"", "“ ”"])
  func `rejects text without a word`(text: String) {
    let error = #expect(throws: SourceError.self) { try SearchQuery(text) }
    #expect(error?.code == .invalidRequest)
  }

  @Test(arguments: [
    ("spider", "spider"), ("  Spider \t Man\n", "Spider Man"), ("a\u{3000}b\u{A0}c", "a b c"),
    ("a\t\u{300}", "a \u{300}"),
  ])
  func `joins words with single spaces`(text: String, joined: String) throws {
    #expect(try SearchQuery(text).text == joined)
    #expect(try SearchQuery(text).description == joined)
    #expect(try SearchQuery(text) == SearchQuery(joined))
    #expect(try SearchQuery(SearchQuery(text).text) == SearchQuery(text))
  }

  @Test func `folds its words`() throws {
    #expect(try SearchQuery("São  TOMÉ").words.map(\.text) == ["sao", "tome"])
    #expect(try SearchQuery("spider - man, D.C.").words.map(\.text) == ["spider", "man", "dc"])
    #expect(try SearchQuery("a \u{300}").words.count == 2, "a mark alone is a word")
  }

  @Test(arguments: [
    (#""New York" city"#, ["new york", "city"]), ("«Sao  Tomé» x “a b”", ["sao tome", "x", "a b"]),
    (#""new yor"#, ["new yor"]), (#"a "b c"#, ["a", "b c"]), (#"" a b " c"#, ["a b", "c"]),
    (#"7" vinyl 12""#, [#"7""#, "vinyl", #"12""#]), (#""one" "two""#, ["one", "two"]),
    (#"a """#, ["a"]), (#"say:"hi you" no"#, [#"say:"hi"#, #"you""#, "no"]),
  ])
  func `words in quotes are one`(text: String, words: [String]) throws {
    let query = try SearchQuery(text)
    #expect(query.words.map(\.text) == words)
    #expect(try SearchQuery(query.text) == query)
  }
}
