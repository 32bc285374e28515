import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `sql`: queries of cached data.
@Suite struct SQLTests {
  private let services: FourServices
  private let home: TestHome

  init() throws {
    services = try FourServices()
    home = try TestHome(services.settings)
  }

  private func sql(_ text: String, _ options: String...) async throws -> Outcome {
    try await Binary.run(
      ["sql", text] + options, environment: home.environment, in: home.sandbox)
  }

  @Test func `every source is a table, and tables can be joined`() async throws {
    for source in ["countries", "heroes", "products"] {
      #expect(try await home.run("\(source) list --all").status == 0)
    }
    #expect(try await home.run("users load 10").status == 0)
    let count = try await sql(
      "SELECT (SELECT count(*) FROM countries), (SELECT count(*) FROM heroes), "
        + "(SELECT count(*) > 5 FROM products), (SELECT count(*) >= 10 FROM users)")
    #expect(count.output == "249\t257\t1\t1\n", "\(count)")
    let joined = try await sql(
      "SELECT u.email, c.name FROM users u JOIN countries c ON c.code = u.nationality")
    #expect(joined.status == 0)
    let users = try home.file.ids(of: "users")
    #expect(joined.lines.allSatisfy { users.contains(String($0.prefix { $0 != "\t" })) })
    #expect(!joined.lines.isEmpty)

    #expect(try await home.run("heroes delete 1253 --yes").status == 0)
    let hidden = try await sql("SELECT count(*), sum(id = 1253) FROM heroes")
    #expect(hidden.output == "256\t0\n")
    #expect(try await home.run("heroes restore 1253").status == 0)
    #expect(try await sql("SELECT id FROM heroes WHERE id = 1253").output == "1253\n")
    #expect(try home.file.faults() == [])
  }

  @Test(
    arguments: [
      ("a=30", "integer\t30"), ("a=-2.5e3", "real\t-2500.0"), ("a=x y", "text\tx y"),
      ("a='30'", "text\t30"), ("a=007", "text\t007"), ("a=", "text\t"), ("a=null", "null\t"),
      ("a='null'", "text\tnull"), ("a=x' OR 1=1 --", "text\tx' OR 1=1 --"),
      (":a=1e999", "text\t1e999"),
    ])
  func `values of parameters are bound`(value: String, row: String) async throws {
    for mark in [":", "@", "$"] {
      let outcome = try await sql("SELECT typeof(\(mark)a), \(mark)a", "--param", value, "--tsv")
      #expect(outcome.output == "\(row)\n", "\(outcome)")
    }
  }

  @Test func `a value for a parameter that the query does not have is refused`() async throws {
    let unused = try await sql("SELECT :a", "--param", "a=1", "--param", "z=1")
    #expect(unused.status == 64)
    #expect(
      unused.errors == """
        error: the query has no parameter "z"
        hint: leave it out, or name it in the query: :z

        """)
  }

  @Test func `a parameter without a value is named`() async throws {
    let missing = try await sql("SELECT :age", "--param", "agee=1")
    #expect(missing.status == 64)
    #expect(
      missing.errors == """
        error: the parameter :age has no value
        hint: --param age=VALUE, or .parameter set age VALUE in the console

        """)
    #expect(try await sql("SELECT ?", "--param", "a=1").errors.contains("must have names"))
    #expect(try await sql("SELECT ?1", "--param", "a=1").errors.contains("must have names"))
    #expect(try await sql("SELECT 1", "--param", "a").errors.contains("must be NAME=VALUE"))
    #expect(try await sql("SELECT 1", "--param", "a b=1").errors.contains("invalid name \"a b\""))
  }

  @Test func `says how much of a source is missing`() async throws {
    let none = try await sql("SELECT count(*) FROM countries")
    #expect(none.output == "250\n")
    let instead = "are cached: bundled sample data instead"
    #expect(none.status == 3, "\(none)")
    #expect(
      none.errors
        == "warning: countries: no countries \(instead)\nhint: aggregator countries sync\n")
    #expect(try await home.run("heroes list -L 2").status == 0)
    let some = try await sql("SELECT 'x' AS name, count(*) FROM heroes", "--json")
    #expect(some.status == 3)
    #expect(
      some.errors
        == "warning: heroes: 2 of 257 heroes are cached\nhint: aggregator heroes sync\n")
    let warnings = try some.envelope().warnings
    #expect(warnings.map(\.code) == ["incomplete"])
    #expect(warnings.map(\.source) == ["heroes"])
    #expect(warnings.map(\.message) == ["2 of 257 heroes are cached"])
    // This service reports no total.
    #expect(try await home.run("products list -L 2").status == 0)
    #expect(
      try await sql("SELECT id FROM products").errors
        == "warning: products: 2 products are cached, possibly not all\n"
        + "hint: aggregator products sync\n")
    #expect(
      try await sql("SELECT count(*) FROM users").errors
        == "warning: users: no users \(instead)\nhint: aggregator users sync --max-pages 10\n")
    // Of two statements, each of which lacks the same records: neither number is without its warning.
    let twice = try await sql("SELECT 1 FROM heroes; SELECT count(*) FROM heroes;")
    let again = "warning: heroes: 2 of 257 heroes are cached\n"
    #expect(twice.status == 3 && twice.errors == some.errors + again, "\(twice)")
    // Neither is read.
    let neither = try await sql("WITH users AS (SELECT 1) SELECT 'heroes' FROM users")
    #expect(neither.status == 0 && neither.errors == "", "\(neither)")
    // Lists of users show what is cached, too.
    #expect(try await home.run("users list").status == 0)
    #expect(try await sql("SELECT count(*) FROM users").errors == "")

    for source in ["countries", "heroes", "products"] {
      #expect(try await home.run("\(source) sync").status == 0)
      let complete = try await sql("SELECT count(*) FROM \(source)")
      #expect(complete.status == 0 && complete.errors == "", "\(source): \(complete)")
    }
    #expect(try await home.run("heroes list -L 2").status == 0)
    #expect(try await home.run("heroes delete \(NextTests.cast[0]) --yes").status == 0)
    #expect(try await sql("SELECT count(*) FROM heroes").errors == "")
  }

  @Test func `bundled records are rows while nothing is cached`() async throws {
    for (source, id) in FourServices.sources {
      let counted = try await home.run("\(source) list --count --offline")
      let rows = try await sql("SELECT count(*), min(_origin), max(_origin) FROM \(source)")
      #expect(rows.output == "\(counted.lines[0])\tbundled\tbundled\n", "\(rows)")
      let listed = try await home.column(id, "\(source) list --all --offline")
      #expect(try await Set(sql("SELECT \(id) FROM \(source)").lines) == Set(listed))
    }
    // As in every list, deleted ones are left out, and fields that no path leads to are there.
    #expect(try await home.run("countries delete AF --yes").status == 0)
    #expect(try await sql("SELECT count(*) FROM countries WHERE code = 'AF'").output == "0\n")
    let columns = try await sql("SELECT * FROM countries LIMIT 1", "--json")
    #expect(!columns.output.contains("_origin"))
    #expect(try columns.envelope().warnings.map(\.code) == ["bundled"])

    #expect(try await home.run("heroes list -L 2").status == 0)
    #expect(try await sql("SELECT count(*), min(_origin) FROM heroes").output == "2\tcached\n")
  }

  @Test func `a list that ends completes a source without a total`() async throws {
    #expect(try await home.run("products list --all").status == 0)
    #expect(try await sql("SELECT count(*) FROM products").errors == "")
  }

  @Test func `--sync completes the sources of the query first`() async throws {
    #expect(try await home.run("heroes list -L 2").status == 0)
    let count = try await sql("SELECT count(*) FROM heroes", "--sync")
    #expect(count.status == 0, "\(count)")
    #expect(count.output == "257\n")
    #expect(count.errors == "")
    #expect(services.requestCount(of: "countries") == 0)
    // What is complete is not downloaded again, but for what has changed.
    let requests = services.heroes.requests.count
    #expect(try await sql("SELECT count(*) FROM heroes", "--sync").output == "257\n")
    let others = services.heroes.requests.dropFirst(requests)
    #expect(!others.isEmpty && others.allSatisfy { $0.query["filter"] != nil })

    services.products.fail(with: .json("{}", status: 403))
    let failed = try await sql("SELECT 'x' AS name, count(*) FROM products", "--sync", "--json")
    #expect(failed.status == 3, "\(failed)")
    #expect(try failed.envelope().warnings.map(\.code) == ["syncFailed", "bundled"])
    #expect(failed.errors.contains("warning: products: "), "\(failed)")
    #expect(failed.errors.contains("warning: products: no products are cached"), "\(failed)")
    // A mistake in the query sends no request.
    #expect(try await sql("SELECT nam FROM countries", "--sync").status == 64)
    #expect(services.requestCount(of: "countries") == 0)
  }

  @Test func `the default columns of every list are columns of its table`() async throws {
    for (source, _) in FourServices.sources {
      #expect(try await home.run("\(source) list").status == 0)
      let listed = try await home.run("\(source) list -L 3 --csv --offline").output
      let columns = try #require(listed.split(separator: "\r\n").first)
      let outcome = try await sql("SELECT \(columns) FROM \(source) LIMIT 3", "--csv")
      #expect(outcome.output.split(separator: "\r\n").first == columns, "\(outcome)")
    }
  }

  @Test(arguments: [
    ("--tsv", "1\tx'\t\t2.5\t0AFF\n"),
    ("--csv", "a,b,c,a_2,d\r\n1,x',,2.5,0AFF\r\n"),
    ("--ndjson", #"{"a":1,"b":"x'","c":null,"a_2":2.5,"d":"0AFF"}"# + "\n"),
    ("--format=table", "a  b   c     a_2  d\n1  x'  NULL  2.5  0AFF\n"),
    ("--format=cards", "a    1\nb    x'\nc    NULL\na_2  2.5\nd    0AFF\n"),
  ])
  func `prints every format`(option: String, text: String) async throws {
    let outcome = try await sql("SELECT 1 a, 'x''' b, NULL c, 2.5 a, x'0aff' d", option)
    #expect(outcome.output == text)
    #expect(outcome.status == 0)
  }

  @Test func `people read numbers of at most 15 digits, and programs exact ones`() async throws {
    let query =
      "SELECT 61476.700000000004 AS a, -0.1 - 0.2 AS b, 1e300 AS c, 12345678901234567 AS d"
    let exact = "61476.700000000004,-0.30000000000000004,1e+300,12345678901234567"
    #expect(try await sql(query, "--csv").output == "a,b,c,d\r\n\(exact)\r\n")
    let shown = try await sql(query, "--format", "table")
    #expect(shown.output.contains("\n61476.7  -0.3  1e+300  12345678901234567\n"), "\(shown)")
  }

  @Test func `the envelope has the query as typed`() async throws {
    let outcome = try await sql("SELECT 'a  b' AS name", "--json")
    let envelope = try outcome.envelope()
    #expect(envelope.verb == "sql")
    #expect(envelope.source == nil)
    #expect(envelope.query == "SELECT 'a  b' AS name")
    #expect(envelope.items.map(\.name) == ["a  b"])
    #expect(envelope.page.count == 1)
    #expect(envelope.page.total == 1)
    #expect(outcome.errors == "")
  }

  @Test func `without a store all tables have bundled records, and none is created`() async throws {
    for (source, id) in FourServices.sources {
      let outcome = try await sql("SELECT \(id) FROM \(source)", "--csv")
      #expect(outcome.output.hasPrefix("\(id)\r\n"))
      #expect(outcome.output.split(separator: "\r\n").count > 50)
      #expect(outcome.status == 3)
    }
    #expect(try home.sandbox.files(under: "home").isEmpty)
  }

  @Test(
    arguments: [
      ("select 1;\nselect 2; -- two\n-- end\n", "1\n2\n", 0),
      (".mode csv\nselect 1 as a;\n.quit\nselect 2;\n", "a\n1\n", 0),
      ("select 1; -- alone", "1\n", 0), ("select\n.5", "0.5\n", 0),
      ("select 1;\nselect nothing;\nselect 3;\n", "1\n", 64),
      ("select 1;\n.mode none\nselect 3;\n", "1\n", 64),
      ("select 1;\n.read /nowhere\nselect 3;\n", "1\n", 74),
    ] as [(String, String, Int32)])
  func `standard input is a script up to its first failure`(
    script: String, output: String, status: Int32
  ) async throws {
    for arguments in ["sql", "sql -"] {
      let outcome = try await home.run(arguments, input: script)
      let lines = outcome.output.split(whereSeparator: \.isNewline)
      #expect(lines == output.split(separator: "\n"), "\(outcome)")
      #expect(outcome.status == status, "\(outcome)")
    }
  }

  @Test func `a query can be several words or standard input`() async throws {
    #expect(try await home.run("sql SELECT 1 + 1").output == "2\n")
    #expect(try await home.run("sql -", input: "-- two\nSELECT\n2;\n").output == "2\n")
    #expect(try await home.run("sql -", input: "").status == 64)
    #expect(
      try await home.run("sql -", input: String(repeating: "x", count: 300_000)).status == 64)
  }

  @Test(arguments: [
    (
      "SELECT nam FROM heroes",
      "error: no such column: nam (character 8)\n  SELECT nam FROM heroes\n         ^\n\nDid you mean \"name\"?\n"
        + "hint: aggregator help sql\n"
    ),
    (
      // A column of another table is no correction.
      "SELECT capital FROM heroes",
      "error: no such column: capital (character 8)\n  SELECT capital FROM heroes\n         ^\n"
        + "hint: aggregator help sql\n"
    ),
    (
      "SELECT * FROM hero",
      "error: no such table: hero\n\nDid you mean \"heroes\"?\n"
        + "hint: available tables: \(sourceNames.joined(separator: ", "))\n"
    ),
    (
      "DROP TABLE heroes",
      "error: only SELECT is allowed\n"
        + "hint: the database is read-only; use SELECT\n"
    ),
    (
      "SELEC",
      "error: near \"SELEC\": syntax error (character 1)\n  SELEC\n  ^\n\nDid you mean \"SELECT\"?\n"
        + "hint: aggregator help sql\n"
    ),
    (
      "heroes",
      "error: near \"heroes\": syntax error (character 1)\n  heroes\n  ^\n\n"
        + "Did you mean \"SELECT * FROM heroes\"?\nhint: aggregator help sql\n"
    ),
    (
      "SELECT uper(name) FROM heroes",
      "error: no such function: uper (character 8)\n  SELECT uper(name) FROM heroes\n         ^\n\n"
        + "Did you mean \"upper\"?\n"
        + "hint: aggregator help sql\n"
    ),
    (
      "SELECT len(name) FROM heroes",
      "error: no such function: len (character 8)\n  SELECT len(name) FROM heroes\n         ^\n\n"
        + "Did you mean \"length\"?\n"
        + "hint: aggregator help sql\n"
    ),
    (
      "SELECT median(id) FROM heroes",
      "error: no such function: median (character 8)\n  SELECT median(id) FROM heroes\n         ^\n"
        + "hint: aggregator heroes list --stats FIELD\n"
    ),
    (
      "SELECT id::text FROM heroes",
      "error: unrecognized token: \":\" (character 10)\n  SELECT id::text FROM heroes\n           ^\n\n"
        + "Did you mean \"CAST(id AS TEXT)\"?\nhint: aggregator help sql\n"
    ),
    (
      "SELECT TOP 5 * FROM heroes",
      "error: near \"5\": syntax error (character 12)\n  SELECT TOP 5 * FROM heroes\n             ^\n"
        + "hint: write LIMIT 5 at the end\n"
    ),
    (
      // One that is refused is no suggestion.
      "SELECT readfiles('x') FROM heroes",
      "error: no such function: readfiles (character 8)\n  SELECT readfiles('x') FROM heroes\n         ^\n"
        + "hint: aggregator help sql\n"
    ),
    (
      "SELECT 1 FROM 2",
      "error: near \"2\": syntax error (character 15)\n  SELECT 1 FROM 2\n                ^\n"
        + "hint: aggregator help sql\n"
    ),
  ])
  func `an invalid query exits 64 with an explanation`(text: String, words: String) async throws {
    let outcome = try await sql(text, "--json")
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(outcome.errors == words)
    #expect(try await home.run("sql").status == 64)
    #expect(try await sql("SELECT 1", "--fields", "a").status == 64)
  }

  @Test func `REGEXP takes the regular expressions of filters`() async throws {
    let found = try await sql(
      "SELECT code FROM countries WHERE name REGEXP '^(Fra|Ital)' ORDER BY 1")
    #expect(found.output == "FR\nIT\n", "\(found)")
    let wrong = try await sql("SELECT 'a' REGEXP '(a'")
    #expect(wrong.status == 64)
    #expect(
      wrong.errors == """
        error: invalid regular expression /(a/: unclosed ( (character 1)
        hint: write \\( for a parenthesis

        """)
  }

  @Test func `an endless query exits 75 with complete rows`() async throws {
    let endless = "WITH RECURSIVE c(name) AS (SELECT 'a' UNION ALL SELECT name FROM c) "
    let silent = try await sql(endless + "SELECT count(*) FROM c", "--timeout", "200ms", "--json")
    #expect(silent.status == 75)
    #expect(silent.output == "")
    #expect(
      silent.errors == "error: the query timed out\nhint: allow more time with --timeout\n")
    let talking = try await sql(endless + "SELECT name FROM c", "--timeout", "1s", "--json")
    #expect(talking.status == 75)
    let envelope = try talking.envelope()
    #expect(envelope.page.count == envelope.items.count)
    #expect(envelope.warnings.map(\.code) == ["timedOut"])
  }

  @Test func `an unbounded sort exhausts only its own memory`() async throws {
    let outcome = try await sql(
      "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
        + "SELECT n || hex(zeroblob(5000)) AS x FROM c ORDER BY x")
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasPrefix("error: the query needs too much memory\n"))
  }

  @Test func `a reader that waits takes no time of the query`() async throws {
    let pipe = try ProgramPipe()
    let run = try Binary.start(
      "sql WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c) SELECT n FROM c "
        + "LIMIT 40000 --timeout 3s", output: .descriptor(pipe.writeEnd))
    pipe.close(pipe.writeEnd)
    var size = await pipe.firstBytes(atMost: 1).count
    // The program waits: its rows are more than a pipe holds.
    let end = ContinuousClock.now + .seconds(3)
    while ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(10)) }
    while true {
      let more = await pipe.firstBytes(atMost: 1 << 16).count
      if more == 0 { break }
      size += more
    }
    let outcome = try await run.outcome()
    #expect(outcome.status == 0, "\(outcome)")
    let rows = (1...40_000).map { "\($0)\n" }.joined()
    #expect(size == rows.utf8.count)
  }

  @Test func `a closed pipe is not a failure`() async throws {
    let pipe = try ProgramPipe()
    let run = try Binary.start(
      "sql WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c) SELECT n FROM c",
      output: .descriptor(pipe.writeEnd))
    pipe.close(pipe.writeEnd)
    #expect(await pipe.firstBytes() == Array("1".utf8))
    pipe.close(pipe.readEnd)
    let outcome = try await run.outcome()
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
  }

  @Test func `help names the tables and their columns`() async throws {
    let help = try await Binary.run("sql --help")
    #expect(help.output.contains("\ncountries: code, name, region, capital\n"))
    #expect(help.output.contains("\nusers: email, name, title, "))
  }

  @Test func `moves a damaged store aside like any other command`() async throws {
    #expect(try await home.run("heroes list").status == 0)
    let path = home.file.path
    // The log of a process that ended before it closed its store has all that follows, undamaged.
    try? FileManager.default.removeItem(atPath: "\(path)-wal")
    let damaged = try Data(contentsOf: URL(filePath: path)).prefix(1000)
    try damaged.write(to: URL(filePath: path))
    let outcome = try await sql("SELECT count(*) FROM heroes")
    #expect(outcome.status == 3)
    #expect(outcome.output == "107\n")
    #expect(
      outcome.errors == "warning: \(path) is damaged; moved to \(path).aside-1\n"
        + "hint: move it back to use it again, or read what is left: sqlite3 FILE .recover\n"
        + "warning: heroes: no heroes are cached: bundled sample data instead\n"
        + "hint: aggregator heroes sync\n",
      "\(outcome)"
    )
    #expect(try Data(contentsOf: URL(filePath: path + ".aside-1")) == damaged)
  }

  @Test func `reads whole pages while another process writes`() async throws {
    let load = try home.start("users load 300 --timeout 10m")
    _ = await services.users.requests(atLeast: 5)
    // Until the first page is stored, bundled people answer.
    while try await sql("SELECT count(*) FROM users").status == 3 {}
    var counts: [Int] = []
    for _ in 0..<5 {
      let outcome = try await sql("SELECT count(*) FROM users")
      #expect(outcome.status == 0, "\(outcome)")
      counts.append(try #require(outcome.lines.first.flatMap { Int($0) }))
    }
    #expect(try await load.outcome().status == 0)
    #expect(counts == counts.sorted())
    let pages = (0...60).map { FakeRandomUser.people(onPages: 1..<$0 + 1).count }
    #expect(counts.allSatisfy(pages.contains), "\(counts) \(pages)")
  }
}
