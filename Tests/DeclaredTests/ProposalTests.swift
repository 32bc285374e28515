import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorInference
@testable import DeclaredSource

/// The inference about made-up services, and the reading of all of their records by its result.
struct ProposalTests {
  private static let count = 47

  private static func row(_ index: Int) -> JSON {
    ["id": .integer(1000 + index), "name": .string("thing \(index)"), "size": .integer(index % 3)]
  }

  private static func slice(_ start: Int, _ size: Int) -> [JSON] {
    (0..<count).dropFirst(max(start, 0)).prefix(size).map(row)
  }

  /// The square of its number of members would take an hour.
  @Test(.timeLimit(.minutes(10)))
  func `a row with very many members takes time in proportion to them`() throws {
    let wide = JSON.object((0..<200_000).map { JSON.Member("key\($0)", .integer($0)) })
    let rows: [JSON] = [wide] + (0..<200_000).map { ["id": .integer($0)] }
    let url = try #require(URL(string: "https://a.example/things"))
    let exchange = Exchange(url: url, body: nil, headers: [], document: .array(rows))
    let candidate = try #require(exchange.rowsCandidates().first)
    #expect(candidate.path == Manifest.RowsPath(.root))
    #expect(candidate.rows.count == rows.count)
    #expect(IDInference(rows: [wide, wide], noun: nil).best == nil)
    let fields = FieldInference(rows: rows, id: []).fields
    #expect(fields.count == Manifest.maxFields)
    let lists = JSON.object((0..<20_000).map { .init("list\($0)", [["id": 1], ["id": 2]]) })
    let other = Exchange(url: url, body: nil, headers: [], document: lists)
    #expect(other.rowsCandidates().count == 20_000)
  }

  @Test func `of two members with one name, the first may be the ID`() throws {
    let texts = [#"{"a": 1, "key": "x"}"#, #"{"a": 2, "key": true, "key": "y"}"#]
    let rows = try texts.map { try #require(JSON(inOrder: Data($0.utf8))) }
    #expect(rows.last == ["a": 2, "key": true])
    #expect(IDInference(rows: rows, noun: nil).unique == [JSONPath("a")])
  }

  @Test func `a number of the row is an ID before a name, if no two rows have the same`() {
    func best(_ name: String, _ values: [JSON], isTable: Bool = true) -> [String]? {
      let rows = zip(values, ["Apple", "Pear", "Plum"]).map { value, fruit in
        JSON.object([.init(name, value), .init("Name", .string(fruit))])
      }
      return IDInference(rows: rows, noun: nil, isTable: isTable).best?.map(\.description)
    }
    for name in ["Nr", "no", "Num", "number", "Nummer", "SKU"] {
      #expect(best(name, [1, 2, 3], isTable: false) == [name], "\(name)")
      #expect(best(name, [1, 1, 2]) == ["Name"], "\(name)")
    }
    #expect(best("#", [1, 2, 3]) == ["\"#\""])
    #expect(best("No", ["A-1", "A-2", "B-1"]) == ["No"])
    #expect(best("No", ["yes", "no", "perhaps"]) == ["Name"])
    // The first column of a table, whatever its name.
    #expect(best("Rank", [3, 1, 2]) == ["Rank"])
    #expect(best("Rank", [3, 1, 2], isTable: false) == ["Name"])
    #expect(best("Rank", [.number(0.5), 1, 2]) == ["Name"])
  }

  @Test func `a member id that few rows lack or repeat is the ID, and the rows are damaged`() {
    func best(_ ids: [JSON], _ language: (Int) -> String = { _ in "en" }) -> [String]? {
      let rows = ids.enumerated().map { index, id -> JSON in
        ["id": id, "title": .string("title \(index)"), "lang": .string(language(index))]
      }
      return IDInference(rows: rows, noun: nil).best?.map(\.description)
    }
    let ids = (0..<40).map { JSON.integer($0) }
    for (id, count) in [("", 1), (5, 1), (5, 2)] as [(JSON, Int)] {
      #expect(best(Array(repeating: id, count: count) + ids.dropFirst(count)) == ["id"])
    }
    #expect(best([5, 5, 5] + ids.dropFirst(3)) == ["title"])
    #expect(best([5] + ids.prefix(10).dropFirst()) == ["title"])
    #expect(best((0..<40).map { .integer($0 / 2) }) == ["title"])
    // The same record in two languages.
    #expect(best([5] + ids.dropFirst()) { $0 == 0 ? "de" : "en" } == ["title"])
  }

  @Test func `what is no field is named`() {
    let count = Manifest.maxFields + 6
    let wide = JSON.object((0..<count).map { JSON.Member("m\($0)", .integer($0)) })
    let row: JSON = [
      "id": 1, "name": "a", "tags": ["x"], "none": [], "lines": [["sku": 1]], "grid": [[1]],
      "maker": [
        "name": "b", "plants": ["c"], "owner": ["name": "d", "home": ["city": "e"]], "empty": [],
      ],
      "mixed": "text",
    ]
    let other: JSON = ["id": 2, "lines": [], "mixed": [["x": 1]], "late": [["y": 1]]]
    let nested = FieldInference(rows: [row, other], id: [.root.appending("id")])
    let fields = nested.fields
    #expect(
      Set(fields.map(\.name)) == [
        "name", "tags", "maker.name", "maker.plants", "maker.owner.name", "mixed",
      ])
    let leftOut = nested.leftOut(of: fields)
    #expect(leftOut.values.isEmpty)
    #expect(
      leftOut.nested.map(\.fieldName) == [
        "lines", "grid", "maker.owner.home", "late",
      ])
    let many = FieldInference(rows: [wide], id: [])
    let rest = many.leftOut(of: many.fields)
    #expect(rest.nested.isEmpty && rest.values.count == 6)
    #expect(Set(rest.values + many.fields.map(\.path)).count == count)
  }

  @Test(arguments: [false, true])
  func `fields with long texts are left to the details of a record`(isTable: Bool) {
    let long = String(repeating: "word ", count: 20)
    let rows = ["a", "b", "c"].map { name -> JSON in
      [
        "body": .string("\(name)\nb"), "summary": .string("\(long)\(name)"), "name": .string(name),
        "size": 7, "page": .string("https://a.example/\(name)"), "none": nil,
      ]
    }
    let fields = FieldInference(rows: rows, id: [], isTable: isTable).fields
    #expect(Set(fields.filter { !$0.isShown }.map(\.name)) == ["body", "summary"])
    #expect(Set(fields.filter(\.isShown).map(\.name)).isSuperset(of: ["name", "size", "page"]))
  }

  /// A way to page, as a service with 47 records.
  struct Service: CustomTestStringConvertible, Sendable {
    let name: String
    let handler: @Sendable (LoopbackRequest) -> LoopbackReply
    var testDescription: String { name }

    static func number(_ request: LoopbackRequest, _ name: String) -> Int? {
      request.query[name].flatMap { Int($0) }
    }

    static let all: [Service] = [
      Service(name: "page and per_page, echoed") { request in
        let (page, size) = (number(request, "page") ?? 1, number(request, "per_page") ?? 10)
        let body: JSON = [
          "page": .integer(page), "per_page": .integer(size), "total": .integer(count),
          "results": .array(slice((page - 1) * size, size)),
        ]
        return .json(body.text)
      },
      Service(name: "pages from 0, not echoed") { request in
        .json(JSON.array(slice((number(request, "page") ?? 0) * 10, 10)).text)
      },
      Service(name: "offset and limit") { request in
        let body: JSON = [
          "offset": .integer(number(request, "offset") ?? 0), "count": .integer(count),
          "items": .array(slice(number(request, "offset") ?? 0, number(request, "limit") ?? 10)),
        ]
        return .json(body.text)
      },
      Service(name: "start from 1") { request in
        .json(JSON.array(slice((number(request, "start") ?? 1) - 1, 10)).text)
      },
      Service(name: "next link, relative") { request in
        let page = number(request, "p") ?? 1
        let body: JSON = [
          "data": .array(slice((page - 1) * 10, 10)),
          "links": ["next": page * 10 < count ? .string("?p=\(page + 1)") : nil],
        ]
        return .json(body.text)
      },
      Service(name: "Link header") { request in
        let page = number(request, "page") ?? 1
        let link = "</list?page=\(page + 1)>; rel=\"next\""
        return .ok(
          Data(JSON.array(slice((page - 1) * 10, 10)).text.utf8),
          headers: page * 10 < count ? [("Link", link)] : [])
      },
      Service(name: "token") { request in
        let start = number(request, "page_token") ?? 0
        let body: JSON = [
          "things": .array(slice(start, 10)),
          "next_page_token": start + 10 < count ? .string("\(start + 10)") : "",
        ]
        return .json(body.text)
      },
      Service(name: "last ID") { request in
        let start = number(request, "starting_after").map { $0 - 999 } ?? 0
        let body: JSON = [
          "data": .array(slice(start, 10)), "has_more": .bool(start + 10 < count),
        ]
        return .json(body.text)
      },
      Service(name: "next link by another name") { request in
        let page = number(request, "p") ?? 1
        let next: JSON = page * 10 < count ? .string("/list?p=\(page + 1)") : nil
        return .json(
          (["records": .array(slice((page - 1) * 10, 10)), "nextRecordsUrl": next] as JSON).text)
      },
      Service(name: "links with relations") { request in
        let page = number(request, "p") ?? 1
        var links: [JSON] = [["relation": "self", "url": "/list"]]
        if page * 10 < count {
          links.append(["relation": "next", "url": .string("?p=\(page + 1)")])
        }
        return .json(
          (["entry": .array(slice((page - 1) * 10, 10)), "link": .array(links)] as JSON).text)
      },
      Service(name: "token named after its parameter") { request in
        let start = number(request, "Marker") ?? 0
        let body: JSON = [
          "things": .array(slice(start, 10)),
          "NextMarker": start + 10 < count ? .string("\(start + 10)") : nil,
        ]
        return .json(body.text)
      },
      Service(name: "number of the next row") { request in
        let start = number(request, "from") ?? 0
        let body: JSON = [
          "things": .array(slice(start, 10)),
          "paging": start + 10 < count ? ["next-from": .integer(start + 10)] : [:],
        ]
        return .json(body.text)
      },
      Service(name: "next link without end") { request in
        let page = number(request, "p") ?? 1
        let body: JSON = [
          "items": .array(slice((page - 1) * 10, 10)), "next": .string("?p=\(page + 1)"),
        ]
        return .json(body.text)
      },
      Service(name: "one response") { _ in
        .json((["things": .array(slice(0, count)), "total": .integer(count)] as JSON).text)
      },
    ]
  }

  private static func propose(
    _ server: LoopbackServer, _ more: [JSON.Member] = [], isSingle: Bool = false,
    query: String = ""
  ) async throws(SourceError) -> Proposal {
    let url = "\(server.baseURL)/list\(query)"
    return try await Proposal(
      for: "things",
      from: .object(
        [
          JSON.Member("url", .string(url)), JSON.Member("rate", "off"),
          JSON.Member("timeout", "10m"),
        ] + more),
      isSingle: isSingle,
      in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport()))
  }

  @Test(arguments: Service.all)
  func `The paging is proved, and all records are read`(service: Service) async throws {
    let server = try LoopbackServer(service.handler)
    let proposal = try await Self.propose(server)
    #expect(proposal.isProved, "\(proposal.evidence)")
    #expect(proposal.warnings == [])
    #expect(proposal.manifest.id == [.root.appending("id")])
    #expect(proposal.requests <= 1 + Prober.maxProbes + 1)
    let source = try DeclaredPlugin("things", proposal.manifest).live(
      in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport()))
    var ids: [String] = []
    for try await step in source.pages(size: 7) {
      ids += step.items.map(\.id)
      #expect(step.end?.isWithoutProgress != true)
    }
    #expect(ids == (1000..<1000 + Self.count).map(\.description))
  }

  /// A service with pages of ten, each of which says where the next one is, if `way` does not leave that to be counted.
  private static func pages(by way: String) throws -> LoopbackServer {
    try LoopbackServer { request in
      let isPage = way != "cursor" && way != "skip"
      let number = Service.number(request, way) ?? (isPage ? 1 : 0)
      let start = isPage ? (number - 1) * 10 : number
      let items = slice(start, 10)
      let next = start + 10 < count ? isPage ? number + 1 : number + 10 : nil
      switch way {
      case "page":
        let link = next.map { "</list?kind=a%20b&page=\($0)>; rel=\"next\"" }
        return .status(200, JSON.array(items).text, headers: link.map { [("Link", $0)] } ?? [])
      case "cursor":
        let cursor = next.map { JSON.string("\($0)") } ?? .null
        return .json((["items": .array(items), "next_cursor": cursor] as JSON).text)
      default: return .json((["items": .array(items), "total": .integer(count)] as JSON).text)
      }
    }
  }

  @Test(arguments: [
    ("page", "2"), ("cursor", "20"), ("skip", "10"), ("p", "3"), ("page", "1"), ("cursor", "0"),
    ("skip", "0"),
  ])
  func `A URL of a later page becomes that of the list`(way: String, value: String) async throws {
    let server = try Self.pages(by: way)
    let (list, typed) = ("?kind=a%20b", "?kind=a%20b&\(way)=\(value)")
    let proposal = try await Self.propose(server, query: typed)
    #expect(proposal.isProved, "\(proposal.evidence)")
    let isLater = !["0", "1"].contains(value)
    #expect(proposal.manifest.url == "\(server.baseURL)/list\(isLater ? list : typed)")
    #expect(
      proposal.warnings
        == (isLater
          ? [
            "\(way)=\(value) is left out of the URL, because the list begins before that page: all of it is read"
          ] : []))
    #expect(proposal.manifest.laterStart == nil)
    let source = try DeclaredPlugin("things", proposal.manifest).live(
      in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport()))
    var ids: [String] = []
    for try await step in source.pages(size: 10) { ids += step.items.map(\.id) }
    #expect(ids == (1000..<1000 + Self.count).map(\.description))
  }

  @Test func `A parameter that only may be a position is kept, with a warning`() async throws {
    let server = try LoopbackServer { request in
      let since = Service.number(request, "since") ?? 999
      let rows = Self.slice(since - 999, 10)
      let link = "</list?since=\(since + 10)>; rel=\"next\""
      return .status(200, JSON.array(rows).text, headers: rows.isEmpty ? [] : [("Link", link)])
    }
    let proposal = try await Self.propose(server, query: "?since=1009")
    #expect(proposal.isProved && proposal.manifest.url.hasSuffix("/list?since=1009"))
    #expect(
      proposal.warnings == [
        "the URL names since=1009, which later pages change: records before it are not read"
      ])
  }

  @Test func `A position goes beside the page size in the body`() async throws {
    let server = try LoopbackServer { request in
      let options = JSON(inOrder: request.body)?["options"]
      let (page, size) = (options?["page"]?.wholeNumber ?? 1, options?["limit"]?.wholeNumber ?? 5)
      return .json(
        (["docs": .array(Self.slice((page - 1) * size, size)), "page": .integer(page)] as JSON).text
      )
    }
    let proposal = try await Self.propose(
      server, [JSON.Member("body", ["options": ["limit": 20]])])
    #expect(proposal.manifest.paging.step == .page(.init(name: "options.page", value: 1)))
    #expect(proposal.isProved)
  }

  @Test func `A position goes into the brackets of the page size`() async throws {
    let server = try LoopbackServer { request in
      let page = Service.number(request, "page[number]") ?? 1
      let size = Service.number(request, "page[size]") ?? 5
      return .json((["data": .array(Self.slice((page - 1) * size, size))] as JSON).text)
    }
    let proposal = try await Self.propose(server, [JSON.Member("size", "page[size]=20")])
    #expect(proposal.manifest.paging.step == .page(.init(name: "page[number]", value: 1)))
    #expect(proposal.isProved)
  }

  @Test func `A token that every page repeats works once`() async throws {
    let requests = Mutex(0)
    let server = try LoopbackServer { request in
      let start = request.query["cursor"] == "*" ? 0 : requests.withLock(\.self)
      requests.withLock { $0 = start + 10 }
      return .json((["items": .array(Self.slice(start, 10)), "next-cursor": "abc"] as JSON).text)
    }
    let proposal = try await Self.propose(
      server, [JSON.Member("next", "next-cursor"), JSON.Member("token", "cursor=*")])
    #expect(proposal.isProved)
    #expect(proposal.manifest.paging.tokenOnce)
    let source = try DeclaredPlugin("things", proposal.manifest).live(
      in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport()))
    var ids: [String] = []
    for try await step in source.pages(size: 10) { ids += step.items.map(\.id) }
    #expect(ids == (1000..<1000 + Self.count).map(\.description))
  }

  @Test func `As many rows as were asked for are not taken for all`() async throws {
    let server = try LoopbackServer { _ in
      .json((["items": .array(Self.slice(0, 10))] as JSON).text)
    }
    let proposal = try await Self.propose(server, [JSON.Member("size", "quantity=10")])
    #expect(proposal.manifest.paging.proof == .unproved)
  }

  @Test func `A page size that the service does not keep to is replaced by its own`() async throws {
    let server = try LoopbackServer { request in
      let page = Service.number(request, "page") ?? 1
      return .json(JSON.array(Self.slice((page - 1) * 10, 10)).text)
    }
    let proposal = try await Self.propose(server, [JSON.Member("size", "per_page=500")])
    #expect(proposal.isProved)
    #expect(proposal.manifest.paging.size?.value == 10)
    #expect(proposal.warnings == ["the service sends 10 rows a page instead of 500"])
    let source = try DeclaredPlugin("things", proposal.manifest).live(
      in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport()))
    var count = 0
    for try await step in source.pages(size: 20) { count += step.items.count }
    #expect(count == Self.count)
  }

  @Test func `A page that is shorter than others is not the last without a total`() async throws {
    let server = try LoopbackServer { request in
      let start = Service.number(request, "offset") ?? 0
      let size = start < 20 ? 10 : 4
      let body: JSON = [
        "offset": .integer(start), "limit": .integer(size),
        "items": .array(Self.slice(start, size)),
      ]
      return .json(body.text)
    }
    let manifest = try await Self.propose(server).manifest
    let source = try DeclaredPlugin("things", manifest).live(
      in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport()))
    var ids: [String] = []
    for try await step in source.pages(size: 20) { ids += step.items.map(\.id) }
    #expect(ids == (1000..<1000 + Self.count).map(\.description))
  }

  @Test func `An ID that no row has is refused`() async throws {
    let server = try LoopbackServer { _ in
      .json((["total": .integer(10), "items": .array(Self.slice(0, 10))] as JSON).text)
    }
    let proposal = try await Self.propose(server, [JSON.Member("id", "idd")])
    #expect(!proposal.isComplete)
    #expect(!proposal.isProved)
  }

  /// Pages of ten, whatever was asked for.
  private static func pages() throws -> LoopbackServer {
    try LoopbackServer { request in
      let page = Service.number(request, "page") ?? 1
      let body: JSON = [
        "page": .integer(page), "kind": "list", "has_more": .bool(page * 10 < count),
        "items": .array(slice((page - 1) * 10, 10)),
      ]
      return .json(body.text)
    }
  }

  @Test(arguments: [
    ("has_more", "true", true), ("!done", "no value", true), ("foo", "no value", false),
    ("kind", "\"list\"", false), ("!has_more", "true", false),
  ])
  func `A flag of further pages is compared with them`(
    path: String, value: String, isRight: Bool
  ) async throws {
    let proposal = try await Self.propose(
      try Self.pages(), [JSON.Member("more", .string(path))])
    #expect(proposal.isProved == isRight && proposal.isPagingProved)
    #expect(
      proposal.evidence.contains {
        $0.key == "more" && $0.value == path && $0.reason == "\(value) on page 1"
      }, "\(proposal.evidence)")
    #expect(proposal.disproved == (isRight ? [] : ["more"]))
    #expect(
      proposal.warnings
        == (isRight
          ? []
          : [
            "\"\(path)\" does not say whether there are more pages: \(value) on page 1; "
              + "this looks like it: has_more"
          ]))
  }

  @Test func `A flag of further pages that the only page does not have is kept`() async throws {
    let server = try LoopbackServer { _ in
      .json((["items": .array(Self.slice(0, 9)), "total": 9] as JSON).text)
    }
    let proposal = try await Self.propose(server, [JSON.Member("more", "next_page")])
    #expect(proposal.isProved && proposal.warnings == [])
  }

  @Test(arguments: [("nope=7", "–"), ("nope=10", "nope=10")])
  func `A page size that the service ignores is left out`(
    size: String, saved: String
  ) async throws {
    let proposal = try await Self.propose(
      try Self.pages(), [JSON.Member("size", .string(size))])
    #expect(proposal.isProved)
    #expect(proposal.manifest.paging.size?.description ?? "–" == saved)
    let line = try #require(proposal.evidence.first { $0.key == "size" })
    #expect(line.value == saved)
    #expect(line.reason == "10 rows on page 1" + (size == saved ? "" : " for nope=7"))
    #expect(
      proposal.warnings
        == (size == saved
          ? [] : ["the page size is left out: the service sends 10 rows on page 1 for nope=7"]))
  }

  @Test func `A total that is not there is refused, and the one that is there is named`()
    async throws
  {
    let server = try LoopbackServer { _ in .json(JSON.array(Self.slice(0, 9)).text) }
    let proposal = try await Self.propose(server, [JSON.Member("total", "foo")])
    #expect(proposal.warnings == ["there is no number at \"foo\""])
    #expect(proposal.disproved == ["total"])
    #expect(proposal.isPagingProved && !proposal.isProved)
    let said = try LoopbackServer { _ in
      .json((["items": .array(Self.slice(0, 9)), "meta": ["total": 9]] as JSON).text)
    }
    let named = try await Self.propose(said, [JSON.Member("total", "total")])
    #expect(
      named.warnings == [
        "there is no number at \"total\"; the number of all records may be at meta.total"
      ])
    #expect(try await Self.propose(said, [JSON.Member("total", "meta.total")]).isProved)
    let empty = try LoopbackServer { _ in .json("[]") }
    let told = [JSON.Member("total", "foo"), JSON.Member("id", "id")]
    #expect(try await Self.propose(empty, told, isSingle: true).isProved)
  }

  @Test(arguments: [
    ("http://a.example/1", "html_url"), ("http://127.0.0.1/1", "html_url"),
    ("http://127.0.0.1/list/1", "–"),
  ])
  func `The web page of a record is named, and is none of the service's own URLs`(
    page: String, path: String
  ) async throws {
    let server = try LoopbackServer { _ in
      .json((["total": 1, "items": [["id": 1, "html_url": .string(page)]]] as JSON).text)
    }
    let proposal = try await Self.propose(server)
    #expect(proposal.evidence.contains { $0.key == "link" && $0.value == path })
    #expect(proposal.manifest.link?.description ?? "–" == path)
    let reason = proposal.evidence.first { $0.key == "link" }?.reason ?? ""
    #expect(reason.contains("html_url is on the host of the list") == (path == "–"), "\(reason)")
  }

  @Test(arguments: [
    ("http://127.0.0.1/1", "url is on the host of the list, as URLs of an API are"),
    (
      "http://a.example/1.png",
      "no field such as html_url has a web page: records have none to open"
    ),
  ])
  func `The reason that a URL is no web page of a record is named`(
    page: String, reason: String
  ) async throws {
    let server = try LoopbackServer { _ in
      .json((["total": 1, "items": [["id": 1, "url": .string(page)]]] as JSON).text)
    }
    let proposal = try await Self.propose(server)
    #expect(proposal.manifest.link == nil)
    #expect(proposal.evidence.first { $0.key == "link" }?.reason == reason)
  }

  @Test func `Fields that are told stay as they are, and others that rows have come after them`()
    async throws
  {
    let server = try LoopbackServer { _ in
      .json(
        """
        [{"id": 1, "name": "a", "stock": null, "note": "run 3", "tone": "x", "deep": {"x": 1}},
         {"id": 2, "name": "b", "stock": null, "note": null, "tone": "y", "deep": {"x": 2}}]
        """)
    }
    let told: JSON = [
      "stock", ["name": "tone", "path": "name", "search": false], "deep.*", "gone.*.x", "lost",
    ]
    let proposal = try await Self.propose(
      server, [JSON.Member("id", "id"), JSON.Member("fields", told)], isSingle: true)
    // One that is null in all rows is still there; one whose name is taken by a person gets none.
    #expect(
      proposal.json["fields"] == [
        "stock", ["name": "tone", "path": "name", "search": false], "deep.*", "deep.x", "note",
      ], "\(proposal.json)")
    let leftOut = proposal.evidence.filter { $0.key == "left out" }.map {
      "\($0.value): \($0.reason)"
    }
    #expect(
      leftOut == [
        "tone: other fields have their names", "gone.x, lost: no row that was read has them",
      ])
    #expect(
      proposal.evidence.contains { $0.key == "fields" && $0.value.hasSuffix(", deep.x, note") })
  }

  @Test func `A column beside those that are told has the kind of its texts`() async throws {
    let server = try LoopbackServer { _ in
      .status(
        200, "id,price,size\n1,7.5,10\n2,8.5,20\n", headers: [("Content-Type", "text/csv")])
    }
    let told = [
      JSON.Member("id", "id"), JSON.Member("format", "csv"), JSON.Member("fields", ["price"]),
      JSON.Member("kinds", ["id": "number"]),
    ]
    let proposal = try await Self.propose(server, told, isSingle: true)
    #expect(proposal.json["fields"] == ["price", "size"])
    // A text that a person has chosen stays one.
    #expect(proposal.json["kinds"] == ["id": "number", "size": "number"])
  }

  @Test func `A web page that is told is taken if it is a URL, and else left out`() async throws {
    let row: JSON = ["id": 1, "url": "http://a.example/api/1", "web": "http://a.example/1"]
    let server = try LoopbackServer { _ in .json((["total": 1, "items": [row]] as JSON).text) }
    #expect(try await Self.propose(server).manifest.link?.description == "url")
    let named = try await Self.propose(server, [JSON.Member("link", "web")])
    #expect(named.manifest.link?.description == "web" && named.warnings == [])
    let wrong = try await Self.propose(server, [JSON.Member("link", "wbe")])
    #expect(wrong.manifest.link == nil && wrong.isProved == named.isProved)
    #expect(wrong.warnings == ["the web page is left out: no row has a URL at \"wbe\""])
  }

  @Test func `Rows that nothing identifies are no proof, unless one response has all of them`()
    async throws
  {
    let rows = JSON.array((0..<12).map { ["color": $0 % 2 == 0 ? "red" : "blue"] })
    let server = try LoopbackServer { _ in .json((["items": rows, "total": 12] as JSON).text) }
    let single = try await Self.propose(server)
    #expect(single.isProved && single.warnings == [])
    #expect(single.json["id"] == "#")
    let reason = single.evidence.first { $0.key == "id" }?.reason
    #expect(
      reason
        == "the number of the row: no member is different in all rows: color is red in more than one row"
    )
    // A search sends other rows.
    let proposal = try await Self.propose(
      server, [JSON.Member("search", .string("url:\(server.baseURL)/{query}"))])
    #expect(!proposal.isComplete)
    #expect(!proposal.isProved)
    #expect(proposal.warnings == ["nothing identifies a row: name the members that do"])
  }

  /// Members of rows, and which of them identifies a row of this noun.
  @Test(arguments: [
    (#"{"safetyreportid": "58§", "companynumb": "JP§"}"#, "events", "safetyreportid"),
    (#"{"uri": "/x/§.json", "sid": "SM§"}"#, "messages", "sid"),
    (#"{"name": "n§", "namespace": "library"}"#, "results", "namespace, name"),
    (#"{"FunctionName": "f§", "RevisionId": "r§"}"#, "Functions", "FunctionName"),
    (#"{"_primaryImageId": "20§", "systemNumber": "O§"}"#, "records", "systemNumber"),
    (#"{"post": {"id": 5§}, "counts": {"post_id": 5§}}"#, "posts", "post.id"),
    (#"{"package": {"name": "@x/p§"}, "searchScore": 0.5§}"#, "objects", "package.name"),
  ])
  func `The ID is the member that names the row itself`(
    row: String, noun: String, id: String
  ) async throws {
    let rows = (0..<20).map { row.replacing("§", with: "\($0)") }.joined(separator: ",")
    let server = try LoopbackServer { _ in .json("{\"\(noun)\": [\(rows)], \"total\": 20}") }
    let proposal = try await Self.propose(server)
    #expect(proposal.manifest.id.map(\.description).joined(separator: ", ") == id)
  }

  @Test func `A parameter that the service ignores is not the paging`() async throws {
    let server = try LoopbackServer { _ in
      .json((["total": .integer(Self.count), "items": .array(Self.slice(0, 10))] as JSON).text)
    }
    let proposal = try await Self.propose(server, [JSON.Member("page", "page=1")])
    #expect(!proposal.isProved)
    #expect(proposal.manifest.paging.proof == .unproved)
    #expect(proposal.warnings == ["paging is not proved: page changes nothing"])
    let source = try DeclaredPlugin("things", proposal.manifest).live(
      in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport()))
    let page = try await source.page(PageRequest(limit: 100))
    #expect(page.next != nil || page.warnings.map(\.code.description).contains("unproved"))
  }

  @Test func `Rows that vary from one request to the next are told by their IDs`() async throws {
    let requests = Mutex(0)
    let server = try LoopbackServer { _ in
      let request = requests.withLock { count in
        count += 1
        return count
      }
      let rows = (0..<40).map { index -> JSON in
        ["id": .integer(index), "text": .string("\(request)-\(index)")]
      }
      return .json(JSON.array(rows).text)
    }
    let proposal = try await Self.propose(server)
    #expect(!proposal.isProved && proposal.manifest.paging.proof == .unproved)
    #expect(proposal.manifest.id.map(\.description) == ["id"])
    let reason = proposal.evidence.first { $0.key == "paging" }?.reason ?? ""
    #expect(reason.hasSuffix("every id of page 1 is repeated on page 2, so the paging is doubtful"))
  }

  @Test func `A number that changes with the page is no total`() async throws {
    let server = try LoopbackServer { request in
      let start = Service.number(request, "offset") ?? 0
      return .json(
        (["total": .integer(start + 20), "items": .array(Self.slice(start, 10))] as JSON).text)
    }
    let proposal = try await Self.propose(server)
    #expect(proposal.isProved && proposal.manifest.total == nil, "\(proposal.evidence)")
    let reason = proposal.evidence.first { $0.key == "total" }?.reason
    #expect(reason == "total is 20 on page 1 and 30 on page 2: no total")
  }

  @Test func `A page that begins with the last row of the first one is the second, and said`()
    async throws
  {
    let server = try LoopbackServer { request in
      let page = Service.number(request, "page") ?? 1
      return .json((["items": .array(Self.slice((page - 1) * 9, 10))] as JSON).text)
    }
    let proposal = try await Self.propose(server)
    #expect(proposal.isProved, "\(proposal.evidence)")
    #expect(proposal.manifest.paging.step == .page(.init(name: "page", value: 1)))
    #expect(proposal.manifest.id.map(\.description) == ["id"])
    let reason = proposal.evidence.first { $0.key == "paging" }?.reason
    #expect(reason == "page 2 fetched: 9 new rows, 1 repeated")
    #expect(
      proposal.warnings == [
        "page 2 begins with the last row of page 1: the list has changed meanwhile, or its pages overlap; "
          + "lists and syncs say if records come again"
      ])
  }

  @Test func `A next link to another host is refused, and never requested`() async throws {
    let other = try LoopbackServer { _ in .json("[]") }
    let server = try LoopbackServer { _ in
      .json(
        (["items": .array(Self.slice(0, 10)), "next": .string("http://localhost:\(other.port)/x")]
          as JSON).text)
    }
    let error = await #expect(throws: SourceError.self) { try await Self.propose(server) }
    #expect(error?.code == .rejected)
    #expect(other.requests.isEmpty)
  }

  @Test(
    arguments: [
      (#"{"a1": {"n": 1, "name": "x"}, "b2": {"n": 2, "name": "y"}}"#, "{}"),
      (#"{"count": 2, "things": {"a1": {"n": 1}, "b2": {"n": 2}}}"#, "things.{}"),
      (#"{"a1": {"n": 1, "tags": [{"t": 1}]}, "b2": {"n": 2, "tags": [{"t": 2}]}}"#, "{}"),
      (
        #"{"data": {"a1": {"tags": [{"t": 1}]}, "b2": {"tags": []}, "c3": {"tags": [{"t": 2}]}}}"#,
        "data.{}"
      ),
      // Parts of a record, and lists of several kinds.
      (#"{"billing": {"city": "x"}, "shipping": {"city": "y"}}"#, nil),
      (#"{"a1": {"n": 1}, "b2": {"m": 2}}"#, nil),
      (
        #"{"data": {"things": [{"id": 1}, {"id": 2}], "x": {"owners": [{"id": 3}]}}}"#,
        "data.things"
      ),
      (#"{"a1": [{"id": 1}, {"id": 2}], "b": [{"id": 3}]}"#, "a1"),
    ] as [(String, String?)])
  func `The members of an object are records if they are alike and named like IDs`(
    text: String, path: String?
  ) throws {
    let url = try #require(URL(string: "https://a.example/list"))
    let document = try #require(JSON(inOrder: Data(text.utf8)))
    let exchange = Exchange(url: url, body: nil, headers: [], document: document)
    #expect(exchange.rowsCandidates().first?.path.description == path)
  }

  @Test func `Records have the names of their members as IDs`() async throws {
    let server = try LoopbackServer { _ in
      .json(#"{"a1": {"name": "x", "tags": [{"t": 1}]}, "b2": {"name": "y", "tags": [{"t": 2}]}}"#)
    }
    let proposal = try await Self.propose(server, isSingle: true)
    #expect(proposal.isProved && proposal.warnings == [], "\(proposal.warnings)")
    let page = try await DeclaredPlugin("things", proposal.manifest).remote(
      in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport())
    ).page(PageRequest(limit: 10))
    #expect(page.records.map(\.id) == ["a1", "b2"])
  }

  @Test func `A rate limit ends the search for the paging`() async throws {
    let server = try LoopbackServer { request in
      request.rawQuery == nil
        ? .json(JSON.array(Self.slice(0, 10)).text)
        : .status(429, headers: [("Retry-After", "3600")])
    }
    let error = await #expect(throws: SourceError.self) { try await Self.propose(server) }
    #expect(error?.code == .rateLimited)
    #expect(error?.retryAfter == .seconds(3600))
    #expect(server.requests.count == 2)
  }

  @Test func `A page that is not JSON proves nothing`() async throws {
    let server = try LoopbackServer { request in
      request.query["page"] == nil
        ? .json((["page": 1, "items": .array(Self.slice(0, 10))] as JSON).text)
        : .html(title: "Sign in")
    }
    let proposal = try await Self.propose(server)
    #expect(!proposal.isProved)
  }

  @Test(arguments: ["page=1", "skip=0", "start=1"])
  func `An empty page after the only one proves its parameter, by which a longer list is read`(
    parameter: String
  ) async throws {
    let count = Mutex(5)
    let server = try LoopbackServer { request in
      let start =
        switch parameter {
        case "page=1": ((Service.number(request, "page") ?? 1) - 1) * 10
        case "skip=0": Service.number(request, "skip") ?? 0
        default: (Service.number(request, "start") ?? 1) - 1
        }
      let rows = Self.slice(0, count.withLock(\.self)).dropFirst(start).prefix(10)
      return .json(JSON.array(Array(rows)).text)
    }
    let proposal = try await Self.propose(server)
    #expect(proposal.isProved, "\(proposal.evidence)")
    #expect(proposal.manifest.paging.proof == .proved)
    #expect(proposal.manifest.paging.step?.text == parameter)
    #expect(proposal.warnings == [])
    count.withLock { $0 = Self.count }
    let source = try DeclaredPlugin("things", proposal.manifest).live(
      in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport()))
    var ids: [String] = []
    for try await step in source.pages(size: 20) { ids += step.items.map(\.id) }
    #expect(ids == (1000..<1000 + Self.count).map(\.description))
  }

  @Test func `A page parameter that is told is proved by an empty page without a control`()
    async throws
  {
    let server = try LoopbackServer { request in
      .json(JSON.array(Service.number(request, "page") == 1 ? Self.slice(0, 5) : []).text)
    }
    let proposal = try await Self.propose(
      server, [JSON.Member("page", "page=1"), JSON.Member("size", "per_page=100")])
    #expect(proposal.manifest.paging.proof == .proved)
    #expect(proposal.requests == 2)
    // Five rows do not show that the service sends a hundred.
    #expect(proposal.manifest.paging.size == nil)
    #expect(proposal.warnings.count == 1)
  }

  @Test func `An empty reply to every parameter proves nothing`() async throws {
    let server = try LoopbackServer { request in
      .json(JSON.array(request.rawQuery == nil ? Self.slice(0, 5) : []).text)
    }
    let proposal = try await Self.propose(server)
    #expect(proposal.manifest.paging.proof == .unproved)
    #expect(proposal.requests <= 1 + Prober.maxProbes + 1)
  }

  @Test func `An empty page does not prove the end of a list that says it has more`() async throws {
    let server = try LoopbackServer { request in
      let rows = Service.number(request, "page") ?? 1 == 1 ? Self.slice(0, 5) : []
      return .json((["total": 99, "items": .array(rows)] as JSON).text)
    }
    #expect(try await Self.propose(server).manifest.paging.proof == .unproved)
  }

  @Test(arguments: ["[]", #"{"items": [], "total": 0}"#])
  func `An empty list shows nothing, and is completed by an ID and its paging`(
    body: String
  ) async throws {
    let server = try LoopbackServer { _ in .json(body) }
    let empty = try await Self.propose(server)
    #expect(empty.hasNoRows)
    #expect(!empty.isComplete)
    #expect(server.requests.count == 1)
    let unproved = try await Self.propose(server, [JSON.Member("id", "id")])
    #expect(unproved.isComplete)
    #expect(!unproved.isProved)
    let told = try await Self.propose(server, [JSON.Member("id", "id")], isSingle: true)
    #expect(told.isProved)
    #expect(told.manifest.total == nil)
    #expect(
      told.warnings == [
        "the list is empty, so no fields are known: replace the source when it has records"
      ])
  }

  /// Paths of the next page that are told, and what is said about them.
  @Test(arguments: [
    (
      "meta.next", "token",
      "\"meta.next\" has no value in this response; this looks like it: meta.next_cursor"
    ),
    ("meta.none", "token", "\"meta.none\" is null in this response"),
    ("items", "link", "\"items\" is neither a link nor a token: [{\"id\":1000,"),
    ("header:Link", "link", "\"header:Link\" has no value in this response"),
  ])
  func `A next page that is not where it was told is named`(
    path: String, kind: String, message: String
  ) async throws {
    let server = try LoopbackServer { _ in
      .json(
        ([
          "items": .array(Self.slice(0, 10)), "meta": ["next_cursor": "abc", "none": .null],
        ] as JSON).text)
    }
    let token = kind == "token" ? [JSON.Member("token", "cursor")] : []
    let proposal = try await Self.propose(
      server, [JSON.Member("next", .string(path))] + token)
    #expect(proposal.manifest.paging.proof == .unproved)
    #expect(proposal.warnings.count == 1)
    #expect(
      proposal.warnings.first?.hasPrefix("paging is not proved: \(message)") == true,
      "\(proposal.warnings)")
  }

  @Test func `All members of an object are parameters of the next page`() async throws {
    let server = try LoopbackServer { request in
      let start = Service.number(request, "offset") ?? 0
      let next: [JSON.Member] =
        start + 10 < Self.count
        ? [
          JSON.Member(
            "continue", ["offset": .integer(start + 10), "continue": "-||"])
        ] : []
      return .json(
        JSON.object(next + [JSON.Member("items", .array(Self.slice(start, 10)))]).text)
    }
    let proposal = try await Self.propose(server, [JSON.Member("next", "continue.*")])
    #expect(proposal.isProved, "\(proposal.evidence)")
    #expect(proposal.manifest.paging.step == .link(next: .body(.root.appending("continue"))))
  }

  @Test(arguments: ["items.*.id", "last.*", "a.*.*", "$", "*"])
  func `A next page at several places is refused`(path: String) async throws {
    let server = try LoopbackServer { _ in .json("[]") }
    let error = await #expect(throws: SourceError.self) {
      try await Self.propose(server, [JSON.Member("next", .string(path))])
    }
    #expect(error?.code == .invalidSettings)
    #expect(error?.message.contains("\"next\" must be a path to one link or token") == true)
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: [#"{"message": "hello"}"#, #"{"errors": []}"#, "[1, 2]", "7"])
  func `A response without a list of objects is an error`(body: String) async throws {
    let server = try LoopbackServer { _ in .json(body) }
    let error = await #expect(throws: SourceError.self) { try await Self.propose(server) }
    #expect(error?.code == .malformed)
    #expect(error?.message == "the response has no list of objects")
  }

  @Test func `Rows that are lists have no names, but positions`() async throws {
    for (body, path) in [
      (#"{"columns": ["id", "n"], "rows": [[1, "a"], [2, "b"]]}"#, "rows"),
      (
        #"{"data": {"rows": [[1, "a"], [2, "b"]], "cols": [{"name": "id"}, {"name": "n"}]}}"#,
        "data.rows"
      ), (#"[[1, "a"], [2, "b"]]"#, "$"),
    ] {
      let server = try LoopbackServer { _ in .json(body) }
      let rows = JSON.Member("rows", .string(path))
      for hints in [[], [rows]] {
        let error = await #expect(throws: SourceError.self) {
          try await Self.propose(server, hints, isSingle: true)
        }
        #expect(error?.code == .malformed)
        #expect(error?.message == "the rows at \(path) are lists of values without names")
      }
      let told = try await Self.propose(server, [rows, .init("id", "0")], isSingle: true)
      #expect(told.isProved, "\(told.evidence)")
    }
  }

  @Test func `Where most elements are objects, the others are said, and are no part of the ID`()
    async throws
  {
    let rows = Self.slice(0, 14)
    let damaged = JSON.array(rows.prefix(6) + [JSON.string("gone")] + rows.dropFirst(6))
    let few = JSON.array([JSON.string("gone")] + rows.prefix(2))
    for (body, given, path, count) in [
      (["data": damaged], nil, "data", 14), (["data": damaged], "data", "data", 14),
      (damaged, nil, "$", 14), (damaged, "$", "$", 14), (few, nil, "$", 2),
    ] as [(JSON, String?, String, Int)] {
      let server = try LoopbackServer { _ in .json(body.text) }
      let hints = given.map { [JSON.Member("rows", .string($0))] } ?? []
      let proposal = try await Self.propose(server, hints)
      let words = "1 of \(count + 1) rows is not an object and cannot be read"
      #expect(proposal.isProved && proposal.isPartial)
      #expect(proposal.warnings == [words])
      #expect(proposal.manifest.rows?.description == path)
      #expect(proposal.manifest.id == [.root.appending("id")])
      #expect(proposal.rowCount == count && proposal.rows.allSatisfy(\.isObject))
      let reasons = Dictionary(proposal.evidence.map { ($0.key, $0.reason) }) { first, _ in first }
      #expect(reasons["rows"]?.hasSuffix("; \(words)") == true, "\(reasons)")
      #expect(reasons["id"] == "unique in all \(count) rows")
    }
  }

  @Test func `The same damaged rows on each page do not disprove the paging`() async throws {
    let rows: [JSON] = (0..<12).flatMap { Self.slice($0 * 4, 4) + [JSON.string("gone")] }
    let server = try LoopbackServer { request in
      let start = Service.number(request, "offset") ?? 0
      return .json(JSON.array(Array(rows.dropFirst(start).prefix(10))).text)
    }
    let proposal = try await Self.propose(server)
    #expect(proposal.isProved, "\(proposal.evidence)")
    #expect(proposal.manifest.paging.step == .offset(Manifest.Parameter(name: "offset", value: 0)))
    #expect(proposal.warnings == ["4 of 20 rows are not objects and cannot be read"])
  }

  @Test func `The numbers of rows are no IDs of texts`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"tags": ["a", "b", "c"]}"#) }
    let rows = JSON.Member("rows", "tags")
    let proposal = try await Self.propose(server, [rows], isSingle: true)
    #expect(!proposal.isComplete && proposal.choices["id"] == ["$"])
    let told = try await Self.propose(server, [rows, JSON.Member("id", "$")], isSingle: true)
    #expect(told.isProved && told.warnings.isEmpty, "\(told.warnings)")
  }

  @Test func `A record with an empty list is no list, but an answer with an ID may have one`()
    async throws
  {
    let record = try LoopbackServer { _ in .json(#"{"id": 3, "name": "x", "tags": []}"#) }
    let error = await #expect(throws: SourceError.self) { try await Self.propose(record) }
    #expect(error?.message == "the response is a single record")
    let answer = try LoopbackServer { _ in .json(#"{"id": 1, "result": []}"#) }
    _ = try await Self.propose(answer)
  }

  @Test func `A member id that repeats, or that rows lack, is named as the reason it is no ID`()
    async throws
  {
    for (rows, words) in [
      (#"[{"id": 1, "n": 1.5}, {"id": 1, "n": 1.5}, {"n": 2.5}]"#, "id is 1 in more than one row"),
      (#"[{"id": 1, "n": 1.5}, {"n": 1.5}, {"n": 2.5}]"#, "id has no value in 2 of 3 rows"),
    ] as [(String, String)] {
      let server = try LoopbackServer { _ in .json(rows) }
      let proposal = try await Self.propose(server, isSingle: true)
      let reason = proposal.evidence.first { $0.key == "id" }?.reason ?? ""
      #expect(reason.contains(words), "\(reason)")
    }
  }

  @Test func `A response that is told to be all is compared with its total`() async throws {
    let rows = JSON.array(Self.slice(0, 9))
    for (total, warnings) in [
      (9, []), (12, ["the response has 9 rows, but total is 12: no others are read"]),
    ] as [(Int, [String])] {
      let body = (["items": rows, "total": .integer(total)] as JSON).text
      let server = try LoopbackServer { _ in .json(body) }
      let proposal = try await Self.propose(server, isSingle: true)
      #expect(proposal.isProved)
      #expect(proposal.warnings == warnings)
    }
  }

  /// A service that sends the first ten rows whatever it is asked for, with header fields.
  private static func firstRows(
    _ fields: [(String, String)], status: Int = 200, count: Int = 10
  ) throws -> LoopbackServer {
    let body = JSON.array(slice(0, count)).text
    return try LoopbackServer { _ in .json(body, status: status, headers: fields) }
  }

  /// The warnings of all pages of the list that a manifest declares.
  private static func warnings(of manifest: Manifest) async throws -> [String] {
    let source = try DeclaredPlugin("things", manifest).live(
      in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport()))
    var warnings: [String] = []
    for try await step in source.pages(size: 20) { warnings += step.page.warnings.map(\.message) }
    return warnings
  }

  @Test(arguments: [
    (206, "Content-Range", "0-9/47"), (200, "Content-Range", "items 0-9/47"),
    (200, "X-Pagination", #"{"TotalCount":47,"PageSize":10}"#),
  ])
  func `The total of a range or of an object in a header field is that of the list`(
    status: Int, name: String, value: String
  ) async throws {
    let server = try Self.firstRows([(name, value)], status: status)
    defer { server.stop() }
    let proposal = try await Self.propose(server)
    #expect(proposal.manifest.total == .header(name))
    #expect(proposal.evidence.first { $0.key == "total" }?.reason == "47 records")
    #expect(proposal.manifest.paging.proof == .unproved)
    let fewer = "the service reports 47 records but sent 10"
    #expect(try await Self.warnings(of: proposal.manifest).contains(fewer))
    // A manifest that was told to be all, and one of an earlier time that names no total.
    var single = proposal.manifest
    single.paging.proof = .single
    #expect(try await Self.warnings(of: single) == [fewer])
    single.total = nil
    #expect(try await Self.warnings(of: single) == (status == 206 ? [fewer] : []))
  }

  @Test(arguments: [(206, "0-9/*"), (200, "0-9/*"), (206, nil)])
  func `A part of a list without its total is not all of it`(status: Int, range: String?)
    async throws
  {
    let server = try Self.firstRows(
      range.map { [("Content-Range", $0)] } ?? [], status: status)
    let proposal = try await Self.propose(server)
    #expect(proposal.manifest.paging.proof == .unproved && proposal.manifest.total == nil)
    let verb = status == 206 ? "is" : "may be"
    let part = "the response \(verb) a part of the list, without its total"
    let paging = proposal.evidence.first { $0.key == "paging" }
    #expect(paging?.reason.hasSuffix(": \(part)") == true, "\(proposal.evidence)")
    let told = try await Self.propose(server, isSingle: true)
    #expect(told.warnings == ["\(part): no others are read"])
    let words = "the service sent a part of the list without its total: there may be more records"
    #expect(try await Self.warnings(of: told.manifest) == (status == 206 ? [words] : []))
  }

  @Test(arguments: [true, false])
  func `A range does not keep the offset from being found`(hasTotal: Bool) async throws {
    let server = try LoopbackServer { request in
      let (start, size) = (
        Service.number(request, "offset") ?? 0, Service.number(request, "limit") ?? 10
      )
      // As PostgREST does: other parameters are filters, for which there has to be a column.
      guard Set(request.query.keys).isSubset(of: ["offset", "limit"]) else {
        return .json(#"{"message": "no such column"}"#, status: 400)
      }
      let rows = Self.slice(start, size)
      let range = rows.isEmpty ? "*" : "\(start)-\(start + rows.count - 1)"
      return .json(
        JSON.array(rows).text, status: hasTotal ? 206 : 200,
        headers: [("Content-Range", "\(range)/\(hasTotal ? "\(Self.count)" : "*")")])
    }
    let proposal = try await Self.propose(server)
    #expect(proposal.isProved && proposal.warnings == [], "\(proposal.evidence)")
    #expect(proposal.manifest.paging.step?.text == "offset=0")
    #expect(proposal.manifest.total == (hasTotal ? .header("Content-Range") : nil))
    #expect(try await Self.warnings(of: proposal.manifest) == [])
  }

  @Test(arguments: [
    ("X-Next-Cursor", "cursor"), ("X-Next-Page", "page"),
    ("X-MS-ContinuationToken", "continuationToken"), ("X-Next-Url", ""),
  ])
  func `A header field names the next page`(name: String, parameter: String) async throws {
    let server = try LoopbackServer { request in
      let key = parameter.isEmpty ? "at" : parameter
      let number = Service.number(request, key) ?? 1
      let rows = JSON.array(Self.slice((number - 1) * 10, 10)).text
      let next = parameter.isEmpty ? "/list?at=\(number + 1)" : "\(number + 1)"
      return .json(rows, headers: number < 5 ? [(name, next)] : [])
    }
    let proposal = try await Self.propose(server)
    #expect(proposal.isProved && proposal.warnings == [], "\(proposal.evidence)")
    #expect(
      proposal.manifest.paging.step?.next?.description.lowercased() == "header:\(name)".lowercased()
    )
    let source = try DeclaredPlugin("things", proposal.manifest).live(
      in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport()))
    var ids: [String] = []
    for try await step in source.pages(size: 10) { ids += step.items.map(\.id) }
    #expect(ids == (1000..<1000 + Self.count).map(\.description))
  }

  @Test func `A next page that no parameter brings is named, and the list is not all`() async throws
  {
    let proposal = try await Self.propose(try Self.firstRows([("X-Next-Cursor", "abc")]))
    #expect(proposal.manifest.paging.proof == .unproved)
    #expect(
      proposal.warnings == [
        "paging is not proved: name its parameter or its next link, which may be at header:X-Next-Cursor"
      ])
  }

  @Test(arguments: [(10, true), (25, true), (9, false)])
  func `Rows in the number of a usual page may be one`(count: Int, isUsual: Bool) async throws {
    let server = try Self.firstRows([], count: count)
    defer { server.stop() }
    let proposal = try await Self.propose(server)
    #expect(proposal.isPagingProved && proposal.manifest.paging.isSingle)
    // The doubt stays with the source, until its list is no longer as long as a page, or all of it was told to be.
    #expect(proposal.json["paging"] == (isUsual ? "presumed" : "single"))
    let doubts = isUsual ? ["there may be further pages that are not read"] : []
    #expect(try await Self.warnings(of: proposal.manifest) == doubts)
    let other = try Self.firstRows([], count: count + 1)
    defer { other.stop() }
    var longer = proposal.manifest
    longer.url = "\(other.baseURL)"
    #expect(try await Self.warnings(of: longer) == [])
    let told = try await Self.propose(server, isSingle: true)
    #expect(try await Self.warnings(of: told.manifest) == [])
    let reason = proposal.evidence.first { $0.key == "paging" }?.reason ?? ""
    #expect(reason.contains("; \(count) rows may be one page of more") == isUsual, "\(reason)")
    #expect(reason.hasPrefix("6 parameters were tried, and each repeated the first page"))
  }

  @Test func `The total of an empty list is given, and proves nothing`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"data": [], "total": 0}"#) }
    let empty = try await Self.propose(server)
    #expect(empty.manifest.total == nil)
    #expect(
      empty.evidence.first { $0.key == "total" }?.reason
        == "total is 0, which proves nothing in an empty list")
  }

  @Test func `A total that is smaller than what was read is none, which is said`() async throws {
    let server = try LoopbackServer { request in
      let page = Service.number(request, "page") ?? 1
      let rows = JSON.array(Self.slice((page - 1) * 20, 20))
      return .json((["total": 10, "page": .integer(page), "items": rows] as JSON).text)
    }
    let proposal = try await Self.propose(server)
    #expect(proposal.isProved && proposal.manifest.total == nil)
    #expect(
      proposal.evidence.first { $0.key == "total" }?.reason
        == "total is 10, but 40 rows were read: no total")
  }

  @Test func `A total that is larger than what was sent is reported`() async throws {
    let server = try LoopbackServer { request in
      let page = Service.number(request, "page") ?? 1
      let rows = page <= 2 ? Self.slice((page - 1) * 10, 10) : []
      return .json((["page": .integer(page), "total": 47, "items": .array(rows)] as JSON).text)
    }
    let manifest = try await Self.propose(server).manifest
    let source = try DeclaredPlugin("things", manifest).live(
      in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport()))
    var warnings: [String] = []
    for try await step in source.pages(size: 20) { warnings += step.page.warnings.map(\.message) }
    #expect(warnings == ["the service reports 47 records but sent 20"])
  }
}

extension Manifest.Paging.Step {
  /// The parameter that counts, and its start.
  fileprivate var text: String? {
    switch self {
    case .page(let parameter), .offset(let parameter): parameter.description
    case .token, .link: nil
    }
  }
}

extension ProposalTests {
  @Test func `A time limit holds for all requests`() async throws {
    let clock = ManualClock()
    // The limit is reached while the second page is awaited.
    let server = try LoopbackServer { request in
      guard request.query.isEmpty else {
        clock.advance(by: .seconds(20))
        return .status(404)
      }
      let rows = (1...10).map { "{\"id\": \($0), \"name\": \"lamp \($0)\"}" }
      return .json("{\"lamps\": [\(rows.joined(separator: ","))]}")
    }
    let hints = JSON.object([
      JSON.Member("url", .string("\(server.baseURL)/lamps")), JSON.Member("rate", "off"),
    ])
    let environment = PluginEnvironment(
      settings: SourceSettings(), transport: LongTimeoutTransport())
    let proposal = try await Deadline.$current.withValue(Deadline(after: .seconds(10), on: clock)) {
      try await Proposal(for: "lamps", from: hints, in: environment)
    }
    #expect(!proposal.isProved && proposal.isOutOfTime)
    #expect(proposal.warnings.contains("paging is not proved: the time limit was reached"))
    #expect(server.requests.count == 2)
  }
}
