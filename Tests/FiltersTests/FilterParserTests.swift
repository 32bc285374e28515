import AggregatorCore
import AggregatorFoundation
import Testing

@testable import AggregatorFilters

/// The grammar of filters.
@Suite struct FilterParserTests {
  private func parts(_ text: String) throws -> [String] {
    try TypedFilter(text).conjuncts.map { part in
      guard case .condition(let condition) = part,
        case .compare(let comparison, let value) = condition.test
      else { return part.quoted }
      return "\(condition.field)|\(comparison.rawValue)|\(value)"
    }
  }

  @Test(arguments: [
    ("a=b", ["a|=|b"]), (" a = b c ", ["a|=|b c"]), ("a=", ["a|=|"]),
    ("a>=1 and b!=2", ["a|>=|1", "b|!=|2"]), ("a=x AND b~y", ["a|=|x", "b|~|y"]),
    ("a=Salt and Pepper", ["a|=|Salt and Pepper"]),
    ("a=Salt and Pepper and b<3", ["a|=|Salt and Pepper", "b|<|3"]),
    ("a='x and b=1' and b=2", ["a|=|x and b=1", "b|=|2"]),
    (#"a="q\"\\\n""#, [#"a|=|q"\\n"#]), ("a=''", ["a|=|"]), ("a= and b=1", ["a|=|and b=1"]),
    ("a.b=x=y", ["a.b|=|x=y"]), ("a=O'Brien", ["a|=|O'Brien"]),
    // Only after ~ does a slash begin a pattern.
    ("a=/b", ["a|=|/b"]), ("a=/usr/lib", ["a|=|/usr/lib"]), ("a~'/usr/lib'", ["a|~|/usr/lib"]),
    ("a~b/c", ["a|~|b/c"]),
    // One character with the sign before or after it.
    ("a=\"\u{301}b\u{D4E}\"", ["a|=|\u{301}b\u{D4E}"]), ("a\u{D4E}!=b", ["a\u{D4E}|!=|b"]),
    ("not=1 and or=2 and in=3", ["not|=|1", "or|=|2", "in|=|3"]),
    (#""Customer Name" = Ann and "a=b"<3"#, ["Customer Name|=|Ann", "a=b|<|3"]),
    (#"a=x and "q\"\\"~y"#, ["a|=|x", #"q"\|~|y"#]), (#""a"=1"#, ["a|=|1"]),
    (#"a=x and "y" or z"#, [#"a|=|x and "y" or z"#]),
  ])
  func `parses conditions joined by and`(text: String, expected: [String]) throws {
    #expect(try parts(text) == expected)
  }

  @Test(arguments: [
    "x or y", "to be or not to be", "not b", "x and (y)", "x and(b=1)", "f(b)", ":)", "(x",
    "AT&T", "a|b", "R & D", "a&b|c",
    "found in (Rome)", "x and sit in awe... of it", "x and !b", "x and != 3", "x and y in it",
  ])
  func `takes words that join nothing for a value`(value: String) throws {
    #expect(try parts("a=\(value)") == ["a|=|\(value)"])
    #expect(try parts("a~\(value)") == ["a|~|\(value)"])
  }

  @Test(arguments: [
    ("a=1 or b=2 and c=3", #"a="1" or b="2" and c="3""#),
    ("a=x OR (b=y or c=z)", #"a="x" or b="y" or c="z""#),
    ("(a=x or b=y) and c=z", #"(a="x" or b="y") and c="z""#),
    ("((a=x))and(b=y)", #"a="x" and b="y""#), ("(a=)", #"a="""#),
    ("(a=f(x) or b=(y))", #"a="f(x)" or b="(y)""#),
    ("not a=x and b=y", #"not a="x" and b="y""#), ("not not a=x", #"a="x""#),
    ("Not(a=x or b=y)", #"not (a="x" or b="y")"#), ("a=x and not b=y", #"a="x" and not b="y""#),
    ("a=x or not (b=y)", #"a="x" or not b="y""#), ("not not=1", #"not not="1""#),
    (#"in not in ("a..b") or not in=1"#, #"in not in ("a..b") or not in="1""#),
    ("a=Tom and Jerry or b=1", #"a="Tom and Jerry" or b="1""#),
    ("a in (x, 'y, z',w (v))", #"a in ("x", "y, z", "w (v)")"#),
    ("a not in(1) and b=2", #"a not in ("1") and b="2""#), ("not in (x)", #"not in ("x")"#),
    ("a in 20..30", #"a in "20".."30""#), ("a in 1.5..2.5", #"a in "1.5".."2.5""#),
    ("a in 2024-01 .. 2024-03 or b=1", #"a in "2024-01".."2024-03" or b="1""#),
    ("(a in 1..2)", #"a in "1".."2""#), ("a in 'x y'..\"z\"", #"a in "x y".."z""#),
    ("b=x and a in 1..2", #"b="x" and a in "1".."2""#),
    ("b=x or a in (y)", #"b="x" or a in ("y")"#),
    ("b=x and a in 'y'..'z'", #"b="x" and a in "y".."z""#),
    ("a~/^x.*y$/i", "a~/^x.*y$/i"), (#"a ~ /x\/[/]y/ and b=1"#, #"a~/x\/[/]y/ and b="1""#),
    ("(a~/x y/)", "a~/x y/"), ("a~/x||y&&/", "a~/x||y&&/"), ("a='x||b=y'", #"a="x||b=y""#),
    (#""a||b"=1 and c in ('x&&y')"#, #""a||b"="1" and c in ("x&&y")"#),
    ("a='/x/'", #"a="/x/""#),
    ("(a~/x/i) and(b~/y/)", "a~/x/i and b~/y/"),
    (#"not "a b"=x"#, #"not "a b"="x""#), (#""a b" not in (x)"#, #""a b" not in ("x")"#),
    (#"("(a)"=x or "a b" in 1..2)"#, #""(a)"="x" or "a b" in "1".."2""#),
    (#""a b"~/x/"#, #""a b"~/x/"#), (#""a b"!="#, #""a b"!="""#),
  ])
  func `joins, negates and groups`(text: String, expected: String) throws {
    let filter = try TypedFilter(text)
    #expect(filter.quoted == expected)
    #expect(try TypedFilter(expected) == filter)
  }

  @Test(
    arguments: [
      ("", "no operator", 1), ("a", "no operator", 2), ("=b", "no field before the operator", 1),
      ("a!b", "! must be followed by =", 2), ("a==b", "unknown operator", 3),
      ("a<>b", "unknown operator", 3), ("a='b", "a quote is missing", 3),
      ("a=\"b\" c", #""and" or "or" must follow here"#, 7),
      ("a='b' and", #"no condition after "and""#, 10), ("a='\\'", "a quote is missing", 3),
      ("a=x || b=y", #""||" cannot join conditions"#, 5),
      ("a=x||b=y", #""||" cannot join conditions"#, 4),
      ("a=x&&b>3", #""&&" cannot join conditions"#, 4),
      ("(a=x||b=y) and c=1", #""||" cannot join conditions"#, 5),
      ("a=x||y", #""||" cannot join conditions"#, 4),
      ("a||b=y", #""||" cannot join conditions"#, 2),
      ("a in x..y&&b=1", #""&&" cannot join conditions"#, 10),
      ("a in (x||y)", #""||" cannot join values"#, 8),
      ("a in (x)||b=y", #""and" or "or" must follow here"#, 9),
      ("a~/x/||b=y", #""and" or "or" must follow here"#, 6),
      ("a='x' && b=y", #""and" or "or" must follow here"#, 7),
      ("a=x xor b=y", #""xor" cannot join conditions"#, 5),
      ("a=x & b=y", #""&" cannot join conditions"#, 5),
      ("a= or b=1", #""or" cannot join conditions"#, 4),
      ("a=x not b=y", #""not" cannot join conditions"#, 5),
      ("(a=x", "unclosed (", 1), ("a='x')", "no ( before )", 6), ("()", "no operator", 3),
      ("a b=1", #"no operator after "a""#, 3), ("not", "no operator", 4),
      (#""a b=1"#, "a quote is missing", 1), (#""a" b=1"#, #"no operator after "a""#, 5),
      ("a in 20", #""in" must be followed by (A, B) or A..B"#, 6),
      ("a in 1...2", #""in" must be followed by (A, B) or A..B"#, 6),
      ("a in ..2", "a range needs two values", 6),
      ("a in 1.. and b=2", "a range needs two values", 6),
      ("a in ()", #"no value in the list of "in""#, 7),
      ("a in (x,)", #"no value in the list of "in""#, 9),
      ("a in (x", "unclosed (", 6),
      ("a=b)", "no ( before )", 4), ("a=x and", #"no condition after "and""#, 8),
      ("a=EU, b~c", #""," cannot join conditions"#, 5),
      ("a~/[/", "the regular expression has an unclosed [", 3),
      ("a~/[b", "the regular expression has no end", 3),
      ("a~/b", "the regular expression has no end", 3),
      ("a~//", "the regular expression is empty", 3),
      ("a~/x/g", #"unknown flag "g" (only "i")"#, 6),
      ("(a~/usr/bin) or b=1", #"unknown flag "bin" (only "i")"#, 9),
      ("a~/x/ y", #""and" or "or" must follow here"#, 7),
      ("a like b", "no operator", 3), ("a=x and b like c%", "no operator", 11),
      ("a in ('x' y)", "a comma or ) must follow the quoted value", 11),
    ] as [(String, String, Int)])
  func `says what is wrong, and where`(text: String, problem: String, character: Int) throws {
    let error = #expect(throws: FilterError.self) { try TypedFilter(text) }
    #expect(
      error?.message == "invalid condition \"\(text)\": \(problem) (character \(character))")
  }

  @Test(arguments: [
    ("2024", "no operator", 1, "write '=2024', or another of = != ~ < <= > >="),
    ("", "no operator", 1, "write '=VALUE', or another of = != ~ < <= > >="),
    ("≥ 3", "no operator", 1, "write >=VALUE"),
    ("between 1 and 2", "no operator", 1, "write in A..B"),
    ("= a and", #"no condition after "and""#, 8, "add one, or quote a value that contains it"),
  ])
  func `a condition of a value is named as it was typed`(
    text: String, problem: String, character: Int, hint: String
  ) throws {
    let error = #expect(throws: FilterError.self) { try ValueCondition(text, at: Date()) }
    #expect(
      error?.message == "invalid condition \"\(text)\": \(problem) (character \(character))")
    #expect(error?.hint == hint)
  }

  @Test(
    arguments: [
      ("a==b", "write a=b;"), ("a<>b", "write a!=b;"), ("a=~b", "write a~b;"),
      ("a=>b", "write a>=b;"), ("a!~b", "write not a~VALUE"), ("a like b", "write a~VALUE,"),
      ("x=y and a CONTAINS b", "write a~VALUE,"), ("a starts with b", "write a~/^VALUE/"),
      ("a between 1 and 2", "write a in A..B"), ("a matches /b/", "write a~/PATTERN/"),
      ("a is null", "write a=, which matches records without a value"),
      ("a IS NOT Empty", "write a!=, which matches records with a value"),
      ("a is true", "write a=true"), ("a is not false and b=1", "write a!=false"),
      ("a is x", "write a=VALUE"), ("a ≥ 3", "write a>=VALUE"), ("a≤3 and b=1", "write a<=VALUE"),
      ("\"a b\" ≠ x", "write \"a b\"!=VALUE"), ("a => 3", "write a>=3;"),
      ("a =< 3", "write a<=3;"), ("a <> 3", "write a!=3;"),
      (".a==\"x y\"", "write a=\"x y\";"), ("a==", "write a=VALUE;"),
      ("region:EU", "write region=EU"), ("owner.login: x y and b=1", "write owner.login=x y"),
      ("a has b", "write a~VALUE"), ("a before 2024", "write a<VALUE"),
      ("a in 20-30", "write a in 20..30"),
      ("a in EU, AS", "write a in (EU, AS)"), ("a in [EU,AS] or b=1", "write a in (EU,AS)"),
      ("a in 20", "such as a in (1, 2)"),
      ("a~/usr/bin and b=1", #"quote a text that begins with "/": a~"/usr/bin""#),
      (
        "Customer Name=x",
        "write FIELD=VALUE with one of = != ~ < <= > >=, or FIELD in (A, B); quote a name with spaces, as in \"Customer Name\"=VALUE"
      ),
      ("\"a b\" like c", "write \"a b\"~VALUE"), ("\"a b\"==c", "write \"a b\"=c"),
      ("not active", "write active=no"), ("!active", "write active=no"),
      ("not active and x=1", "write active=no"),
      (
        "active",
        "write FIELD=VALUE with one of = != ~ < <= > >=, or FIELD in (A, B), or active=yes if it is true or false"
      ),
      ("active and x=1", "write active=yes"), ("!active and x=1", "write active=no"),
      ("!a=b", "write not a=b"), ("a=x and !b=y", "write not b=y"), ("!(a=b)", "write not (a=b)"),
      ("a~/fr", #"quote a text that begins with "/": a~"/fr""#),
      ("a=“b c”", "write a=\"b c\"; quote a text with them by straight ones"),
      ("a=‘b’ and c=1", "write a='b' and c=1;"), ("a in (“b”, ”c”)", "write a in (\"b\", \"c\");"),
      ("a=“b \"c” d", "quote a text with them by straight ones"),
      ("“a b”=c", "write \"a b\": a field has straight double quotes"),
      ("'a b' in (c)", "write \"a b\":"), ("x=1 and `a`=2", "write \"a\":"),
      ("(a is null)", "write a=, which matches records without a value"),
      ("a=x||b=y", #"join them by "or", or quote a value that contains it"#),
      ("a=x&&b>3", #"join them by "and", or quote"#), ("a in (x||y)", "join them by a comma, or"),
      ("a~/x/||b=y", #"write "and" for && and "or" for ||"#),
      ("not (active)", "write active=no"),
    ] as [(String, String)])
  func `names the remedy, such as the operator for one of another language`(
    text: String, hint: String
  ) throws {
    let error = #expect(throws: FilterError.self) { try TypedFilter(text) }
    #expect(error?.hint?.hasPrefix(hint) == true, "\(error?.hint ?? "")")
  }

  @Test(arguments: ["’t Hooft", "‘Abbas", "O’Brien", "an “open” door", "‘a’b"])
  func `curly quotes within a value are a part of it`(value: String) throws {
    #expect(try parts("a=\(value)") == ["a|=|\(value)"])
    #expect(try parts("a=\"\(value)\"") == ["a|=|\(value)"])
  }

  @Test(arguments: [
    ("a=x and y and b>1", ["a=x and y", "b>1"]), (" a=x ", ["a=x"]),
    ("(a=1 and b=2) and not c='3' ", ["(a=1 and b=2)", "not c='3'"]),
    ("a=1 and b=2 or c=3", ["a=1 and b=2 or c=3"]), ("a", ["a"]), ("", [""]),
  ])
  func `the parts that must all hold are as they were typed`(text: String, expected: [String]) {
    #expect(TypedFilter.conjuncts(of: text) == expected)
  }

  @Test func `has limits`() throws {
    func nested(_ count: Int) -> String {
      String(repeating: "(", count: count) + "a=x" + String(repeating: ")", count: count)
    }
    #expect(try TypedFilter(nested(50)).quoted == #"a="x""#)
    for text in [
      nested(51), nested(3000), String(repeating: "(", count: 9000),
      "a=" + String(repeating: "x", count: 10_000),
    ] {
      #expect(throws: FilterError.self) { try TypedFilter(text) }
    }
  }

  @Test func `tells in words`() throws {
    let filter = try TypedFilter(
      "(price<20 or name~/new/i) and not stock='' and size in (S, M, '') and age in 20..30")
    #expect(
      filter.words(in: FilterWording(label: { "the \($0)" }))
        == "(the price is below 20 or the name matches /new/i) and not (the stock is empty) "
        + "and the size is S, M or empty and the age is 20–30")
    let dates = FilterWording(label: \.self, isDate: { $0 == "day" })
    let since = try TypedFilter("day>=2025 and price>=20 and day<2026")
    #expect(
      since.words(in: dates)
        == "day is 2025 or later and price is at least 20 and day is before 2026")
    // What has no meaning is as it was typed.
    let broken = try ["price > ", "name~", "stock!="].map { text in
      try TypedFilter(text).words(in: FilterWording(label: { "the \($0)" }))
    }
    #expect(broken == ["price>", "name~", "the stock is not empty"])
  }
}
