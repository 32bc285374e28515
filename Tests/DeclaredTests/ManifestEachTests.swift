import AggregatorInference
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorHTTP
@testable import DeclaredSource

/// `each` in a manifest: how it is read, and the lists that it makes.
@Suite(.timeLimit(.minutes(10))) struct ManifestEachTests {
  private static func manifest(_ members: String) throws -> Manifest {
    try Manifest(reading: Data("{\"rows\": \"$\", \"id\": \"id\",\n\(members)}".utf8))
  }

  private static func manifest(
    of url: String, each: String, _ more: String = ""
  ) throws -> Manifest {
    try manifest("\"url\": \"\(url)\",\n\"each\": \(each)\(more)")
  }

  // MARK: - Reading

  @Test(arguments: [
    (#""repos""#, "repos.full_name", Partitions.records(of: "repos", field: "full_name")),
    (#""a-1""#, "a-1.owner.login", .records(of: "a-1", field: "owner.login")),
    (#"{"dates":"2024-01-01"}"#, "date", .days(since: "2024-01-01")),
    (
      #"{"dates":"2024-01-01","step":"7d","lookback":"12h"}"#, "date",
      .days(since: "2024-01-01", step: 7, lookback: .seconds(43_200))
    ),
    (#"{"values":["alpha","b/é"]}"#, "value", .values(["alpha", "b/é"])),
  ])
  func `reads and writes every form`(each: String, name: String, partitions: Partitions) throws {
    let manifest = try Self.manifest(
      of: "https://api.example/{\(name)}/x?of={\(name)}&k=${KEY}", each: each,
      """
      , "item": "https://api.example/{\(name)}/{id}", "search": "url:https://api.example/?q={query}&in={\(name)}"
      """)
    #expect(manifest.each?.partitions == partitions)
    #expect(manifest.json["each"]?.text == each)
    #expect(try Manifest(reading: Data(manifest.json.text.utf8)) == manifest)
    #expect(manifest.authority == "api.example" && manifest.secretNames == ["KEY"])
    #expect(DeclaredPlugin("x", manifest).summary == "api.example/{\(name)}/x")
  }

  @Test(arguments: [
    ("https://a.example/", #""repos""#, "line 2: \"url\" must be a URL with {repos.NAME}"),
    ("https://a.example/{repos.*}", #""repos""#, "line 2: \"url\" must be a URL with {repos.NAME}"),
    (
      "https://a.example/{repos.a?b}", #""repos""#,
      "line 2: \"url\" must be a URL with {repos.NAME}"
    ),
    ("https://a.example/#{repos.id}", #""repos""#, "line 2: \"url\" must be a URL with {repos.id}"),
    ("https://a.example/{orgs.id}", #""repos""#, "line 2: \"url\" must be a URL with {repos.NAME}"),
    (
      "https://a.example/{repos.id}/{repos.name}", #""repos""#,
      "line 2: \"url\" has {repos.name}, but \"each\" is for {repos.id}"
    ),
    ("https://a.example/{date}", "null", "line 2: \"url\" has {date}, but there is no \"each\""),
    ("https://a.example/{repos.id}", #""Repos""#, "line 3: \"each\" must be the name of a source"),
    ("https://a.example/{date}", "[]", "line 3: \"each\" must be the name of a source, or"),
    ("https://a.example/{date}", "{}", "line 3: \"each\" must be the name of a source, or"),
    ("https://a.example/{date}", #"{"date": "2024-01-01"}"#, "did you mean \"dates\"?"),
    ("https://a.example/{date}", #"{"dates": "2024-02-30"}"#, "\"each.dates\" must be a day"),
    ("https://a.example/{date}", #"{"dates": "2024"}"#, "\"each.dates\" must be a day"),
    (
      "https://a.example/{date}", #"{"dates": "2024-01-01", "step": "12h"}"#,
      "line 3: \"each.step\" must be whole days"
    ),
    (
      "https://a.example/{date}", #"{"dates": "2024-01-01", "lookback": 3}"#,
      "line 3: \"each.lookback\" must be a duration"
    ),
    ("https://a.example/{value}", #"{"values": []}"#, "\"each.values\" must be a list of 1 to"),
    ("https://a.example/{value}", #"{"values": ["a", "a"]}"#, "\"each.values\" must be a list"),
    ("https://a.example/{value}", #"{"values": ["a", ""]}"#, "\"each.values\" must be a list"),
    ("https://a.example/{value}", #"{"values": ["a", 1]}"#, "\"each.values\" must be a list"),
    (
      "https://a.example/{value}", #"{"values": ["a"], "step": "1d"}"#,
      "\"each.values\" must be without other keys"
    ),
    (
      "https://a.example/{date}", #"{"values": ["a"]}"#,
      "\"url\" has {date}, but \"each\" is for {value}"
    ),
    // Data of a service never chooses where requests, and secrets, go.
    ("https://{value}/x", #"{"values": ["a"]}"#, "without a placeholder in its host"),
    ("https://{value}.example/x", #"{"values": ["a"]}"#, "without a placeholder in its host"),
    ("https://a.example:{value}/x", #"{"values": ["a"]}"#, "without a placeholder in its host"),
    ("https://a.example{value}/x", #"{"values": ["a"]}"#, "without a placeholder in its host"),
    ("https://{value}@a.example/x", #"{"values": ["a"]}"#, "without a placeholder in its host"),
    ("{value}://a.example/x", #"{"values": ["a"]}"#, "without a placeholder in its host"),
  ])
  func `a wrong one names its line`(url: String, each: String, words: String) {
    let error = #expect(throws: SourceError.self) { try Self.manifest(of: url, each: each) }
    #expect(error?.code == .invalidSettings)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    (#""item": "https://a.example/{id}""#, "\"item\" must be a URL with {value} in its path"),
    (#""item": "https://a.example/{id}/{date}""#, "\"item\" has {date}, but"),
    (#""search": "url:https://a.example/?q={query}""#, "\"search\" must be a URL with {value}"),
    (#""search": "url:https://{query}/{value}""#, "without a placeholder in its host"),
  ])
  func `other URLs must have the placeholder, too`(member: String, words: String) {
    let error = #expect(throws: SourceError.self) {
      try Self.manifest(of: "https://a.example/{value}", each: #"{"values": ["a"]}"#, ", \(member)")
    }
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test func `too many values are refused`() {
    let values = JSON.array((0...10_000).map { .string("\($0)") }).text
    #expect(throws: SourceError.self) {
      try Self.manifest(of: "https://a.example/{value}", each: "{\"values\": \(values)}")
    }
  }

  @Test func `records of other lists are those of another source`() throws {
    func scope(_ each: String) throws -> String {
      DeclaredPlugin("x", try Self.manifest(of: "https://a.example/{date}", each: each))
        .scope(in: SourceSettings())
    }
    let days = try scope(#"{"dates": "2024-01-01"}"#)
    #expect(try scope(#"{"dates": "2024-01-01", "lookback": "3d"}"#) == days)
    #expect(try scope(#"{"dates": "2024-01-02"}"#) != days)
    #expect(try scope(#"{"dates": "2024-01-01", "step": "2d"}"#) != days)
  }

  @Test func `a list of a service has a list for each of another one, or of any source`() throws {
    func manifests(_ lists: String) throws -> [Manifest] {
      let text = """
        {"service": {"base": "https://a.example/v1", "rows": "$", "id": "id"}, "resources": {\(lists)}}
        """
      return try ManifestFolder.manifests(of: #require(JSON(inOrder: Data(text.utf8))), as: "crm")
    }
    let contacts = #""contacts": {"url": "/contacts"}"#
    let all = try manifests(
      """
      \(contacts), "notes": {"url": "/{repos.name}", "each": "repos"},
      "deals": {"url": "{contacts.id}/deals", "each": "contacts", "item": "{contacts.id}/deals/{id}"}
      """)
    #expect(all[1].each?.partitions == .records(of: "repos", field: "name"))
    let deals = all[2]
    #expect(deals.each?.partitions == .records(of: "crm-contacts", field: "id"))
    #expect(deals.each?.name == "contacts.id" && deals.json["each"] == "contacts")
    #expect(deals.item == "https://a.example/v1/{contacts.id}/deals/{id}")
    #expect(deals.authority == "a.example")

    for (list, source) in [("contacts", "contacts"), ("crm-contacts", "crm-contacts")] {
      let error = #expect(throws: SourceError.self) {
        try manifests("\"contacts\": {\"url\": \"/{\(source).id}\", \"each\": \"\(list)\"}")
      }
      #expect(error?.message.contains("another source than crm-contacts itself") == true)
    }
    let shared = #expect(throws: SourceError.self) {
      try ManifestFolder.manifests(
        of: [
          "service": ["base": "https://a.example", "each": "repos"],
          "resources": ["a": ["url": "/{repos.id}"]],
        ], as: "crm")
    }
    #expect(shared?.message.contains("unknown key \"each\"") == true)
  }

  // MARK: - Values in URLs

  @Test(arguments: [
    ("a", "/x/a/y", "in=a"), ("a/b", "/x/a/b/y", "in=a%2Fb"),
    ("a%2Fb", "/x/a%252Fb/y", "in=a%252Fb"),
    ("?&+#;=", "/x/%3F%26%2B%23%3B%3D/y", "in=%3F%26%2B%23%3B%3D"),
    ("é ", "/x/%C3%A9%20/y", "in=%C3%A9%20"), ("${KEY}", "/x/%24%7BKEY%7D/y", "in=%24%7BKEY%7D"),
    ("{value}", "/x/%7Bvalue%7D/y", "in=%7Bvalue%7D"), ("http://b.example", nil, nil),
    ("a\\b", "/x/a%5Cb/y", "in=a%5Cb"), ("a..b", "/x/a..b/y", "in=a..b"), ("..", nil, nil),
    ("a/../b", nil, nil), (".", nil, nil), ("/a", nil, nil), ("a/", nil, nil), ("a//b", nil, nil),
  ])
  func `a value is encoded in paths and queries`(value: String, path: String?, query: String?)
    async throws
  {
    let server = try LoopbackServer { _ in .json(#"[{"id": 1}]"#) }
    defer { server.stop() }
    let manifest = try Self.manifest(
      of: "\(server.baseURL)/x/{value}/y?in={value}", each: #"{"values": ["a"]}"#)
    var environment = PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport())
    environment.partition = Partition(position: 1, value: value)
    let plugin = DeclaredPlugin("x", manifest)
    guard let path else {
      let error = #expect(throws: SourceError.self) { try plugin.remote(in: environment) }
      #expect(error?.code == .rejected)
      return
    }
    let page = try await plugin.remote(in: environment).page(PageRequest(limit: 5))
    #expect(page.records.map(\.id) == [Partition(position: 1, value: value).recordID("1")])
    #expect(server.requests.map(\.path) == [path])
    #expect(server.requests.map(\.rawQuery) == [query])
  }

  @Test(arguments: [(".{value}", "."), ("{value}.", "."), ("{value}{value}", ".")])
  func `a value makes no dots of others`(part: String, value: String) throws {
    let manifest = try Self.manifest(
      of: "https://a.example/\(part)/x", each: #"{"values": ["a"]}"#)
    #expect(throws: SourceError.self) { try manifest.filled(with: value) }
    #expect(try manifest.filled(with: "a").authority == "a.example")
  }

  @Test func `a row has the value, over a member of the same name, and its ID begins with it`()
    async throws
  {
    let server = try LoopbackServer { _ in
      .json(#"[{"zip": 1, "repos.full_name": 7, "id": "a/b", "name": "x"}]"#)
    }
    defer { server.stop() }
    let plugin = DeclaredPlugin(
      "issues",
      try Self.manifest(
        of: "\(server.baseURL)/{repos.full_name}", each: #""repos""#, #", "fields": ["name"]"#))
    #expect(plugin.fields.map(\.name) == ["id", "repos.full_name", "name"])
    var environment = PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport())
    environment.partition = Partition(position: 1, value: "o/r%")
    let page = try await plugin.remote(in: environment).page(PageRequest(limit: 5))
    let record = try #require(page.records.first)
    #expect(record.id == "o%2Fr%25/a%2Fb")
    #expect(
      record.row.text == #"{"id":"a/b","name":"x","repos.full_name":"o/r%","zip":1}"#)
    #expect(record.row == record.row.canonical)
    #expect(plugin.fields[1][record] == "o/r%")
    // The service has a member of this name, which is a number.
    #expect(page.schema?.members[#""repos.full_name""#] == [.number])
  }

  @Test func `the value is no member of the service`() async throws {
    let server = try LoopbackServer { _ in .json(#"[{"id": 1}]"#) }
    defer { server.stop() }
    let manifest = try Self.manifest(of: "\(server.baseURL)/{value}", each: #"{"values": ["a"]}"#)
    var environment = PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport())
    environment.partition = Partition(position: 1, value: "a")
    let page = try await DeclaredPlugin("x", manifest).remote(in: environment)
      .page(PageRequest(limit: 5))
    #expect(page.schema?.members.keys.sorted() == ["id"])
    #expect(page.records.first?.row["value"] == "a")
  }

  @Test func `cursors of one list are invalid in another one, and changes are asked for`()
    async throws
  {
    let server = try LoopbackServer { request in
      .json(request.query["page"] == "3" ? "[]" : #"[{"id": 1, "at": "2026-01-01"}]"#)
    }
    defer { server.stop() }
    let plugin = DeclaredPlugin(
      "x",
      try Self.manifest(
        of: "\(server.baseURL)/{value}", each: #"{"values": ["a", "b"]}"#,
        #", "page": "page=1", "since": {"parameter": "since", "field": "at"}"#))
    func remote(_ value: String, since mark: String? = nil) throws -> any DataSource<DeclaredRecord>
    {
      var environment = PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport())
      environment.partition = Partition(position: 1, value: value)
      return try plugin.remote(in: environment, changedSince: mark)
    }
    let next = try #require(try await remote("a").page(PageRequest(limit: 5)).next)
    let again = PageRequest(limit: 5).after(next)
    #expect(try await remote("a").page(again).records.count == 1)
    let error = await #expect(throws: SourceError.self) { try await remote("b").page(again) }
    #expect(error?.code == .invalidCursor)
    _ = try await remote("b", since: "2026-01-01").page(PageRequest(limit: 5))
    #expect(server.requests.last?.query == ["page": "1", "since": "2026-01-01"])
    #expect(server.requests.last?.path == "/b")
  }
}
