import AggregatorKit
import Testing

@Suite
struct QueryTests {
  @Test(arguments: ["", " ", "\t\r\n", "\u{A0}\u{3000}\u{2028}", ".", "- ’"])
  func `rejects text without a word`(text: String) {
    let error = #expect(throws: SourceError.self) { try Query(text) }
    #expect(error?.code == .invalidRequest)
  }

  @Test(arguments: [
    ("spider", "spider"), ("  Spider \t Man\n", "Spider Man"), ("a\u{3000}b\u{A0}c", "a b c"),
    ("a\t\u{300}", "a \u{300}"),
  ])
  func `joins words with single spaces`(text: String, joined: String) throws {
    #expect(try Query(text).text == joined)
    #expect(try Query(text).description == joined)
    #expect(try Query(text) == Query(joined))
    #expect(try Query(Query(text).text) == Query(text))
  }

  @Test func `folds its words`() throws {
    #expect(try Query("São  TOMÉ").words.map(\.text) == ["sao", "tome"])
    #expect(try Query("spider - man, D.C.").words.map(\.text) == ["spider", "man", "dc"])
    #expect(try Query("a \u{300}").words.count == 2, "a mark alone is a word")
  }
}
