import Testing

@testable import AggregatorFilters

/// Regular expressions in linear time.
@Suite struct PatternTests {
  @Test(
    arguments: [
      ("b", "abc", true), ("^b", "abc", false), ("^a", "abc", true), ("c$", "abc", true),
      ("^$", "", true), ("^$", "a", false), ("a.c", "a\nc", false), ("a.c", "aéc", true),
      ("ab*c", "ac", true), ("ab+c", "ac", false), ("ab?c", "abbc", false), ("a|b|^$", "x", false),
      ("^(?:ab|c)+$", "abcab", true), ("^(ab|c)+$", "abca", false), ("x(|y)z", "xz", true),
      ("^a{2}$", "aa", true), ("^a{2}$", "aaa", false), ("^a{2,}$", "aaaa", true),
      ("^a{1,3}$", "aaaa", false), ("^(a{0,2}b){2}$", "baab", true), ("^a{0}$", "", true),
      ("[a-c]x", "bx", true), ("[^a-c]x", "bx", false), ("[]x]", "x", nil), ("[-a]", "-", true),
      ("[a-]", "-", true), (#"[\]\d]"#, "]", true), (#"[\]\d]"#, "7", true),
      (#"[^\w]"#, "_", false),
      (#"^\d+\.\d$"#, "10.5", true), (#"^\d+\.\d$"#, "10x5", false),
      (#"\bman\b"#, "spider man", true),
      (#"\bman\b"#, "spiderman", false), (#"\B-\B"#, "- -", true), (#"^\w+$"#, "Zoë9_", true),
      (#"a\sb"#, "a\u{A0}b", true), (#"\S"#, " \n", false), (#"\/\("#, "/(", true),
      // Composed or not, it is one scalar.
      ("^.$", "e\u{301}", true), ("e\u{301}", "é", true), ("^..$", "👨‍👩", false),
      (#"^\p{L}\P{L}$"#, "é7", true), (#"\p{Lu}"#, "éß", false), (#"\p{Ll}"#, "É", false),
      (#"^\p{N}\p{Nd}$"#, "½٣", true), (#"\p{Nd}"#, "½", false), (#"^[\p{P}\p{S}]+$"#, "-€«", true),
      (#"\p{Z}"#, "\u{2003}", true), (#"[^\p{L}]"#, "é", false), (#"[\P{L}]"#, "é", false),
      ("^[[:alpha:]_]+$", "Zoë_", true), ("^[^[:digit:][:space:]]$", "7", false),
      ("[[:punct:]]", "a+", true), ("^[[:upper:]][[:lower:]]$", "Éé", true),
      ("(?i)^É", "éa", true), (#"(?i)\p{Lu}"#, "a", true),
      ("a}", "a}", true), ("a]", "a]", true), ("a*?b", "aab", true), (".*", "", true),
    ] as [(String, String, Bool?)])
  func `matches as written`(pattern: String, text: String, expected: Bool?) throws {
    guard let expected else {
      return _ = #expect(throws: FilterError.self) { try Pattern(pattern) }
    }
    #expect(try Pattern(pattern).matches(text) == expected)
  }

  @Test func `ignores case by the flag only`() throws {
    for (pattern, text) in [("straSSE", "STRAsse"), ("É", "é"), ("[a-c]", "B"), ("[Ä]", "ä")] {
      #expect(try Pattern(pattern, ignoringCase: true).matches(text))
      #expect(try !Pattern(pattern).matches(text))
    }
    #expect(try !Pattern("[^a]", ignoringCase: true).matches("A"))
  }

  @Test func `a class with a slash does not end a pattern`() throws {
    for pattern in ["[a/]", "[[:digit:]/]", "[^/[:alpha:]]"] {
      #expect(try TypedFilter("a~/\(pattern)/ and b=1").conditions.count == 2, "\(pattern)")
    }
  }

  @Test(arguments: [
    (#"(a)\1"#, "backreferences are not supported: matching takes linear time (character 4)"),
    ("a(?=b)", "lookaround is not supported: matching takes linear time (character 2)"),
    ("(?<!a)b", "lookaround is not supported: matching takes linear time (character 1)"),
    ("(?<n>a)", "(? is not supported (character 1)"),
    ("b(?i)a", "(? is not supported (character 2)"), ("(?i)", "it is empty (character 5)"),
    ("(a", "unclosed ( (character 1)"), ("a)", "no ( before ) (character 2)"),
    ("[a", "unclosed [ (character 1)"), ("*a", "nothing to repeat before * (character 1)"),
    ("a**", "a repetition cannot be repeated (character 3)"),
    ("a*+", "possessive repetition is not supported (character 3)"),
    ("a{x}", "a repetition must be {N}, {N,} or {N,M} (character 2)"),
    ("a{1,", "a repetition must be {N}, {N,} or {N,M} (character 2)"),
    ("a{1000}", "too many repetitions (maximum 100) (character 2)"),
    ("a{3,2}", "the first number must not be the larger one (character 2)"),
    ("^*", "an anchor cannot be repeated (character 2)"),
    ("[xb-a]", "invalid range in […] (character 3)"),
    ("[]", "[] matches nothing (character 1)"), (#"\q"#, #"unknown escape \q (character 1)"#),
    (#"a\p{Greek}"#, #"unknown category \p{Greek} (character 2)"#),
    (#"[\pL]"#, #"unknown category \pL] (character 2)"#),
    (#"\P{"#, #"unknown category \P{ (character 1)"#),
    ("a\\", "nothing after the last \\ (character 2)"),
    ("[a[:letter:]]", "unknown class in […] (character 3)"),
    ("[[=a=]]", "unknown class in […] (character 2)"),
    ("[[:]", "unknown class in […] (character 2)"),
    ("", "it is empty (character 1)"),
  ])
  func `says what it does not have`(pattern: String, problem: String) throws {
    let error = #expect(throws: FilterError.self) { try Pattern(pattern) }
    #expect(error?.message == "invalid regular expression /\(pattern)/: \(problem)")
  }

  @Test(arguments: [
    "(((((a{9}){9}){9}){9}){9}){9}", "((((){100}){100}){100}){100}", "(a{0}){100}{9}",
    String(repeating: "(", count: 31) + String(repeating: ")", count: 31),
    String(repeating: "a", count: 1001), "(\(String(repeating: "a|", count: 400)))",
    String(repeating: "(", count: 999),
  ])
  func `refuses what is too large`(pattern: String) {
    #expect(throws: FilterError.self) { try Pattern(pattern) }
  }

  @Test(arguments: [
    "(a*)*b", "(a|aa)+$b", "(a|a)*b", "(.*)*(.*)*(.*)*x", "((a?){10}){2}b",
    "^(([a-z])+.)+[A-Z]([a-z])+$", "(a|b)*a(a|b){12}c",
    #"(\w+\s?)*!"#,
  ])
  func `takes as many steps as text times pattern, whatever the pattern`(text: String) throws {
    let pattern = try Pattern(text)
    for count in [1000, 100_000] {
      var matcher = Matcher(pattern)
      let matches = matcher.matches(String(repeating: "a", count: count))
      #expect(!matches)
      // Each instruction is entered once a scalar, and left once.
      #expect(matcher.steps <= (count + 1) * pattern.program.count * 2)
    }
  }

  @Test func `finds the same whatever other texts it was asked before`() throws {
    // The automaton of this pattern has 2¹³ states, far more than are kept.
    let pattern = try Pattern("[abé]*a[abé]{12}c")
    var state: UInt64 = 42
    for count in [13, 14, 500, 5000, 13, 500] {
      var letters = (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return ["a", "b", "é"][Int(state >> 33) % 3]
      }
      for letter in ["a", "b", "é"] {
        letters[count - 13] = letter
        let text = letters.joined() + "c"
        #expect(pattern.matches(text) == (letter == "a"), "\(count) \(letter)")
        #expect(try Pattern(#"\ba"#).matches(text) == (letters[0] == "a"))
      }
    }
  }
}
