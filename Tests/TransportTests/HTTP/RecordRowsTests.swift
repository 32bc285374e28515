import AggregatorKit
import Foundation
import Synchronization
import Testing

@testable import AggregatorHTTP

/// A REST source whose rows are the records.
@Suite struct RecordRowsTests {
  private struct Paper: SourceRecord {
    struct Author: Codable, Hashable, Sendable {
      let name: String?
    }

    let id: String
    var title: String?
    var year: Int?
    var rating: Double?
    var isOpen: Bool?
    var tags: [String]?
    var published: DateTime?
    var author: Author?
  }

  /// Answers by a closure and keeps the requests.
  private final class Service: Transport {
    private let asked = Mutex<[HTTPRequest]>([])
    private let answer: @Sendable (HTTPRequest) -> (body: String, headers: [(String, String)])

    init(
      _ answer: @escaping @Sendable (HTTPRequest) -> (body: String, headers: [(String, String)])
    ) { self.answer = answer }

    convenience init(_ body: String, _ headers: [(String, String)] = []) {
      self.init { _ in (body, headers) }
    }

    var requests: [HTTPRequest] { asked.withLock(\.self) }

    /// The URL of the last request, as it is sent.
    func lastURL() throws -> URL { try WireRequest(try #require(requests.last)).url }

    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      asked.withLock { $0.append(request) }
      let (body, headers) = answer(request)
      return HTTPResponse(status: 200, headers: headers, body: Data(body.utf8))
    }
  }

  private static let url = URL(string: "https://papers.example/v1/papers") ?? URL(filePath: "/")

  private func source(
    _ service: Service, _ paging: RESTPaging = RESTPaging(.single), rows: String? = nil,
    total: RESTResponsePart? = nil, next: RESTResponsePart? = nil, pageSize: Int? = nil
  ) -> RESTSource<Paper> {
    var environment = PluginEnvironment(settings: SourceSettings(), transport: service)
    environment.pageSize = pageSize
    return RESTSource(
      "papers", in: environment, list: HTTPRequest(.get, Self.url), paging: paging, rows: rows,
      total: total, next: next)
  }

  @Test func `a detail is read in all forms that services send, and nil in others`() async throws {
    let page = try await source(
      Service(
        #"""
        [{"id": 7, "title": 12, "year": "1999", "rating": "4.5", "isOpen": "1", "tags": "one",
          "published": "2026-03-14T06:12:09.5+02:00", "author": {"name": "Ann"}},
         {"id": "b", "title": " ", "year": "soon", "rating": [], "isOpen": {}, "tags": ["x", 7, {}],
          "published": "soon", "author": 3},
         {"id": "c", "title": null}]
        """#)
    ).page(PageRequest())
    #expect(
      page.records == [
        Paper(
          id: "7", title: "12", year: 1999, rating: 4.5, isOpen: true, tags: ["one"],
          published: DateTime(Date(timeIntervalSince1970: 1_773_461_529)),
          author: Paper.Author(name: "Ann")),
        Paper(id: "b", tags: ["x", "7"]),
        Paper(id: "c"),
      ])
    #expect(page.total == 3)
    #expect(page.next == nil)
  }

  @Test(arguments: [
    (#"{"title": "a"}"#, "id is missing"), (#"{"id": ""}"#, "id is missing"),
    (#"{"id": null}"#, "id is null"), (#"{"id": []}"#, "id is a list instead of text"),
  ])
  func `a row without what it must have is left out and counted`(
    row: String, reason: String
  ) async throws {
    let page = try await source(Service(#"[\#(row), {"id": "a"}]"#)).page(PageRequest())
    #expect(page.records.map(\.id) == ["a"])
    #expect(page.unreadable.count == 1)
    #expect(page.unreadable.firstReason == "row 1: \(reason)")
  }

  @Test func `a stored record is read without conversions`() throws {
    let paper = Paper(id: "7", title: "", published: DateTime(Date(timeIntervalSince1970: 9.7)))
    let json = try CanonicalJSON.text(of: paper)
    #expect(json == #"{"id":"7","published":"1970-01-01T00:00:09Z","title":""}"#)
    #expect(try JSONText(Data(json.utf8))?.read(Paper.self) == paper)
  }

  @Test func `rows and total are members at any depth, or the total a header field`() async throws {
    let body = #"{"data": {"items": [{"id": "a"}], "meta": {"total": "31"}}, "count": -1}"#
    let paging = RESTPaging(.page(.query("page"), start: 1), size: (.query("n"), 1))
    func total(_ part: RESTResponsePart) async throws -> Int? {
      let service = Service(body, [("x-total-count", "32")])
      return try await source(service, paging, rows: "data.items", total: part)
        .page(PageRequest()).total
    }
    #expect(try await total(.member("data.meta.total")) == 31)
    #expect(try await total(.header("X-Total-Count")) == 32)
    #expect(try await total(.member("count")) == nil)
    #expect(try await total(.member("data.items.total")) == nil)
  }

  @Test(arguments: [
    ("300", 300), ("-1", nil), ("0-49/300", 300), ("items 0-49/300", 300), ("items=0-49/300", 300),
    ("*/300", 300), ("0-49/*", nil), ("*/*", nil), ("bytes 0-49/300", nil), ("Bytes */300", nil),
    ("/300", nil), ("a/b", nil), ("0-49/99999999999999999999", nil), ("", nil),
    (#"{"TotalCount": 300, "TotalPages": 6}"#, 300), (#"{"pages": 6, "total_items": "300"}"#, 300),
    (#"{"TotalPages": 6}"#, nil), (#"{"total": -1}"#, nil), ("{", nil),
  ])
  func `a header field says the total as a number, after a range, or in an object`(
    value: String, total: Int?
  ) {
    let response = HTTPResponse(status: 200, headers: [("X-Field", value)])
    #expect(response.total(inField: "x-field") == total)
    #expect(response.total(inField: "other") == nil)
  }

  @Test(arguments: [
    (206, nil, true), (206, "0-49/*", true), (200, "0-49/*", true), (206, "0-49 of many", true),
    (206, "*/*", true), (200, "*/*", false), (200, "items */*", false),
    (200, nil, false), (206, "0-49/300", false), (200, "items 0-49/300", false),
    (206, "bytes 0-49/300", false), (206, "bytes 0-49/*", false),
  ])
  func `a part of a list without its total is told from a file and from a known total`(
    status: Int, range: String?, isPart: Bool
  ) {
    let fields = range.map { [("Content-Range", $0)] } ?? []
    #expect(HTTPResponse(status: status, headers: fields).isPartOfUnknown == isPart)
  }

  @Test func `a response without the rows is malformed, and says where`() async throws {
    let source = source(Service(#"{"data": {"items": 7}}"#), rows: "data.rows")
    let error = await #expect(throws: SourceError.self) { try await source.page(PageRequest()) }
    #expect(error?.code == .malformed)
    #expect(error?.message == "invalid response from papers: data.rows is missing")
  }

  @Test(arguments: [
    (
      RESTPaging(.token(.query("after"), start: nil)), RESTResponsePart.member("meta.next"), "t1",
      "after=t1"
    ),
    (RESTPaging(.link), RESTResponsePart.member("meta.next"), "?page=2", "page=2"),
    (RESTPaging(.token(.query("after"), start: nil)), .header("X-Next"), "t1", "after=t1"),
  ])
  func `the next page is a token or a link, as the paging says`(
    paging: RESTPaging, next: RESTResponsePart, value: String, query: String
  ) async throws {
    let service = Service { request in
      let isFirst = request.url.query() == nil && request.query.isEmpty
      let named = isFirst ? value : ""
      return (
        #"{"items": [{"id": "\#(isFirst ? "a" : "b")"}], "meta": {"next": "\#(named)"}}"#,
        [("x-next", named)]
      )
    }
    let source = source(service, paging, rows: "items", next: next)
    let first = try await source.page(PageRequest())
    let cursor = try #require(first.next)
    let second = try await source.page(PageRequest(after: cursor))
    #expect(second.records.map(\.id) == ["b"])
    #expect(second.next == nil)
    #expect(try service.lastURL().query() == query)
  }

  @Test func `a record is below the list, at a member, or found in the list`() async throws {
    func found(
      _ body: String, _ source: (RESTSource<Paper>) -> RESTSource<Paper>
    ) async throws -> (title: String?, address: String) {
      let service = Service(body)
      let lookup = try await source(self.source(service, rows: "items")).item("a/b 3")
      return (lookup.item.title, try service.lastURL().absoluteString)
    }
    let below = try await found(#"{"id": "a/b 3", "title": 5}"#) { $0.item(below: Self.url) }
    #expect(below.title == "5")
    #expect(below.address == "https://papers.example/v1/papers/a%2Fb%203")
    let inside = try await found(#"{"data": {"id": "a/b 3", "title": "x"}}"#) {
      $0.item(below: Self.url, at: "data")
    }
    #expect(inside.title == "x")
    let listed = try await found(#"{"items": [{"id": "z"}, {"id": "a/b 3", "title": "y"}]}"#) {
      $0.item(by: .query("id"))
    }
    #expect(listed.title == "y")
    #expect(listed.address == "https://papers.example/v1/papers?id=a%2Fb%203")
  }

  @Test func `an ID that the list does not have is not found`() async throws {
    let source = source(Service(#"{"items": [{"id": "z"}]}"#), rows: "items")
      .item(by: .query("id"))
    let error = await #expect(throws: SourceError.self) { try await source.item("a") }
    #expect(error?.code == .notFound)
  }

  @Test func `an environment makes the pages smaller, never larger`() async throws {
    let paging = RESTPaging(.offset(.query("skip"), start: 0), size: (.query("limit"), 20))
    for (asked, sent) in [(nil, 20), (5, 5), (50, 20)] as [(Int?, Int)] {
      let service = Service("[]")
      let source = source(service, paging, pageSize: asked)
      #expect(source.pageSize == sent)
      _ = try await source.page(PageRequest(limit: 100))
      #expect(try service.lastURL().query()?.contains("limit=\(sent)") == true)
    }
  }

  @Test func `a source that follows the limit has no page size of its own`() {
    let paging = RESTPaging(.single, size: (.query("limit"), 20), followsLimit: true)
    #expect(source(Service("[]"), paging).pageSize == nil)
  }
}
