import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorInference
@testable import DeclaredSource

/// `sources add --probe`: what a list does not show is found by the usual requests, or left out.
@Suite(.timeLimit(.minutes(10))) struct ProbeTests {
  /// A service of many things, some of whose abilities a test takes away.
  struct Service: Sendable {
    var count = 12_000
    /// The parameter of a search.
    var search: String? = "q"
    /// The parameter of the page size, and the largest page.
    var size: (name: String, most: Int)? = ("limit", 50)
    /// The rows after which pages are refused.
    var depth: Int? = 10_000
    /// The path of a record, before its ID.
    var item: String? = "/things/"
    /// The rate limit, in requests.
    var most = 1000
    /// True if the response names the page size.
    var echoesSize = false
    /// True if a search sends other things.
    var isVague = false

    private static let kinds = ["anvil", "badger", "comet", "delta", "ember"]

    private func row(_ id: Int) -> JSON {
      ["id": .integer(id), "name": .string("\(Self.kinds[id % 5]) \(id)")]
    }

    func reply(to request: LoopbackRequest) -> LoopbackReply {
      if let item, request.path.hasPrefix(item), let id = Int(request.path.dropFirst(item.count)) {
        return .json((["thing": row(id)] as JSON).text)
      }
      guard request.path == "/things" || item == nil else { return .json("{}", status: 404) }
      var ids = Array(1...count)
      if let search, let word = request.query[search] {
        ids = isVague ? Array(5...9) : ids.filter { row($0).text.contains(word) }
      }
      let asked = size.flatMap { request.query[$0.name].flatMap { Int($0) } } ?? 10
      let rows = min(asked, size?.most ?? 10)
      let start = request.query["skip"].flatMap { Int($0) } ?? 0
      if let depth, start + rows > depth { return .json(#"{"error": "too deep"}"#, status: 400) }
      let page = JSON.array(ids.dropFirst(start).prefix(rows).map(row))
      var body: [JSON.Member] = [
        .init("skip", .integer(start)), .init("total", .integer(ids.count)), .init("things", page),
      ]
      if echoesSize, let size { body.append(.init(size.name, .integer(rows))) }
      return .json(JSON.object(body).text)
    }
  }

  private func proposal(
    of service: Service, at path: String = "/things", isProbing: Bool = true,
    searchingBy search: String? = nil
  ) async throws -> (proposal: Proposal, manifest: JSON, requests: [LoopbackRequest]) {
    let counter = ScriptedCount()
    let server = try LoopbackServer { request in
      counter.next() <= service.most ? service.reply(to: request) : .status(429, "slow down")
    }
    let hints = JSON.object(
      [.init("url", .string("\(server.baseURL)\(path)")), .init("rate", "off")]
        + (search.map { [.init("search", .string($0))] } ?? []))
    let proposal = try await Proposal(
      for: "things", from: hints, isSingle: false, isProbing: isProbing,
      in: PluginEnvironment(settings: SourceSettings(), transport: LongTimeoutTransport()))
    return (proposal, proposal.json, server.requests)
  }

  private func lines(_ proposal: Proposal) -> [String: String] {
    Dictionary(
      proposal.evidence.map { ($0.key, "\($0.value): \($0.reason)") }
    ) { first, _ in first }
  }

  @Test func `proves item, search, page size and depth with at most twelve requests`()
    async throws
  {
    let (plain, before, sent) = try await proposal(of: Service(), isProbing: false)
    #expect(plain.isProved)
    for key in ["item", "search", "size", "deepest"] { #expect(before[key] == nil, "\(key)") }

    let (probed, manifest, requests) = try await proposal(of: Service())
    let url = try #require(manifest["url"]?.string)
    #expect(manifest["item"] == .string("\(url)/{id}"))
    #expect(manifest["search"] == "q")
    #expect(manifest["size"] == "limit=50")
    #expect(manifest["deepest"] == 10_000)
    #expect(requests.count <= sent.count + 12, "\(requests.count - sent.count)")
    #expect(probed.requests == requests.count)
    let lines = lines(probed)
    #expect(lines["item"] == "\(url)/{id}: record 10 fetched")
    #expect(lines["search"] == #"q: 10 rows for "anvil", none for "zqxjkvwyq""#)
    #expect(lines["size"] == "limit=50: 50 rows, and 50 others on page 2")
    #expect(lines["depth"]?.hasPrefix("10000: of 12000 records, then ") == true)

    // The source that it makes keeps what was proved.
    let plugin = DeclaredPlugin("things", try Manifest(reading: Data(manifest.text.utf8)))
    #expect(plugin.policy.localSearchBound == nil)
  }

  @Test func `a search that is given is tried, and left out if the service ignores it`()
    async throws
  {
    let (right, manifest, _) = try await proposal(of: Service(), isProbing: false, searchingBy: "q")
    #expect(manifest["search"] == "q" && right.warnings == [])
    #expect(lines(right)["search"] == #"q: no rows for "zqxjkvwyq""#)
    let (wrong, without, _) = try await proposal(
      of: Service(), isProbing: false, searchingBy: "find")
    #expect(without["search"] == nil)
    #expect(lines(wrong)["search"] == "–: the service ignores find: it sent the list again")
    #expect(wrong.warnings.first?.hasPrefix("the service ignores find") == true)
  }

  @Test func `the URL of a record that is given is tried, and left out if it brings none`()
    async throws
  {
    let service = Service(count: 30)
    let server = try LoopbackServer { request in
      switch request.path {
      case let path where path.hasPrefix("/failing"): .status(500)
      case let path where path.hasPrefix("/all"): Service(count: 30, item: nil).reply(to: request)
      // A record with a list of its own.
      case "/boxes/10":
        .json(#"{"id": 10, "name": "anvil 10", "things": [{"id": 1}, {"id": 2}]}"#)
      default: service.reply(to: request)
      }
    }
    func propose(_ item: String) async throws -> Proposal {
      try await Proposal(
        for: "things",
        from: [
          "url": .string("\(server.baseURL)/things"), "rate": "off",
          "item": .string("\(server.baseURL)\(item)"),
        ],
        in: PluginEnvironment(settings: SourceSettings(), transport: LongTimeoutTransport()))
    }
    for item in ["/things/{id}", "/boxes/{id}", "/failing/{id}"] {
      let right = try await propose(item)
      #expect(right.isProved && right.warnings == [], "\(right.warnings)")
      #expect(right.json["item"] == .string("\(server.baseURL)\(item)"))
      let reason =
        item == "/failing/{id}" ? "as told, not tried: " : "the last record of page 1 was fetched"
      #expect(lines(right)["item"]?.hasPrefix("\(server.baseURL)\(item): \(reason)") == true)
    }
    for item in ["/nope/{id}", "/all/{id}"] {
      let wrong = try await propose(item)
      #expect(wrong.isProved && wrong.json["item"] == nil)
      #expect(lines(wrong)["item"] == "–: \(server.baseURL)\(item) does not bring a record")
      #expect(
        wrong.warnings.count == 1
          && wrong.warnings[0].hasPrefix("the URL of single records is left out: "),
        "\(wrong.warnings)")
    }
  }

  @Test func `writes nothing of a service that ignores what it does not have`() async throws {
    let service = Service(count: 300, search: nil, size: nil, depth: nil, item: nil)
    let (probed, manifest, requests) = try await proposal(of: service)
    #expect(probed.isProved)
    for key in ["item", "search", "size", "deepest"] { #expect(manifest[key] == nil, "\(key)") }
    let lines = lines(probed)
    #expect(lines["item"]?.hasPrefix("–: tried http") == true)
    #expect(lines["search"] == "–: tried q, search, query, name")
    #expect(lines["size"] == "–: tried limit, per_page, count")
    #expect(requests.count < 16)
  }

  @Test func `a page size that the response names is tried, too`() async throws {
    let service = Service(size: ("per_page", 1000), echoesSize: true)
    let (_, before, _) = try await proposal(of: service, isProbing: false)
    #expect(before["size"] == "per_page=10")
    let (probed, manifest, _) = try await proposal(of: service)
    #expect(manifest["size"] == "per_page=100")
    #expect(lines(probed)["size"] == "per_page=100: 100 rows, and 100 others on page 2")
  }

  @Test func `a search that finds what was not asked for is none`() async throws {
    let (probed, manifest, _) = try await proposal(of: Service(count: 90, isVague: true))
    #expect(probed.isProved && manifest["search"] == nil)
  }

  @Test func `rows that nothing identifies have their numbers, where one response has them all`()
    async throws
  {
    let server = try LoopbackServer { request in
      request.path == "/things"
        ? Service().reply(to: request)
        : request.path == "/ids"
          ? .json(#"[{"id": 1, "n": 1}, {"id": 1, "n": 1}]"#)
          : .json(#"[{"name": "a", "n": 1}, {"name": "a", "n": 1}, {"name": "b", "n": 2}]"#)
    }
    let environment = PluginEnvironment(
      settings: SourceSettings(), transport: LongTimeoutTransport())
    func propose(_ path: String, _ more: [JSON.Member] = []) async throws -> Proposal {
      let url = JSON.Member("url", .string("\(server.baseURL)\(path)"))
      return try await Proposal(
        for: "things", from: .object([url, .init("rate", "off")] + more), isSingle: false,
        isProbing: true, in: environment)
    }
    let found = try await propose("/list")
    #expect(found.isProved && found.warnings == [], "\(found.warnings)")
    #expect(
      lines(found)["id"] == "#: the number of the row: name is a in more than one row")
    #expect(found.json["id"] == "#" && found.json["search"] == nil && found.json["item"] == nil)
    #expect(try await propose("/list", [.init("id", "#")]).json == found.json)
    let plugin = DeclaredPlugin("things", try Manifest(reading: Data(found.json.text.utf8)))
    let page = try await plugin.remote(in: environment).page(PageRequest(limit: 10))
    #expect(page.records.map(\.id) == ["1", "2", "3"])

    // A member with the name of the number is not hidden by it.
    let ids = try await propose("/ids").manifest
    #expect(ids.numbersRows && Set(ids.fields.map(\.name)) == ["id_2", "n"])

    let named = try await propose("/list", [.init("id", ["name", "n"])])
    #expect(
      named.warnings == [
        "1 row has the ID of an earlier one and is left out: the ID \"#\" is the number of the row"
      ])
    // Where other responses have other rows, a number says nothing.
    for (path, more) in [
      ("/things", []), ("/list", [JSON.Member("item", .string("\(server.baseURL)/list/{id}"))]),
      ("/list", [JSON.Member("page", "page=1")]),
    ] {
      let error = await #expect(throws: SourceError.self) {
        try await propose(path, more + [.init("id", "#")])
      }
      #expect(error?.code == .invalidSettings, "\(path)")
      #expect(error?.message.contains("\"id\" must be a path: rows are numbered only in") == true)
    }
  }

  @Test func `a member called # is written in quotes`() throws {
    let text = ##"{"url": "https://a.example/x", "rows": "$", "id": "\"#\""}"##
    let manifest = try Manifest(reading: Data(text.utf8))
    #expect(!manifest.numbersRows && manifest.id == [.root.appending("#")])
    #expect(manifest.json["id"] == .string("\"#\""))
    #expect(try DeclaredRecord(["#": "a"], id: manifest.id).id == "a")
    #expect(throws: SourceError.self) {
      try Manifest(reading: Data(##"{"url": "https://a.example/x", "id": ["#", "name"]}"##.utf8))
    }
  }

  @Test func `another depth is found, and none where records go on`() async throws {
    #expect(try await proposal(of: Service(depth: 1000)).manifest["deepest"] == 1000)
    // Where the pages before are refused as well, nothing is proved.
    let shallow = try await proposal(of: Service(depth: 700))
    #expect(shallow.manifest["deepest"] == nil)
    #expect(
      lines(shallow.proposal)["depth"]
        == "–: requested records after 10000 and after 1000: no limit is proved, so a sync reads to the end"
    )
    let whole = try await proposal(of: Service(depth: nil))
    #expect(whole.manifest["deepest"] == nil)
    #expect(lines(whole.proposal)["depth"] == "–: record 10001 of 12000 was sent")
  }

  @Test(arguments: ["/things/search?lang=en", "/things.json", "/things"])
  func `knows the usual forms of the URL of a record`(path: String) async throws {
    let rows: JSON = .array((1...3).map { ["id": .integer($0), "name": .string("thing")] })
    let server = try LoopbackServer { request in
      switch request.path {
      case "/things/3" where path != "/things.json", "/things/3.json" where path == "/things.json":
        .json(#"{"id": 3, "name": "thing"}"#)
      case "/things/search", "/things.json", "/things":
        .json((["items": rows, "total": 3] as JSON).text)
      default: .json("{}", status: 404)
      }
    }
    let proposal = try await Proposal(
      for: "things", from: ["url": .string("\(server.baseURL)\(path)"), "rate": "off"],
      isSingle: true, isProbing: true,
      in: PluginEnvironment(settings: SourceSettings(), transport: LongTimeoutTransport()))
    let ending = path == "/things.json" ? ".json" : ""
    #expect(proposal.json["item"] == .string("\(server.baseURL)/things/{id}\(ending)"))
  }

  @Test func `a rate limit ends the probe, and keeps what was proved before`() async throws {
    let sent = try await proposal(of: Service(), isProbing: false).requests.count
    let (probed, manifest, requests) = try await proposal(of: Service(most: sent + 1))
    #expect(probed.isProved && manifest["item"] != nil && manifest["search"] == nil)
    #expect(requests.count == sent + 2)
    #expect(probed.warnings.last?.hasPrefix("nothing else was tried: ") == true)
  }
}

/// Counts the requests of a server.
final class ScriptedCount: Sendable {
  private let count = Mutex(0)

  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
