import AggregatorKit
import Foundation
import Synchronization
import Testing

/// A REST source in the few lines that a source in code needs.
@Suite struct RESTSourceTests {
  private struct Note: SourceRecord {
    let id: String
    let text: String?
  }

  private struct Wire: Decodable {
    let id: String
    @Lenient var text: String?
  }

  private struct List: Decodable {
    let notes: LossyArray<Wire>
    let next: String?
  }

  /// Answers by a closure and keeps the requests.
  private final class Service: Transport {
    private let asked = Mutex<[HTTPRequest]>([])
    private let answer: @Sendable (HTTPRequest) -> HTTPResponse

    init(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) { self.answer = answer }

    var requests: [HTTPRequest] { asked.withLock(\.self) }

    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      asked.withLock { $0.append(request) }
      return answer(request)
    }
  }

  private static func reply(
    _ body: String, _ headers: [(String, String)] = [], status: Int = 200
  ) -> HTTPResponse {
    HTTPResponse(status: status, headers: headers, body: Data(body.utf8))
  }

  private static let url = URL(string: "https://notes.example/v1/notes") ?? URL(filePath: "/")

  private func source(
    _ service: Service, _ paging: RESTPaging = RESTPaging(.link), at url: URL = url
  ) -> RESTSource<Note> {
    let key = HTTPRequest.Item.bearer(Secret("a-key-of-a-test"))
    return RESTSource(
      "notes", list: HTTPRequest(.get, url, query: [.init("lang", "en")], headers: [key]),
      paging: paging, transport: service, now: { Date(timeIntervalSince1970: 0) },
      decoding: List.self
    ) { list in
      RESTResponse(list.notes, next: list.next.map { .link($0) }) { Note(id: $0.id, text: $0.text) }
    }
    .searching(by: .query("q"))
    .item(below: url, decoding: Wire.self) { Note(id: $0.id, text: $0.text) }
  }

  @Test(arguments: [#""""#, #"" ""#, "null"])
  func `ends at a blank link`(next: String) async throws {
    let service = Service { _ in Self.reply(#"{"notes": [{"id": "a"}, 7], "next": \#(next)}"#) }
    let page = try await source(service).page(PageRequest())
    #expect(page.records.map(\.id) == ["a"])
    #expect(page.unreadable.count == 1)
    #expect(page.next == nil)
  }

  @Test func `follows the Link header field if the body names no next page`() async throws {
    let service = Service { request in
      let isFirst = request.url.query() == nil
      return Self.reply(
        #"{"notes": [{"id": "\#(isFirst ? "a" : "b")"}]}"#,
        isFirst ? [("link", #"<?page=0>; rel="prev", <?page=2>; rel="next""#)] : [])
    }
    let source = source(service)
    let first = try await source.page(PageRequest())
    let next = try #require(first.next)
    let second = try await source.page(PageRequest(after: next))
    #expect(second.records.map(\.id) == ["b"])
    #expect(second.next == nil)
    #expect(service.requests.last?.url.query() == "page=2")
  }

  @Test func `the rest of a response takes no turn of a rate limit`() async throws {
    let service = Service { _ in
      Self.reply(#"{"notes": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "next": "?page=2"}"#)
    }
    let source = source(service)
    let limited = source.rateLimited(by: Rate(1, per: .seconds(3600))).timeout(.seconds(60))
    var requests = [PageRequest(limit: 1)]
    for id in ["a", "b", "c"] {
      let request = try #require(requests.last)
      #expect(source.isInMemory(request) == (id != "a"))
      let page = try await limited.page(request)
      #expect(page.records.map(\.id) == [id])
      requests.append(PageRequest(after: page.next, limit: 1))
    }
    let next = try #require(requests.last)
    let failure = await #expect(throws: SourceError.self) { _ = try await limited.page(next) }
    #expect(failure?.code == .rateLimited)
    #expect(service.requests.count == 1)
    // Another process has to request the page again.
    let other = self.source(service)
    #expect(!other.isInMemory(requests[1]))
    let rest = PageRequest(after: requests[1].cursor, limit: 1, cachePolicy: .offline)
    let refused = await #expect(throws: SourceError.self) { _ = try await other.page(rest) }
    #expect(refused?.code == .offline)
    #expect(try await other.page(requests[1]).records.map(\.id) == ["b"])
    #expect(service.requests.count == 2)
  }

  @Test func `searches the list by a parameter`() async throws {
    let service = Service { _ in Self.reply(#"{"notes": []}"#) }
    _ = try await source(service).page(PageRequest(matching: try SearchQuery("two words")))
    let request = try #require(service.requests.first)
    #expect(request.url == Self.url)
    #expect(request.query.map(\.name) == ["lang", "q"])
  }

  @Test(arguments: [
    ("a1", "https://notes.example/v1/notes/a1"), ("a/b", "https://notes.example/v1/notes/a%2Fb"),
    ("../x?y#z", "https://notes.example/v1/notes/..%2Fx%3Fy%23z"),
    ("%2e%2e", "https://notes.example/v1/notes/%252e%252e"),
  ])
  func `looks up an ID below the URL, with the list's key`(
    id: String, address: String
  ) async throws {
    for url in [Self.url, Self.url.appending(path: "")] {
      let service = Service { _ in Self.reply(#"{"id": "\#(id)", "text": "x"}"#) }
      let found = try await source(service, at: url).item(id)
      #expect(found.item == Note(id: id, text: "x"))
      let request = try #require(service.requests.first)
      #expect(request.url.absoluteString == address)
      #expect(request.headers.map(\.name) == ["Authorization"])
      #expect(request.query.isEmpty)
    }
  }

  @Test(arguments: [".", "..", "", " "])
  func `an ID that would request another URL is not found`(id: String) async throws {
    let service = Service { _ in Self.reply("{}") }
    let error = await #expect(throws: SourceError.self) { try await source(service).item(id) }
    #expect(error?.code == .notFound)
    #expect(service.requests.isEmpty)
  }

  /// The responses of a service of three records after the last, and the warnings of the list then.
  @Test(arguments: [
    (204, "", false, []), (400, "{}", true, []), (404, "{}", true, []),
    (200, #"{"error": "no page 4"}"#, true, []),
    // After a full page it may as well be a limit.
    (404, "{}", false, ["the service refused the page after 3 records (404): there may be more"]),
    (422, "{}", false, ["the service refused the page after 3 records (422): there may be more"]),
  ])
  func `ends where the service says that there is no such page`(
    status: Int, body: String, hasTotal: Bool, warnings: [String]
  ) async throws {
    let service = Service { request in
      guard case .plain(let number)? = request.query.last?.value, let page = Int(number), page <= 3
      else { return Self.reply(body, status: status) }
      return Self.reply(#"{"notes": [{"id": "\#(page)"}]}"#)
    }
    let source = RESTSource<Note>(
      "notes", list: HTTPRequest(.get, Self.url),
      paging: RESTPaging(.page(.query("page"), start: 1)), transport: service, now: { Date() },
      decoding: List.self
    ) { RESTResponse($0.notes, total: hasTotal ? 3 : nil) { Note(id: $0.id, text: $0.text) } }
    var (ids, seen): ([String], [String]) = ([], [])
    for try await step in source.pages(size: 1) {
      ids += step.items.map(\.id)
      seen += step.page.warnings.map(\.message)
    }
    #expect(ids == ["1", "2", "3"])
    #expect(seen == warnings)
  }

  @Test(arguments: [400, 404, 410, 416, 422])
  func `a page that is refused after a shorter one is the end`(status: Int) async throws {
    let service = Service { request in
      guard case .plain(let number)? = request.query.last?.value, let page = Int(number), page <= 2
      else { return Self.reply("{}", status: status) }
      return Self.reply(
        page == 1 ? #"{"notes": [{"id": "a"}, {"id": "b"}]}"# : #"{"notes": [{"id": "c"}]}"#)
    }
    let source = RESTSource<Note>(
      "notes", list: HTTPRequest(.get, Self.url),
      paging: RESTPaging(.page(.query("page"), start: 1)), transport: service, now: { Date() },
      decoding: List.self
    ) { RESTResponse($0.notes) { Note(id: $0.id, text: $0.text) } }
    var (ids, warnings): ([String], Int) = ([], 0)
    for try await step in source.pages(size: 2) {
      ids += step.items.map(\.id)
      warnings += step.page.warnings.count
    }
    #expect(ids == ["a", "b", "c"])
    #expect(warnings == 0)
  }

  /// A source in code has the rules that a manifest has.
  @Test func `rules decide what responses mean`() async throws {
    let service = Service { request in
      switch request.url.query() {
      case nil: Self.reply(#"{"notes": [{"id": "a"}], "next": "?page=2"}"#)
      case "page=2": Self.reply(#"{"notes": [{"id": "b"}], "next": "?page=3", "alert": null}"#)
      default: Self.reply(#"{"faults": [{"code": 3}, {"code": 7, "why": "deep"}]}"#, status: 422)
      }
    }
    func failure(_ rules: [ErrorRule]) async -> SourceError? {
      do {
        for try await _ in source(service).handlingErrors(by: rules).pages(size: 5) {}
        return nil
      } catch { return error }
    }
    #expect(await failure([])?.code == .rejected)
    #expect(await failure([ErrorRule(.end, status: 422)]) == nil)
    #expect(await failure([ErrorRule(.end, at: "faults.*.code", equals: 7)]) == nil)
    #expect(await failure([ErrorRule(.end, at: "faults.*.code", equals: 8)])?.code == .rejected)
    let waiting = await failure([
      ErrorRule(.end, status: 400), ErrorRule(.wait, at: "faults.1", message: "faults.1.why"),
    ])
    #expect(waiting?.code == .rateLimited)
    #expect(waiting?.message == #"notes asks to wait (422): "deep""#)
    #expect(await failure([ErrorRule(.retry, status: 422)])?.code == .serverError)
    #expect(await failure([ErrorRule(.fail, at: "alert")])?.code == .rejected)
  }

  @Test func `a rule names the member with the service's words`() async throws {
    let service = Service { _ in
      Self.reply(#"{"status": "pending", "status_text": "counting", "notes": []}"#)
    }
    let source = source(service)
      .handlingErrors(by: [
        ErrorRule(.end, status: 422, at: "error.code", equals: "too_deep"),
        ErrorRule(.retry, at: "status", equals: "pending", message: "status_text"),
      ])
    let error = await #expect(throws: SourceError.self) { try await source.page(PageRequest()) }
    #expect(error?.code == .serverError && error?.message == "notes is not ready: \"counting\"")
  }

  @Test(arguments: [
    (#"{"faults": [{"code": 7}]}"#, nil),
    (#"{"faults": [{"code": 7}], "errors": [{"code": 8}]}"#, nil),
    (#"{"faults": [{"code": 7}], "notes": {"rows": [{"id": "z"}]}}"#, SourceError.Code.malformed),
    (#"{"faults": [{"code": 7}], "data": {"notes": [{"id": "z"}]}}"#, .malformed),
  ])
  func `rows that cannot be read are not the end of a list`(
    last: String, code: SourceError.Code?
  ) async {
    let service = Service { request in
      Self.reply(
        request.url.query() == "lang=en"
          ? #"{"notes": [{"id": "a"}], "next": "?page=2"}"# : last)
    }
    let source = source(service)
      .handlingErrors(by: [ErrorRule(.end, at: "faults.*.code", equals: 7)])
    var failure: SourceError?
    do { for try await _ in source.pages(size: 5) {} } catch { failure = error }
    #expect(failure?.code == code)
  }

  @Test func `one empty page is passed over if it names the next`() async throws {
    let service = Service { request in
      switch request.url.query() {
      case nil: Self.reply(#"{"notes": [{"id": "a"}], "next": "?page=2"}"#)
      case "page=2": Self.reply(#"{"notes": [], "next": "?page=3"}"#)
      case "page=3": Self.reply(#"{"notes": [{"id": "b"}], "next": "?page=4"}"#)
      default: Self.reply(#"{"notes": [], "next": "?page=9"}"#)
      }
    }
    var ids: [String] = []
    for try await step in source(service).pages(size: 5) { ids += step.items.map(\.id) }
    #expect(ids == ["a", "b"])
    #expect(service.requests.count == 5)
  }

  @Test func `a link is relative to its page, also on another host`() async throws {
    let service = Service { request in
      switch request.url.absoluteString {
      case "https://notes.example/v1/notes":
        Self.reply(#"{"notes": [{"id": "a"}], "next": "https://pub.example/two"}"#)
      case "https://pub.example/two": Self.reply(#"{"notes": [{"id": "b"}], "next": "/three"}"#)
      default: Self.reply(#"{"notes": [{"id": "c"}]}"#)
      }
    }
    let source = source(service, RESTPaging(.link, otherHosts: ["pub.example"]))
    var ids: [String] = []
    for try await step in source.pages(size: 5) { ids += step.items.map(\.id) }
    #expect(ids == ["a", "b", "c"])
    #expect(service.requests.last?.url.absoluteString == "https://pub.example/three")
    #expect(service.requests.map { $0.headers.count } == [1, 0, 0])
  }

  @Test(arguments: [(1, 400), (2, 500), (2, 401)])
  func `an error of the first page, or of another kind, is no end`(
    page: Int, status: Int
  ) async throws {
    let service = Service { request in
      guard case .plain(let number)? = request.query.last?.value, Int(number) != page else {
        return Self.reply("{}", status: status)
      }
      return Self.reply(#"{"notes": [{"id": "\#(number)"}]}"#)
    }
    let source = RESTSource<Note>(
      "notes", list: HTTPRequest(.get, Self.url),
      paging: RESTPaging(.page(.query("page"), start: 1)), transport: service, now: { Date() },
      decoding: List.self
    ) { RESTResponse($0.notes) { Note(id: $0.id, text: $0.text) } }
    await #expect(throws: SourceError.self) {
      for try await _ in source.pages(size: 1) {}
    }
  }

  @Test func `a page whose next link leads elsewhere keeps its records`() async throws {
    let service = Service { _ in
      Self.reply(#"{"notes": [{"id": "a"}], "next": "https://other.example/v1/notes?page=2"}"#)
    }
    let source = source(service)
    let page = try await source.page(PageRequest())
    #expect(page.records.map(\.id) == ["a"])
    let next = try #require(page.next)
    let error = await #expect(throws: SourceError.self) {
      try await source.page(PageRequest(after: next))
    }
    #expect(error?.code == .rejected)
    #expect(service.requests.count == 1)
  }

  @Test func `posts a body that counts pages`() async throws {
    let service = Service { request in
      let isFirst = request.body == Data(#"{"page":0,"per":2}"#.utf8)
      return Self.reply(
        #"{"notes": [\#(isFirst ? #"{"id": "a"}, {"id": "b"}"# : #"{"id": "c"}"#)]}"#)
    }
    let source = RESTSource<Note>(
      "notes", list: HTTPRequest(posting: ["page": 0], to: Self.url),
      paging: RESTPaging(
        .page(.body(["page"]), start: 0), size: (.body(["per"]), 2), honorsSize: true),
      transport: service, now: { Date() }, decoding: List.self
    ) { RESTResponse($0.notes) { Note(id: $0.id, text: $0.text) } }
    var ids: [String] = []
    for try await step in source.pages(size: 2) { ids += step.items.map(\.id) }
    #expect(ids == ["a", "b", "c"])
    #expect(service.requests.count == 2)
    #expect(service.requests.allSatisfy { $0.method == .post })
    #expect(service.requests.last?.headers.map(\.name) == ["Content-Type"])
  }

  @Test func `a search that pages by tokens of its own spends them`() async throws {
    let service = Service { request in
      request.query.contains { $0.name == "after" }
        ? Self.reply("{}", status: 410) : Self.reply(#"{"notes": [{"id": "a"}], "next": "t"}"#)
    }
    let tokens = RESTPaging(.token(.query("after"), start: nil), tokenOnce: true)
    let source = RESTSource<Note>(
      "notes", list: HTTPRequest(.get, Self.url), paging: RESTPaging(.single), transport: service,
      now: { Date() }, decoding: List.self
    ) { list in
      RESTResponse(list.notes, next: list.next.map { .token($0) }) { Note(id: $0.id, text: nil) }
    }
    .searching(paging: tokens) { HTTPRequest(.get, Self.url, query: [.init("q", .plain($0.text))]) }
    #expect(!source.readsAhead)
    let query = try SearchQuery("a")
    let page = try await source.page(PageRequest(matching: query))
    let cursor = try #require(page.next)
    let next = PageRequest(matching: query, after: cursor)
    let error = await #expect(throws: SourceError.self) { try await source.page(next) }
    // Transient: the list is started over.
    #expect(error?.code == .serverError)
    #expect(try await source.page(next).warnings.map(\.code) == [.restarted])
    #expect(service.requests.allSatisfy { $0.headers.contains { $0.name == "Connection" } })
    _ = try await source.page(PageRequest())
    #expect(service.requests.last?.headers.isEmpty == true)
  }

  @Test(arguments: [
    (#"<https://x.example/?p=2>; rel="next""#, "https://x.example/?p=2"),
    ("</a>; rel=prev, </b>; rel=next", "/b"), (#"</a>; title="x"; rel="last next""#, "/a"),
    (#"</a>; rel="nextish""#, nil), ("", nil), ("</a>", nil),
  ])
  func `finds the next link in a header field`(field: String, link: String?) {
    #expect(HTTPResponse(status: 200, headers: [("Link", field)]).nextLink == link)
  }
}
