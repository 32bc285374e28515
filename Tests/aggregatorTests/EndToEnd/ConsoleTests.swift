import AggregatorSourceTesting
import Foundation
import Testing

/// `sql` without a query: the console.
@Suite struct ConsoleTests {
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
    try await terminal.read(until: "countries: code, name, region, capital")
    try await terminal.read(until: Self.prompt)
    terminal.type(".quit\n")
    #expect(try await run.outcome().status == 0)
    #expect(terminal.showsTyping)
    let history = "home/.local/state/aggregator/sql_history"
    #expect(
      try sandbox.text(of: history)
        == "SELECT 6 *\n7 AS answer; SELECT 'é' || 1 AS b;\nSELECT nam FROM heroes;\n.tables\n"
        + ".schema countries\n.quit\n")
    #expect(try sandbox.permissions(of: history) == 0o600)
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

  @Test(.enabled(if: hasEditor, "no line editor is installed"))
  func `Tab completes tables and columns, and arrows bring back earlier lines`() async throws {
    try sandbox.write(
      "SELECT 'from ' || 'before' AS x;\n", to: "home/.local/state/aggregator/sql_history")
    let run = try start(on: "xterm")
    try await terminal.read(until: Self.prompt)
    terminal.type("SELECT count(capi\t) AS n FROM countri\t;\n")
    let screen = try await terminal.read(until: "no countries are cached")
    #expect(screen.contains("tal) AS n") && !screen.contains("error"), "\(screen)")
    try await terminal.read(until: Self.prompt)
    terminal.type("\u{1B}[A\u{1B}[A\n")
    try await terminal.read(until: "from before\r\n")
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

  @Test func `attached files have columns`() async throws {
    try sandbox.write("price\n7\n", to: "work/sales.csv")
    let run = try start("sql --attach sales.csv", on: "dumb")
    try await terminal.read(until: Self.prompt)
    terminal.type(".schema sales\n")
    try await terminal.read(until: "sales: price")
    terminal.type("SELECT price * 6 AS x FROM sales;\n")
    try await terminal.read(until: "42")
    #expect(try await ending(afterControlDIn: run) == .exit(0))
  }

  @Test func `without a terminal a query is required`() async throws {
    for (line, terminal) in [("sql", nil), ("sql --no-input", self.terminal.descriptor)] {
      let run = try Binary.start(line, terminal: terminal, in: sandbox)
      let outcome = try await run.outcome()
      #expect(outcome.status == 64)
      #expect(
        outcome.errors
          == "error: missing argument: QUERY\nhint: pass - to read the query from standard input\n")
    }
  }
}
