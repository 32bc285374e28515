import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorInference
@testable import DeclaredSource

/// Services that send CSV, TSV, NDJSON and XML: inferred, paged and synced as those that send JSON.
@Suite(.timeLimit(.minutes(10))) struct FormatTests {
  private static let count = 45

  private static func reply(_ text: String, _ type: String, next: String? = nil) -> LoopbackReply {
    var headers = [("Content-Type", type)]
    if let next { headers.append(("Link", "<\(next)>; rel=\"next\"")) }
    return .ok(Data(text.utf8), headers: headers)
  }

  /// The rows of a page of 20, as CSV.
  private static func table(_ page: Int) -> String {
    let rows = (1...count).dropFirst((page - 1) * 20).prefix(20).map {
      "\($0),00\($0),\($0).5,\($0 % 2 == 0),\"lamp, \($0)\",\($0 == 3 ? "" : "x")"
    }
    return (["id,code,price,stocked,name,note"] + rows).joined(separator: "\r\n") + "\r\n"
  }

  private var environment: PluginEnvironment {
    PluginEnvironment(settings: SourceSettings(), transport: LongTimeoutTransport())
  }

  private func proposal(
    _ server: LoopbackServer, _ hints: [JSON.Member] = []
  ) async throws -> Proposal {
    try await Proposal(
      for: "lamps",
      from: .object(
        (hints.contains { $0.name == "url" }
          ? [] : [JSON.Member("url", .string("\(server.baseURL)/lamps"))])
          + [JSON.Member("rate", "off")] + hints),
      isSingle: false, in: environment)
  }

  private func records(_ manifest: JSON) async throws -> [DeclaredRecord] {
    let plugin = DeclaredPlugin("lamps", try Manifest(reading: Data(manifest.text.utf8)))
    var records: [DeclaredRecord] = []
    for try await step in try plugin.remote(in: environment).pages(size: 20) {
      records += step.items
    }
    return records
  }

  @Test func `a field says the kind that its values have`() throws {
    let text = #"""
      {"url": "https://a.example/x", "rows": "$", "id": "id", "format": "csv", "fields": ["price", "lit", "name", "a.b"],
       "kinds": {"price": "number", "lit": "boolean"}}
      """#
    let plugin = DeclaredPlugin("lamps", try Manifest(reading: Data(text.utf8)))
    #expect(
      plugin.fields.dropFirst().map(\.about) == [
        "The number at price.", "The truth value at lit.", "", "",
      ])
  }

  @Test func `all columns of CSV are fields in their order, and the ID is shown once`()
    async throws
  {
    let columns = ["sku", "Unit Price", "Note"] + (4...30).map { "c\($0)" } + ["Name"]
    let rows = (1...3).map { row in
      (["A\(row)", "\(row).5", ""] + (4...30).map { "v\($0)" } + ["lamp \(row)"])
    }
    // A separator ends each line.
    let text = ([columns] + rows).map { $0.joined(separator: ",") + ",\n" }.joined()
    let server = try LoopbackServer { _ in Self.reply(text, "text/csv") }
    let proposal = try await proposal(server, [.init("id", "sku")])
    #expect(proposal.json["fields"] == .array(columns.map(JSON.string)))
    #expect(!proposal.evidence.contains { $0.key == "left out" })

    let plugin = DeclaredPlugin("lamps", proposal.manifest)
    #expect(plugin.fields.map(\.name) == ["id"] + columns)
    #expect(
      plugin.fields.filter(\.isShown).map(\.name)
        == ["id", "Unit Price", "Note", "c4", "c5", "Name"])
    #expect(
      plugin.layout.cardFields(among: plugin.fields).map(\.name) == ["id"] + columns.dropFirst())
    let first = try #require(try await records(proposal.json).first)
    #expect(plugin.fields.searchableText(of: first).text.hasPrefix("lamp 1\n"))
  }

  private static let hiddenIDs: [(String, [JSON.Member], [String], String?)] = [
    ("id,name\n1,a\n1,b\n2,c\n", [], ["id_2", "name"], "1"),
    ("ID,name,id_2\n1,a,x\n1,b,x\n2,c,y\n", [], ["id_3", "name", "id_2"], "1"),
    ("id,name\n1,a\n1,b\n2,a\n", [.init("id", ["id", "name"])], ["id_2", "name"], "1/a"),
    ("id,name\n1,a\n1,b\n2,c\n", [.init("fields", ["id"])], ["id_2", "name"], "1"),
    ("id,name\n1,a\n2,b\n", [.init("fields", ["id", "name"])], ["id", "name"], nil),
  ]

  @Test(arguments: hiddenIDs)
  func `a member id that is not the ID of records is a field with another name`(
    text: String, hints: [JSON.Member], names: [String], hidden: String?
  ) async throws {
    let server = try LoopbackServer { _ in Self.reply(text, "text/csv") }
    let proposal = try await proposal(server, hints)
    #expect(proposal.manifest.fields.map(\.name) == names)
    // A manifest that a person has written, or an earlier version, names it as the service does.
    let paths = proposal.manifest.fields.map { JSON.string("\($0.path)") }
    let fields = JSON.Member("fields", .array(paths))
    let others = proposal.json.members.filter { $0.name != "fields" }
    let manifest = try Manifest(reading: Data(JSON.object(others + [fields]).text.utf8))
    #expect(manifest.fields == proposal.manifest.fields)
    #expect(try Manifest(reading: Data(manifest.json.text.utf8)) == manifest)
    let plugin = DeclaredPlugin("lamps", manifest)
    let first = try #require(try await records(proposal.json).first)
    #expect(plugin.fields.first?[first].cell == first.id)
    guard let hidden else { return }
    #expect(plugin.fields.dropFirst().map(\.name) == names)
    let field = try #require(plugin.fields.first { $0.name == names[0] })
    #expect(hidden.hasPrefix(field[first].idText))
  }

  @Test func `a column beyond the most fields is left out by its name, and all kinds can be read`()
    async throws
  {
    let columns = ["id"] + (1...300).map { "c\($0)" }
    let text = [columns, columns.indices.map { "\($0 + 1)" }].map { $0.joined(separator: ",") }
      .joined(separator: "\n")
    let server = try LoopbackServer { _ in Self.reply(text, "text/csv") }
    let proposal = try await proposal(server)
    let leftOut = proposal.evidence.filter { $0.key == "left out" }
    #expect(leftOut.map(\.reason) == ["more than 256 fields"])
    #expect(leftOut.first?.value.hasPrefix("c257, c258, ") == true)
    let manifest = try Manifest(reading: Data(proposal.json.text.utf8))
    #expect(manifest.kinds.paths.count == columns.count)
  }

  @Test func `CSV with links is proved on page 2, and keeps the kinds of its columns`()
    async throws
  {
    let server = try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      return Self.reply(
        Self.table(page), "text/csv", next: page < 3 ? "/lamps?page=\(page + 1)" : nil)
    }
    let proposal = try await proposal(server)
    #expect(proposal.isProved)
    let manifest = proposal.json
    #expect(manifest["format"] == "csv")
    #expect(manifest["rows"] == "$")
    #expect(manifest["id"] == "id")
    #expect(manifest["next"] == "header:Link")
    #expect(manifest["kinds"] == ["id": "number", "price": "number", "stocked": "boolean"])
    let records = try await records(manifest)
    #expect(records.map(\.id) == (1...Self.count).map { "\($0)" })
    #expect(
      records[2].row
        == [
          "code": "003", "id": 3, "name": "lamp, 3", "note": nil, "price": .number(3.5),
          "stocked": false,
        ])
  }

  @Test
  func
    `numbers and dates in the notations of countries are those of JSON where they can be nothing else`()
    async throws
  {
    let server = try LoopbackServer { _ in
      Self.reply(
        """
        id;price;grouped;sold;shipped;doubtful;thousands;mixed
        1;3,50;1.234,5;31.12.2024;12/31/2024;01/02/2024;1,500;3,5
        2;12,25;7;1.2.2024 14:30;1/2/2024;02/03/2024;2,500;on request
        3;-0,5;1.234.567,5;29.2.2023;2/29/2024 09:00:05;03/04/2024;1,000;
        """, "text/csv")
    }
    let manifest = try await proposal(server).json
    #expect(
      manifest["kinds"] == [
        "id": "number", "price": "decimal-comma", "grouped": "decimal-comma",
        "shipped": "month-day-year",
      ])
    let records = try await records(manifest)
    func values(_ name: String) -> [JSON?] { records.map { $0.row[name] } }
    #expect(values("price") == [.number(3.5), .number(12.25), .number(-0.5)])
    #expect(values("grouped") == [.number(1234.5), 7, .number(1_234_567.5)])
    // The 29th of February 2023 is no day: this is a column of other texts.
    #expect(values("sold") == ["31.12.2024", "1.2.2024 14:30", "29.2.2023"])
    #expect(values("shipped") == ["2024-12-31", "2024-01-02", "2024-02-29T09:00:05"])
    #expect(values("doubtful") == ["01/02/2024", "02/03/2024", "03/04/2024"])
    #expect(values("thousands") == ["1,500", "2,500", "1,000"])
    #expect(values("mixed") == ["3,5", "on request", .null])
  }

  @Test(arguments: [
    ("day-month-year", "31.12.2024", "2024-12-31"), ("day-month-year", "1/2/2024", "2024-02-01"),
    ("day-month-year", "31-12-2024 14:30", "2024-12-31T14:30"),
    ("month-day-year", "1/2/2024", "2024-01-02"), ("month-day-year", "1.2.2024", "1.2.2024"),
    ("month-day-year", "13/1/2024", "13/1/2024"), ("day-month-year", "31.12.24", "31.12.24"),
    ("day-month-year", "31.12.2024 noon", "31.12.2024 noon"),
    ("day-month-year", "2024-12-31", "2024-12-31"), ("day-month-year", "1./2.2024", "1./2.2024"),
    ("decimal-comma", "1.000,00", "1000"), ("number", "1000.00", "1000"),
    ("decimal-comma", "1 234,5", "1234.5"), ("decimal-comma", "1,500", "1.5"),
    ("decimal-comma", "007,5", "007,5"), ("decimal-comma", "1,5,5", "1,5,5"),
    ("decimal-comma", "1.23,5", "1.23,5"), ("decimal-comma", "--1,5", "--1,5"),
    ("decimal-comma", ",5", ",5"), ("decimal-comma", "5,", "5,"),
    ("decimal-comma", "1e5,3", "1e5,3"),
  ])
  func `a text has the kind that its manifest names, or stays as it is`(
    kind: String, text: String, value: String
  ) async throws {
    let server = try LoopbackServer { _ in Self.reply("id;x\n1;\(text)\n", "text/csv") }
    let manifest: JSON = [
      "url": .string("\(server.baseURL)/lamps"), "rows": "$", "id": "id", "rate": "off",
      "paging": "single", "kinds": ["x": .string(kind)],
    ]
    #expect(try await records(manifest).first?.row["x"]?.cell == value)
  }

  @Test func `a value that is not of its kind stays text`() async throws {
    let server = try LoopbackServer { _ in
      Self.reply("id,price\n1,2.5\n2,on request\n3,007\n4,\n", "text/csv")
    }
    let manifest: JSON = [
      "url": .string("\(server.baseURL)/lamps"), "rows": "$", "id": "id", "rate": "off",
      "paging": "single", "kinds": ["price": "number"],
    ]
    let prices = try await records(manifest).map { $0.row["price"] }
    #expect(prices == [.number(2.5), "on request", "007", .null])
  }

  @Test(arguments: [
    ("Service under maintenance\n", "text/csv"), ("", "text/csv"),
    ("<!doctype html><title>Sign in</title>", "text/html"),
    (#"{"error": "no such table"}"#, "application/json"),
  ])
  func `what is not the table is an error, and never an empty list`(
    text: String, type: String
  ) async throws {
    let server = try LoopbackServer { _ in Self.reply(text, type) }
    let manifest: JSON = [
      "url": .string("\(server.baseURL)/lamps"), "rows": "$", "id": "id", "rate": "off",
      "paging": "single", "format": "csv",
    ]
    await #expect(throws: SourceError.self) { try await records(manifest) }
  }

  @Test func `a feed of one item has its GUID as ID`() async throws {
    let server = try LoopbackServer { _ in
      Self.reply(
        """
        <?xml version="1.0"?><rss version="2.0" xmlns:dc="urn:dc"><channel><title>News</title>
        <item><title>One</title><link>https://news.example/1</link><dc:creator>Ann</dc:creator>
        <guid isPermaLink="false">tag:1</guid></item></channel></rss>
        """, "application/rss+xml")
    }
    let manifest = try await proposal(server).json
    #expect(manifest["rows"] == "rss.channel.item")
    #expect(manifest["id"] == "guid")
    #expect(manifest["format"] == "xml")
    #expect(manifest["title"] == "title")
    #expect(manifest["link"] == "link")
    let records = try await records(manifest)
    #expect(records.map(\.id) == ["tag:1"])
    #expect(records[0].row["dc:creator"] == "Ann")
  }

  @Test func `Atom is paged by its links`() async throws {
    let server = try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let entries = (page * 10..<page * 10 + 10).map {
        "<entry><id>urn:\($0)</id><title>Entry \($0)</title></entry>"
      }
      let next = page < 3 ? "<link rel=\"next\" href=\"?page=\(page + 1)\"/>" : ""
      return Self.reply("<feed>\(next)\(entries.joined())</feed>", "application/atom+xml")
    }
    let proposal = try await proposal(server)
    #expect(proposal.isProved)
    #expect(proposal.json["id"] == "id")
    #expect(try await records(proposal.json).count == 30)
  }

  @Test(arguments: [
    (#"<link href="http://127.0.0.1/1"/>"#, "link.@href"),
    (
      #"<link rel="self" href="http://a/1"/><link rel="alternate" href="http://127.0.0.1/1"/>"#,
      "link.1.@href"
    ),
  ])
  func `the page of an entry of Atom is its link, also on the host of the feed`(
    links: String, path: String
  ) async throws {
    let server = try LoopbackServer { _ in
      let entries = (1...3).map {
        "<entry><id>urn:\($0)</id><title>No. \($0)</title>\(links)</entry>"
      }
      return Self.reply("<feed>\(entries.joined())</feed>", "application/atom+xml")
    }
    let manifest = try await proposal(server).json
    #expect(manifest["link"] == .string(path))
  }

  @Test func `the page of an item of RSS may be on the host of the feed`() async throws {
    let server = try LoopbackServer { _ in
      let items = (1...3).map {
        "<item><guid>\($0)</guid><title>No. \($0)</title><link>http://127.0.0.1/\($0)</link></item>"
      }
      return Self.reply("<rss><channel>\(items.joined())</channel></rss>", "application/rss+xml")
    }
    #expect(try await proposal(server).json["link"] == "link")
  }

  @Test func `an error in XML is reported in its words`() async throws {
    let server = try LoopbackServer { _ in
      Self.reply(
        "<response><error>Invalid API Key</error><limit>0</limit><results/></response>", "text/xml")
    }
    let error = await #expect(throws: SourceError.self) {
      try await proposal(server, [JSON.Member("rows", "response.results.hero")])
    }
    #expect(error?.message.hasSuffix(#"reports an error: "Invalid API Key""#) == true)
  }

  @Test func `lines of JSON, also compressed, are rows`() async throws {
    let lines = (1...5).map { "{\"id\": \($0), \"name\": \"lamp \($0)\"}\n" }.joined()
    let server = try LoopbackServer { _ in
      .ok(Gzip.file(Data(lines.utf8)), headers: [("Content-Type", "application/gzip")])
    }
    let manifest = try await proposal(server).json
    #expect(manifest["format"] == "ndjson")
    #expect(manifest["kinds"] == nil)
    #expect(try await records(manifest).map(\.id) == ["1", "2", "3", "4", "5"])
  }

  @Test(arguments: [
    ("text/csv", "name,n\na,1\na,1,9\na,1\n"),
    ("application/x-ndjson", "{\"name\": \"a\"}\n\nnothing\n{\"name\": \"a\"}\n"),
    ("application/json", "[{\"name\": \"a\"}, null, {\"name\": \"a\"}]"),
  ])
  func `a row that cannot be read keeps its number`(type: String, text: String) async throws {
    let server = try LoopbackServer { _ in Self.reply(text, type) }
    var manifest: [JSON.Member] = [
      .init("url", .string("\(server.baseURL)/lamps")), .init("rows", "$"), .init("id", "#"),
      .init("rate", "off"), .init("paging", "single"),
    ]
    switch type {
    case "text/csv": manifest.append(.init("format", "csv"))
    case "application/x-ndjson": manifest.append(.init("format", "ndjson"))
    default: break
    }
    let records = try await records(.object(manifest))
    #expect(records.map(\.id) == ["1", "3"])
    #expect(records.allSatisfy { $0.row["name"] == "a" })
  }

  @Test func `a cut-off file is not complete, and removes nothing`() async throws {
    let isCut = ScriptedCount()
    let server = try LoopbackServer { _ in
      let whole = "id,name\n1,a\n2,b\n3,c\n"
      return Self.reply(isCut.next() > 1 ? String(whole.dropLast(3)) : whole, "text/csv")
    }
    let manifest: JSON = [
      "url": .string("\(server.baseURL)/lamps"), "rows": "$", "id": "id", "rate": "off",
      "paging": "single", "format": "csv",
    ]
    let plugin = DeclaredPlugin("lamps", try Manifest(reading: Data(manifest.text.utf8)))
    let store = InMemoryStore()
    var environment = environment
    environment.store = store
    let whole = try await plugin.sync(into: store, in: environment)
      .run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(whole.isComplete && whole.added == 3)
    let cut = try await plugin.sync(into: store, in: environment)
      .run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(!cut.isComplete)
    #expect(try await store.status(of: "lamps").records == 3)
  }

  /// The same list as Comic Vine sends it with `format=json` and `format=xml`.
  @Test func `XML reads as the JSON of the same service does`() async throws {
    let server = try LoopbackServer { request in
      guard request.query["format"] == "xml" else {
        return .json(
          """
          {"error": "OK", "limit": 100, "offset": 0, "number_of_total_results": 2, "status_code": 1,
           "results": [
            {"id": 1443, "name": "Spider-Man", "deck": null, "aliases": "Spidey\\nWebs",
             "count_of_issue_appearances": 17850, "image": {"icon_url": "https://i.example/1.jpg"}},
            {"id": 1444, "name": "Venom & Co", "deck": "Symbiote", "aliases": null,
             "count_of_issue_appearances": 3, "image": {"icon_url": "https://i.example/2.jpg"}}]}
          """)
      }
      return Self.reply(
        """
        <?xml version="1.0" encoding="utf-8"?>
        <response><error><![CDATA[OK]]></error><limit>100</limit><offset>0</offset>
        <number_of_total_results>2</number_of_total_results><status_code>1</status_code>
        <results>
        <character><id>1443</id><name><![CDATA[Spider-Man]]></name><deck/>
        <aliases><![CDATA[Spidey
        Webs]]></aliases><count_of_issue_appearances>17850</count_of_issue_appearances>
        <image><icon_url><![CDATA[https://i.example/1.jpg]]></icon_url></image></character>
        <character><id>1444</id><name><![CDATA[Venom & Co]]></name><deck><![CDATA[Symbiote]]></deck>
        <aliases><![CDATA[]]></aliases><count_of_issue_appearances>3</count_of_issue_appearances>
        <image><icon_url><![CDATA[https://i.example/2.jpg]]></icon_url></image></character>
        </results></response>
        """, "application/xml; charset=utf-8")
    }
    var lists: [[DeclaredRecord]] = []
    for format in ["json", "xml"] {
      let proposal = try await proposal(
        server, [JSON.Member("url", .string("\(server.baseURL)/lamps?format=\(format)"))])
      lists.append(try await records(proposal.json))
    }
    #expect(lists[0].count == 2)
    #expect(lists[0] == lists[1])
  }
}
