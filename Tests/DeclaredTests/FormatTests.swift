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
      {"url": "https://a.example/x", "rows": "$", "id": "id", "format": "csv", "fields": ["price", "lit", "name"],
       "kinds": {"price": "number", "lit": "boolean"}}
      """#
    let plugin = DeclaredPlugin("lamps", try Manifest(reading: Data(text.utf8)))
    #expect(
      plugin.fields.dropFirst().map(\.about) == [
        "The number at price.", "The truth value at lit.", "The value at name.",
      ])
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
