import AggregatorKit
import AggregatorTerminal
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorSavedQueries

/// Saved queries: their words, their arguments, and their file.
@Suite struct SavedQueryTests {
  @Test(
    arguments: [
      ("a  b", ["a", "b"]), ("a 'b  c' d", ["a", "b  c", "d"]),
      (#"a\ b "c\"d\\e\f""#, ["a b", #"c"d\e\f"#]),
      ("''", [""]), ("a''b", ["ab"]), ("a \\\n b", ["a", "b"]), ("'$1 \"x\"'", ["$1 \"x\""]),
      ("é='日本'", ["é=日本"]), ("'\u{301}x'", ["\u{301}x"]), ("a\tb\nc", ["a", "b", "c"]),
    ] as [(String, [String])])
  func `lines are read as by a shell`(line: String, words: [String]) throws {
    #expect(try ShellWords.words(of: line) == words)
    #expect(try ShellWords.words(of: ShellWords.line(of: words)) == words)
  }

  @Test(arguments: ["'a", "\"a", "a\\", "\"a\\\""])
  func `an open quote is an error`(line: String) {
    #expect(throws: ShellWords.Failure.unfinished) { try ShellWords.words(of: line) }
    #expect(throws: CommandError.self) { try SavedQuery("a", text: line) }
  }

  @Test func `words need quotes only where a shell would change them`() {
    #expect(
      ShellWords.line(of: ["list", "--where", "name~a b", "x=$1", "a'b", "", "!x"])
        == #"list --where 'name~a b' x=$1 'a'\''b' '' '!x'"#)
  }

  private func words(
    _ text: String, _ arguments: [String], _ missing: SavedQuery.Missing = .isRefused
  ) throws -> [String] {
    try SavedQuery("q", text: text).words(with: arguments, missing: missing)
  }

  @Test func `arguments are appended, or where the words name them`() throws {
    #expect(try words("a b", ["c", "d e"]) == ["a", "b", "c", "d e"])
    #expect(try words("a $2 b", ["x", "y", "z"]) == ["a", "y", "b", "x", "z"])
    #expect(try words("a x=$1 $@ b", ["1", "2", "3"]) == ["a", "x=1", "2", "3", "b"])
    #expect(try words("a 'x $@ y' b", ["1", "2"]) == ["a", "x 1 2 y", "b"])
    #expect(try words("a $@ b", []) == ["a", "b"])
    #expect(try words("a $1$1", ["x"]) == ["a", "xx"])
    #expect(try words("a $10", ["x"]) == ["a", "x0"])
    // Other dollar signs are themselves.
    #expect(
      try words("a $ $0 $x $.a $$1 $$", ["z"]) == ["a", "$", "$0", "$x", "$.a", "$1", "$", "z"])
    #expect(
      try SavedQuery("q", literal: ["sql", "$1 $$ $.a"]).words(with: []) == ["sql", "$1 $$ $.a"])
  }

  @Test(
    arguments: [
      ("country=$1", #"country="Kenya or country=\"Peru\"""#), ("$1", #"Kenya or country="Peru""#),
      ("name='$1'", #"name="Kenya or country=\"Peru\"""#),
      ("name~/^$1/i", #"name~/^Kenya or country="Peru"/i"#),
      (
        "name~San $1 and (x=1 or y not in (a, $1))",
        #"name~"San Kenya or country=\"Peru\"" and (x="1" or y not in ("a", "Kenya or country=\"Peru\""))"#
      ),
      ("$1=x", nil), ("a=b and $1", nil), ("$1 $1", nil),
    ])
  func `within a condition an argument is a value`(condition: String, filled: String?) throws {
    let argument = #"Kenya or country="Peru""#
    for option in ["--where ", "--where="] {
      let text = "a \(option)" + ShellWords.line(of: [condition])
      let query = try SavedQuery("q", text: text)
      let words = try? query.words(with: [argument])
      #expect(words?.joined(separator: " ") == filled.map { "a \(option)\($0)" })
      let kept = try? query.words(with: [], missing: .isKept)
      #expect(kept?.joined(separator: " ") == filled.map { _ in "a \(option)\(condition)" })
    }
  }

  /// The words that run in the place of the first of these queries, each `NAME = WORDS`.
  private func line(_ arguments: [String], among queries: [(String, [String])]) throws -> [String] {
    var saved = SavedQueries()
    for (name, words) in queries { saved = saved.with(try SavedQuery(name, typed: words)) }
    let expansion = try saved.expansion(of: [queries[0].0] + arguments) { words, _ in
      let end = words.firstIndex(of: "--") ?? words.count
      return words.indices.filter { $0 >= end || !words[$0].hasPrefix("--") }
    }
    return try #require(expansion).words
  }

  @Test(
    arguments: [
      ("name=$1", "name=:argument1 "), ("'it''s' = $1 -- it's", "'it''s' = :argument1  -- it's"),
      ("name like '%' || $1 || '%'", "name like '%' || :argument1  || '%'"),
      ("name='$1'", nil), ("name like '%$1%'", nil), ("\"$1\"=1", nil), ("1 -- $1", nil),
      ("1 /* $1 */", nil), ("a=E'$1'", nil), ("$$$$$1$$$$", nil), ("[it's $1]", nil),
      ("[$1]", nil), ("`$1`", nil), ("a:$1", nil), ("$@", nil),
      ("a;\n.once $1", nil),
    ])
  func `within SQL an argument is the value of a parameter`(
    condition: String, filled: String?
  ) throws {
    let statement = "select 1 where \(condition)"
    let text = "x' or '1'='1"
    for words in [["sql", statement], ["--offline", "sql", "--csv", "--", "/* c */", statement]] {
      let found = try? line([text, "--json"], among: [("q", words)])
      guard let filled else {
        #expect(found == nil)
        continue
      }
      var expected = words.dropLast() + ["select 1 where \(filled)"]
      expected.insert("--json", at: words.firstIndex(of: "--") ?? expected.count)
      #expect(found == ["--param=argument1='x'' or ''1''=''1'"] + expected)
      // Of a query that begins with another one, too.
      #expect(try line([text, "--json"], among: [("r", ["q"]), ("q", words)]) == found)
      #expect(throws: CommandError.self) { try line([text, "or 1"], among: [("q", words)]) }
      #expect(throws: CommandError.self) {
        try line([text, "or 1"], among: [("r", ["q", "$@"]), ("q", words)])
      }
    }
  }

  @Test(
    arguments: [
      ("5", "5"), ("-5", "-5"), ("1.5", "1.5"), ("1.10", "'1.10'"), ("007", "'007'"),
      ("1e3", "'1e3'"), ("12345678901234567890", "'12345678901234567890'"), ("Null", "'Null'"),
      ("NULL", "'NULL'"), ("'q'", "'''q'''"), ("", "''"), ("\u{301}'\u{301}", "'\u{301}''\u{301}'"),
    ])
  func `an argument in SQL is the text that was typed, or a number of that text`(
    argument: String, value: String
  ) throws {
    let words = try line([argument], among: [("q", ["sql", "select $1"])])
    #expect(words == ["--param=argument1=\(value)", "sql", "select :argument1 "])
    let read = SQLValue(typed: value)
    #expect(value == argument ? read.literal == argument : read == .text(argument))
  }

  @Test func `the statement of a query may be in one that it calls, and come as an argument`()
    throws
  {
    let flags = ("base", ["sql", "--json"])
    let bound = ["--param=argument1='1 or 1'", "sql", "--json", "select :argument1 "]
    #expect(try line(["1 or 1"], among: [("q", ["base", "select $1"]), flags]) == bound)
    #expect(
      try line(["1 or 1"], among: [("q", ["base", "sql", "select $1"]), ("base", ["--json"])])
        == ["--param=argument1='1 or 1'", "--json", "sql", "select :argument1 "])
    let statement = ("base", ["sql", "select $1"])
    #expect(
      try line(["a"], among: [("q", ["base", "b $1"]), statement])
        == ["--param=argument1='b a'", "sql", "select :argument1 "])
    #expect(throws: CommandError.self) {
      try line(["or 1"], among: [("q", ["base", "b"]), statement])
    }
    // A whole statement is an argument.
    #expect(try line(["select 1"], among: [flags]) == ["sql", "--json", "select 1"])
    #expect(
      try line(["select 1"], among: [("q", ["sql", "$1", "--csv"])])
        == ["sql", "select 1", "--csv"])
    #expect(
      try line(["x'"], among: [("q", ["heroes", "search", "sql", "a $1"])])
        == ["heroes", "search", "sql", "a x'"])
  }

  @Test func `an argument in a pattern is text`() throws {
    #expect(
      try words("a --where name~/^$1$/", ["a/b|.*"]) == ["a", "--where", #"name~/^a\/b\|\.\*$/"#])
  }

  @Test func `the usage of a query names its parameters`() throws {
    for (text, usage) in [
      ("a b", "q"), ("a x=$2", "q $1 $2"), ("a $1 $@", "q $1 $@"), ("!a $1", "q $1"),
      (#"!a "$@""#, "q $@"), ("!awk '{print $1}'", "q"),
    ] {
      #expect(try SavedQuery("q", text: text).usage == usage)
    }
    #expect(
      try SavedQuery("q", text: "a $1 $@ b").words(with: ["x", "y"], and: ["--z"])
        == ["a", "x", "y", "b", "--z"])
  }

  @Test func `arguments are numbered from one on`() throws {
    for (text, number) in [
      ("a b", nil), ("a $1 $2", nil), ("a $2 $1", nil), ("a x=$2", 1), ("a $1 $3 $@", 2),
      ("a $$2", nil),
    ] as [(String, Int?)] {
      #expect(try SavedQuery("q", text: text).lackingParameter == number, "\(text)")
    }
  }

  @Test func `a dollar sign before something else is no parameter`() throws {
    for (text, parameter) in [
      ("a $1 $@ $$x $.a $", nil), ("a $x", "$x"), ("a b=$0", "$0"),
      ("a 'b in ($*)'", "$*"), ("a $$*", nil),
      ("a 'b>${1:-490}'", "${1:-490}"), ("a '${price}'", nil),
    ] {
      #expect(try SavedQuery("q", text: text).unknownParameter == parameter)
    }
  }

  @Test func `a missing argument is an error, but not while a line is typed`() throws {
    let error = #expect(throws: CommandError.self) { try words("a $1 $2", ["x"]) }
    #expect(error?.code == .usage)
    #expect(error?.message == #"missing argument $2 of the saved query "q""#)
    #expect(try words("a $1 $2 b", ["x"], .endsWords) == ["a", "x"])
    #expect(try words("a $@ b", ["x"], .endsWords) == ["a", "b", "x"])
    for missing in [SavedQuery.Missing.isKept, .endsWords] {
      #expect(try words("a x=$1 b", [], missing) == ["a", "x=$1", "b"])
    }
  }

  @Test(
    arguments: [
      ("echo", "echo \"$@\""), ("echo $1", "echo $1"), ("f ${1}", "f ${1}"),
      ("g \"$@\" | h", "g \"$@\" | h"),
      ("echo $x", "echo $x \"$@\""),
    ])
  func `a script gets its arguments as sh has them`(script: String, line: String) throws {
    let query = try SavedQuery("q", text: "! \(script)")
    #expect(query.command(with: ["a b"]) == ["/bin/sh", "-c", line, "q", "a b"])
    #expect(query.command(with: []) == ["/bin/sh", "-c", script, "q"])
    #expect(try SavedQuery("q", text: "'!echo'").command(with: []) == nil)
  }

  @Test(arguments: ["", "  ", "!", "! ", "''", "a\u{1B}b", "a\u{0}", "a\rb"])
  func `a query is a line of text`(text: String) {
    #expect(throws: CommandError.self) { try SavedQuery("q", text: text) }
  }

  @Test func `names are letters, digits, hyphens and underscores`() {
    for name in ["a", "Euro-2_x", String(repeating: "a", count: 32)] {
      #expect(SavedQuery.isName(name))
    }
    for name in ["", "2a", "-a", "_a", "a b", "é", "a=b", "a.b", String(repeating: "a", count: 33)]
    {
      #expect(!SavedQuery.isName(name))
    }
  }

  @Test func `while a line is typed, the field of the next argument is known`() throws {
    let text = "list --where 'region=$1 and name~$2' --sort -name"
    let queries = SavedQueries().with(try SavedQuery("by", text: text))
    for (words, field) in [
      (["by"], "region"), (["by", "EU"], "name"), (["by", "--csv"], "region"),
      (["by", "EU", "x"], nil), (["list"], nil),
    ] as [([String], String?)] {
      let expansion = try queries.expansion(of: words, missing: .endsWords) { words, _ in
        words.indices.filter { !words[$0].hasPrefix("-") }
      }
      #expect(expansion?.field == field, "\(words)")
    }
  }

  @Test func `queries call each other, but not themselves`() throws {
    let queries = try ["a = b --x", "b = c $1", "c = list", "loop = pool", "pool = loop"]
      .reduce(SavedQueries()) { queries, line in
        let parts = line.split(separator: " = ")
        return queries.with(try SavedQuery(String(parts[0]), text: String(parts[1])))
      }
    func expansion(_ words: String) throws -> SavedQueries.Expansion? {
      try queries.expansion(of: words.split(separator: " ").map(String.init)) { words, _ in
        words.indices.filter { !words[$0].hasPrefix("-") }
      }
    }
    let found = try #require(try expansion("--quiet a y"))
    #expect(found.names == ["a", "b", "c"])
    #expect(found.words == ["--quiet", "list", "y", "--x"])
    #expect(try expansion("other a") == nil)
    let error = #expect(throws: CommandError.self) { try expansion("loop") }
    #expect(error?.message == #"the saved query "loop" calls itself: loop → pool → loop"#)
  }
}

/// The file of saved queries.
@Suite struct SavedQueryTextTests {
  private static let text = """
    # Mine.
    euro = countries list --where region=EU

    big=sql 'SELECT *
    \tFROM heroes

    \t  WHERE 1'
    # The end.
    script = !a | b

    """

  @Test func `a text goes on in lines that begin with a tab`() throws {
    let queries = SavedQueryText(Self.text)
    #expect(queries.problems.isEmpty)
    #expect(queries.queries.map(\.name) == ["euro", "big", "script"])
    #expect(
      try queries.queries[1].words(with: []) == ["sql", "SELECT *\nFROM heroes\n\n  WHERE 1"])
    #expect(queries.queries[2].script == "a | b")
    #expect(SavedQueryText(Self.text.replacing("\n", with: "\r\n")).queries == queries.queries)
  }

  @Test func `a change leaves all other lines as they are`() throws {
    var queries = SavedQueryText(Self.text)
    queries.set(try SavedQuery("big", text: "a 'b\n\n\tc'"))
    queries.set(try SavedQuery("new", text: "x"))
    #expect(queries.remove("euro") && !queries.remove("none"))
    #expect(
      queries.text == "# Mine.\n\nbig = a 'b\n\t\n\t\tc'\n# The end.\nscript = !a | b\nnew = x\n")
    #expect(try SavedQueryText(queries.text).queries[0].words(with: []) == ["a", "b\n\n\tc"])
    var first = SavedQueryText("")
    first.set(try SavedQuery("a", text: "b"))
    #expect(first.text.hasPrefix("# Saved queries") && first.text.hasSuffix("\na = b\n"))
  }

  @Test func `broken lines are left out, named, and kept`() throws {
    let text = "\ttab\nno equals\n2x = a\n\tb\na = b\na = c\nc =\nd = 'x\ne = ok\n"
    var queries = SavedQueryText(text)
    #expect(queries.queries.map(\.name) == ["a", "e"])
    #expect(queries.problems.map(\.line) == [1, 2, 3, 6, 7, 8])
    queries.set(try SavedQuery("e", text: "fine"))
    #expect(queries.text == text.replacing("e = ok", with: "e = fine"))
  }
}
