import Testing

@testable import AggregatorArguments
@testable import AggregatorProgramTesting

/// Parsing of unfinished command lines.
@Suite struct TypedLineTests {
  /// A line, its complete words, and the word at the cursor.
  static let lines: [(line: String, words: [String], last: String)] = [
    ("", [], ""), ("a", [], "a"), ("a ", ["a"], ""), (" a  b", ["a"], "b"),
    ("a\tb\nc", ["a", "b"], "c"),
    (#"a 'b c' d"#, ["a", "b c"], "d"), (#"a 'b c"#, ["a"], "b c"), (#"a "b 'c"#, ["a"], "b 'c"),
    (#"a b\ c"#, ["a"], "b c"), (#"a b\"#, ["a"], "b"), (#"a '' b"#, ["a", ""], "b"),
    (#"a "b\"c\$d\e""#, ["a"], #"b"c$d\e"#), (#"a x'y'"z"w"#, ["a"], "xyzw"),
    ("a b\\\nc", ["a"], "bc"), ("a 日本 é", ["a", "日本"], "é"),
    (#"a "'" '"' x"#, ["a", "'", "\""], "x"), ("a $(b c", ["a", "$(b"], "c"),
    ("a --b=c", ["a"], "--b=c"), ("a e\u{301}'\u{301}", ["a"], "e\u{301}\u{301}"),
  ]

  @Test(arguments: lines.indices, Shell.allCases)
  func `splits words as the shell does`(index: Int, shell: Shell) {
    let (line, words, last) = Self.lines[index]
    let typed = TypedLine(line, in: shell)
    #expect(typed.words == words)
    #expect(typed.last == last)
  }

  @Test func `parses quotes by the rules of each shell`() {
    let line = #"a 'b\'c"#
    #expect(TypedLine(line, in: .bash).last == #"b\c"#)
    #expect(TypedLine(line, in: .fish).last == "b'c")
    #expect(TypedLine("a $'b\\'c d", in: .zsh).last == "b'c d")
    #expect(TypedLine("a $'b", in: .fish).last == "$b")
    #expect(TypedLine(#"a "b\`c"#, in: .fish).last == #"b\`c"#)
    #expect(TypedLine(#"a "b\`c"#, in: .bash).last == "b`c")
  }

  @Test(
    arguments: [
      ("a b", nil), ("a 'b", .single), ("a 'b'", nil), (#"a "b"#, .double), (#"a "b""#, nil),
      ("a $'b", .dollar), (#"a "b\""#, .double), (#"a 'b' "c"#, .double), (#"a \'b"#, nil),
    ] as [(String, TypedLine.Quote?)])
  func `finds the open quote`(line: String, quote: TypedLine.Quote?) {
    #expect(TypedLine(line, in: .bash).quote == quote)
  }

  @Test(arguments: [
    ("a --format=js", "--format="), ("a jane@ex", "jane"), ("a @", ""), ("a x:y:z", "x:y:"),
    (#"a "jane@ex"#, ""), (#"a --format="js"#, "--format="), (#"a b"c=d"#, "b"),
    (#"a "b=c"d"#, ""), (#"a "b=c"=d"#, "b=c="), (#"a b\=c"#, ""), ("a b=c d", ""), ("a=b c", ""),
  ])
  func `bash replaces only the end of some words`(line: String, unreplacedPrefix: String) {
    #expect(TypedLine(line, in: .bash).unreplacedPrefix == unreplacedPrefix)
  }

  /// A quadratic algorithm takes minutes here.
  @Test(.timeLimit(.minutes(10)))
  func `a huge word takes linear time`() {
    let line = TypedLine(String(repeating: "a:", count: 100_000), in: .bash)
    #expect(line.unreplacedPrefix.unicodeScalars.count == 200_000)
  }

  @Test func `the word breaks of bash can be changed`() {
    #expect(TypedLine("a b:c", in: .bash, breaks: " =").unreplacedPrefix == "")
    #expect(TypedLine("a b,c", in: .bash, breaks: " ,").unreplacedPrefix == "b,")
  }
}
