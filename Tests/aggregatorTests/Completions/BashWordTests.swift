import Testing

@testable import AggregatorArguments
@testable import AggregatorProgramTesting

/// Quoting of words for bash.
@Suite struct BashWordTests {
  @Test(arguments: [
    ("plain-1.2_3,a/b", "plain-1.2_3,a/b"), ("a b", #"a\ b"#), ("$(x)", #"\$\(x\)"#),
    ("it's", #"it\'s"#), ("~", #"\~"#), ("#x", "\\#x"), ("!!", #"\!\!"#), ("日本", "日本"),
    ("jane@x.example", "jane@x.example"), ("a\u{3000}b", "a\\\u{3000}b"), ("", ""),
  ])
  func `outside quotes, special characters are escaped`(word: String, quoted: String) {
    #expect(BashWord.quoted(word, inside: nil) == quoted)
  }

  @Test(
    arguments: [
      (.single, #"a$b"c"#, #"a$b"c"#), (.single, "it's", #"it'\''s"#), (.single, "it'", #"it'\'"#),
      (.double, #"$a`b\c"#, #"\$a\`b\\c"#), (.double, #"a"b"#, #"a\"b"#),
      (.double, #"a""#, #"a"\""#),
      (.double, "a!b", #"a"'!'"b"#), (.double, "a!", #"a"'!'"""#),
      (.dollar, #"a'b\c"#, #"a\'b\\c"#),
    ] as [(TypedLine.Quote, String, String)])
  func `inside quotes, only special characters are escaped`(
    quote: TypedLine.Quote, word: String, quoted: String
  ) {
    #expect(BashWord.quoted(word, inside: quote) == quoted)
  }
}
