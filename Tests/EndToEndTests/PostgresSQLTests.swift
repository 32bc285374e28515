import AggregatorKit
import AggregatorPlugins
import AggregatorPostgres
import AggregatorPostgresServer
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorSQL
@testable import AggregatorStore
@testable import AggregatorTerminal

/// `sql` and `store init-sql-role` with a store in PostgreSQL.
@Suite(.requiresPostgres) struct PostgresSQLTests {
  private let lamps: FakeLamps

  init() throws { lamps = try FakeLamps() }

  private func withHome(
    _ body: (TestHome, PostgresDatabase) async throws -> Void
  ) async throws {
    try await withDatabase { database in
      try await body(try TestHome(["AGGREGATOR_STORE": database.uri]), database)
    }
  }

  private func sql(
    _ text: String, _ options: String..., in home: TestHome, _ variables: [String: String?] = [:]
  ) async throws -> Outcome {
    try await Binary.run(
      ["sql", text] + options, environment: home.environment.merging(variables) { $1 },
      in: home.sandbox)
  }

  @Test func `sql reads the views, and downloads missing records`() async throws {
    try await withHome { home, _ in
      // Before the first write there is no store.
      let none = try await sql("SELECT count(*) FROM countries", in: home)
      #expect(none.output == "0\n", "\(none)")
      #expect(
        none.errors
          == "warning: countries: no countries are cached\nhint: aggregator countries sync\n")
      #expect(none.status == 3)
      #expect(try await home.add(lamps).status == 0)
      let count = try await sql("SELECT count(*) FROM Lamps", "--sync", in: home)
      #expect(count.output == "25\n", "\(count)")
      #expect(count.errors == "")
      let rows = try await sql(
        "SELECT * FROM lamps WHERE id = '7'; ", "--json", in: home)
      #expect(rows.output.contains(#""name":"lamp 7""#), "\(rows)")
      #expect(try await home.run("lamps delete 7 --yes").status == 0)
      let hidden = try await sql("SELECT count(*), sum((id = '7')::int) FROM lamps", in: home)
      #expect(hidden.output == "24\t0\n", "\(hidden)")
    }
  }

  @Test func `mistakes and what sql cannot do have the exit codes of SQLite's sql`() async throws {
    try await withHome { home, database in
      let table = try await sql("SELECT * FROM countrys", in: home)
      #expect(table.status == 64)
      #expect(
        table.errors == """
          error: relation "countrys" does not exist (character 15)
            SELECT * FROM countrys
                          ^

          Did you mean "countries"?
          hint: available tables: countries, heroes, products, users

          """)
      let write = try await sql("DELETE FROM countries", in: home)
      #expect(write.status == 64)
      #expect(write.errors.hasPrefix("error: only SELECT is allowed\n"), "\(write)")
      let late = try await sql("SELECT pg_sleep(3600)", "--timeout", "100ms", in: home)
      #expect(late.status == 75)
      #expect(late.errors.hasPrefix("error: the query timed out\n"), "\(late)")
      let file = home.sandbox.work.appending(path: "x.csv")
      try Data("a,b\n1,2\n".utf8).write(to: file)
      let attached = try await sql("SELECT * FROM x", "--attach", "x.csv", in: home)
      #expect(attached.status == 64)
      #expect(
        attached.errors.hasPrefix("error: --attach does not work with a store in PostgreSQL\n"),
        "\(attached)")
      let superuser = try await sql(
        "SELECT 1", in: home, ["AGGREGATOR_SQL_STORE": database.uri(role: "postgres")])
      #expect(superuser.status == 78 && superuser.output == "")
      #expect(
        superuser.errors == """
          error: sql is refused for this role: postgres is a superuser
          hint: aggregator store init-sql-role NAME

          """)
      let address = try await sql("SELECT 1", in: home, ["AGGREGATOR_SQL_STORE": "me:s3cret"])
      #expect(address.status == 78)
      #expect(address.errors.contains("AGGREGATOR_SQL_STORE") && !address.errors.contains("s3cret"))
    }
  }

  @Test func `init-sql-role makes a role that reads the views only`() async throws {
    try await withHome { home, database in
      let name = "\(database.name)_reader"
      let admin = ["AGGREGATOR_STORE": database.uri(role: "postgres")]
      let statements = """
        CREATE ROLE "\(name)" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
        GRANT USAGE ON SCHEMA aggregator TO "\(name)";
        GRANT SELECT ON ALL TABLES IN SCHEMA aggregator TO "\(name)";
        ALTER DEFAULT PRIVILEGES FOR ROLE "\(database.name)" IN SCHEMA aggregator GRANT SELECT ON TABLES TO "\(name)";

        """
      #expect(try await home.run("countries delete FR --yes").status == 0)
      let refused = try await home.run("store init-sql-role \(name)")
      #expect(refused.status == 74 && refused.output == statements, "\(refused)")
      #expect(
        refused.errors == """
          error: cannot create the role "\(name)": permission denied to create role
          hint: run these statements as an administrator

          """)
      let dry = try await home.run("store init-sql-role \(name) --dry-run", admin)
      #expect(dry.status == 0 && dry.output == statements && dry.errors == "", "\(dry)")
      #expect(try await database.texts("SELECT 1 FROM pg_roles WHERE rolname = '\(name)'") == [])
      for _ in 1...2 {
        let made = try await home.run("store init-sql-role \(name)", admin)
        #expect(made.status == 0 && made.output == "", "\(made)")
      }
      let reader = ["AGGREGATOR_SQL_STORE": database.uri(role: name)]
      #expect(try await home.add(lamps).status == 0)
      let count = try await sql("SELECT count(*) FROM lamps", "--sync", in: home, reader)
      #expect(count.output == "25\n", "\(count)")
      // As the role alone, without the notes of the store.
      let alone = try await sql(
        "SELECT count(*) FROM lamps", in: home, ["AGGREGATOR_STORE": database.uri(role: name)])
      #expect(alone.output == "25\n" && alone.errors == "", "\(alone)")
      let store = try await sql("SELECT * FROM aggregator_store.records", in: home, reader)
      #expect(store.status == 64, "\(store)")
      #expect(store.errors.contains("permission denied for schema aggregator_store"))
      for bad in ["postgres", database.name, "pg_read", "public"] {
        let outcome = try await home.run("store init-sql-role \(bad)", admin)
        #expect(outcome.status == 64, "\(outcome)")
      }
      try await database.run("DROP OWNED BY \"\(name)\"", "DROP ROLE \"\(name)\"")
    }
    let home = try TestHome()
    let file = try await home.run("store init-sql-role reader")
    #expect(file.status == 64)
    #expect(file.errors.hasPrefix("error: this store has no roles: it is not in PostgreSQL\n"))
  }

  @Test func `the console lists tables and runs queries`() async throws {
    try await withHome { home, _ in
      let terminal = try PseudoTerminal()
      terminal.widen(to: 80, rows: 24)
      let run = try Binary.start(
        "sql", environment: home.environment.merging(["TERM": "dumb", "LC_ALL": "C.UTF-8"]) { $1 },
        terminal: terminal.descriptor, in: home.sandbox, output: .descriptor(terminal.descriptor),
        isMerged: true)
      try await terminal.read(until: "sql> ")
      terminal.type("SELECT 6 *\n7 AS answer;\n")
      try await terminal.read(until: "42", "sql> ")
      terminal.type("SELECT nam FROM countries;\n")
      try await terminal.read(until: "column \"nam\" does not exist (character 8)", "sql> ")
      terminal.type(".tables\n")
      try await terminal.read(until: "users", "sql> ")
      terminal.type(".schema users\n")
      try await terminal.read(until: "users: email text, name text, title text", "sql> ")
      terminal.type(".quit\n")
      #expect(try await run.outcome().status == 0)
    }
  }

  @Test(arguments: AggregatorPlugins.plugins.map(\.name))
  func `a view has every field of its source`(name: String) async throws {
    let plugin = try #require(AggregatorPlugins.plugins.first { $0.name == name })
    try await compare(plugin)
  }

  private func compare<P: Plugin>(_ plugin: P) async throws {
    try await withDatabase { database in
      let view = SQLView(plugin.name, plugin.fields)
      let store = PostgresStore(
        at: try PostgresAddress(database.uri), showing: SourceViews { [view.source] })
      let items = try await plugin.bundled.page(PageRequest(limit: 500)).records
      _ = try await plugin.recordStore(in: store).save(items, at: Date())
      let before = items.map { plugin.fields.object(of: $0) }
      // The order of the records is not promised.
      let query = try await store.query(
        "SELECT * FROM \(plugin.name)", over: [view], within: .seconds(600))
      #expect(await query.columns == plugin.fields.map(\.name))
      var rows: [[SQLValue]] = []
      while let page = try await query.page(within: .seconds(600)) { rows += page }
      // An age may change at midnight.
      let after = items.map { plugin.fields.object(of: $0) }
      let names = plugin.fields.map(\.name)
      let found = rows.map { row in
        JSON.object(zip(names, row).map { .init($0, $1.json) }).comparable
      }
      #expect(found.count == items.count && found.count > 2)
      #expect([Set(before.map(\.comparable)), Set(after.map(\.comparable))].contains(Set(found)))
    }
  }

  @Test func `a declared source has the values that SQLite's view has`() async throws {
    let row = #"""
      {"id": 1, "tags": [{"name": "a\"b", "n": 4.5, "ok": true}, {"name": null}, {"n": 2, "ok": [1, {"x": "y"}]}],
       "a.b": "dot", "q\"uote": "quote", "7": "seven", "list": ["[1]", "zero"], "text": "{", "none": null,
       "deep": {"0": {"*": {"x": false}}}, "é": 1e3, "01": "one", "b\\": 9, "$1": "d"}
      """#
    lamps.behave { _ in .json("{\"lamps\": [\(row), {\"id\": 2}], \"total\": 2}") }
    let paths = [
      "tags", "tags.*.name", "tags.*.n", "tags.*.ok", "tags.0.name", "tags.2.ok.1.x", "tags.-1.n",
      "tags.00.n", #""a.b""#, #""q\"uote""#, "7", "list.0", "list.1", "list.9", "list.01", "text",
      "text.x", "text.*", "none", "none.*", #"deep.0."*".x"#, "deep.*.*", "é", "list.*", "list.0.*",
      "id.x", "01", #""b\\""#, "$1", "tags.*.ok.*",
    ]
    var fields = paths.enumerated().map { index, path in
      JSON.object([.init("name", .string("f\(index)")), .init("path", .string(path))])
    }
    fields.append(
      JSON.object([
        .init("name", .string(#"x"; DROP TABLE records; --"#)), .init("path", .string("id")),
      ]))
    let manifest = """
      {"url": "\(lamps.server.baseURL)/lamps", "rows": "lamps", "id": "id", "fields":
      \(JSON.array(fields).text)}
      """
    func items(_ home: TestHome) async throws -> [JSON] {
      try home.sandbox.write(manifest, to: "home/.config/aggregator/sources/things.json")
      #expect(try await home.run("things sync").status == 0)
      let outcome = try await home.run("sql SELECT * FROM things --json")
      #expect(outcome.status == 0, "\(outcome)")
      // Booleans of any kind are 1 and 0 in SQLite.
      let found = JSON(reading: Data(outcome.output.utf8))?["items"]
      guard case .array(let items)? = found else { return [] }
      return items.map(\.comparable)
    }
    let known = try await items(try TestHome())
    try await withHome { home, _ in
      let found = try await items(home)
      #expect(known.count == 2)
      for (found, known) in zip(found, known) {
        for name in fields.indices.map({ "f\($0)" }) + [#"x"; DROP TABLE records; --"#] {
          #expect(found[name] == known[name], "\(name)")
        }
      }
      #expect(found.count == known.count)
      #expect(try await home.run("sources remove things --yes").status == 0)
      #expect(try await home.run("countries delete FR --yes").status == 0)
      #expect(try await home.run("sql SELECT * FROM things").status == 64)
    }
  }
}

extension JSON {
  /// The text of each member: values of any kind are texts in PostgreSQL, which cannot contain NUL.
  fileprivate var comparable: JSON {
    guard case .object(let members) = self else { return self }
    return .object(members.map { .init($0.name, .string($0.value.plain)) })
  }

  private var plain: String {
    switch self {
    case .string(let text):
      (text.hasPrefix("[") || text.hasPrefix("{")
        ? JSON(reading: Data(text.utf8))?.canonical.text : nil)
        ?? ["true": "1", "false": "0"][text] ?? text.replacing("\0", with: "\u{2400}")
    case .bool(let bool): "\(bool)"
    case .number(let number): Int(exactly: number).map(String.init) ?? text
    case .array, .object: canonical.text
    default: text
    }
  }
}
