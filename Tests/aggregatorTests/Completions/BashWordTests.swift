import Testing

@testable import AggregatorCommand

/// How bash writes words.
@Suite struct BashWordTests {
  @Test(arguments: [
    ("plain-1.2_3,a/b", "plain-1.2_3,a/b"), ("a b", #"a\ b"#), ("$(x)", #"\$\(x\)"#),
    ("it's", #"it\'s"#), ("~", #"\~"#), ("#x", "\\#x"), ("!!", #"\!\!"#), ("日本", "日本"),
    ("jane@x.example", "jane@x.example"), ("a\u{3000}b", "a\\\u{3000}b"), ("", ""),
  ])
  func `outside quotes every mark is escaped`(word: String, written: String) {
    #expect(BashWord.writing(word, inside: nil) == written)
  }

  @Test(
    arguments: [
      (.single, #"a$b"c"#, #"a$b"c"#), (.single, "it's", #"it'\''s"#), (.single, "it'", #"it'\'"#),
      (.double, #"$a`b\c"#, #"\$a\`b\\c"#), (.double, #"a"b"#, #"a\"b"#),
      (.double, #"a""#, #"a"\""#),
      (.double, "a!b", #"a"'!'"b"#), (.double, "a!", #"a"'!'"""#),
      (.dollar, #"a'b\c"#, #"a\'b\\c"#),
    ] as [(TypedLine.Quote, String, String)])
  func `inside quotes only what ends them or has a meaning`(
    quote: TypedLine.Quote, word: String, written: String
  ) {
    #expect(BashWord.writing(word, inside: quote) == written)
  }
}
