import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `sql` without a query: the console.
@Suite(.timeLimit(.minutes(10))) struct ConsoleTests {
  private let terminal: PseudoTerminal
  private let sandbox: Sandbox

  init() throws {
    terminal = try PseudoTerminal()
    terminal.widen(to: 80, rows: 24)
    sandbox = try Sandbox()
  }

  /// With a line editor if there is one, and without.
  static let terminals = ["xterm", "dumb"]

  static let hasEditor = ["libedit.so.2", "libreadline.so.8"].contains { name in
    ["/usr/lib", "/lib"].contains { directory in
      FileManager.default.enumerator(atPath: directory)?.contains {
        ($0 as? String)?.hasSuffix("/\(name)") == true
      } ?? false
    }
  }

  private func start(_ line: String = "sql", on term: String) throws -> Binary.Run {
    try Binary.start(
      line, environment: ["TERM": term, "LC_ALL": "C.UTF-8"], terminal: terminal.descriptor,
      in: sandbox, output: .descriptor(terminal.descriptor), isMerged: true)
  }

  private func ending(afterControlDIn run: Binary.Run) async throws -> Child.Ending {
    // libedit shows the prompt before it takes over the terminal; a key in between is not lost.
    terminal.type("\u{4}")
    return try await run.outcome().ending
  }

  private static let prompt = "sql> "

  @Test(arguments: terminals)
  func `runs statements of several lines, and goes on after an error`(term: String) async throws {
    let run = try start(on: term)
    try await terminal.read(until: Self.prompt)
    terminal.type("SELECT 6 *\n")
    try await terminal.read(until: "...> ")
    terminal.type("7 AS answer; SELECT 'é' || 1 AS b;\n")
    let answer = try await terminal.read(until: "é1")
    #expect(answer.contains("answer") && answer.contains("42"), "\(answer)")
    try await terminal.read(until: Self.prompt)
    terminal.type("SELECT nam FROM heroes;\n")
    try await terminal.read(until: "no such column: nam")
    try await terminal.read(until: Self.prompt)
    terminal.type(".tables\n")
    #expect(try await terminal.read(until: "users").contains("countries"))
    try await terminal.read(until: Self.prompt)
    terminal.type(".schema countries\n")
    try await terminal.read(until: "countries: code text, name text, region text, capital text")
    try await terminal.read(until: Self.prompt)
    terminal.type(".quit\n")
    #expect(try await run.outcome().status == 0)
    #expect(terminal.showsTyping)
    let history = "home/.local/state/aggregator/sql_history"
    #expect(
      try sandbox.text(of: history)
        == "SELECT 6 * 7 AS answer; SELECT 'é' || 1 AS b;\nSELECT nam FROM heroes;\n.tables\n"
        + ".schema countries\n.quit\n")
    #expect(try sandbox.permissions(of: history) == 0o600)
  }

  @Test(arguments: ["exit;", "QUIT", "\\q"])
  func `the words of other programs leave`(word: String) async throws {
    let run = try start(on: "dumb")
    try await terminal.read(until: Self.prompt)
    terminal.type("\(word)\n")
    #expect(try await run.outcome().status == 0)
  }

  @Test(arguments: [".quit", ".q", ".exit", "\\q"])
  func `an unfinished statement keeps nobody from leaving`(word: String) async throws {
    let run = try start(on: "dumb")
    try await terminal.read(until: Self.prompt)
    terminal.type("SELECT 1\n")
    try await terminal.read(until: "...> ")
    terminal.type("\(word)\n")
    #expect(try await run.outcome().status == 0)
  }

  @Test(arguments: terminals)
  func `a command in the middle of a statement is no part of it`(term: String) async throws {
    let run = try start(on: term)
    try await terminal.read(until: Self.prompt)
    terminal.type("SELECT 'so ' ||\n")
    try await terminal.read(until: "...> ")
    for word in [".mode csv", ".tabels", "quit", "Exit", "\\x", "\\e"] {
      terminal.type("\(word)\n")
      try await terminal.read(until: "\"\(word)\" is in the middle of a statement")
      try await terminal.read(until: "end the statement with ; or drop it with Ctrl-C")
      try await terminal.read(until: "...> ")
    }
    // What the rest of a statement may need.
    for (word, answer) in [
      ("\\d countries", "countries: code text"), (".tables", "heroes\r\n"), ("\\dt", "heroes\r\n"),
      (".help quit", "leave, like Ctrl-D"),
    ] {
      terminal.type("\(word)\n")
      try await terminal.read(until: answer)
      try await terminal.read(until: "...> ")
    }
    // A part of a text.
    terminal.type("'it\n.tables\n' || 'goes' AS x;\n")
    try await terminal.read(until: "goes\r\n")
    try await terminal.read(until: Self.prompt)
    #expect(try await ending(afterControlDIn: run) == .exit(0))
  }

  @Test func `Ctrl-D says that an unfinished statement was not run`() async throws {
    let run = try start(on: "dumb")
    try await terminal.read(until: Self.prompt)
    terminal.type("SELECT 1\n")
    try await terminal.read(until: "...> ")
    terminal.type("\u{4}")
    try await terminal.read(until: "The statement was not run: it has no ; at its end.")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test(arguments: terminals)
  func `Ctrl-C drops the statement, and Ctrl-D leaves`(term: String) async throws {
    let run = try start(on: term)
    try await terminal.read(until: Self.prompt)
    terminal.type("SELECT 'lost'\n")
    try await terminal.read(until: "...> ")
    terminal.type("AS x")
    terminal.type("\u{3}")
    // The terminal drops the line, and with it output that was not read, such as a prompt that came too early;
    // it controls no process that it could signal.
    if term == "dumb" {
      try await terminal.read(until: "^C")
      run.child.send(SIGINT)
    }
    try await terminal.read(until: Self.prompt)
    terminal.type("SELECT 'kept';\n")
    let screen = try await terminal.read(until: "kept\r\n")
    #expect(!screen.contains("error"), "\(screen)")
    try await terminal.read(until: Self.prompt)
    #expect(try await ending(afterControlDIn: run) == .exit(0))
    #expect(terminal.showsTyping)
  }

  @Test(arguments: terminals)
  func `Ctrl-C ends a query, not the console`(term: String) async throws {
    let run = try start(on: term)
    try await terminal.read(until: Self.prompt)
    terminal.type(
      "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c;\n")
    // It is echoed before it runs, and the interruption of a query that has not begun is one of the prompt.
    var screen = try await terminal.read(until: "FROM c;")
    for _ in 0..<1000 where !screen.contains("cancelled") {
      run.child.send(SIGINT)
      screen += String(decoding: await terminal.shown(within: 200), as: UTF8.self)
    }
    terminal.type("SELECT 'still ' || 'here' AS x;\n")
    try await terminal.read(until: "still here")
    run.child.send(SIGTERM)
    #expect(try await run.outcome().ending == .signal(SIGTERM))
    #expect(terminal.showsTyping)
  }

  @Test(arguments: terminals)
  func `parameters are set, listed and bound`(term: String) async throws {
    let run = try start("sql --param b=1", on: term)
    try await terminal.read(until: Self.prompt)
    for (line, answer) in [
      ("SELECT :missing AS x;", "the parameter :missing has no value"),
      (".parameter set :a 'it''s  a'", ""), (".param set c 2.5", ""),
      ("SELECT '<' || :a || (@b + $c) || '>' AS x;", "<it's  a3.5>"),
      ("SELECT typeof(:b) || typeof(:c) || '.' AS x;", "integerreal."),
      (".parameter list", ":a 'it''s  a'\r\n:b 1\r\n:c 2.5"), (".parameter unset b", ""),
      ("SELECT :b AS x;", "the parameter :b has no value"), (".parameter clear", ""),
      ("SELECT :a AS x;", "the parameter :a has no value"),
      (".parameter set 2x 1", "invalid name \"2x\" of a parameter"),
      (".parameter sat", "invalid arguments of .parameter"),
      (".parameter unset zz", "no parameter \"zz\" is set"), ("-- a comment", ""),
    ] {
      terminal.type("\(line)\n")
      if !answer.isEmpty { try await terminal.read(until: answer) }
      try await terminal.read(until: Self.prompt)
    }
    terminal.type(".quit\n")
    #expect(try await run.outcome().status == 0)
  }

  @Test func `a statement is saved, and runs as a command`() async throws {
    let run = try start(on: "dumb")
    try await terminal.read(until: Self.prompt)
    for (line, answer) in [
      (".save none", "no statement to save"), ("SELECT 'it''s", "'...> "), ("'; -- \"", "it's"),
      ("SELECT 1 AS \"a", "\"...> "), ("b\";", "1\r\n"),
      ("SELECT 'it''s $1 ' || :x", "...> "), ("  AS \"a b\";", "the parameter :x has no value"),
      (".save heroes", "is the name of a source"), (".save mine", "aggregator mine"),
      ("SELECT nmae FROM countries;", "no such column: nmae"),
      (".save bad", "no such column: nmae"),
      ("SELECT 2 AS two;", "2\r\n"), (".save mine", "there is a saved query \"mine\" already: sql"),
      (".saved", "mine = sql "), ("SELECT 2 AS two;", "2\r\n"), (".save two", "aggregator two"),
      (".save mine", "there is a saved query \"mine\" already: sql"),
      (".save mine two", "unexpected argument \"two\""),
      (".save mine --replace", "aggregator mine"), (".load two", "2\r\n"),
      (".load none", "no query named \"none\" was saved"), (".parameter set x !", ""),
    ] {
      terminal.type("\(line)\n")
      if !answer.isEmpty { try await terminal.read(until: answer) }
      if !answer.hasSuffix("...> ") { try await terminal.read(until: Self.prompt) }
    }
    terminal.type("SELECT 'it''s $1 ' || :x;\n")
    try await terminal.read(until: "it's $1 !\r\n")
    try await terminal.read(until: Self.prompt)
    terminal.type(".save --replace mine\n")
    try await terminal.read(until: Self.prompt)
    terminal.type(".quit\n")
    #expect(try await run.outcome().status == 0)
    let outcome = try await Binary.run("mine --param x=? --tsv", in: sandbox)
    #expect(outcome.output == "it's $1 ?\n", "\(outcome)")
    #expect(try await Binary.run("two --json", in: sandbox).output.contains(#""two":2"#))
  }

  @Test(.enabled(if: hasEditor, "no line editor is installed"))
  func `Tab completes tables and columns, and arrows bring back earlier lines`() async throws {
    try sandbox.write(
      "SELECT 'from ' || 'before' AS x;\n", to: "home/.local/state/aggregator/sql_history")
    let run = try start(on: "xterm")
    try await terminal.read(until: Self.prompt)
    terminal.type("SELECT count(capi\t) AS n FROM countri\t;\n")
    let screen = try await terminal.read(until: "no countries are cached")
    // A space follows the only word.
    #expect(screen.contains("tal ) AS n") && !screen.contains("error"), "\(screen)")
    try await terminal.read(until: Self.prompt)
    terminal.type("\u{1B}[A\u{1B}[A\n")
    try await terminal.read(until: "from before\r\n")
    try await terminal.read(until: Self.prompt)
    #expect(try await ending(afterControlDIn: run) == .exit(0))
  }

  /// The path of GNU Readline, if it is installed.
  static let readline = ["/usr/lib", "/lib"].lazy.flatMap { directory in
    let names = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String }
    return (names ?? []).map { "\(directory)/\($0)" }
  }.first { $0.hasSuffix("/libreadline.so.8") }

  @Test(.enabled(if: hasEditor, "no line editor is installed"), arguments: [false, true])
  func `Tab knows its place after letters beyond ASCII`(isReadline: Bool) async throws {
    var variables = ["TERM": "xterm", "LC_ALL": "C.UTF-8"]
    if isReadline {
      // The first name that is looked for.
      guard let path = Self.readline else { return }
      let link = sandbox.root.appending(path: "libedit.so.2")
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: path)
      variables["LD_LIBRARY_PATH"] = sandbox.root.path
    }
    let run = try Binary.start(
      "sql", environment: variables, terminal: terminal.descriptor, in: sandbox,
      output: .descriptor(terminal.descriptor), isMerged: true)
    try await terminal.read(until: Self.prompt)
    terminal.type("SELECT 'é日🦸' FROM heroes WHERE al\t;\n")
    let screen = try await terminal.read(until: "no heroes are cached")
    #expect(screen.contains("iases ;") && !screen.contains("error"), "\(screen)")
    try await terminal.read(until: Self.prompt)
    // The quote that begins a name is not doubled, and another ends it. More rows would be paged.
    terminal.type("SELECT \"capi\t FROM countries LIMIT 1;\n")
    let quoted = try await terminal.read(until: "no countries are cached")
    #expect(quoted.contains("tal\"  FROM") && !quoted.contains("error"), "\(quoted)")
    try await terminal.read(until: Self.prompt)
    #expect(try await ending(afterControlDIn: run) == .exit(0))
  }

  @Test func `results longer than the screen are paged, each anew`() async throws {
    let pager = try sandbox.write("#!/bin/sh\nexec sed -u 's/^/> /'\n", to: "bin/pager")
    try sandbox.makeExecutable(pager)
    let run = try Binary.start(
      "sql", environment: ["TERM": "xterm", "PAGER": pager.path], terminal: terminal.descriptor,
      in: sandbox, output: .descriptor(terminal.descriptor), isMerged: true)
    let rows =
      "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 50) SELECT n FROM c;\n"
    for _ in 0..<2 {
      try await terminal.read(until: Self.prompt)
      terminal.type(rows)
      try await terminal.read(until: "> 50\r\n")
    }
    try await terminal.read(until: Self.prompt)
    #expect(try await ending(afterControlDIn: run) == .exit(0))
  }

  @Test func `the prompt waits for the pager of a command`() async throws {
    let pager = try sandbox.write(
      "#!/bin/sh\nread line\necho more?\nread key <&1\necho key $key\n", to: "bin/pager")
    try sandbox.makeExecutable(pager)
    terminal.widen(to: 80, rows: 8)
    let run = try Binary.start(
      "sql", environment: ["TERM": "xterm", "AGGREGATOR_PAGER": pager.path],
      terminal: terminal.descriptor, in: sandbox, output: .descriptor(terminal.descriptor),
      isMerged: true)
    try await terminal.read(until: Self.prompt)
    // What is typed next is not for a pager.
    terminal.type(".help\n")
    try await terminal.read(until: ".quit       leave, like Ctrl-D\r\n")
    try await terminal.read(until: Self.prompt)
    terminal.type(".schema\n")
    let schema = try await terminal.read(until: "more?")
    try #require(!schema.contains(Self.prompt), "\(schema)")
    terminal.type("q\n")
    let rest = try await terminal.read(until: "key q")
    #expect(!rest.contains(Self.prompt), "\(rest)")
    try await terminal.read(until: Self.prompt)
    terminal.type("SELECT 6 * 7 AS a;\n")
    try await terminal.read(until: "42")
    try await terminal.read(until: Self.prompt)
    terminal.type(".quit\n")
    #expect(try await run.outcome().status == 0)
  }

  @Test func `the time of a statement is not that of its reader`() async throws {
    let pager = try sandbox.write("#!/bin/sh\nsed -u 's/^/> /'; sleep 3\n", to: "bin/pager")
    try sandbox.makeExecutable(pager)
    let run = try Binary.start(
      "sql", environment: ["TERM": "xterm", "PAGER": pager.path], terminal: terminal.descriptor,
      in: sandbox, output: .descriptor(terminal.descriptor), isMerged: true)
    try await terminal.read(until: Self.prompt)
    terminal.type(".timer on\n")
    try await terminal.read(until: Self.prompt)
    let begin = ContinuousClock.now
    terminal.type(
      "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 50) SELECT n FROM c;\n"
    )
    try await terminal.read(until: "Time: ")
    let time = try await terminal.read(until: Self.prompt)
    let elapsed = (ContinuousClock.now - begin) / .seconds(1)
    let match = try #require(time.firstMatch(of: /^([0-9.]+) (ms|s)\b/), "\(time)")
    let seconds = try #require(Double(match.1)) * (match.2 == "s" ? 1 : 0.001)
    // All but the three seconds of the pager, however busy the machine is; the text is rounded up, by a second at most.
    #expect(seconds < elapsed - 1.9, "\(time) of \(elapsed) s")
    #expect(try await ending(afterControlDIn: run) == .exit(0))
  }

  @Test func `attached files have columns`() async throws {
    try sandbox.write("price\n7\n", to: "work/sales.csv")
    let run = try start("sql --attach sales.csv", on: "dumb")
    try await terminal.read(until: Self.prompt)
    terminal.type(".schema sales\n")
    try await terminal.read(until: "sales: price integer")
    terminal.type("SELECT price * 6 AS x FROM sales;\n")
    try await terminal.read(until: "42")
    #expect(try await ending(afterControlDIn: run) == .exit(0))
  }

  @Test(arguments: terminals)
  func `results have the format that was chosen, or go to a file`(term: String) async throws {
    try sandbox.write(
      "SELECT 'a' || 1 AS x;\n.mode tsv\nSELECT 'b' || 2 AS y\n", to: "work/two.sql")
    // Nothing is paged.
    terminal.widen(to: 80, rows: 60)
    let run = try start(on: term)
    func enter(_ line: String, until shown: String) async throws {
      try await terminal.read(until: Self.prompt)
      terminal.type("\(line)\n")
      try await terminal.read(until: shown)
    }
    try await enter(".mode", until: "table\r\n")
    try await enter(".mode csv", until: "\n")
    try await enter("SELECT 1 AS a, 'b' || 'c' AS d;", until: "1,bc")
    try await enter(".mode tabel", until: "Did you mean \"table\"?")
    try await enter(".timer on", until: "\n")
    try await enter(".once out.json", until: "\n")
    try await enter("SELECT 6 * 7 AS answer;", until: "Wrote out.json")
    try await terminal.read(until: "Time: ")
    #expect(try sandbox.text(of: "work/out.json").contains("{\"answer\":42}"))
    try await enter(".once | tr 0-9 a-j; exit 3", until: "\n")
    try await enter("SELECT 40 + 7 AS n;", until: "eh\r")
    try await terminal.read(until: "failed with status 3")
    try await enter(".read two.sql", until: "a1")
    try await terminal.read(until: "b2")
    try await enter(".read none.sql", until: "no such file: none.sql")
    try await enter(".once", until: "missing argument: FILE")
    try await enter(".once out.xlsx", until: "files that end in .xlsx cannot be written")
    // Of an unknown ending, the format is that of the mode.
    try await enter(".mode csv", until: "\n")
    try await enter(".once x.out", until: "\n")
    try await enter("SELECT 5 AS n;", until: "Wrote x.out")
    #expect(try sandbox.text(of: "work/x.out") == "n\r\n5\r\n")
    // As in psql.
    try await enter("\\d countries", until: "countries: code text, name text")
    try await enter("\\?", until: "leave, like Ctrl-D")
    try await terminal.read(until: Self.prompt)
    #expect(try await ending(afterControlDIn: run) == .exit(0))
  }

  @Test func `the last statement can be edited`() async throws {
    let editor = try sandbox.write(
      "#!/bin/sh\nsed -i 's/before/after/' \"$1\"\n", to: "bin/editor")
    try sandbox.makeExecutable(editor)
    let run = try Binary.start(
      "sql", environment: ["TERM": "xterm", "EDITOR": editor.path, "LC_ALL": "C.UTF-8"],
      terminal: terminal.descriptor, in: sandbox, output: .descriptor(terminal.descriptor),
      isMerged: true)
    try await terminal.read(until: Self.prompt)
    terminal.type("SELECT upper('before') AS x;\n")
    try await terminal.read(until: "BEFORE")
    try await terminal.read(until: Self.prompt)
    terminal.type("\\e\n")
    try await terminal.read(until: "AFTER")
    try await terminal.read(until: Self.prompt)
    // Left without a change, it does not run again.
    terminal.type("\\e\nSELECT 'no' || 'w' AS y;\n")
    #expect(try await !terminal.read(until: "now").contains("AFTER"))
    try await terminal.read(until: Self.prompt)
    if Self.hasEditor {
      // The arrow brings back what was edited, which comes after the first \e.
      terminal.type("\u{1B}[A\u{1B}[A\u{1B}[A\n")
      try await terminal.read(until: "AFTER")
      try await terminal.read(until: Self.prompt)
    }
    #expect(try await ending(afterControlDIn: run) == .exit(0))
  }

  @Test(arguments: [
    (".shell ls", "hint: no other program can be run from here"),
    (".dump", "hint: aggregator export SOURCE"),
    (".import a.csv t", "hint: aggregator sql --attach FILE"),
    (".dump heroes", "hint: aggregator export heroes"),
    (".eqp on", "hint: EXPLAIN QUERY PLAN SELECT … shows how a query is run"),
    ("\\o x.csv", "\nDid you mean \".output FILE\"?\nhint: enter .help for help"),
    ("\\timing", "\nDid you mean \".timer on\"?\nhint: enter .help for help"),
    (".shema", "\nDid you mean \".schema\"?\nhint: enter .help for help"),
  ])
  func `a command of another shell has a remedy`(line: String, remedy: String) async throws {
    let outcome = try await Binary.run(["sql", line], in: sandbox)
    let word = line.prefix { $0 != " " }
    #expect(outcome.status == 64)
    #expect(outcome.errors == "error: unknown command \"\(word)\" (line 1)\n\(remedy)\n")
    let format = try await Binary.run(["sql", ".mode column"], in: sandbox)
    #expect(format.errors.contains("\nDid you mean \"table\"?\n"), "\(format)")
  }

  @Test func `a result is compressed by the name of its file`() async throws {
    let outcome = try await Binary.run(
      [
        "sql",
        ".once out.csv.gz\nSELECT 42 AS answer;\n.once out.gz\nSELECT 42 AS answer;\n.once out.zip",
      ], in: sandbox)
    #expect(
      outcome.status == 64 && outcome.errors.contains("end in .zip cannot be written (line 5)"),
      "\(outcome)")
    let unpacked = try await Binary.run(
      [String](), in: sandbox, by: ["/bin/sh", "-c", "gzip -cd out.csv.gz out.gz"])
    #expect(unpacked.status == 0 && unpacked.output == "answer\r\n42\r\n42\n", "\(unpacked)")
  }

  @Test func `words in quotes are one, as in the shell of SQLite`() async throws {
    let script = """
      .once "a b.csv"
      SELECT 1 AS n;
      .once 'c d.json'
      SELECT 2 AS n;
      .parameter set x "it's 5"
      .parameter set y '5'
      .read "e f.sql"
      SELECT :x
      '.5';
      """
    try sandbox.write("SELECT :x || typeof(:y);", to: "work/e f.sql")
    let outcome = try await Binary.run(["sql", script], in: sandbox)
    #expect(outcome.output == "it's 5text\nit's 5\n", "\(outcome)")
    #expect(try sandbox.text(of: "work/a b.csv") == "n\r\n1\r\n")
    #expect(try sandbox.text(of: "work/c d.json").contains("{\"n\":2}"))
  }

  @Test func `a script that fails leaves the file of .output as it was`() async throws {
    try sandbox.write("keep", to: "work/out.csv")
    for failing in ["SELECT json('{');", ".bogus\nSELECT 2;", ".read missing.sql\nSELECT 2;"] {
      let outcome = try await Binary.run(
        ["sql", ".output out.csv\nSELECT 1;\n\(failing)"], in: sandbox)
      #expect(
        outcome.status != 0 && outcome.errors.contains("out.csv stays as it was"), "\(outcome)")
      #expect(try sandbox.text(of: "work/out.csv") == "keep")
    }
  }

  @Test func `only a person pipes a result into a command`() async throws {
    let outcome = try await Binary.run(["sql", ".once |touch made\nSELECT 1;"], in: sandbox)
    #expect(outcome.status == 64 && outcome.output == "", "\(outcome)")
    #expect(outcome.errors.hasPrefix("error: no other program can be run from here (line 1)\n"))
  }

  @Test(arguments: [
    "-- x\n.mode csv\nSELECT 1 AS a;\n", "/* x */ .mode csv\nSELECT 1 AS a;\n",
    "/* x\n  y */\n.mode csv\n-- z\nSELECT 1 AS a\n",
    "-- x\n/* y */ -- z\n\n.mode csv\nSELECT 1 AS a;",
    ".mode csv\nSELECT 1 AS a; -- x\n.mode tsv\n",
  ])
  func `a command may follow a comment`(script: String) async throws {
    let outcome = try await Binary.run("sql", input: script, in: sandbox)
    #expect(outcome.status == 0 && outcome.output == "a\r\n1\r\n", "\(outcome)")
    try sandbox.write(script, to: "work/script.sql")
    let read = try await Binary.run("sql", input: ".read script.sql", in: sandbox)
    #expect(read.status == 0 && read.output == outcome.output, "\(read)")
    let wrong = try await Binary.run("sql", input: "\(script)\n;\n-- x\nSELCT 2;", in: sandbox)
    let line = script.split(separator: "\n", omittingEmptySubsequences: false).count + 3
    #expect(wrong.errors.contains("syntax error (character 1) (line \(line))\n"), "\(wrong)")
  }

  @Test func `a table that was asked for is cut, and is else cards, which have empty columns, too`()
    async throws
  {
    let columns = (1...12).map { "'abcdefgh' AS column\($0)" } + ["NULL AS empty", "7 AS last"]
    let query = "SELECT \(columns.joined(separator: ", "));\n"
    let variables: [String: String?] = ["AGGREGATOR_FORCE_TTY": "80", "TERM": "dumb"]
    let cards = try await Binary.run(["sql", query], environment: variables, in: sandbox)
    #expect(cards.lines.count == 14 && cards.lines[12] == "empty     NULL", "\(cards)")
    let url = "'https://example.com/\(String(repeating: "a", count: 30))'"
    let urls = try await Binary.run(
      ["sql", "SELECT \(url) AS u, \(url) AS v, \(url) AS w"], environment: variables, in: sandbox)
    #expect(urls.lines.count == 3 && !urls.output.contains("…"), "\(urls)")
    for mode in ["csv\n.mode auto", "json\n.mode default"] {
      let automatic = try await Binary.run(
        ["sql", ".mode \(mode)\n\(query)"], environment: variables, in: sandbox)
      #expect(automatic.output == cards.output, "\(mode): \(automatic)")
    }
    let option = try await Binary.run(
      ["sql", "--format", "table", query], environment: variables, in: sandbox)
    #expect(option.lines.count == 2 && option.lines[1].hasPrefix("abcdefgh  abcdefgh"), "\(option)")
    #expect(option.lines.allSatisfy { $0.hasSuffix("  …") && $0.count <= 80 }, "\(option)")
    #expect(option.errors.contains("columns left out; --format cards shows all"), "\(option)")
    for mode in ["table", "csv\n.mode table"] {
      let table = try await Binary.run(
        ["sql", ".mode \(mode)\n\(query)"], environment: variables, in: sandbox)
      #expect(table.output == option.output, "\(mode): \(table)")
      #expect(table.errors.contains(".mode cards shows all, and .width N"), "\(table)")
    }
    let wide = try await Binary.run(
      ["sql", ".width 200\n.mode table\n\(query)"], environment: variables, in: sandbox)
    #expect(wide.lines.count == 2 && wide.lines[0].hasSuffix("empty  last"), "\(wide)")
    let whole = try await Binary.run(["sql", "--format", "table", query], in: sandbox)
    #expect(whole.lines == wide.lines, "\(whole)")
    let narrow = try await Binary.run(
      ["sql", ".mode table\nSELECT 1 AS a, 2 AS b;\n.mode"], environment: variables, in: sandbox)
    #expect(narrow.lines == ["a  b", "1  2", "table"], "\(narrow)")
  }

  @Test(arguments: [
    ("", "a  b\nx  NULL\n"), (".nullvalue ∅\n", "a  b\nx  ∅\n"), (".nullvalue \"\"\n", "a  b\nx\n"),
  ])
  func `the text of NULL can be chosen`(command: String, table: String) async throws {
    let outcome = try await Binary.run(
      ["sql", "--format", "table", "\(command)SELECT 'x' AS a, NULL AS b;"],
      environment: ["LC_ALL": "C.UTF-8"], in: sandbox)
    #expect(outcome.status == 0 && outcome.output == table, "\(outcome)")
  }

  @Test func `an empty line is between tables`() async throws {
    let outcome = try await Binary.run(
      [
        "sql", "--format", "table",
        "SELECT 1 AS a; SELECT 2 AS b;\nSELECT 3 AS c;\n.mode tsv\nSELECT 4 AS d;",
      ], in: sandbox)
    #expect(outcome.status == 0 && outcome.output == "a\n1\n\nb\n2\n\nc\n3\n4\n", "\(outcome)")
  }

  @Test func `tables that are wider than the screen are scrolled in less`() async throws {
    let less = try sandbox.write(
      "#!/bin/sh\n[ $1 = --version ] && exec echo less 500\necho \"less $*\"\nexec cat\n",
      to: "bin/less")
    try sandbox.makeExecutable(less)
    let run = try Binary.start(
      "sql", environment: ["TERM": "xterm", "PAGER": less.path], terminal: terminal.descriptor,
      in: sandbox, output: .descriptor(terminal.descriptor), isMerged: true)
    try await terminal.read(until: Self.prompt)
    terminal.type(".width 200\n")
    try await terminal.read(until: Self.prompt)
    terminal.type("SELECT 'narrow' || 1 AS x;\n")
    #expect(try await !terminal.read(until: "narrow1").contains("less"))
    try await terminal.read(until: Self.prompt)
    terminal.type("SELECT 'wi' || 'de' AS x, printf('%.99c', 'x') AS y, 'en' || 'd' AS z;\n")
    try await terminal.read(until: "less -S -+F")
    try await terminal.read(until: "end")
    try await terminal.read(until: Self.prompt)
    #expect(try await ending(afterControlDIn: run) == .exit(0))
  }

  @Test(arguments: [
    (".mode tsv\n.headers on\nSELECT 1 AS a;", "a\n1\n"),
    (".mode csv\n.headers off\nSELECT 1 AS a;", "1\r\n"), (".tables her", "heroes\n"),
    (".tables %R%E%", "countries\nheroes\n"), (".tables h%o", ""),
    ("PRAGMA table_list;", "countries\nheroes\nproducts\nusers\n"),
    (
      "pragma table_info('countries');",
      "countries: code text, name text, region text, capital text\n"
    ), (".help quit", ".quit       leave, like Ctrl-D\n"),
  ])
  func `commands of other shells work here, too`(script: String, output: String) async throws {
    let outcome = try await Binary.run(["sql", script], in: sandbox)
    #expect(outcome.status == 0 && outcome.output == output, "\(outcome)")
  }

  @Test func `all results go to a file, until another one is named`() async throws {
    let script = """
      .output a.csv
      SELECT 1 AS x;
      SELECT 2 AS y;
      .output b.tsv.gz
      SELECT 3 AS z;
      .output stdout
      SELECT 4 AS z;
      .output c.tsv
      SELECT 5 AS z
      """
    let outcome = try await Binary.run("sql", input: script, in: sandbox)
    #expect(outcome.status == 0 && outcome.output == "4\n", "\(outcome)")
    #expect(outcome.errors.contains("Wrote a.csv\nWrote b.tsv.gz\nWrote c.tsv\n"), "\(outcome)")
    #expect(try sandbox.text(of: "work/a.csv") == "x\r\n1\r\ny\r\n2\r\n")
    #expect(try sandbox.text(of: "work/c.tsv") == "5\n")
    let unpacked = try await Binary.run(
      [String](), in: sandbox, by: ["/bin/sh", "-c", "gzip -cd b.tsv.gz"])
    #expect(unpacked.output == "3\n", "\(unpacked)")
    let piped = try await Binary.run(["sql", ".output |wc"], in: sandbox)
    #expect(piped.status == 64 && piped.errors.contains("hint: enter .once |COMMAND"), "\(piped)")
  }

  @Test func `several results are one table in a file, and one document of JSON`() async throws {
    let table = """
      .headers on
      .output a.csv
      SELECT 1 AS x, 'a' AS y;
      .once b.csv
      SELECT 2 AS x, 'b' AS y;
      SELECT 3 AS x, 'c' AS y;
      .output c.tsv
      SELECT 4 AS x;
      SELECT 5 AS x;
      SELECT 6 AS z;
      """
    let rows = try await Binary.run("sql", input: table, in: sandbox)
    #expect(rows.status == 0, "\(rows)")
    #expect(try sandbox.text(of: "work/a.csv") == "x,y\r\n1,a\r\n3,c\r\n")
    #expect(try sandbox.text(of: "work/b.csv") == "x,y\r\n2,b\r\n")
    #expect(try sandbox.text(of: "work/c.tsv") == "x\n4\n5\nz\n6\n")
    let warning = "warning: the file has a result with other columns already"
    #expect(rows.errors.components(separatedBy: warning).count == 2, "\(rows)")

    try sandbox.write("keep", to: "work/d")
    for (file, kept) in [("d", "keep"), ("e.json", nil)] {
      let script = ".mode json\n.output \(file)\nSELECT 1 AS x;\nSELECT 2 AS x;"
      let second = try await Binary.run(["sql", script], in: sandbox)
      #expect(second.status == 64, "\(second)")
      #expect(
        second.errors.contains("\(file) has a result already, and a file of JSON is one document"))
      #expect((try? sandbox.text(of: "work/\(file)")) == kept)
    }
  }

  @Test func `an error ends a file that is read, not the console`() async throws {
    try sandbox.write("SELCT 1;\nSELECT 'not' || 'reached' AS x;\n", to: "work/wrong.sql")
    try sandbox.write(
      "SELECT 'be' || 'gun' AS x;\n.read wrong.sql\nSELECT 'not' || 'reached' AS x;\n",
      to: "work/outer.sql")
    let run = try start(on: "dumb")
    for line in [".read wrong.sql", ".read outer.sql"] {
      try await terminal.read(until: Self.prompt)
      terminal.type("\(line)\nSELECT 'go' || 'es' AS x;\n")
      let shown = try await terminal.read(until: "goes")
      #expect(shown.contains("(line 1 of wrong.sql)") && !shown.contains("notreached"), "\(shown)")
    }
    try await terminal.read(until: Self.prompt)
    #expect(try await ending(afterControlDIn: run) == .exit(0))
  }

  @Test func `a query or a command is an argument or standard input, and required`() async throws {
    for arguments in ["sql", "sql -"] {
      let outcome = try await Binary.run(
        arguments, input: "SELECT 6 * 7 AS answer", in: sandbox)
      #expect(outcome.output == "42\n", "\(outcome)")
    }
    let tables = try await Binary.run(["sql", ".tables"], in: sandbox)
    #expect(tables.lines == ["countries", "heroes", "products", "users"], "\(tables)")
    // As in other programs.
    let shown = try await Binary.run(["sql", "SHOW TABLES;"], in: sandbox)
    #expect(shown.lines == tables.lines, "\(shown)")
    let table = try await Binary.run(["sql", "describe Countries"], in: sandbox)
    #expect(
      table.output == "countries: code text, name text, region text, capital text\n", "\(table)")
    let columns = try await Binary.run(["sql", "SHOW COLUMNS FROM Countries;"], in: sandbox)
    #expect(columns.output == table.output, "\(columns)")
    let two = try await Binary.run(["sql", "SELECT 1; SELECT 2"], in: sandbox)
    #expect(two.output == "1\n2\n", "\(two)")
    for (script, place) in [
      ("SELECT 1; SELCT 2", "(character 11) (line 1)"),
      ("SELECT 1; SELECT\n2; SELCT 3;", "(character 21) (line 1)"),
      ("SELECT 1;\nSELCT 2", "(character 1) (line 2)"),
    ] {
      let wrong = try await Binary.run(["sql", script], in: sandbox)
      #expect(wrong.errors.contains("near \"SELCT\": syntax error \(place)\n"), "\(wrong)")
    }
    let typed = try Binary.start("sql --no-input", terminal: terminal.descriptor, in: sandbox)
    for (outcome, errors) in [
      (
        try await Binary.run("sql", in: sandbox),
        "error: standard input is empty\nhint: it must have a query\n"
      ),
      (
        try await typed.outcome(),
        "error: missing argument: QUERY\nhint: pass it on standard input, or as an argument\n"
      ),
    ] {
      #expect(outcome.status == 64)
      #expect(outcome.errors == errors)
    }
  }
}
