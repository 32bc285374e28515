import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorAPI
@testable import AggregatorProgramTesting
@testable import AggregatorServer
@testable import AggregatorTerminal

/// The formats of lists in the API.
@Suite(
  .timeLimit(.minutes(10)), .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed")
) struct ServedFormatTests {
  private static func request(_ accept: String?, format: String? = nil) -> ServerRequest {
    ServerRequest(
      method: "GET", query: format.map { [.init("format", $0)] } ?? [],
      headers: accept.map { [.init("Accept", $0)] } ?? [])
  }

  @Test(
    arguments: [
      (nil, .json), ("*/*", .json), ("", .json), ("text/csv", .csv), ("text/*", .csv),
      ("application/x-ndjson, application/json;q=0.5", .ndjson),
      ("text/csv;q=0.1, application/json;q=0.2", .json), ("TEXT/CSV ; q=1", .csv),
      ("text/html, application/xhtml+xml, */*;q=0.8", .json),
      ("application/json;q=0, */*", .csv), ("text/csv;charset=utf-8", .csv),
      ("text/tab-separated-values", .tsv), ("text/markdown, text/csv;q=0.9", .markdown),
    ] as [(String?, Format)])
  func `the client's preference decides`(accept: String?, format: Format) throws {
    #expect(try Format.served(to: Self.request(accept)) == format)
    // The address comes first.
    #expect(try Format.served(to: Self.request(accept, format: "ndjson")) == .ndjson)
  }

  @Test func `an unknown format is refused, and a preference that cannot be met`() {
    for accept in ["text/html", "image/*", "text/csv;q=0", "*/*;q=0"] {
      let problem = #expect(throws: Problem.self) { try Format.served(to: Self.request(accept)) }
      #expect(problem?.status == 406, "\(accept)")
      #expect(problem?.response.header("Vary") == "Accept")
    }
    for format in ["xml", "yaml", "table", ""] {
      let problem = #expect(throws: Problem.self) {
        try Format.served(to: Self.request("*/*", format: format))
      }
      #expect(problem?.status == 400, "\(format)")
    }
  }

  @Test func `lists and searches have all fields, with the bytes of the command line`() async throws
  {
    let home = try TestHome()
    let server = try await ServingProgram(in: home.sandbox)
    for format in Format.served.dropFirst() {
      for (path, line) in [
        ("countries?limit=250", "countries list --limit 250"),
        ("heroes?limit=100&query=man", "heroes search man --limit 100"),
        ("heroes?limit=3&fields=link,name", "heroes list --limit 3 --fields link,name"),
        ("users?limit=1&query=xxxxxx", "users search xxxxxx --limit 1"),
      ] {
        let source = try #require(path.split(separator: "?").first)
        let all =
          line.contains("--fields") ? "" : "--fields \(try await Self.fields(of: source, server))"
        let printed = try await home.run("\(line) \(all) --offline \(Self.option(format))").output
        let address = "/api/v1/\(path)&cache=offline"
        let named = try await server.get("\(address)&format=\(format.rawValue)", ["Accept": "a/b"])
        let accepted = try await server.get(address, ["Accept": format.mediaType])
        for reply in [named, accepted] {
          #expect(reply.status == 200, "\(reply.text)")
          #expect(reply.text == printed, "\(path)")
          #expect(reply.header("Content-Type") == format.contentType)
          #expect(reply.header("Vary")?.contains("Accept") == true)
        }
      }
    }
    #expect(try await server.get("/api/v1/countries", ["Accept": "text/html"]).status == 406)
    // What is JSON only is refused, too, to who does not accept that.
    let weights = [("text/csv", 406), ("text/csv, */*;q=0", 406), ("text/csv, */*", 200)]
    for path in ["", "/sources", "/search?q=no", "/sync", "/countries/NO"] {
      for (accept, status) in weights {
        let reply = try await server.get("/api/v1\(path)", ["Accept": accept])
        #expect(reply.status == status, "\(path): \(reply.text)")
        #expect(reply.header("Vary")?.contains("Accept") == true)
      }
    }
    try await server.stop()
  }

  /// The option for the text that a server sends: TSV with the names of its columns.
  private static func option(_ format: Format) -> String {
    "--format \(format.rawValue)\(format == .tsv ? " --headers" : "")"
  }

  /// The names of all fields of a source, in their order.
  private static func fields(
    of source: some StringProtocol, _ server: ServingProgram
  ) async throws -> String {
    let sources = try await server.get("/api/v1/sources").json()["items"]?.array ?? []
    let names = sources.first { $0["name"]?.string == String(source) }?["fields"]?.array ?? []
    return names.compactMap { $0["name"]?.string }.joined(separator: ",")
  }

  @Test func `all records at once are those of --all`() async throws {
    let home = try TestHome()
    let server = try await ServingProgram(in: home.sandbox)
    for (query, options) in [
      ("", ""), ("&where=region%3DEU&sort=-name", "--where region=EU --sort -name"),
      ("&fields=code,capital", "--fields code,capital"),
    ] {
      for format in Format.served {
        let line = "countries list --all --offline \(Self.option(format)) \(options)"
        let printed = try await home.run(line).output
        let reply = try await server.get(
          "/api/v1/countries?all=true&format=\(format.rawValue)\(query)")
        #expect(reply.status == 200, "\(reply.text)")
        // The reason for bundled records is another one.
        let isSame =
          format == .json
          ? try reply.json()["items"] == JSON(reading: Data(printed.utf8))?["items"]
          : reply.text == printed
        #expect(isSame, "\(line): \(reply.text)")
        #expect(reply.header("Link")?.contains("next") == false)
      }
    }
    let search = try await server.get("/api/v1/heroes?all=true&format=csv&query=man")
    let all = try await Self.fields(of: "heroes", server)
    let line = "heroes search man --all --offline --csv --fields \(all)"
    #expect(all.contains("biography"))
    #expect(try await home.run(line).output == search.text)
    let whole = try await server.get("/api/v1/heroes?all=true&format=csv")
    #expect(try await home.run("export heroes -o - --format csv").output == whole.text)
    for other in ["limit=1", "offset=1", "cursor=a.b", "cache=live", "cache=reload"] {
      #expect(try await server.get("/api/v1/countries?all=true&\(other)").status == 409, "\(other)")
    }
    #expect(try await server.get("/api/v1/countries?all=1").status == 400)
    let page = try await server.get("/sources/countries").text
    #expect(page.contains("/countries?all=true&#38;format=csv\" download=\"countries.csv\""))
    #expect(page.contains("/countries?all=true\" download=\"countries.json\""))
    // All fields, whatever the format.
    #expect(page.contains("/api/v1/countries\">JSON</a>"))
    #expect(page.contains("/api/v1/countries?format=csv\">CSV</a>"))
    #expect(page.contains("/countries?all=true&#38;format=markdown\" download=\"countries.md\""))
    // A program needs the token, and the page says where it is.
    #expect(page.contains("data-as=\"curl with token\"") && page.contains("<code>$TOKEN</code>"))
    try await server.stop()
  }

  private static let duckDB = Repository.program(named: "duckdb")

  @Test(.enabled(if: duckDB != nil, "requires duckdb"))
  func `a list is Parquet where duckdb is`() async throws {
    let home = try TestHome()
    let program = try #require(Self.duckDB)
    let folder = URL(filePath: program).deletingLastPathComponent().path
    let server = try await ServingProgram(
      environment: ["PATH": "\(folder):/usr/bin:/bin"], in: home.sandbox)
    for (path, count) in [("heroes?all=true", 107), ("heroes?limit=3&cache=offline", 3)] {
      let reply = try await server.get("/api/v1/\(path)&format=parquet")
      #expect(reply.status == 200, "\(reply.text)")
      #expect(reply.header("Content-Type") == "application/vnd.apache.parquet")
      #expect(reply.header("X-Aggregator-Origin") == "bundled")
      try reply.body.write(to: home.sandbox.work.appending(path: "heroes.parquet"))
      let query = "SELECT count(*), typeof(any_value(powers)) FROM 'heroes.parquet'"
      #expect(try home.sandbox.rows(of: query, by: program) == "\(count),VARCHAR[]\n")
    }
    #expect(try await server.get("/sources/heroes").text.contains("format=parquet"))
    #expect(try await server.get("/openapi.json").text.contains(#""parquet""#))
    try await server.stop()
  }

  @Test func `a list is a database of SQLite`() async throws {
    let home = try TestHome()
    let server = try await ServingProgram(in: home.sandbox)
    for (path, accepted, count) in [
      ("heroes?all=true&format=sqlite", "*/*", 107),
      ("heroes?limit=3&cache=offline&fields=id,name", "application/vnd.sqlite3", 3),
    ] {
      let reply = try await server.get("/api/v1/\(path)", ["Accept": accepted])
      #expect(reply.status == 200, "\(reply.text)")
      #expect(reply.header("Content-Type") == "application/vnd.sqlite3")
      #expect(reply.header("X-Aggregator-Origin") == "bundled")
      try reply.body.write(to: home.sandbox.work.appending(path: "list.db"))
      let query = "SELECT count(*) AS records, min(id) AS first FROM list.heroes"
      let rows = try await Binary.run(
        ["sql", query, "--attach", "list.db", "--tsv"], environment: home.environment,
        in: home.sandbox)
      #expect(rows.lines.last?.hasPrefix("\(count)\t") == true, "\(rows)")
    }
    // A client that accepts all alike gets JSON.
    let any = try await server.get(
      "/api/v1/heroes?limit=1", ["Accept": "application/vnd.sqlite3, */*"])
    #expect(any.header("Content-Type") == "application/json")
    #expect(try await server.get("/openapi.json").text.contains(#""application/vnd.sqlite3""#))
    #expect(try await server.get("/api/v1/sql?sql=SELECT%201&format=sqlite").status == 400)
    try await server.stop()
  }

  @Test func `without duckdb a list is no Parquet, and a query in SQL never`() async throws {
    let server = try await ServingProgram("--source countries", environment: ["PATH": "/nowhere"])
    let reply = try await server.get("/api/v1/countries?all=true&format=parquet")
    #expect(reply.status == 501)
    #expect(reply.text.contains("requires the program duckdb"))
    let page = try await server.get("/sources/countries").text
    #expect(!page.contains("format=parquet") && page.contains("Parquet requires duckdb"))
    let unknown = try await server.get("/api/v1/countries?format=xml").text
    #expect(unknown.contains("the formats are json, csv, ndjson, tsv, markdown, sqlite, parquet"))
    #expect(try await server.get("/api/v1/sql?sql=SELECT%201&format=parquet").status == 400)
    // As curl sends it without -H.
    let untyped = try await server.post(
      "/api/v1/sql", #"{"sql":"SELECT"}"#, ["Content-Type": "application/x-www-form-urlencoded"])
    #expect(untyped.text.contains("header field Content-Type: application/json"))
    for (type, body) in [
      ("application/x-www-form-urlencoded", "SELECT 1"), ("text/plain", "SELECT 1"),
      ("application/json", "[]"),
    ] {
      let raw = try await server.post("/api/v1/sql", body, ["Content-Type": type])
      #expect(
        try raw.json()["hint"]
          == "send a JSON object such as {\"sql\": \"…\"}, and the header field Content-Type: application/json",
        "\(raw.text)")
    }
    let other = try await server.post("/api/v1/sql", #"{"sq": "SELECT 1"}"#)
    #expect(other.text.contains("unknown member") && other.text.contains("did you mean"))
    try await server.stop()
  }

  @Test func `the rest of the document is in header fields`() async throws {
    let server = try await ServingProgram("--source countries")
    let path = "/api/v1/countries?limit=2&cache=offline"
    let document = try await server.get(path).json()
    let reply = try await server.get("\(path)&format=csv")
    for (name, member) in [
      ("X-Aggregator-Page", "page"), ("X-Aggregator-Provenance", "provenance"),
      ("X-Aggregator-Warnings", "warnings"),
    ] {
      let text = try #require(reply.header(name))
      #expect(JSON(reading: Data(text.utf8)) == document[member], "\(name): \(text)")
    }
    #expect(document["warnings"] != .array([]))
    #expect(reply.header("X-Aggregator-Origin") == "bundled")

    // The links lead through the list in the same format.
    let next = try #require(reply.header("Link")?.firstMatch(of: /<(\S+)>; rel="next"/)?.1)
    let second = try await server.get(String(next))
    #expect(second.header("Content-Type") == "text/csv; charset=utf-8")
    let first = try #require(second.header("Link")?.firstMatch(of: /<(\S+)>; rel="first"/)?.1)
    #expect(try await server.get(String(first)).text == reply.text)
    try await server.stop()
  }

  @Test func `an answer that is incomplete says so in any format`() async throws {
    let service = try LoopbackServer { request in
      request.path == "/things"
        ? .json(#"{"total": 3, "things": [{"id": "1", "name": "größer\u007F"}]}"#) : .status(404)
    }
    let home = try TestHome()
    let manifest = """
      {"url": "\(service.baseURL)/things", "rows": "things", "id": "id", "fields": ["name"],
       "total": "total", "paging": "single", "rate": "off"}
      """
    try home.sandbox.write(manifest, to: "home/.config/aggregator/sources/things.json")
    let server = try await ServingProgram("--source things", in: home.sandbox)
    let document = try await server.get("/api/v1/things?limit=10").json()
    let reply = try await server.get("/api/v1/things?limit=10&format=ndjson")
    let text = try #require(reply.header("X-Aggregator-Warnings"))
    #expect(JSON(reading: Data(text.utf8)) == document["warnings"])
    #expect(document["warnings"] != .array([]), "\(document)")
    try await server.stop()
  }

  @Test func `header fields are ASCII and of limited size`() throws {
    let message = String(repeating: "„größer\u{1F600}\u{7F}\r\n", count: 200)
    let summary = ListingSummary(
      count: 1, warnings: [SourceWarning("a", Warning(.cached, message))])
    for field in summary.headers {
      #expect(field.value.unicodeScalars.allSatisfy { 0x20..<0x7F ~= $0.value }, "\(field)")
      #expect(field.value.utf8.count < 4096)
    }
    let warnings = try #require(summary.headers.last.flatMap { JSON(reading: Data($0.value.utf8)) })
    guard case .array(let elements) = warnings, case .string(let text)? = elements.first?["message"]
    else {
      Issue.record("\(warnings)")
      return
    }
    #expect(text.hasPrefix("„größer\u{1F600}"), "\(text)")
  }
}
