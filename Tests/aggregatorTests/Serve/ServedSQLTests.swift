import AggregatorFakeServices
import AggregatorKit
import AggregatorPlugins
import AggregatorServer
import AggregatorSourceTesting
import CountriesSource
import Foundation
import Synchronization
import Testing

@testable import AggregatorAPI
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorTerminal

/// Queries in SQL of the pages and the API: their limits, and what the program sends.
@Suite(.timeLimit(.minutes(10))) struct ServedSQLTests {
  static let endless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  private func sql(_ change: (inout ServedSQL.Limits) -> Void = { _ in }) -> ServedSQL {
    var limits = ServedSQL.Limits()
    // Only tests of a limit meet it, on any machine.
    limits.time = .seconds(600)
    change(&limits)
    let environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: LongTimeoutTransport(),
      store: SQLiteStore(at: sandbox.root.appending(path: "store.sqlite").path))
    return ServedSQL(of: AggregatorPlugins.plugins, in: environment, limits)
  }

  private func rows(_ count: Int) -> String {
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT \(count)) SELECT i FROM n"
  }

  @Test func `a page has a bounded number of rows, and says if there are more`() async throws {
    let most = try await sql().answer(to: rows(ServedSQL.maxRows)).get()
    #expect(most.rows.count == ServedSQL.maxRows)
    #expect(!most.hasMore)
    let more = try await sql().answer(to: rows(ServedSQL.maxRows + 1)).get()
    #expect(more.rows.count == ServedSQL.maxRows)
    #expect(more.hasMore)
    // Few rows of a megabyte each are too much as well.
    let large = try await sql().answer(to: "SELECT hex(zeroblob(500000)) FROM countries").get()
    #expect(large.hasMore)
    #expect(large.rows.count < 20)
  }

  @Test func `a query that takes too long is stopped, and says after which time`() async throws {
    let sql = sql { $0.time = .milliseconds(20) }
    let page = await sql.answer(to: Self.endless)
    #expect(page.failure?.status == 504)
    #expect(page.failure?.message == "the query took longer than 20 ms and was stopped")
    let problem = await #expect(throws: Problem.self) {
      try await sql.document(of: Self.endless, as: .csv)
    }
    #expect(problem?.code == "timedOut")
    #expect(problem?.message.contains("20 ms") == true)
  }

  @Test func `REGEXP is that of filters, and a single long search is stopped`() async throws {
    let text =
      "SELECT code FROM countries WHERE name REGEXP '(?i)^franc' OR name REGEXP '^\\p{Lu}taly'"
    #expect(
      try await sql().answer(to: text + " ORDER BY 1").get().rows == [[.text("FR")], [.text("IT")]])
    let wrong = await sql().answer(to: "SELECT 'a' REGEXP 'a{1000}'")
    #expect(wrong.failure?.status == 422)
    #expect(wrong.failure?.message.hasSuffix("(maximum 100) (character 2)") == true)
    // What is kept of a pattern is of no use where nothing is ever the same again.
    let long = "SELECT hex(randomblob(400000)) REGEXP '[0-7][0-9A-F]{80}z'"
    let late = await sql { $0.time = .milliseconds(100) }.answer(to: long)
    #expect(late.failure?.status == 504)
  }

  @Test func `a document that is too large is refused`() async throws {
    let (sql, text) = (sql { $0.documentBytes = 1000 }, rows(2000))
    let problem = await #expect(throws: Problem.self) {
      try await sql.document(of: text, as: .ndjson)
    }
    #expect(problem?.status == 413)
  }

  @Test func `too many queries at once are refused, and a cancelled one makes room`() async throws {
    let sql = sql { $0.queries = 1 }
    let isOver = Mutex(false)
    let endless = Task {
      defer { isOver.withLock { $0 = true } }
      while true {
        // The others may come first.
        let answer = await sql.answer(to: Self.endless)
        if answer.failure?.code != "busy" { return answer }
      }
    }
    var refusal: Problem?
    while refusal == nil, !isOver.withLock(\.self) {
      refusal = await sql.answer(to: "SELECT 1").failure
    }
    #expect(refusal?.status == 503)
    #expect(refusal?.retryAfter == 1)
    endless.cancel()
    #expect(await endless.value.failure?.code == "cancelled")
    #expect(try await sql.answer(to: "SELECT 1").get().rows == [[.integer(1)]])
  }

  @Test func `an answer says what is missing, and an error what may be meant`() async throws {
    let answer = try await sql().answer(to: "SELECT count(*) FROM countries").get()
    #expect(answer.rows == [[.integer(250)]])
    #expect(answer.notes == ["no countries are cached: bundled sample data instead"])
    let document = try await sql().document(of: "SELECT code FROM countries", as: .csv)
    #expect(document.summary.warnings.map(\.warning.code) == [.bundled])
    let limits: [(Int, Int, Int?)] = [(7, 7, nil), (250, 250, 250), (251, 250, 250)]
    for (limit, count, total) in limits {
      let text = "SELECT code FROM countries"
      let summary = try await sql().document(of: text, as: .ndjson, atMost: limit).summary
      #expect(summary.count == count && summary.total == total, "\(limit)")
      // An answer with fewer rows than the query has says so.
      let cut = summary.warnings.map(\.warning).filter { $0.code == .stopped }.map(\.message)
      #expect(cut == (limit < 250 ? ["the limit is \(limit) rows: the query has more"] : []))
    }
    let failure = await sql().answer(to: "SELECT nam FROM countries").failure
    #expect(failure?.hint == "did you mean \"name\"?")
  }

  @Test func `the tables have their columns and the numbers of their rows`() async throws {
    // As if counting took no time.
    let tables = await sql { $0.counting = .seconds(600) }.tables()
    let countries = try #require(tables.first { $0.name == "countries" })
    #expect(countries.columns == ["code", "name", "region", "capital"])
    #expect(countries.count == 250 && countries.isSample)
    let uncounted = await sql { $0.counting = .zero }.tables()
    #expect(uncounted.map(\.name) == tables.map(\.name))
    #expect(uncounted.allSatisfy { $0.count == nil })
    // Cached records of a source are counted in no time, without deleted ones.
    let store = SQLiteStore(at: sandbox.root.appending(path: "store.sqlite").path)
    let records = CountriesPlugin().recordStore(in: store)
    _ = try await records.save(
      try ["DE", "FR"].map { text in
        let code = try #require(CountryCode(text))
        return CountriesSource.Country(code: code, name: text, region: "EU", capital: "")
      }, at: Date(timeIntervalSince1970: 0))
    try await records.delete(#require(CountryCode("FR")), at: Date(timeIntervalSince1970: 1))
    let cached = await sql { $0.counting = .zero }.tables()
    #expect(cached.first { $0.name == "countries" }?.count == 1)
    #expect(cached.first { $0.name == "countries" }?.isSample == false)
    // It is not known to be all of them, until a sync has come to its end.
    #expect(countries.isPart == false)
    #expect(cached.first { $0.name == "countries" }?.isPart == true)
    // In the order of their names, as sources are.
    let environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: LongTimeoutTransport(), store: store)
    let others = ServedSQL(of: AggregatorPlugins.plugins.reversed(), in: environment)
    #expect(await others.tables().map(\.name) == tables.map(\.name).sorted())
  }

  @Test(.enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"))
  func `the API sends what the command prints`() async throws {
    let home = try TestHome()
    let server = try await ServingProgram(in: home.sandbox)
    let query = "SELECT region, count(*) AS number, NULL FROM countries GROUP BY region"
    for format in Format.served.map(\.rawValue) {
      let reply = try await server.get("/api/v1/sql?sql=\(query.percentEncoded)&format=\(format)")
      #expect(reply.status == 200, "\(reply.text)")
      #expect(reply.header("X-Aggregator-Warnings")?.contains("bundled") ?? (format == "json"))
      let printed = try await Binary.run(
        ["sql", query, "--format", format] + (format == "tsv" ? ["--headers"] : []),
        environment: home.environment, in: home.sandbox)
      #expect(reply.text == printed.output)
    }
    #expect(
      try await server.get("/api/v1/sql?sql=SELECT%201&format=csv").header("Content-Type")
        == "text/csv; charset=utf-8")
    try await server.stop()
  }

  @Test(.enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"))
  func `values of parameters that a query no longer has leave its address`() async throws {
    let server = try await ServingProgram("--source countries")
    let query = "SELECT :b".percentEncoded
    let old = try await server.get("/sql?sql=\(query)&:a=1&:b=2", ["Accept": "text/html"])
    #expect(old.status == 303)
    let address = try #require(old.header("Location"))
    #expect(address == "/sql?%3Ab=2&sql=\(query)")
    let page = try await server.get(address, ["Accept": "text/html"])
    #expect(page.status == 200 && page.text.contains("name=\":b\" value=\"2\""))
    // An empty query is none.
    let empty = try await server.get("/sql?sql=%20", ["Accept": "text/html"])
    #expect(empty.status == 200 && !empty.text.contains("id=\"outcome\""))
    let wrong = "SELECT 1\nFROM countries WHERE WHERE".percentEncoded
    let failed = try await server.get("/sql?sql=\(wrong)", ["Accept": "text/html"])
    #expect(failed.text.contains("Line 2<code dir=\"ltr\">FROM countries WHERE <mark>WHERE</mark>"))
    try await server.stop()
  }

  static let refused = [
    "DROP TABLE records", "DELETE FROM countries", "ATTACH '/etc/passwd' AS p",
    "PRAGMA user_version",
    "SELECT * FROM sqlite_schema", "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')",
    "SELECT 1; DROP TABLE records", "SELECT zeroblob(1000000000)", "VACUUM", "", "SELECT '\0'",
  ]

  @Test(.enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"))
  func `hostile queries are refused, and the server goes on`() async throws {
    let server = try await ServingProgram()
    for query in Self.refused {
      for path in ["/api/v1/sql", "/sql"] {
        let reply = try await server.get("\(path)?sql=\(query.percentEncoded)")
        // An address with a NUL is no query, and the page without one has an example.
        let status = query.contains("\0") ? 400 : query.isEmpty && path == "/sql" ? 200 : 422
        #expect(reply.status == status, "\(query): \(reply.text)")
      }
    }
    let long = "SELECT '\(String(repeating: "x", count: 20_000))'"
    #expect(try await server.get("/api/v1/sql?sql=\(long.percentEncoded)").status == 431)
    let most = "SELECT '\(String(repeating: "x", count: ServedSQL.maxLength - 9))'"
    #expect(try await server.get("/api/v1/sql?sql=\(most.percentEncoded)").status == 200)
    #expect(try await server.get("/api/v1/sql?sql=\(most.percentEncoded)%20").status == 400)
    for path in [
      "/api/v1/sql", "/api/v1/sql?sql=SELECT%201&format=xml", "/api/v1/sql?sq=SELECT%201",
    ] {
      #expect(try await server.get(path).status == 400)
    }
    #expect(try await server.send("POST", "/api/v1/sql?sql=SELECT%201").status == 400)
    let page = try await server.get("/sql?sql=SELECT%201%20AS%20one", ["Accept": "text/html"])
    #expect(page.text.contains("<td class=\"number\" dir=\"auto\">1</td>"))
    try await server.stop()
  }
}
