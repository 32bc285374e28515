import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorInference
@testable import DeclaredSource

/// One list for each of another: from the requests of the lists to what a source says of all of them.
@Suite(.timeLimit(.minutes(10))) final class NestedListTests {
  private let server: LoopbackServer
  private let store = InMemoryStore()

  init() throws {
    server = try LoopbackServer { request in
      switch request.path {
      case "/repos":
        .json(JSON.array(Self.repos.map { ["full_name": .string($0)] }).text)
      case "/repos/org/closed/issues": .json(#"{"message": "not yours"}"#, status: 403)
      case "/repos/org/empty/issues": .json("[]")
      case "/repos/org/a/issues", "/repos/org/%C3%BC/issues":
        .json(JSON.array((1...2).map { Self.issue($0, at: request.path) }).text)
      case "/repos/org/a/issues/2": .json(Self.issue(2, at: "/repos/org/a/issues").text)
      default: .json("{}", status: 404)
      }
    }
  }

  deinit { server.stop() }

  private static let repos = ["org/a", "org/closed", "org/empty", "org/ü"]

  private static func issue(_ number: Int, at path: String) -> JSON {
    ["id": .integer(number), "title": .string("\(number) at \(path)")]
  }

  private static func plugin(_ name: String, _ text: String) throws -> DeclaredPlugin {
    DeclaredPlugin(name, try Manifest(reading: Data(text.utf8)))
  }

  private func repos() throws -> DeclaredPlugin {
    try Self.plugin(
      "repos",
      #"{"url": "\#(server.baseURL)/repos", "rows": "$", "id": "full_name", "rate": "off", "paging": "single"}"#
    )
  }

  private func issues(_ more: String = "") throws -> DeclaredPlugin {
    let url = "\(server.baseURL)/repos/{repos.full_name}/issues"
    return try Self.plugin(
      "issues",
      """
      {"url": "\(url)", "each": "repos", "rows": "$", "id": "id", "fields": ["title"], "rate": "off",
       "paging": "single", "item": "\(url)/{id}"\(more)}
      """)
  }

  private func environment(
    _ plugins: [DeclaredPlugin], now: @escaping @Sendable () -> Date = { Date() }
  ) -> PluginEnvironment {
    var environment = PluginEnvironment(
      settings: SourceSettings(), transport: HTTPTransport(), store: store, now: now)
    environment.sources = { plugins }
    return environment
  }

  /// The IDs of all pages, and their warnings.
  private func list(
    _ plugin: DeclaredPlugin, in environment: PluginEnvironment, matching query: SearchQuery? = nil,
    size: Int = 10
  ) async throws -> (ids: [String], warnings: [Warning]) {
    var (ids, warnings): ([String], [Warning]) = ([], [])
    for try await step in try plugin.source(in: environment).pages(matching: query, size: size) {
      ids += step.items.map(\.id)
      warnings += step.page.warnings
    }
    return (ids, warnings)
  }

  @Test func `lists, finds and shows records of four lists, of which one is refused`() async throws
  {
    let plugin = try issues()
    let environment = environment([try repos(), plugin])
    let (ids, warnings) = try await list(plugin, in: environment)
    #expect(ids == ["org%2Fa/1", "org%2Fa/2", "org%2Fü/1", "org%2Fü/2"])
    #expect(warnings.count == 1 && warnings.first?.code == .incomplete, "\(warnings)")
    let words = warnings.first?.message ?? ""
    #expect(words.hasPrefix("org/closed: ") && words.contains("not yours"), "\(words)")

    let source = try plugin.source(in: environment)
    let found = try await source.page(PageRequest(matching: try SearchQuery("2 at")))
    #expect(found.records.map(\.id) == ["org%2Fa/2", "org%2Fü/2"])
    let shown = try await source.cachePolicy(.reload).item("org%2Fa/2").item
    #expect(shown.row["repos.full_name"] == "org/a" && shown.row["title"] != nil)
    #expect(server.requests.last?.path == "/repos/org/a/issues/2")
    let missing = await #expect(throws: SourceError.self) { try await source.item("org%2Fa/7") }
    #expect(missing?.code == .notFound)
    for id in ["org%2F../2", "..%2Fa/2", "/2"] {
      await #expect(throws: SourceError.self) { try await source.item(id) }
    }
    #expect(server.requests.allSatisfy { !$0.path.contains("..") })
  }

  @Test func `a rule leaves out a list, which is no gap then`() async throws {
    let plugin = try issues(#", "errors": [{"status": 403, "then": "skip"}]"#)
    let (ids, warnings) = try await list(plugin, in: environment([try repos(), plugin]))
    #expect(ids.count == 4)
    #expect(warnings.map(\.code) == [.skippedPartition] && !warnings[0].meansIncomplete)
    let words = warnings.first?.message ?? ""
    #expect(words.hasPrefix("org/closed: ") && words.contains("not yours"), "\(words)")
  }

  @Test func `skip needs lists of which one can be left out`() {
    let error = #expect(throws: SourceError.self) {
      try Self.plugin(
        "x",
        "{\"url\": \"https://a.example/\", \"rows\": \"$\", \"id\": \"id\",\n\"errors\": [{\"status\": 403, \"then\": \"skip\"}]}"
      )
    }
    #expect(
      error?.message.hasPrefix("line 2: \"skip\" leaves out") == true, "\(error?.message ?? "")")
  }

  @Test func `there is a list for each day until now`() async throws {
    let days = try LoopbackServer { _ in .json(#"[{"id": 1}]"#) }
    defer { days.stop() }
    let plugin = try Self.plugin(
      "days",
      """
      {"url": "\(days.baseURL)/{date}", "each": {"dates": "2024-02-28"}, "rows": "$", "id": "id", "rate": "off",
       "paging": "single"}
      """)
    let now = try #require(Period("2024-03-01")).start + 60
    let environment = environment([]) { Date(timeIntervalSince1970: now) }
    let (ids, warnings) = try await list(plugin, in: environment)
    #expect(ids == ["2024-02-28/1", "2024-02-29/1", "2024-03-01/1"])
    #expect(warnings == [])
    #expect(days.requests.map(\.path) == ["/2024-02-28", "/2024-02-29", "/2024-03-01"])
  }

  @Test func `there is a list for each value, and a search of the service in each`() async throws {
    let values = try LoopbackServer { request in
      .json(request.query["q"] == "b" && request.path != "/beta" ? "[]" : #"[{"id": 1}]"#)
    }
    defer { values.stop() }
    let plugin = try Self.plugin(
      "values",
      """
      {"url": "\(values.baseURL)/{value}", "each": {"values": ["alpha", "beta"]}, "rows": "$", "id": "id",
       "rate": "off", "paging": "single", "search": "q"}
      """)
    #expect(try await list(plugin, in: environment([])).ids == ["alpha/1", "beta/1"])
    let found = try await list(plugin, in: environment([]), matching: try SearchQuery("b"))
    #expect(found.ids == ["beta/1"])
  }

  @Test func `lists may be files`() async throws {
    let files = try LoopbackServer { request in
      let rows = (1...3000).map { "\($0),\(request.path)\n" }.joined()
      return .status(200, "id,path\n\(rows)", headers: [("Content-Type", "text/csv")])
    }
    defer { files.stop() }
    let plugin = try Self.plugin(
      "files",
      """
      {"url": "\(files.baseURL)/{value}.csv", "each": {"values": ["a", "b"]}, "format": "csv", "rows": "$", "id": "id",
       "rate": "off", "paging": "single"}
      """)
    let (ids, warnings) = try await list(plugin, in: environment([]), size: 2000)
    #expect(ids == (1...3000).map { "a/\($0)" } + (1...3000).map { "b/\($0)" })
    #expect(warnings == [])
    #expect(files.requests.map(\.path) == ["/a.csv", "/b.csv"])
  }

  @Test func `a parent that is missing, or the source itself, is refused`() throws {
    func code(_ plugins: [DeclaredPlugin]) -> SourceError? {
      #expect(throws: SourceError.self) { try plugins[0].source(in: environment(plugins)) }
    }
    let missing = code([try issues()])
    #expect(
      missing?.code == .invalidSettings && missing?.message.contains("no such source") == true)
    func each(_ name: String, of parent: String) throws -> DeclaredPlugin {
      try Self.plugin(
        name,
        #"{"url": "https://a.example/{\#(parent).id}", "each": "\#(parent)", "rows": "$", "id": "id"}"#
      )
    }
    let cycle = code([try each("a", of: "b"), try each("b", of: "a")])
    #expect(
      cycle?.message.contains("a for each of b for each of a") == true,
      "\(String(describing: cycle))")
  }

  // MARK: - Inference

  private func add(
    _ hints: String, _ plugins: [DeclaredPlugin], isProbing: Bool = false
  ) async throws -> Proposal {
    try await Proposal(
      for: "issues", from: try #require(JSON(inOrder: Data(hints.utf8))), isProbing: isProbing,
      in: environment(plugins))
  }

  private func hints(_ more: String = "", of path: String = "repos/{repos.full_name}/issues")
    -> String
  {
    "{\"url\": \"\(server.baseURL)/\(path)\", \"each\": \"repos\", \"rate\": \"off\"\(more)}"
  }

  @Test func `a source is inferred from the first list with rows, and tried with another one`()
    async throws
  {
    let proposal = try await add(hints(), [try repos()], isProbing: true)
    #expect(
      proposal.evidence.first?.reason == "tried org/a (2 rows) and org/closed (failed)",
      "\(proposal.evidence)")
    #expect(proposal.warnings.contains { $0.hasPrefix("org/closed: ") }, "\(proposal.warnings)")
    #expect(proposal.isProved)
    let manifest = proposal.manifest
    let url = "\(server.baseURL)/repos/{repos.full_name}/issues"
    #expect(manifest.url == url && manifest.item == "\(url)/{id}")
    #expect(proposal.evidence.contains { $0.key == "item" && $0.value == "\(url)/{id}" })
    #expect(manifest.each?.partitions == .records(of: "repos", field: "full_name"))
    #expect(manifest.id == [JSONPath("id")] && manifest.fields.map(\.name) == ["title"])
    let added = DeclaredPlugin("issues", try Manifest(reading: Data(proposal.json.text.utf8)))
    #expect(try await list(added, in: environment([try repos()])).ids.count == 4)
  }

  @Test func `lists without rows come first`() async throws {
    let values =
      #"{"url": "\#(server.baseURL)/repos/org/{value}/issues", "rate": "off", "each": {"values": ["empty", "closed", "a", "ü"]}}"#
    let proposal = try await add(values, [])
    #expect(
      proposal.evidence.first?.reason
        == "tried empty (0 rows), closed (failed), a (2 rows) and ü (2 rows)")
    #expect(proposal.manifest.each?.name == "value" && proposal.isProved)
  }

  @Test func `a failure says what is wrong with the parent`() async throws {
    let cases: [(String, [DeclaredPlugin], String)] = [
      (hints(), [], "there is no such source"),
      (hints(of: "repos/{repos.name}/issues"), [try repos()], "no record of repos has a text"),
      (hints(of: "gone/{repos.full_name}"), [try repos()], "org/a: "),
    ]
    for (hints, plugins, words) in cases {
      let error = await #expect(throws: SourceError.self) { try await add(hints, plugins) }
      #expect(error?.message.contains(words) == true, "\(String(describing: error))")
      #expect(error?.remedy != nil)
    }
  }

  @Test(arguments: [
    (
      "https://a.example/{value}/issues", "https://a.example/x/y/issues/{id}",
      "https://a.example/{value}/issues/{id}"
    ),
    (
      "https://a.example/{value}/in/{value}.json", "https://a.example/x/y/in/x/y/{id}.json",
      "https://a.example/{value}/in/{value}/{id}.json"
    ),
    (
      "https://a.example/rows?of={value}", "https://a.example/rows/{id}?of=x%2Fy",
      "https://a.example/rows/{id}?of={value}"
    ),
    ("https://a.example/{value}/issues", "https://a.example/issues/{id}", nil),
    ("https://a.example/rows?of={value}", "https://a.example/rows/{id}", nil),
  ])
  func `the placeholder is put back where the value was`(
    list: String, item: String, template: String?
  )
    throws
  {
    let manifest = try Manifest(
      reading: Data(#"{"url": "\#(list)", "each": {"values": ["x/y"]}}"#.utf8))
    let each = try #require(try manifest.filled(with: "x/y").each)
    #expect(each.template(of: item, as: list) == template)
  }
}
