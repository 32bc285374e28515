import AggregatorKit
import AggregatorPostgresServer
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorSQLite
@testable import AggregatorStore
@testable import AggregatorTerminal

/// `tables` of a manifest: lists in the records as tables of `sql` and `export`, and whole rows as `_row`.
@Suite struct NestedTableTests {
  private let service: LoopbackServer

  /// 120 orders with 300 lines.
  init() throws {
    service = try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let rows = (1...120).dropFirst((page - 1) * 50).prefix(50).map { order in
        let lines = (0..<(2 + order % 2)).map { line in
          #"{"sku": "s\#(order)", "qty": \#(line == 0 ? 9 : 10), "position": 7, "tax": {"rate": 0.19}}"#
        }
        return #"{"id": \#(order), "note": "it's \#(order)", "secret": {"x": [\#(order)]}, "#
          + #""deep": {"a": {"b": {"c": \#(order)}}}, "#
          + #""line_items": [\#(lines.joined(separator: ","))], "codes": ["a", 1, null]}"#
      }
      return .json(
        #"{"page": \#(page), "total": 120, "orders": [\#(rows.joined(separator: ","))]}"#)
    }
  }

  private func sql(_ text: String, _ options: String..., in home: TestHome) async throws -> Outcome
  {
    try await Binary.run(
      ["sql", text] + options, environment: home.environment, in: home.sandbox)
  }

  private func add(_ home: TestHome) async throws {
    let added = try await home.run(
      "sources add orders \(service.baseURL)/orders --rate off --table lines=line_items --table codes=codes"
    )
    #expect(added.status == 0, "\(added)")
    #expect(added.output.contains("of line_items: "), "\(added)")
    #expect(added.output.contains("of codes: value"), "\(added)")
    // What is neither a field nor a table.
    #expect(added.output.contains("\nleft out deep.a.b "), "\(added)")
    #expect(added.output.matches(of: /left out/).count == 1)
    #expect(added.output.contains("sources edit NAME --fields"), "\(added)")
    #expect(added.output.hasPrefix("rows     orders"), "\(added)")
    #expect(added.output.contains("\nsaved    /"), "\(added)")
    #expect(added.lines.last == "next     aggregator orders list", "\(added)")
    #expect(try await home.run("orders sync").status == 0)
  }

  private static let join = #"FROM orders o JOIN orders_lines l ON l."orders.id" = o.id"#

  @Test func `120 orders with 300 lines join to 300`() async throws {
    let home = try TestHome()
    try await add(home)
    let joined = try await sql(
      "SELECT count(*), count(DISTINCT o.id), sum(l.position), sum(l.qty > 9) \(Self.join)",
      in: home)
    #expect(joined.output == "300\t120\t240\t180\n", "\(joined)")
    #expect(joined.errors == "")
    let seen = try await home.run(
      "sql SELECT count(*) FROM orders", ["AGGREGATOR_FORCE_TTY": "80"])
    #expect(seen.errors.contains("note: orders: cached, fetched "), "\(seen)")
    let rows = try await sql(
      #"SELECT * FROM orders_lines WHERE "orders.id" = 7 AND qty < 10"#, "--ndjson", in: home)
    let row = try #require(JSON(reading: Data(rows.output.utf8)))
    #expect(row["orders.id"] == 7 && row["position"] == 0)
    #expect(row["sku"] == "s7" && row["qty"] == 9 && row["lines.position"] == 7)
    #expect(row["tax.rate"] == .number(0.19))
    #expect(row["_row"] == nil)
    let codes = try await sql(
      #"SELECT position, value FROM orders_codes WHERE "orders.id" = 7 ORDER BY 1"#, in: home)
    #expect(codes.output == "0\ta\n1\t1\n2\t\n", "\(codes)")

    #expect(try await home.run("orders delete 7 --yes").status == 0)
    let count = "SELECT count(*) FROM orders_lines"
    #expect(try await sql(count, in: home).output == "297\n")
    // Other programs have the tables, too.
    var file = try Connection(home.file.path, busyTimeout: .zero)
    let views = try file.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'view' AND name LIKE 'orders%' ORDER BY name"
    ) { $0.text(0) }
    #expect(views == ["orders", "orders_codes", "orders_lines"])

    let unknown = try await sql("SELECT * FROM orders_line", in: home)
    #expect(unknown.errors.contains("Did you mean \"orders_lines\"?"), "\(unknown)")
    let column = try await sql("SELECT skus FROM orders_lines", in: home)
    #expect(column.errors.contains("Did you mean \"sku\"?"), "\(column)")
    for name in ["orders.id", "l.orders.id", #""orders.ids""#] {
      let dotted = try await sql("SELECT \(name) FROM orders_lines l", in: home)
      let words =
        name.hasPrefix("\"")
        ? #"Did you mean "orders.id"?"# : #"a name with a dot needs double quotes: "orders.id""#
      #expect(dotted.errors.contains(words), "\(dotted)")
    }
    let text = try await sql(#"SELECT 1 FROM orders_lines WHERE sku = "s7""#, in: home)
    #expect(
      text.status == 64 && text.errors.contains("use single quotes for a text: 's7'"), "\(text)")
    // Notes and downloads are those of the source.
    #expect(try await home.run("store clear orders --yes").status == 0)
    let none = try await sql(count, in: home)
    #expect(none.output == "0\n" && none.errors.contains("no orders are cached"), "\(none)")
    #expect(try await sql(count, "--sync", in: home).output == "297\n")
  }

  @Test func `a table that cannot be is refused`() async throws {
    let home = try TestHome()
    let line = "sources add orders \(service.baseURL)/orders --rate off"
    for (table, words) in [
      ("lines", "error: \"tables.lines\" must be the path of a list"),
      ("Lines=line_items", "error: invalid name \"Lines\" in \"tables\""),
    ] {
      let refused = try await home.run("\(line) --table \(table)")
      #expect(refused.status == 64, "\(refused)")
      #expect(refused.errors.hasPrefix(words), "\(refused)")
    }
    #expect(service.requests.isEmpty)
    // A path that no row has is no error, for rows may have it later.
    let unseen = try await home.run("\(line) --table notes=remarks")
    #expect(unseen.status == 0, "\(unseen)")
    #expect(
      unseen.errors.contains("warning: orders: no row has a list at \"remarks\""), "\(unseen)")
  }

  @Test func `help and the console know tables and columns`() async throws {
    let home = try TestHome()
    try await add(home)
    let help = try await home.run("help sql")
    #expect(help.output.contains("orders_lines: orders.id, position, "), "\(help)")
    let words = SQLWords(
      [SQLTable(schema: nil, name: "orders_lines", columns: ["orders.id", "position", "sku"])],
      commands: [])
    #expect(words.completions(of: "orders_") == ["orders_lines"])
    #expect(words.completions(of: "l.po") == ["l.position"])
    #expect(words.completions(of: "\"orders.") == ["\"orders.id\""])
    #expect(words.completions(of: "l.ord") == ["l.orders_lines", "l.\"orders.id\""])
    #expect(words.completions(of: "_r") == ["_row"])
  }

  @Test func `the columns of the tables that a statement names are offered first`() {
    var words = SQLWords(
      [
        SQLTable(schema: nil, name: "heroes", columns: ["id", "name", "publisher"]),
        SQLTable(schema: nil, name: "countries", columns: ["code", "name", "nation"]),
      ], commands: [])
    #expect(words.completions(of: "n") == ["name", "nation"])
    #expect(words.completions(of: "n", in: "SELECT n FROM heroes") == ["name"])
    // libedit leaves out the last letter of the line.
    #expect(words.completions(of: "n", in: "SELECT n FROM HEROE") == ["name"])
    #expect(words.completions(of: "na", in: "SELECT na FROM heroes, countries").count == 2)
    #expect(words.completions(of: "co", in: "SELECT 1 FROM heroes, co") == ["countries"])
    #expect(words.completions(of: "cod", in: "SELECT cod FROM heroes") == ["code"])
    // Keywords come after names, in the case of the word.
    #expect(words.completions(of: "whe", in: "SELECT 1 FROM heroes whe") == ["where", "when"])
    #expect(words.completions(of: "SEL", in: "SEL") == ["SELECT"])
    #expect(words.completions(of: "co", in: "co") == ["countries", "code"])
    #expect(
      words.completions(ofStatement: "SELECT 1 FROM her") == ["SELECT 1 FROM heroes"])
    #expect(
      words.completions(ofStatement: "SELECT \"pub") == ["SELECT \"publisher\""])
    #expect(words.completions(ofStatement: "SELECT h.pu") == ["SELECT h.publisher"])
    words.statement = "SELECT * FROM heroes"
    #expect(words.completions(of: "n", in: "WHERE n") == ["name"])
  }

  @Test(arguments: [
    ("SELECT * FROM ", ["heroes", "countries"]), ("SELECT * FROM heroes JOIN c", ["countries"]),
    ("SELECT * FROM heroes WHERE ", ["id", "name", "publisher", "_row"]),
    ("SELECT * FROM countries ORDER BY ", ["code", "name", "nation", "_row"]),
    ("SELECT 1 FROM heroes GROUP BY name, ", ["id", "name", "publisher", "_row"]),
    (
      "SELECT * FROM heroes h, countries AS c WHERE h.",
      ["h.id", "h.name", "h.publisher", "h._row"]
    ),
    ("SELECT * FROM heroes h, countries AS c WHERE C.n", ["C.name", "C.nation"]),
    ("SELECT heroes.n", ["heroes.name"]), ("SELECT * f", ["from"]), ("SELECT name FR", ["FROM"]),
    ("SELECT * FROM heroes ORDER BY name DE", ["DESC"]),
    ("SELECT * FROM heroes o", ["order", "offset", "on", "or"]), ("SELECT * FROM heroes m", []),
    ("SELECT * FROM heroes WHERE m", ["matches"]),
    ("SELECT 1 FROM heroes WHERE name re", ["recursive", "regexp"]),
    ("SELECT 'é' , na", ["name", "nation"]), ("SELECT '日本🦸' FROM heroes WHERE n", ["name"]),
  ])
  func `tables are offered where tables are named, and columns elsewhere`(
    typed: String, words expected: [String]
  ) {
    let words = SQLWords([
      SQLTable(schema: nil, name: "heroes", columns: ["id", "name", "publisher"]),
      SQLTable(schema: nil, name: "countries", columns: ["code", "name", "nation"]),
    ])
    let head = typed.prefix(
      typed.lastIndex(of: " ").map { typed.distance(from: typed.startIndex, to: $0) + 1 } ?? 0)
    #expect(
      words.completions(ofStatement: typed).sorted() == expected.map { head + $0 }.sorted())
  }

  @Test func `words are offered by what is before them, also in the middle of a line`() {
    let words = SQLWords([SQLTable(schema: nil, name: "heroes", columns: ["id", "name"])])
    #expect(
      words.completions(of: "", in: "SELECT  FROM heroes", from: 7) == ["id", "name", "_row"])
    #expect(words.completions(of: "her", in: ".schema he", from: 8) == ["heroes"])
  }

  @Test func `after a command its own words are offered`() {
    let words = SQLWords(
      [SQLTable(schema: nil, name: "heroes", columns: ["json", "table"])],
      commands: [".mode", ".schema"], arguments: [".mode": ["json", "tsv"]])
    #expect(words.completions(of: ".m", in: ".m") == [".mode"])
    // libedit leaves out the last letter of the line.
    #expect(words.completions(of: "", in: ".mode") == ["json", "tsv"])
    #expect(words.completions(of: "js", in: ".mode j") == ["json"])
    #expect(words.completions(of: "", in: ".mode json") == [])
    #expect(words.completions(of: "he", in: ".schema he") == ["heroes"])
  }

  @Test func `_row is the whole row, and * leaves it out`() async throws {
    let home = try TestHome()
    try await add(home)
    let row = try await sql("SELECT _row FROM orders WHERE id = 7", "--ndjson", in: home)
    let text = try #require(JSON(reading: Data(row.output.utf8))?["_row"]?.text)
    #expect(text.contains(#"\"secret\":{\"x\":[7]}"#) && text.contains("line_items"))
    let inner = try await sql(
      #"SELECT json_extract(_row, '$.secret.x[0]'), _row ->> 'note' FROM orders WHERE id = 7"#,
      in: home)
    #expect(inner.output == "7\tit's 7\n", "\(inner)")
    let element = try await sql(
      #"SELECT _row ->> 'sku' FROM orders_lines WHERE "orders.id" = 7 LIMIT 1"#, in: home)
    #expect(element.output == "s7\n", "\(element)")
    let all = try await sql("SELECT * FROM orders LIMIT 1", "--json", in: home)
    #expect(!all.output.contains("_row") && all.output.contains("\"note\""))
    // Of records in Swift, bundled ones too.
    let country = try await sql("SELECT _row FROM countries WHERE code = 'CW'", in: home)
    #expect(country.output.contains("Willemstad"), "\(country)")
    let typo = try await sql("SELECT _rov FROM orders", in: home)
    #expect(typo.errors.contains("Did you mean \"_row\"?"), "\(typo)")
  }

  @Test func `an export has a file or a table for each list`() async throws {
    let home = try TestHome()
    try await add(home)
    func text(_ name: String) throws -> String { try home.sandbox.text(of: "work/\(name)") }
    let csv = try await home.run("export orders -o orders.csv --fields id")
    #expect(csv.status == 0, "\(csv)")
    #expect(csv.errors.contains("Saved orders_lines.csv (300 rows)"), "\(csv)")
    #expect(try text("orders.csv").split(separator: "\r\n").count == 121)
    let lines = try text("orders_lines.csv").split(separator: "\r\n")
    #expect(lines.count == 301 && lines[0].hasPrefix("orders.id,position,"))
    #expect(lines[1].hasPrefix("1,0,"))
    #expect(try text("orders_codes.csv").split(separator: "\r\n").count == 361)

    #expect(try await home.run("export orders -o all.ndjson").status == 0)
    let first = try text("all_lines.ndjson").split(separator: "\n")[0]
    let line = try #require(JSON(reading: Data(first.utf8)))
    #expect(line["orders.id"] == 1 && line["position"] == 0 && line["sku"] == "s1")

    let saved = try await home.run("export orders -o orders.db")
    #expect(saved.status == 0, "\(saved)")
    var file = try Connection(
      home.sandbox.root.appending(path: "work/orders.db").path, busyTimeout: .zero)
    let counts = try file.rows(
      """
      SELECT count(*), sum(qty > 9) FROM orders o JOIN orders_lines l ON l."orders.id" = o.id
      """
    ) { "\($0.integer(0)) \($0.integer(1))" }
    #expect(counts == ["300 180"])
    #expect(try file.rows("PRAGMA integrity_check") { $0.text(0) } == ["ok"])
    let names = ["all", "all_codes", "all_lines"].map { "\($0).ndjson" }
    #expect(
      try home.sandbox.files(under: "work").sorted()
        == (names + ["orders.csv", "orders.db", "orders_codes.csv", "orders_lines.csv"]).sorted())
  }

  @Test(.requiresPostgres) func `the tables of a store in PostgreSQL are the same`() async throws {
    try await withDatabase { database in
      let home = try TestHome(["AGGREGATOR_STORE": database.uri])
      try await add(home)
      let joined = try await sql(
        "SELECT count(*), count(DISTINCT o.id), sum(l.position), sum((l.qty::int > 9)::int) \(Self.join)",
        in: home)
      #expect(joined.output == "300\t120\t240\t180\n", "\(joined)")
      let row = try await sql(
        "SELECT _row::json #>> '{secret,x,0}', _row::json ->> 'note' FROM orders WHERE id = '7'",
        in: home)
      #expect(row.output == "7\tit's 7\n", "\(row)")
      let all = try await sql("SELECT * FROM orders_lines LIMIT 1", "--ndjson", in: home)
      let line = try #require(JSON(reading: Data(all.output.utf8)))
      #expect(line["_row"] == nil && line["sku"] != nil && line["position"] != nil)
      let codes = try await sql(
        #"SELECT position, value FROM orders_codes WHERE "orders.id" = '7' ORDER BY 1"#, in: home)
      #expect(codes.output == "0\ta\n1\t1\n2\t\n", "\(codes)")
      #expect(try await home.run("orders delete 7 --yes").status == 0)
      #expect(try await sql("SELECT count(*) FROM orders_lines", in: home).output == "297\n")
      #expect(try await database.texts("SELECT count(_row) FROM aggregator.orders") == ["119"])
      // A table that is no longer declared goes with the next write.
      #expect(
        try await home.run("sources add orders \(service.baseURL)/orders --rate off --replace")
          .status == 0)
      #expect(try await home.run("orders restore 7").status == 0)
      #expect(
        try await database.texts(
          "SELECT viewname FROM pg_views WHERE schemaname = 'aggregator' AND viewname LIKE 'orders%'"
        )
          == ["orders"])
    }
  }
}
