import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Saved queries on the command line.
@Suite(.timeLimit(.minutes(10))) struct QueryCommandTests {
  private let home: TestHome

  init() throws { home = try TestHome([String: String?]()) }

  private static let file = "home/.config/aggregator/queries"

  private func run(_ words: String..., variables: [String: String?] = [:]) async throws -> Outcome {
    try await Binary.run(words, environment: variables, in: home.sandbox)
  }

  private func save(_ name: String, _ words: String...) async throws {
    let outcome = try await Binary.run(["query", "save", name, "--"] + words, in: home.sandbox)
    try #require(outcome.status == 0, "\(outcome)")
  }

  private func write(_ text: String) throws { try home.sandbox.write(text, to: Self.file) }

  @Test func `query run suggests the saved query, or one of a near name`() async throws {
    try await save("euro", "countries", "list", "--where", "region=EU", "--offline")
    for name in ["euro", "eruo"] {
      let outcome = try await run("query", "run", name, "--json")
      #expect(outcome.status == 64, "\(outcome)")
      #expect(outcome.errors.contains("\n\nDid you mean \"euro\"?\n"), "\(outcome)")
    }
  }

  @Test func `a saved query runs, with further arguments`() async throws {
    let saved = try await run(
      "query", "save", "euro", "--", "countries", "list", "--where", "region=EU", "--offline")
    #expect(saved.status == 0 && saved.output == "", "\(saved)")
    #expect(saved.errors == "Saved. Run it with: aggregator euro\n")
    #expect(
      try home.sandbox.text(of: Self.file).hasSuffix(
        "euro = countries list --where region=EU --offline\n"))
    #expect(try home.sandbox.permissions(of: Self.file) == 0o600)
    let outcome = try await run("euro", "--json", "--limit", "2", "--fields", "region")
    // Bundled records may not be all.
    #expect(outcome.status == 3, "\(outcome)")
    #expect(outcome.output.contains(#"{"region":"EU"}"#) && outcome.output.contains(#""count":2"#))
    let same = try await run("--limit", "2", "euro", "--fields", "code", "--tsv")
    #expect(same.lines.count == 2, "\(same)")
    // Options of two kinds are still an error of the command that runs.
    let wrong = try await run("euro", "--json", "--csv")
    #expect(wrong.status == 64 && wrong.errors.contains("cannot be used together"), "\(wrong)")
  }

  @Test func `parameters are filled in, and missing ones are named`() async throws {
    try await save("by", "countries", "search", "$1", "--where", "region=$2", "--offline", "--tsv")
    let found = try await run("by", "new", "OC", "--fields", "code")
    #expect(found.status == 3 && found.lines.contains("NZ"), "\(found)")
    let missing = try await run("by", "new")
    #expect(missing.status == 64 && missing.output == "")
    #expect(
      missing.errors == """
        error: missing argument $2 of the saved query "by"
        hint: aggregator query show by

        """)
    let whole = try await run("by", "new", "OC or region=AF")
    #expect(whole.output == "", "\(whole)")
    try await save("nz", "by zealand OC")
    #expect(try await run("nz", "--fields", "code").output == "NZ\n")
  }

  @Test(
    arguments: [
      (["nonsense"], "unknown source or command \"nonsense\""),
      (["countries", "lost"], "unknown verb \"lost\" for countries"),
      (["countries", "list", "--lmit", "3"], "unknown option \"--lmit\""),
      (["countries", "list", "--limit", "x"], "invalid value \"x\" for --limit"),
      (["countries", "list", "--yes"], "does not accept --yes"),
      (["countries", "list", "--where", "nmae=x"], "unknown field \"nmae\""),
      (["countries", "list", "--sort", "nmae"], "unknown field \"nmae\""),
      (["countries", "list", "--where", "nmae=$1"], "unknown field \"nmae\""),
      (["countries", "list", "--where", "$1", "--sort", "-nmae"], "unknown field \"nmae\""),
      (["search", "war", "--where", "nmae=x"], "unknown field \"nmae\""),
      (["countries", "list", "--where", "region=EU and capital is null"], "write capital=, which"),
      (["countries", "list", "--where", "region=$1 and capital is null"], "write capital=, which"),
      (["countries", "list", "--fields", "nmae"], "unknown field \"nmae\""),
      (["countries list 'x"], "a quote is not closed"),
      (["countries", "list", "$x"], "unknown parameter \"$x\": arguments are $1 to $9 and $@"),
      (
        ["countries", "list", "--where", "region=$2"], "the words have no $1, but a later argument"
      ),
      (
        ["countries", "list", "--where", "region=$1", "--replace"],
        "Did you mean \"query save q --replace -- countries list --where 'region=$1'\"?"
      ),
      (["countries", "list", "--where", "$1=x"], "must be a value in its condition"),
      (
        ["countries", "list", "--where", "code in ($*)"], "unknown parameter \"$*\": arguments are"
      ),
      (["countries", "list", "--where", "code>${1:-FR}"], "unknown parameter \"${1:-FR}\""),
      (["sql", "SELECT \"$1\" FROM countries"], "must be a value in the SQL"),
      (["sql", "SELECT 1 WHERE name LIKE '%$1%'"], "name LIKE '%' || $1 || '%'"),
      (["sql", "SELECT name AS [it's] FROM t WHERE [$1] = 1"], "must be a value in the SQL"),
      (["sql", "SELECT 1 WHERE 1 =", "$@"], "$@ cannot be in the SQL"),
      (["sql", "SELECT 1 WHERE 1 = ?"], "? cannot be in the SQL"),
      (["sql", "SELECT 1 WHERE 1 IN (2, ?1)"], "write $1 for an argument, or :name for --param"),
      (["sql", "SELECT 1 LIMIT ?"], "? cannot be in the SQL"),
      (
        ["countries", "list", "--distinct", "name", "--distinct", "code"],
        "--distinct is given twice"
      ),
      (["q"], "the saved query \"q\" calls itself: q → q"), (["!"], "the script is missing"),
      (["!a", "b"], "the script must be one argument"),
      (["countries", "list", "--manifests", "x"], "--manifests cannot be saved"),
    ] as [([String], String)])
  func `words are checked when they are saved`(words: [String], error: String) async throws {
    let outcome = try await Binary.run(["query", "save", "q", "--"] + words, in: home.sandbox)
    #expect(outcome.status == 64 && outcome.errors.contains(error), "\(outcome)")
    let none = try await run("query", "--tsv")
    #expect(none.output == "")
    #expect(none.errors.hasSuffix("No queries are saved · aggregator help query save\n"), "\(none)")
  }

  @Test func `words of a shell lead to a script`() async throws {
    let refused = try await run(
      "query", "save", "s3", "--", "countries", "list", "--limit", "3", "|", "head")
    #expect(refused.status == 64, "\(refused)")
    #expect(
      refused.errors.contains(
        "query save s3 -- '!aggregator countries list --limit 3 | head'"), "\(refused)")
    // As the words of a search they are what they are.
    try await save("pipe", "countries", "search", "|")
  }

  @Test(arguments: ["countries", "sql", "list", "deal", "2x", "a b", "-x"])
  func `names of sources, commands and verbs are refused`(name: String) async throws {
    let outcome = try await run("query", "save", "--", name, "heroes", "list")
    #expect(outcome.status == 64, "\(outcome)")
  }

  @Test func `an option takes the place of the saved ones that exclude it`() async throws {
    try await save("a", "countries", "list", "--offline", "--sort", "name")
    let counted = try await run("a", "--count")
    #expect(counted.output == "250\n", "\(counted)")
    try await save("b", "a", "--limit", "2", "--json")
    #expect(try await run("b", "--count", "--tsv").output == "250\n")
    let all = try await run("b", "--all", "--csv", "--fields", "code")
    #expect(all.output.split(whereSeparator: \.isNewline).count == 251, "\(all)")
    let both = try await run("a", "--count", "--sort", "name")
    #expect(both.status == 64, "\(both)")
    #expect(both.errors.contains("--count and --sort cannot be used together"), "\(both)")
    #expect(both.errors.hasSuffix("aggregator query show a\n"), "\(both)")
  }

  @Test func `an option given twice is an error, but replaces that of a query`() async throws {
    try await save("a", "countries", "list", "--offline", "--limit", "3", "--sort", "name")
    try await save("b", "a", "--sort=-code", "--fields", "code")
    let replaced = try await run("b", "--sort", "code", "--limit", "1", "--limit", "2", "--tsv")
    #expect(replaced.output == "AD\nAE\n", "\(replaced)")
    let twice = try await run("b", "--sort", "code", "--sort", "name")
    #expect(twice.status == 64, "\(twice)")
    #expect(
      twice.errors == "error: --sort is given twice\nhint: separate its names with commas\n")
  }

  @Test func `options of a query may stand before its arguments`() async throws {
    let saved = try await run(
      "query", "save", "in", "--", "countries", "list", "--where", "region=$1", "--offline")
    #expect(saved.errors == "Saved. Run it with: aggregator in $1\n")
    let first = try await run("in", "--limit", "2", "--fields", "region", "EU", "--tsv")
    #expect(first.output == "EU\nEU\n", "\(first)")
    // An option is no value: it would match nothing.
    let missing = try await run("in", "--tsv")
    #expect(missing.status == 64 && missing.errors.contains("missing argument $1"), "\(missing)")
    let wrong = try await run("in", "--lmit", "2")
    #expect(wrong.status == 64 && wrong.errors.contains("--lmit"), "\(wrong)")
    let help = try await run("help", "in")
    #expect(help.output.contains("--offline\nRun it with: aggregator in $1\n"), "\(help)")
  }

  @Test func `the table of queries has problems only if there are some`() async throws {
    try await save("a", "heroes", "list")
    let list = try await run("query", "--format", "table")
    #expect(list.output.contains("heroes list") && !list.output.contains("Problem"), "\(list)")
    // A line is not cut where a table has no room for it.
    let condition = "name~\(String(repeating: "long ", count: 20))end"
    try await save("b", "heroes", "list", "--where", condition)
    let cards = try await run(
      "query", variables: ["AGGREGATOR_FORCE_TTY": "80", "NO_COLOR": "1"])
    let words = cards.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.hasPrefix("Name a ") && words.contains("long end"), "\(cards)")
    // A table that is asked for is one.
    let table = try await run("query", "--format", "table")
    #expect(table.lines.count == 3 && table.lines.last?.contains("long end") == true, "\(table)")
    try write("a = heroes list\nb = heroes lost\n")
    #expect(try await run("query", "--format", "table").output.contains("Problem"))
    #expect(
      try await run("query", "--template", "{name}:{problem}").output.hasPrefix("a:\n"))
  }

  @Test func `a word that a query does not take is no search of its source`() async throws {
    try await save("euro", "countries", "list", "--where", "region=EU")
    let error = "error: unexpected argument \"france\"\nhint: aggregator query show euro\n"
    #expect(try await run("euro", "france").errors == error)
    let help = try await run("euro", "help")
    #expect(help.status == 64 && help.errors.contains("Did you mean \"help euro\"?"), "\(help)")
  }

  @Test(arguments: [
    ("foo = bar baz", ["foo"], "foo", "unknown source or command \"bar\""),
    ("foo = bar baz", ["foo", "x", "--json"], "foo", "unknown source or command \"bar\""),
    ("foo = countries lost", ["foo"], "foo", "unknown verb \"lost\" for countries"),
    ("foo = countries list --lmit 3", ["foo", "--tsv"], "foo", "unknown option \"--lmit\""),
    ("foo = countries list --limit x", ["foo"], "foo", "invalid value \"x\" for --limit"),
    ("foo = bar baz\nall = foo --all", ["all"], "foo", "unknown source or command \"bar\""),
  ])
  func `an error of a saved query names it, and how to change it`(
    file: String, words: [String], name: String, message: String
  ) async throws {
    try write("\(file)\n")
    let outcome = try await Binary.run(words, in: home.sandbox)
    #expect(outcome.status == 64)
    #expect(
      outcome.errors.hasPrefix("error: in the saved query \"\(name)\": \(message)"), "\(outcome)")
    #expect(
      outcome.errors.hasSuffix("hint: aggregator query edit \(name)\n"), "\(outcome)")
  }

  @Test func `the words of a query are for save, not for edit`() async throws {
    try write("q = countries list\n")
    let outcome = try await run(
      "query", "edit", "q", "--", "countries", "list", "--where", "region=$1")
    #expect(outcome.status == 64)
    #expect(
      outcome.errors.hasPrefix(
        """
        error: unexpected argument "countries"

        Did you mean "query save q --replace -- countries list --where 'region=$1'"?

        """), "\(outcome)")
  }

  @Test func `an error of the words beside a saved query is not its own`() async throws {
    try write("foo = countries $1 --offline\n")
    let outcome = try await run("foo", "lost")
    #expect(outcome.status == 64 && !outcome.errors.contains("in the saved query"), "\(outcome)")
  }

  @Test func `a query without words names how to save one`() async throws {
    #expect(
      try await run("query", "save", "euro").errors == """
        error: missing argument: WORDS
        hint: aggregator query save euro -- SOURCE list

        """)
  }

  @Test func `a query is not replaced unless asked`() async throws {
    try await save("a", "heroes", "list")
    let refused = try await run("query", "save", "a", "--", "users", "list")
    #expect(refused.status == 64)
    #expect(refused.errors.contains("there is a saved query \"a\" already: heroes list\n"))
    #expect(refused.errors.contains("--replace"))
    let replaced = try await run("query", "save", "--replace", "a", "--", "users", "list")
    #expect(replaced.status == 0)
    #expect(try await run("query", "list", "--tsv").output == "a\tusers list\t\n")
  }

  @Test func `queries are listed, shown, renamed and removed`() async throws {
    try await save("a", "heroes", "list")
    try await save("b", "a", "--limit", "2")
    try await save("c", "!echo hi")
    let list = try await run("query", "list", "--ndjson", "--fields", "name,query")
    #expect(
      list.output == """
        {"name":"a","query":"heroes list"}
        {"name":"b","query":"a --limit 2"}
        {"name":"c","query":"!echo hi"}

        """)
    let shown = try await run("query", "show", "b", "--json", "--fields", "runs,problem")
    #expect(
      shown.output.contains(#"{"runs":"aggregator heroes list --limit 2","problem":null}"#),
      "\(shown)")
    let renamed = try await run("query", "rename", "a", "d")
    #expect(renamed.errors == "Renamed \"a\" to \"d\", also in \"b\"\n", "\(renamed)")
    let followed = try await run("query", "show", "b", "--fields", "query,problem", "--tsv")
    #expect(followed.output.contains("d --limit 2\t"), "\(followed)")
    #expect(try await run("query", "rename", "d", "b").status == 64)
    let removed = try await run("query", "remove", "d", "--dry-run")
    #expect(removed.errors.contains("the query \"b\" begins with \"d\""), "\(removed)")
    #expect(try await run("query", "remove", "b").status == 64)
    #expect(try await run("query", "remove", "b", "--yes").status == 0)
    #expect(
      try await run("query", "list", "--fields", "name", "--tsv").lines == ["c", "d"].sorted())
    #expect(try await run("query", "remove", "c", "x", "--yes").status == 1)
    let both = try await run("query", "remove", "c", "d", "--yes")
    #expect(both.errors.contains("Removed the queries \"c\", \"d\"\n"), "\(both)")
    #expect(try await run("query", "list", "--tsv").output == "")
    let gone = try await run("query", "show", "bb")
    #expect(gone.status == 1 && gone.errors.contains("no query named \"bb\" was saved"), "\(gone)")
  }

  @Test func `edit replaces a query only with a valid one`() async throws {
    try await save("a", "heroes", "list")
    func editor(_ script: String) throws -> String {
      try home.sandbox.write("#!/bin/sh\n\(script)\n", to: "bin/editor").path
    }
    let wrong = "sh \(try editor(#"printf 'heroes lost\n' > "$1""#))"
    let refused = try await run("query", "edit", "a", variables: ["EDITOR": wrong])
    #expect(refused.status == 64, "\(refused)")
    #expect(refused.errors.contains("unknown verb \"lost\" for heroes; nothing was changed"))
    #expect(try await run("query", "list", "--tsv").output == "a\theroes list\t\n")
    let right = "sh \(try editor(#"printf 'heroes list\n  --offline\n' > "$1""#))"
    let changed = try await run("query", "edit", "a", variables: ["VISUAL": right])
    #expect(changed.status == 0 && changed.errors == "Changed the query \"a\"\n", "\(changed)")
    #expect(try await run("a", "--count").output == "107\n")
    // vi would wait for keys that nobody types.
    let alone = try await run("query", "edit", "a", variables: ["EDITOR": nil, "VISUAL": nil])
    #expect(alone.status == 64 && alone.errors.contains("requires a terminal"), "\(alone)")
  }

  @Test func `help names saved queries, and explains them`() async throws {
    try await save("euro", "countries", "list", "--where", "region=EU")
    try await save("hi", "!echo hi")
    let help = try await run("--help")
    #expect(help.output.contains("Saved queries:\n  euro"), "\(help)")
    #expect(help.output.contains("countries list --where region=EU"))
    for words in [["help", "euro"], ["euro", "--help"], ["euro", "-h"]] {
      let outcome = try await Binary.run(words, in: home.sandbox)
      #expect(outcome.status == 0)
      #expect(
        outcome.output.hasPrefix(
          "Saved query: countries list --where region=EU\n\nList countries.\n"), "\(outcome)")
    }
    #expect(try await run("hi", "--help").output == "Saved query: !echo hi\n")
    let typo = try await run("eruo")
    #expect(typo.status == 64 && typo.errors.contains("Did you mean \"euro\"?"), "\(typo)")
    #expect(
      try await run("query", "euro").errors.contains("Did you mean \"query show euro\"?"))
    #expect(
      try await run("query", "run", "euro").errors.contains("Did you mean \"euro\"?"))
  }

  @Test func `verbose and explain show what runs`() async throws {
    try await save("euro", "countries", "list", "--where", "region=EU", "--offline")
    let outcome = try await run("euro", "--verbose")
    #expect(
      outcome.errors.hasPrefix(
        "euro: aggregator countries list --where region=EU --offline --verbose\n"), "\(outcome)")
    #expect(try await run("euro", "--explain").errors.hasPrefix("euro: aggregator countries"))
  }

  @Test func `a script runs in sh, with arguments and exit code`() async throws {
    try await save("args", #"!printf '%s|' "$@"; exit 7"#)
    let outcome = try await run("args", "a b", "", "--json")
    #expect(outcome.status == 7 && outcome.output == "a b||--json|", "\(outcome)")
    try await save("sum", "!echo $(($1 + $2))")
    #expect(try await run("sum", "2", "3").output == "5\n")
    try await save("say", "!echo")
    #expect(try await run("say", "x  y", "z").output == "x  y z\n")
    // Nothing of other queries reaches a shell.
    try await save("plain", "countries", "search", "$(touch pwned)", "--offline")
    _ = try await run("plain", ";touch pwned")
    #expect(try !home.sandbox.files(under: "work").contains("pwned"))
  }

  @Test func `a script that calls its own query ends`() async throws {
    let program = try Binary.path
    try await save("again", "!'\(program)' again")
    let outcome = try await run("again")
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("the saved query \"again\" calls itself: again → again"))
  }

  @Test func `Ctrl-C ends a script`() async throws {
    try await save("wait", "!echo ready; read x")
    let terminal = try PseudoTerminal()
    let run = try Binary.start(
      "wait", terminal: terminal.descriptor, in: home.sandbox,
      output: .descriptor(terminal.descriptor), isMerged: true)
    try await terminal.read(until: "ready")
    run.child.send(SIGINT)
    #expect(try await run.outcome().ending == .signal(SIGINT))
  }

  @Test func `a source that comes later wins, which is reported`() async throws {
    try write("crm = heroes list\ncountries = heroes list\n")
    let url = try Binary.nowhere.get().baseURL
    try home.sandbox.write(
      #"{"url": "\#(url)/x", "rows": "data", "id": "id"}"#, to: home.manifestPath("crm.json"))
    let warning = """
      warning: the saved query "crm" is hidden by the source or command of the same name
      hint: aggregator query rename crm crm-2

      """
    let outcome = try await run("crm", "list", "--offline")
    #expect(!outcome.errors.contains("hidden"), "\(outcome)")
    let list = try await run("query")
    #expect(list.errors.contains(warning) && list.errors.contains("rename countries countries-2"))
    #expect(
      try await run("countries", "show", "FR", "--offline", "--tsv").output.contains("France"))
    #expect(
      try await run("heroes", "list", "--offline", "--count").errors.contains("hidden") == false)
  }

  @Test func `a broken file hinders nothing, and is named`() async throws {
    try write("euro = countries list --offline\nbad line\n")
    let outcome = try await run("countries", "show", "FR", "--offline", "--tsv")
    #expect(outcome.status == 0)
    let path = home.sandbox.root.appending(path: Self.file).path
    #expect(!outcome.errors.contains("queries:2"))
    for line in [["query"], ["eruo"]] {
      let outcome = try await Binary.run(line, in: home.sandbox)
      #expect(
        outcome.errors.contains("warning: \(path):2: not a line of the form NAME = TEXT\nhint: "))
    }
    #expect(try await run("euro", "--count").output == "250\n")
    let doctor = try await run("doctor", "--offline", "--ndjson")
    #expect(doctor.status == 3 && doctor.output.contains("queries:2: not a line"), "\(doctor)")
    // The broken line stays.
    try await save("b", "heroes", "list")
    #expect(try home.sandbox.text(of: Self.file).contains("bad line\nb = heroes list\n"))
    try Data([0xFF, 0xFE]).write(to: home.sandbox.root.appending(path: Self.file))
    #expect(try await run("countries", "show", "FR", "--offline", "--tsv").status == 0)
    let notText = try await run("query")
    #expect(notText.errors.contains("is not UTF-8 text"), "\(notText)")
    #expect(try await run("query", "save", "x", "--", "heroes", "list").status == 78)
  }

  @Test(arguments: ["name = $1", "name LIKE '%' || $1 || '%'", "[name] = $1"])
  func `an argument is no SQL`(condition: String) async throws {
    try await save("base", "sql", "--tsv")
    let text = "/* a */ SELECT code FROM countries WHERE \(condition)"
    for words in [["sql", "--tsv", text], ["sql", "--tsv", "--", text], ["base", text]] {
      _ = try await Binary.run(
        ["query", "save", "named", "--replace", "--"] + words, in: home.sandbox)
      let found = try await run("named", "France")
      #expect(found.output == "FR\n", "\(found)")
      for argument in ["x' OR '1'='1", "1 OR 1=1", "+name"] {
        let none = try await run("named", argument)
        #expect(none.output == "" && !none.errors.contains("error"), "\(none)")
      }
      let surplus = try await run("named", "x", "OR 1=1")
      #expect(surplus.status == 64 && surplus.output == "", "\(surplus)")
    }
    try await save("typed", "sql", "SELECT typeof($1), $1", "--tsv")
    for (argument, row) in [("5", "integer\t5"), ("1.10", "text\t1.10"), ("Null", "text\tNull")] {
      #expect(try await run("typed", argument).output == "\(row)\n")
    }
  }

  @Test func `half of a condition beside an argument is no text`() async throws {
    try write("foo = countries list --where 'region=$1 and capital is null'\n")
    let outcome = try await run("foo", "EU", "--offline")
    #expect(outcome.status == 64 && outcome.output == "", "\(outcome)")
    #expect(
      outcome.errors == """
        error: invalid condition "capital is null": no operator (character 9) in the saved query "foo"
        hint: write capital=, which matches records without a value; quote a text: region="$1 and capital is null"

        """)
  }

  @Test func `a surplus argument names the parameters of SQL, and ? may be an operator`()
    async throws
  {
    try await save("part", "sql", "SELECT name FROM countries WHERE region = :cat")
    let surplus = try await run("part", "toy")
    #expect(surplus.status == 64 && surplus.errors.hasSuffix("\nhint: --param cat=VALUE\n"))
    let operators = "SELECT 'a = ?', \"data\" ? 'a' FROM t /* = ? */ WHERE b ?| c"
    let saved = try await run(
      "query", "save", "plain", "--", "sql", operators,
      variables: ["AGGREGATOR_STORE": "postgresql://127.0.0.1:1/records"])
    #expect(saved.status == 0, "\(saved)")
  }

  @Test func `SQL that does not compile is not saved`() async throws {
    for (text, error, suggestion) in [
      ("SELECT nmae FROM countries", "no such column: nmae", "name"),
      ("SELECT name FROM countires WHERE code = $1", "no such table: countires", "countries"),
    ] {
      let refused = try await run("query", "save", "bad", "--", "sql", text)
      #expect(refused.status == 64, "\(refused)")
      #expect(refused.errors.contains(error), "\(refused)")
      #expect(refused.errors.contains("Did you mean \"\(suggestion)\"?"), "\(refused)")
    }
    let refused = try await run("query", "save", "bad", "--", "sql", "SELECT 1 + FROM countries")
    #expect(refused.errors.contains("  SELECT 1 + FROM countries\n             ^\n"), "\(refused)")
    #expect(try await run("query", "--tsv").output == "")
    try await save("price", "sql", "SELECT '$$5', name FROM countries WHERE code = :code")
    // What it needs to be compiled may come with the command that runs it.
    try await save("whole", "sql", "$1")
    try await save("file", "sql", "SELECT * FROM later", "--attach", "later.csv")
    try await save("script", "sql", "SELECT 1; SELECT x FROM nothing")
  }

  @Test func `doctor names a saved query that does not run, which is no wrong setting`()
    async throws
  {
    try await save("good", "sql", "SELECT name FROM countries WHERE region = 'EU'")
    try await save("part", "sql", "SELECT name FROM countries WHERE region = :region")
    #expect(try await run("doctor", "--offline", "--ndjson").status == 0)
    try write(
      "bad = sql 'SELECT nmae FROM countries'\nlost = heroes lost\nlist = heroes list\n")
    let doctor = try await run("doctor", "--offline", "--ndjson")
    #expect(doctor.status == 3, "\(doctor)")
    let wrong = doctor.lines.filter { $0.contains(#""area":"queries""#) }
    #expect(wrong.count == 3 && wrong.allSatisfy { $0.contains("warning") }, "\(doctor)")
    for text in [
      "no such column: nmae", "aggregator query edit bad", "aggregator query edit lost",
      "aggregator query rename list NEW",
    ] {
      #expect(wrong.contains { $0.contains(text) }, "\(text): \(wrong)")
    }
    let page = try await run("doctor", "--offline", variables: ["AGGREGATOR_FORCE_TTY": "100"])
    #expect(page.lines.last?.contains("3 problems") == true, "\(page)")
  }

  @Test func `processes that save at once lose nothing`() async throws {
    let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
      for index in 0..<8 {
        group.addTask { [home] in
          try await Binary.run(
            ["query", "save", "q\(index)", "--", "heroes", "list"], in: home.sandbox)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.allSatisfy { $0.status == 0 }, "\(outcomes)")
    #expect(
      Set(try await run("query", "--fields", "name", "--tsv").lines)
        == Set((0..<8).map { "q\($0)" }))
  }
}
