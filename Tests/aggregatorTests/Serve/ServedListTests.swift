import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import AggregatorTerminal
import AggregatorTestSupport
import CountriesSource
import Foundation
import HeroesSource
import Synchronization
import Testing

@testable import AggregatorAPI
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorSelection
@testable import AggregatorServer
@testable import AggregatorWeb
@testable import DeclaredSource

/// What a server knows of the cached list of a source.
@Suite(.timeLimit(.minutes(10))) struct ServedListTests {
  private let service: FakeCountries
  private let sandbox: Sandbox
  private let source: ServedPlugin<CountriesPlugin>

  init() throws {
    service = try FakeCountries()
    sandbox = try Sandbox()
    source = Self.source(service, sandbox)
  }

  /// The source of a server; several share the store.
  private static func source(
    _ service: FakeCountries, _ sandbox: Sandbox
  ) -> ServedPlugin<CountriesPlugin> {
    ServedPlugin(
      CountriesPlugin(),
      in: PluginEnvironment(
        settings: SourceSettings(service.settings), transport: LongTimeoutTransport(),
        store: SQLiteStore(at: sandbox.root.appending(path: "store.sqlite").path)))
  }

  private var router: WebRouter {
    let environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: LongTimeoutTransport(), store: InMemoryStore())
    return WebRouter(
      program: "aggregator",
      api: API(
        sources: [source], sql: nil, adding: nil, syncs: SyncJobs(in: environment),
        now: { MadeUpSource.now }))
  }

  @Test func `a list that was filtered does not wait for the values of records after a sync`()
    async throws
  {
    func sync() async throws -> Int { try await source.sync(pages: nil) { _ in }.passed }
    let filtered = ServedQuery(conditions: ["name~a"], order: "-name")
    _ = try await sync()
    #expect(await source.index?.table == nil)
    _ = try await source.page(filtered)
    let count = try await sync()
    let index = try #require(source.index)
    let begun = await index.begun
    let table = try #require(await index.table)
    #expect(table.positions.count == count)
    #expect(Set(table.columns.keys) == Set(source.fields.map(\.id)))
    _ = try await source.page(filtered)
    #expect(await index.begun == begun)
    #expect(await index.table?.readings == 1)
  }

  @Test func `all cached records are read by design, and not because of offline mode`()
    async throws
  {
    let server = try LoopbackServer { _ in
      .json(#"{"rows": [{"id": 1, "name": "a"}], "next": "/b"}"#)
    }
    let manifest = """
      {"url": "\(server.baseURL)/a", "rows": "rows", "id": "id", "fields": ["name"], "next": "next",
       "paging": "proved"}
      """
    let parts = ServedPlugin(
      DeclaredPlugin("parts", try Manifest(reading: Data(manifest.utf8))),
      in: PluginEnvironment(
        settings: SourceSettings([:]), transport: LongTimeoutTransport(),
        store: SQLiteStore(at: sandbox.root.appending(path: "parts.sqlite").path)))
    _ = try await parts.page(ServedQuery(limit: 1))
    let cached = try await parts.page(ServedQuery(isWhole: true)).summary
    #expect(cached.count == 1 && cached.total == nil)
    #expect(cached.provenance?.origin == .cached && cached.provenance?.reason == nil)
    let words = cached.warnings.map(\.warning.message)
    #expect(words.count == 1 && words[0].hasPrefix("limited to cached records: "), "\(words)")
    // Who asks for offline mode is told so.
    let offline = try await parts.page(ServedQuery(cache: .offline, isWhole: true)).summary
    #expect(offline.warnings.contains { $0.warning.message.contains("(offline mode)") })
    let bundled = try await source.page(ServedQuery(isWhole: true)).summary
    #expect(bundled.warnings.map(\.warning.message) == ["showing bundled sample data"])
  }

  @Test func `a list has the records of a running sync, not those of a page in memory`()
    async throws
  {
    let mayEnd = DispatchSemaphore(value: 0)
    let price = Mutex(20)
    @Sendable func body(_ id: Int) -> String {
      #"{"rows": [{"id": \#(id), "price": \#(price.withLock(\.self))}], "total": 2}"#
    }
    let server = try LoopbackServer { request in
      let page = request.query["page"] ?? "1"
      guard page == "2" else { return .json(page == "1" ? body(1) : #"{"rows": [], "total": 2}"#) }
      let last = body(2)
      return .begin(headers: [("Content-Length", "\(last.utf8.count)")])
        .performing { mayEnd.wait() }.sending(Data(last.utf8))
    }
    let manifest = """
      {"url": "\(server.baseURL)/things", "rows": "rows", "id": "id", "page": "page=1", "total": "total", \
      "paging": "proved", "rate": "off", "fields": ["price"]}
      """
    let things = ServedPlugin(
      DeclaredPlugin("things", try Manifest(reading: Data(manifest.utf8))),
      in: PluginEnvironment(
        settings: SourceSettings([:]), transport: HTTPTransport(), store: InMemoryStore()))
    func shown() async throws -> JSON? {
      try await things.page(ServedQuery(limit: 1)).records.first?.object["price"]
    }
    #expect(try await shown() == 20)
    price.withLock { $0 = 21 }
    #expect(try await shown() == 20)
    let (pages, continuation) = AsyncStream<Void>.makeStream()
    async let sync = things.sync(pages: nil) { _ in continuation.yield() }
    for await _ in pages { break }
    let meanwhile = try await shown()
    mayEnd.signal()
    #expect(try await sync.isComplete)
    #expect(meanwhile == 21)
  }

  @Test func `a sync that may have missed records leaves a whole list, and its gap is named`()
    async throws
  {
    let server = try LoopbackServer { _ in
      .json(#"[{"id": 1, "name": "a"}, {"name": "b"}, {"id": 3, "name": "c"}]"#)
    }
    let manifest = """
      {"url": "\(server.baseURL)/things", "rows": "$", "id": "id", "paging": "single", "rate": "off", \
      "fields": ["name"]}
      """
    let things = ServedPlugin(
      DeclaredPlugin("things", try Manifest(reading: Data(manifest.utf8))),
      in: PluginEnvironment(
        settings: SourceSettings([:]), transport: HTTPTransport(), store: InMemoryStore()))
    let result = try await things.sync(pages: nil) { _ in }
    #expect(!result.isComplete)
    var query = ServedQuery(limit: 1)
    query.isForPeople = true
    let page = try await things.page(query)
    #expect(try await things.cachedCount(of: query, page) == 2)
    #expect(try await things.offset(of: "3", in: query) == 1)
    let reason = try #require(try await things.shortfall())
    #expect(reason.description.contains("1 row could not be read"))
    #expect(try await things.record("3", query).records.count == 1)
    let error = await #expect(throws: SourceError.self) { try await things.record("2", query) }
    #expect(error?.code == .notFound)
    #expect(
      error?.message.hasSuffix(
        "not found; it may be missing, as the last sync is incomplete: \(reason)")
        == true)
    // A list that is read whole since lacks the row as well.
    _ = try await things.page(ServedQuery(cache: .reload))
    #expect(try await things.state().coverage?.shortfall?.includes(.unreadable) == true)
    // For programs, the total is that of all records, which is unknown.
    #expect(try await things.cachedCount(of: ServedQuery(limit: 1), page) == nil)
  }

  @Test func `a list and a record do not wait for a pause of more than two seconds`() async throws {
    let server = try LoopbackServer { _ in .status(429, "no", headers: [("Retry-After", "4")]) }
    defer { server.stop() }
    let (things, _) = try added(server)
    for _ in 0..<2 {
      let error = await #expect(throws: SourceError.self) {
        try await things.page(ServedQuery(limit: 1))
      }
      #expect(error?.code == .rateLimited && error?.retryAfter != nil)
    }
    #expect((try? await things.record("1", .plain)) == nil)
    #expect(server.requests.count == 1)
  }

  @Test func `a list that was read whole has a count, also if a row could not be read`()
    async throws
  {
    let server = try LoopbackServer { _ in
      .json(#"[{"id": 1, "name": "a"}, {"name": "b"}, {"id": 3, "name": "c"}]"#)
    }
    defer { server.stop() }
    let (things, router) = try added(server)
    let query = ServedQuery(limit: 1, isForPeople: true)
    let page = try await things.page(query)
    #expect(page.summary.total == nil && page.summary.next != nil)
    #expect(try await things.cachedCount(of: query, page) == 2)
    #expect(try await things.cachedCount(of: ServedQuery(limit: 1), page) == nil)
    let html = try await router.response(
      to: ServerRequest(method: "GET", query: [ServerRequest.Parameter("limit", "1")]),
      for: RoutePath(.list, "things"), readOnly: false
    ).text
    #expect(html.contains(">2 things</p>") && html.contains("1 row could not be read"))
  }

  @Test func `a list of cached records says that the last sync has failed, and why`() async throws {
    let isRefused = Mutex(false)
    let server = try LoopbackServer { _ in
      isRefused.withLock(\.self)
        ? .status(403, "no") : .json(#"[{"id": 1, "name": "a", "n": 2}]"#)
    }
    defer { server.stop() }
    let (things, router) = try added(server)
    #expect(try await things.page(ServedQuery(limit: 1)).records.count == 1)
    isRefused.withLock { $0 = true }
    #expect(try await things.sync(pages: nil) { _ in }.failure != nil)
    let html = try await router.response(
      to: ServerRequest(method: "GET"), for: RoutePath(.list, "things"), readOnly: false
    ).text
    #expect(html.contains("The last sync failed: ") && html.contains("403"), "\(html)")
    #expect(try await things.state().syncFailure?.contains("403") == true)
  }

  @Test func `a list of which fewer records were sent than the service reports has no total`()
    async throws
  {
    let server = try LoopbackServer { request in
      let page = request.query["page"] ?? "1"
      let rows = page == "1" ? #"{"id": 1, "name": "a"}, {"id": 2}"# : ""
      return .json(#"{"rows": [\#(rows)], "total": 5}"#)
    }
    defer { server.stop() }
    let manifest = """
      {"url": "\(server.baseURL)/things", "rows": "rows", "id": "id", "page": "page=1", "total": "total", \
      "paging": "proved", "rate": "off", "fields": ["name"]}
      """
    let environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: HTTPTransport(), store: InMemoryStore())
    let things = ServedPlugin(
      DeclaredPlugin("things", try Manifest(reading: Data(manifest.utf8))), in: environment)
    let api = API(
      sources: [things], sql: nil, adding: nil, syncs: SyncJobs(in: environment),
      now: { MadeUpSource.now })
    func list() async throws -> JSON? {
      let response = try await api.response(
        to: ServerRequest(method: "GET", query: [ServerRequest.Parameter("limit", "1")]),
        for: RoutePath(.list, "things"))
      return JSON(reading: Data(response.text.utf8))
    }
    #expect(try await list()?["page"]?["total"] == 5)
    #expect(try await !things.sync(pages: nil) { _ in }.isComplete)
    #expect(try await things.shortfall()?.includes(.sentFewer) == true)
    let answer = try #require(try await list())
    #expect(answer["page"]?["total"] == JSON.null)
    let codes = answer["warnings"]?.array?.map { $0["code"]?.string }
    #expect(codes?.filter { $0 == "sentFewer" }.count == 1, "\(answer.text)")
  }

  /// A list of 1,500 records in pages of 100, which cannot look up one of them.
  private func longList() throws -> (
    server: LoopbackServer, source: ServedPlugin<DeclaredPlugin>, api: API
  ) {
    let server = try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let rows = (0..<1500).dropFirst((page - 1) * 100).prefix(100).map {
        #"{"id": \#($0), "name": "lamp \#($0)", "n": \#($0 % 50)}"#
      }
      return .json(#"{"rows": [\#(rows.joined(separator: ","))], "total": 1500}"#)
    }
    let manifest = """
      {"url": "\(server.baseURL)/things", "rows": "rows", "id": "id", "page": "page=1", "total": "total", \
      "paging": "proved", "rate": "off", "fields": ["name", "n"], "title": "name"}
      """
    let environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: HTTPTransport(), store: InMemoryStore())
    let things = ServedPlugin(
      DeclaredPlugin("things", try Manifest(reading: Data(manifest.utf8))), in: environment)
    let api = API(
      sources: [things], sql: nil, adding: nil, syncs: SyncJobs(in: environment),
      now: { MadeUpSource.now })
    return (server, things, api)
  }

  @Test func `what is said of a part of a list names the part, and has no total for programs`()
    async throws
  {
    let (server, things, api) = try longList()
    defer { server.stop() }
    _ = try await things.sync(pages: 12) { _ in }
    let local = try await things.localSummary(.plain)
    #expect(local.provenance?.origin == .cached && local.provenance?.fetchedAt != nil)
    let gap = try #require(local.warnings.first)
    #expect(gap.warning.message.hasPrefix("limited to cached records: 1,200 of 1,500 "))
    #expect(try await things.state().total == 1500)
    let facets = try await api.response(
      to: ServerRequest(method: "GET"), for: RoutePath(.facets, "things"))
    #expect(facets.text.contains(gap.warning.message), "\(facets.text)")
    #expect(facets.text.contains(#""provenance": {"origin":"cached","#), "\(facets.text)")
    var query = ServedQuery(limit: 1, conditions: ["n<10"])
    #expect(try await things.page(query).summary.total == nil)
    query.isForPeople = true
    #expect(try await things.page(query).summary.total == 240)
    let whole = ServedQuery(isWhole: true, conditions: ["n<10"])
    let summary = try await things.page(whole).summary
    #expect(summary.count == 240 && summary.total == nil)
    #expect(try await things.sync(pages: nil) { _ in }.isComplete)
    #expect(try await things.localSummary(.plain).warnings.isEmpty)
    #expect(try await things.page(whole).summary.total == 300)
  }

  @Test func `where the cached pages end, a list goes on with the records of a stopped sync`()
    async throws
  {
    let (server, things, _) = try longList()
    defer { server.stop() }
    _ = try await things.sync(pages: 12) { _ in }
    _ = try await things.page(ServedQuery(limit: 100))
    let words = "limited to cached records: 1,200 of 1,500"
    for query in [
      ServedQuery(isWhole: true), ServedQuery(cache: .offline, isWhole: true),
      ServedQuery(query: "lamp", isWhole: true),
    ] {
      let whole = try await things.page(query).summary
      #expect(whole.count == 1200 && whole.next == nil, "\(query): \(whole)")
      #expect(whole.warnings.contains { $0.warning.message.hasPrefix(words) }, "\(whole)")
    }
    var (query, ids) = (ServedQuery(limit: 100, cache: .offline), [String]())
    repeat {
      let page = try await things.page(query)
      ids += page.records.map(\.id)
      let tells = page.summary.warnings.contains { $0.warning.message.hasPrefix(words) }
      #expect(tells || 200 < ids.count && ids.count < 1200, "\(page.summary)")
      query.cursor = page.summary.next?.description
    } while query.cursor != nil
    #expect(ids == (0..<1200).map(String.init))
  }

  @Test func `all cached records have no next page, also if no more are cached`() async throws {
    let (server, things, api) = try longList()
    defer { server.stop() }
    _ = try await things.page(ServedQuery(limit: 100))
    let request = ServerRequest(method: "GET", query: [.init("all", "true")])
    let whole = try await api.response(to: request, for: RoutePath(.list, "things"))
    #expect(whole.text.contains(#""page": {"count":100,"total":1500,"next":null}"#))
    #expect(whole.header("Link")?.contains("next") == false)
  }

  @Test func `searches have cached matches that a scan does not reach`() async throws {
    let (server, things, api) = try longList()
    defer { server.stop() }
    _ = try await things.sync(pages: 12) { _ in }
    let query = ServedQuery(query: "1150")
    let ofAll = try #require(try await api.results(of: query).first).page.get()
    for found in [try await things.page(query), ofAll] {
      #expect(found.records.map(\.id) == ["1150"])
      let provenance = try #require(found.summary.provenance)
      #expect(provenance.origin == .cached && provenance.reason?.code == .unsupported)
      #expect(found.summary.warnings.map(\.warning.code) == [.incomplete, .cached])
    }
  }

  @Test func `a missing record names what can still find it`() async throws {
    func problem(
      _ source: ServedPlugin<DeclaredPlugin>, _ cache: ServedQuery.Cache = .normal
    ) async throws -> Problem {
      let error = await #expect(throws: SourceError.self) {
        _ = try await source.record("9999", ServedQuery(cache: cache))
      }
      return Problem(try #require(error))
    }
    let (service, things, _) = try longList()
    defer { service.stop() }
    let sync = "sync things to ask the service for all records"
    // The first records prove nothing of the others, before a sync and after it.
    let scanned = try await problem(things)
    #expect(scanned.status == 404 && scanned.hint == sync, "\(scanned)")
    #expect(try await things.sync(pages: nil) { _ in }.isComplete)
    for cache in [ServedQuery.Cache.normal, .reload] {
      let missing = try await problem(things, cache)
      #expect(missing.status == 404 && missing.hint == sync && !missing.isUnasked, "\(missing)")
    }
    let endless = SourceError(
      .nothingCached, "none", remedy: Remedy("users sync --max-pages 10", .command))
    #expect(Problem(endless).hint == "sync users to ask the service for more records")
    // A short list can be looked through.
    let server = try LoopbackServer { _ in .json(#"[{"id": 1, "name": "lamp", "n": 1}]"#) }
    let short = try added(server).source
    #expect(try await short.sync(pages: nil) { _ in }.isComplete)
    let unasked = try await problem(short)
    #expect(unasked.isUnasked && unasked.hint == "cache=reload asks the service", "\(unasked)")
    let asked = try await problem(short, .reload)
    #expect(asked.code == "notFound" && !asked.isUnasked && asked.hint == nil, "\(asked)")
  }

  @Test func `an answer of local data alone does not name a time to try again`() async throws {
    let (service, things, _) = try longList()
    defer { service.stop() }
    let error = await #expect(throws: (any Error).self) {
      _ = try await things.record("1", ServedQuery(cache: .offline))
    }
    let problem = Problem(try #require(error))
    #expect(problem.code == "offline" && problem.status == 503, "\(problem)")
    #expect(problem.hint == nil && problem.retryAfter == nil, "\(problem)")
  }

  @Test func `facets for people keep fields whose values select nothing`() async throws {
    let things = try await things([2, 1])
    func fields(_ isForPeople: Bool) async throws -> [String] {
      let query = ServedQuery(conditions: ["id=9"], isForPeople: isForPeople)
      return try await things.facets(query).map(\.field)
    }
    #expect(try await fields(true).contains("price"))
    #expect(try await fields(false).isEmpty)
  }

  @Test func `the columns of a table are remembered, unless the address names some`() async throws {
    func page(
      _ query: [ServerRequest.Parameter], _ cookie: String? = nil
    ) async throws -> ServerResponse {
      let headers = cookie.map { [ServerRequest.Parameter("Cookie", "a=b; \($0)")] } ?? []
      return try await router.response(
        to: ServerRequest(method: "GET", query: query, headers: headers),
        for: RoutePath(.list, "countries"), readOnly: false)
    }
    func headings(_ response: ServerResponse) -> [String] {
      response.text.matches(of: /<th scope="col".*?>([A-Z][a-z]+)</).map { String($0.1) }
    }
    let usual = try await headings(page([]))
    #expect(usual.contains("Region"))
    let chosen = try await page([
      .init("column", ""), .init("column", "name"), .init("column", "capital"),
      .init("keep", "true"),
    ])
    #expect(chosen.status == 303)
    #expect(chosen.header("Location") == "/sources/countries?fields=name%2Ccapital")
    let field = try #require(chosen.header("Set-Cookie"))
    #expect(field.contains("Path=/sources/countries; ") && field.contains("SameSite=Strict"))
    let cookie = String(field.prefix { $0 != ";" })
    let remembered = try await page([], cookie)
    #expect(headings(remembered) == ["Name", "Capital"])
    // Only addresses that people choose name the columns.
    #expect(!remembered.text.contains(#"href="/sources/countries?fields="#))
    let named = try await page([.init("fields", "code")], cookie)
    #expect(!headings(named).contains("Capital"))
    let search = try await page([.init("query", "an")], cookie)
    #expect(headings(search) == ["Name", "Capital"])
    // A link that someone has sent changes what it shows, and nothing that is remembered.
    let link = try await page([.init("column", "code")], cookie)
    #expect(link.header("Location") == "/sources/countries?fields=code")
    #expect(link.header("Set-Cookie") == nil)
    // Those that are chosen are kept beside the view of the address.
    let both = try await page(
      [.init("column", "name"), .init("view", "table"), .init("keep", "true")])
    #expect(both.header("Location") == "/sources/countries?fields=name&view=table")
    #expect(both.header("Set-Cookie")?.hasPrefix("aggregator_columns=name;") == true)
    // None and the usual ones are forgotten, and so are columns that the source no longer has.
    for columns in [[""], ["", "code", "name", "region", "capital"]] {
      let reset = try await page(
        columns.map { .init("column", $0) } + [.init("keep", "true")], cookie)
      #expect(reset.header("Location") == "/sources/countries")
      #expect(reset.header("Set-Cookie")?.contains("Max-Age=0") == true)
    }
    #expect(try await headings(page([], "aggregator_columns=gone%2C%00")) == usual)
  }

  @Test func `a chosen view is kept, and in the addresses, also of a source without pictures`()
    async throws
  {
    func page(
      _ query: [ServerRequest.Parameter], _ cookie: String, part: String? = nil
    ) async throws -> ServerResponse {
      var request = ServerRequest(
        method: "GET", rawPath: "/sources/countries", query: query,
        headers: [.init("Cookie", cookie)])
      if let part { request.headers.append(.init(HTMLFragment.header, part)) }
      return try await router.response(
        to: request, for: RoutePath(.list, "countries"), readOnly: false)
    }
    let small = ServerRequest.Parameter("view", "small")
    let sort = ServerRequest.Parameter("sort", "name")
    #expect(try await page([], "a=b").text.contains("<table>"))
    let chosen = try await page([small, sort, .init("keep", "true")], "a=b")
    #expect(chosen.header("Location") == "/sources/countries?sort=name&view=small")
    let cookie = String(try #require(chosen.header("Set-Cookie")).prefix { $0 != ";" })
    // What was chosen is in the address of each page, but a part of a page is shown as the page is.
    let kept = try await page([sort, .init("deleted", "FR")], cookie)
    #expect(kept.status == 303)
    #expect(
      kept.header("Location") == "/sources/countries?sort=name&deleted=FR&view=small")
    #expect(try await page([], cookie, part: "list").text.contains("<table>"))
    // A link wins, and changes nothing that is kept.
    let cards = try await page([small], "aggregator_view=table")
    #expect(cards.header("Set-Cookie") == nil)
    #expect(cards.text.contains(#"<ol class="records gallery small plain" id="#))
    #expect(!cards.text.contains("<table>") && !cards.text.contains(#"class="picture "#))
    // The addresses of its records and its search name it, too.
    #expect(cards.text.contains(/"\/sources\/countries\/[A-Z]+\?view=small"/))
    #expect(cards.text.contains(#"<input type="hidden" name="view" value="small">"#))
    #expect(!cards.text.contains("/api/v1/countries?view"))
    let problem = await #expect(throws: Problem.self) {
      _ = try await page([.init("view", "huge")], "a=b")
    }
    #expect(problem?.hint == "choose gallery, small or table")
  }

  @Test(arguments: [0, 2, 3, 4])
  func `a list of which few records have a picture is a table`(count: Int) async throws {
    let rows = (1...5).map { id in
      let picture = id <= count ? "\"http://127.0.0.1:1/\(id).png\"" : "null"
      return #"{"id": "\#(id)", "name": "n\#(id)", "picture": \#(picture)}"#
    }
    let server = try LoopbackServer { _ in .json("[\(rows.joined(separator: ","))]") }
    let manifest = """
      {"url": "\(server.baseURL)/things", "rows": "$", "id": "id", "paging": "single", "fields": ["name", "picture"],
       "image": "picture"}
      """
    let plugin = DeclaredPlugin("things", try Manifest(reading: Data(manifest.utf8)))
    let environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: HTTPTransport(),
      store: SQLiteStore(at: sandbox.root.appending(path: "pictures.sqlite").path))
    let things = ServedPlugin(plugin, in: environment)
    let router = WebRouter(
      program: "aggregator",
      api: API(
        sources: [things], sql: nil, adding: nil, syncs: SyncJobs(in: environment),
        now: { MadeUpSource.now }))
    func isTable(_ query: [ServerRequest.Parameter] = []) async throws -> Bool {
      try await router.response(
        to: ServerRequest(method: "GET", rawPath: "/sources/things", query: query, headers: []),
        for: RoutePath(.list, "things"), readOnly: false
      ).text.contains("<table>")
    }
    // Of the first list it is known only when the service has answered.
    for _ in 1...2 { #expect(try await isTable() == (count < 3)) }
    // Whatever a search finds looks as the list does.
    #expect(try await isTable([.init("query", "n1")]) == (count < 3))
    #expect(try await !isTable([.init("view", "gallery")]))
    #expect(await things.sample().hasPictures == (count >= 3))
  }

  @Test func `whoever sees a list need not wait for its filters`() async throws {
    _ = try await Self.source(service, sandbox).sync(pages: nil) { _ in }
    #expect(await source.index?.table == nil)
    let page = try await router.response(
      to: ServerRequest(method: "GET", query: []), for: RoutePath(.list, "countries"),
      readOnly: false)
    #expect(page.status == 200)
    while await source.index?.table == nil { await Task.yield() }
    _ = try await source.facets(ServedQuery())
    #expect(await source.index?.table?.readings == 1)
  }

  @Test func `bundled records have facets, whose counts are those of the lists that they select`()
    async throws
  {
    for words in [nil, "an"] {
      let facets = try await source.facets(ServedQuery(query: words))
      let regions = try #require(facets.first { $0.field == "region" })
      #expect(!regions.isRange && regions.values.count > 3)
      for value in regions.values {
        // Programs have no total of samples.
        let query = ServedQuery(
          query: words, limit: 1, conditions: [value.condition], isForPeople: true)
        let page = try await source.page(query)
        #expect(page.summary.total == value.count, "\(value)")
        #expect(page.summary.provenance?.origin == .bundled)
      }
    }
  }

  @Test func `a list has what a sync has fetched, also just after it was shown`() async throws {
    func names() async throws -> [String] {
      try await source.page(ServedQuery(isForPeople: true)).records.map(\.name)
    }
    service.become(try FakeCountries(["FR"]))
    #expect(try await names() == ["France"])
    service.become(try FakeCountries(["DE", "FR"]))
    #expect(try await source.sync(pages: nil) { _ in }.passed == 2)
    #expect(try await names().sorted() == ["France", "Germany"])
  }

  @Test func `changes are pages of one comparison`() async throws {
    func changes(
      _ kind: ChangeEntry.Kind? = nil, after cursor: PageCursor? = nil, limit: Int = 2
    ) async throws -> ChangePage? {
      try await source.changes(
        ChangesQuery(since: "sync", kind: kind, limit: limit, cursor: cursor))
    }
    #expect(try await changes() == nil)
    for codes in [["FR", "IT"], ["DE", "ES", "FR", "PT"]] {
      service.become(try FakeCountries(Set(codes)))
      _ = try await source.sync(pages: nil) { _ in }
    }
    let whole = try #require(try await changes(limit: 100))
    #expect(whole.summary.count == 4 && whole.next == nil)
    #expect(Set(whole.entries.map(\.id)) == ["DE", "ES", "IT", "PT"])
    var read: [String] = []
    var cursor: PageCursor?
    repeat {
      let page = try #require(try await changes(after: cursor))
      #expect(page.entries.count <= 2)
      read += page.entries.map(\.id)
      cursor = page.next
    } while cursor != nil
    #expect(read == whole.entries.map(\.id))
    let removed = try #require(try await changes(.removed, limit: 1))
    #expect(removed.entries.map(\.id) == ["IT"] && removed.entries.map(\.kind) == [.removed])
    // One comparison does not go on with another.
    let next = try #require(try await changes(limit: 1)?.next)
    await #expect(throws: SourceError.self) { try await changes(.added, after: next) }
  }

  @Test func `a search without matches suggests a word of the records`() async throws {
    _ = try await source.sync(pages: nil) { _ in }
    func suggestion(_ words: String, _ conditions: [String] = []) async throws -> String? {
      let query = ServedQuery(query: words, conditions: conditions, isForPeople: true)
      return try await source.page(query).suggestion
    }
    #expect(try await suggestion("switzerlandd")?.lowercased() == "switzerland")
    #expect(try await suggestion("switzerland") == nil)
    #expect(try await suggestion("switzerlandd", ["name~a"]) == nil)
  }

  @Test func `a list without matches suggests the condition that is probably meant`() async throws {
    _ = try await source.sync(pages: nil) { _ in }
    func suggestion(
      _ conditions: String..., offset: Int? = nil, isForPeople: Bool = true
    ) async throws -> String? {
      let query = ServedQuery(offset: offset, conditions: conditions, isForPeople: isForPeople)
      return try await source.page(query).suggestion
    }
    #expect(try await suggestion("region=eu") == #"region="EU""#)
    #expect(try await suggestion("name=switzerlandd") == #"name="Switzerland""#)
    #expect(try await suggestion("region=EU,AS") == #"region in ("EU", "AS")"#)
    #expect(try await suggestion("region=EU") == nil)
    #expect(try await suggestion("region=eu", "name~land") == nil)
    #expect(try await suggestion("region=EU", offset: 1000) == nil)
    #expect(try await suggestion("region=eu", isForPeople: false) == nil)
  }

  @Test func `a search without matches names what was searched, and filters that have some`()
    async throws
  {
    let heroes = ServedPlugin(
      HeroesPlugin(),
      in: PluginEnvironment(
        settings: SourceSettings([:]), transport: LongTimeoutTransport(), store: InMemoryStore()))
    func warning(_ words: String) async throws -> String? {
      try await heroes.page(ServedQuery(query: words, cache: .offline)).summary.warnings
        .first { $0.warning.code == .noMatches }?.warning.message
    }
    let message = try await warning("AGILITY")
    #expect(message?.hasPrefix("searched: name, realName, aliases; where=powers=") == true)
    #expect(try await warning("\"Agility\"")?.contains("; where=powers=") == true)
    #expect(try await warning("zzyzxq") == "searched: name, realName, aliases")
    #expect(try await warning("spider") == nil)
    let page = try await heroes.page(
      ServedQuery(query: "agility", cache: .offline, isForPeople: true))
    #expect(!page.summary.warnings.contains { $0.warning.code == .noMatches })
    let value = try #require(page.advice?.filters.first?.values.first)
    let list = try await heroes.page(
      ServedQuery(limit: 1, conditions: [value.condition], isForPeople: true))
    #expect(list.summary.total == value.count && value.count > 1)
  }

  @Test(
    arguments: [
      ("storm -rain", "-rain", "storm", #"not name~"rain""#),
      ("storm NOT rain", "NOT", "storm", #"not name~"rain""#),
      ("big storm OR rain", "OR", "big", #"name~"storm" or name~"rain""#),
      ("storm AND rain", "AND", "storm rain", nil),
      ("publisher:DC", "publisher:DC", nil, #"publisher~"DC""#),
      ("storm ID>=3", "ID>=3", "storm", #"id>="3""#),
      (#"storm "big sun"#, "big sun", #"storm "big sun"#, nil),
    ] as [(String, String, String?, String?)])
  func `what may be meant as an operator of a search is said, with a filter`(
    query: String, part: String, rest: String?, condition: String?
  ) async throws {
    let hints = try SearchQuery(query).hints(HeroesPlugin().fields)
    let hint = try #require(hints.first)
    #expect(hints.count == 1 && hint.message.contains("\"\(part)\""))
    #expect(hint.rest == rest && hint.condition == condition)
    let heroes = ServedPlugin(
      HeroesPlugin(),
      in: PluginEnvironment(
        settings: SourceSettings([:]), transport: LongTimeoutTransport(), store: InMemoryStore()))
    let page = try await heroes.page(ServedQuery(query: query, cache: .offline))
    #expect(page.summary.warnings.contains { $0.warning.message == hint.message })
    if let condition {
      _ = try await heroes.page(ServedQuery(query: rest, conditions: [condition]))
    }
  }

  @Test(arguments: [
    #"NOT "foo bar""#, #"a OR "b c""#, String(repeating: "-word ", count: 2000),
    (0..<2000).map { "-w\($0)x" }.joined(separator: " "),
  ])
  func `hints are few, and have no filter with a part of a phrase`(query: String) throws {
    let hints = try SearchQuery(query).hints(HeroesPlugin().fields)
    #expect((1...5).contains(hints.count))
    #expect(hints.allSatisfy { $0.condition?.contains(#"\""#) != true }, "\(hints)")
  }

  @Test(arguments: [
    "spider-man", "7\" x", "x - y", "\"a -b\" c", "a:b", "x -5", "OR x", "x or y", "x OR",
  ])
  func `text that is no operator has no hint`(query: String) throws {
    #expect(try SearchQuery(query).hints(HeroesPlugin().fields).isEmpty)
  }

  @Test func `the filters after a search without matches are those of cached records, too`()
    async throws
  {
    service.become(try FakeCountries(["DE", "FR"]))
    _ = try await source.sync(pages: nil) { _ in }
    let page = try await source.page(ServedQuery(query: "eu", isForPeople: true))
    let value = try #require(page.advice?.filters.first?.values.first)
    #expect(page.records.isEmpty && value.condition == "region=\"EU\"" && value.count == 2)
  }

  /// The cached records of an added source, whose IDs are texts.
  private func things(
    _ prices: [Double], fields: String = #"["price"]"#
  ) async throws -> ServedPlugin<DeclaredPlugin> {
    let rows = prices.enumerated().map {
      #"{"id": "\#($0 + 1)", "price": \#($1), "day": "2026-01-0\#($0 + 1)", "tags": [], "gone": null}"#
    }
    let server = try LoopbackServer { _ in .json("[\(rows.joined(separator: ","))]") }
    let manifest = """
      {"url": "\(server.baseURL)/things", "rows": "$", "id": "id", "paging": "single", "fields": \(fields)}
      """
    let plugin = DeclaredPlugin("things", try Manifest(reading: Data(manifest.utf8)))
    let things = ServedPlugin(
      plugin,
      in: PluginEnvironment(
        settings: SourceSettings([:]), transport: HTTPTransport(),
        store: SQLiteStore(at: sandbox.root.appending(path: "things.sqlite").path),
        // They stay fresh: the service is gone afterwards.
        now: { MadeUpSource.now }))
    _ = try await things.sync(pages: nil) { _ in }
    return things
  }

  @Test func `the list of sources has the kinds of the values of an added one`() async throws {
    let things = try await things([2, 1.5], fields: #"["price", "day"]"#)
    let kinds = await things.fieldsWithKinds().map { "\($0.id) \($0.kind)" }
    #expect(kinds == ["id text", "price number", "day date"])
    #expect(things.fields.contains { $0.kind == "any" })
    let countries = await source.fieldsWithKinds()
    #expect(countries.map(\.kind) == source.fields.map(\.kind))
  }

  @Test func `a card does not name the address of the picture that it shows`() throws {
    let manifest = try Manifest(
      reading: Data(
        #"""
        {"url": "http://127.0.0.1:1/things", "rows": "$", "id": "id", "paging": "single",
        "fields": ["name", "picture", "price"], "image": "picture"}
        """#.utf8))
    let text = #"{"id": 7, "name": "One", "picture": "http://127.0.0.1:1/1.png", "price": 2}"#
    let row = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
    let record = ServedRecord(
      try DeclaredRecord(row, id: manifest.id), of: DeclaredPlugin("things", manifest), columns: [])
    #expect(record.hasImage)
    #expect(record.summary.map(\.field) == ["price"])
    #expect(record.card.map(\.field).contains("picture"))
  }

  @Test func `a value that several records have leads to them from each`() async throws {
    func detail(_ prices: [Double]) async throws -> String {
      let things = try await things(prices)
      var content = SourceContent(source: things, query: .plain)
      let record = try await things.record("1", .plain.with(\.isForPeople, true))
      content.detail = DetailContent(id: "1", answer: .success(record), history: nil)
      content.sample = await things.sample()
      #expect(content.sample.repeated.isSubset(of: ["price"]))
      let pages = HTMLRenderer(
        program: "aggregator", sources: [things], isReadOnly: false, now: MadeUpSource.now)
      return pages.page(content, part: .detail)
    }
    let way =
      #"<a class="chip" href="/sources/things/1?where=price%3D%222.5%22" data-where="price=&#34;2.5&#34;" title="2.5">"#
    let html = try await detail([2.5, 2.5, 3.5, 3.5])
    #expect(html.contains(way + "<bdi>2.5</bdi></a>"))
    // What nearly every record has alone selects nothing but itself.
    #expect(try await !detail([2.5, 3.5, 4.5, 5.5]).contains("where="))
  }

  @Test func `a record has all of its row, also what no field shows`() async throws {
    let things = try await things([2.5], fields: #"["price"]"#)
    let query = ServedQuery.plain.with(\.isForPeople, true)
    let page = try await things.record("1", query)
    let record = try #require(page.records.first)
    #expect(record.isAsSent && record.kept?["day"] != nil && record.object["day"] == nil)
    var content = SourceContent(source: things, query: query)
    content.detail = DetailContent(id: "1", answer: .success(page), history: nil)
    let pages = HTMLRenderer(
      program: "aggregator", sources: [things], isReadOnly: false, now: MadeUpSource.now)
    let html = pages.page(content, part: .detail)
    #expect(html.contains("<summary>As the service sent it</summary>"))
    #expect(html.contains("&#34;day&#34;: "))
    // Programs have the fields alone, and a source of its own type what it has read.
    let plain = try await things.record("1", .plain)
    #expect(plain.records.first?.kept == nil)
    let countries = try await source.record("FR", query)
    let country = try #require(countries.records.first)
    #expect(!country.isAsSent && country.kept?["code"]?.string == "FR")
  }

  @Test func `a record has its empty lists, but nothing that its list may leave out`()
    async throws
  {
    let things = try await things(
      [2.5], fields: #"["price", "day", "a", "b", "c", "tags", "gone"]"#)
    let query = ServedQuery.plain.with(\.isForPeople, true)
    let page = try await things.record("1", query)
    let card = try #require(page.records.first?.card)
    #expect(card.map(\.field) == ["id", "price", "day", "a", "b", "c", "tags"])
    #expect(card.last?.value == "")
    var content = SourceContent(source: things, query: query)
    content.detail = DetailContent(id: "1", answer: .success(page), history: nil)
    let pages = HTMLRenderer(
      program: "aggregator", sources: [things], isReadOnly: false, now: MadeUpSource.now)
    let html = pages.page(content, part: .detail)
    #expect(html.contains(#"<dt>Tags</dt><dd dir="auto"><span class="none">–</span></dd>"#))
  }

  @Test func `IDs that are numbers are sorted as such`() async throws {
    let sample = try await things([2, 1]).sample()
    #expect(sample.kinds["id"] == .text && sample.orderKind(of: "id") == .number)
    service.become(try FakeCountries(["DE", "FR"]))
    _ = try await source.sync(pages: nil) { _ in }
    #expect(await source.sample().orderKind(of: "code") == .text)
  }

  @Test func `a decimal number that no search finds leads to its filter`() async throws {
    let things = try await things([26.55, 1103.22])
    let page = try await things.page(
      ServedQuery(query: "1103.22", cache: .offline, isForPeople: true))
    let value = try #require(page.advice?.filters.first?.values.first)
    #expect(page.records.isEmpty && value.text == "1103.22" && value.count == 1)
    let list = try await things.page(ServedQuery(conditions: [value.condition]))
    #expect(list.records.map(\.id) == ["2"])
  }

  @Test func `the matches of a complete list are counted, and none of them is out of reach`()
    async throws
  {
    func count(_ words: String?) async throws -> Int? {
      let query = ServedQuery(query: words, isForPeople: true)
      return try await source.cachedCount(of: query, try await source.page(query))
    }
    let none = ServedListing(records: [], summary: ListingSummary(count: 0))
    #expect(try await source.cachedCount(of: ServedQuery(isForPeople: true), none) == nil)
    let all = try await source.sync(pages: nil) { _ in }.passed
    #expect(try await count(nil) == all)
    #expect(try await source.deleted()?.summary.total == 0)
    #expect(try await source.delete("FR"))
    #expect(try await count(nil) == all - 1)
    let deleted = try await source.deleted()
    #expect(deleted?.records.map(\.name) == ["France"] && deleted?.summary.total == 1)
    let matches = try #require(try await count("an"))
    let index = try #require(source.index)
    #expect(try await index.count(matching: SearchQuery("an")) == matches)
    let last = try await source.page(ServedQuery(query: "an", offset: matches - 1))
    #expect(last.records.count == 1 && last.summary.total == matches)
  }

  /// A source that was added of a service, and its pages.
  private func added(
    _ server: LoopbackServer, _ members: String = ""
  ) throws -> (source: ServedPlugin<DeclaredPlugin>, router: WebRouter) {
    let manifest = """
      {"url": "\(server.baseURL)/things", "rows": "$", "id": "id", "paging": "single", "rate": "off", \(members)\
      "fields": ["name", "n"], "title": "name"}
      """
    let environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: HTTPTransport(),
      store: SQLiteStore(at: sandbox.root.appending(path: "added.sqlite").path))
    let things = ServedPlugin(
      DeclaredPlugin("things", try Manifest(reading: Data(manifest.utf8))), in: environment)
    var api = API(
      sources: [things], sql: nil, adding: nil, syncs: SyncJobs(in: environment),
      now: { MadeUpSource.now })
    // Also on a busy machine.
    api.late = LateSearches(wait: .seconds(600))
    return (things, WebRouter(program: "aggregator", api: api))
  }

  /// A service that searches names alone; the other field of its records is searched in the store, too.
  private static func searchingNames() throws -> LoopbackServer {
    try LoopbackServer { request in
      let records = [
        ("lunar lamp", "Bottega"), ("kettle", "lunar works"), ("solar lamp", "Bottega"),
      ]
      let rows = records.enumerated().filter { record in
        request.query["q"].map(record.element.0.contains) ?? true
      }
      let objects = rows.map { index, record in
        #"{"id": \#(index + 1), "name": "\#(record.0)", "n": "\#(record.1)"}"#
      }
      return .json("[\(objects.joined(separator: ","))]")
    }
  }

  private struct Found {
    let ids: [String]
    let words: [String]
  }

  @Test func `an answer says whether the search of the service or that of the store has found it`()
    async throws
  {
    let server = try Self.searchingNames()
    defer { server.stop() }
    let (things, _) = try added(server, #""search": "q", "#)
    func found(_ query: ServedQuery) async throws -> Found {
      let page = try await things.page(query)
      let warnings = page.summary.warnings.map(\.warning).filter { $0.code == .cachedOnly }
      #expect(!warnings.contains { $0.meansIncomplete })
      return Found(ids: page.records.map(\.id), words: warnings.map(\.message))
    }
    // Nothing is cached.
    #expect(try await found(ServedQuery(query: "Bottega")).words == [])
    _ = try await things.sync(pages: nil) { _ in }
    let service = try await found(ServedQuery(query: "lunar", cache: .reload))
    #expect(service.ids == ["1"] && service.words == [])
    let words = [Warning.storedSearch.message]
    for query in [
      ServedQuery(query: "lunar", order: "id"),
      ServedQuery(query: "lunar", conditions: ["id>0"], order: "id"),
      ServedQuery(query: "lunar", cache: .offline),
      ServedQuery(query: "lunar", offset: 0),
    ] {
      let store = try await found(query)
      #expect(Set(store.ids) == ["1", "2"] && store.words == words, "\(query)")
    }
    #expect(try await found(ServedQuery(query: "lunar", isWhole: true)).words == words)
    #expect(try await found(ServedQuery(query: "none", order: "id")).words == words)
    #expect(try await found(ServedQuery(order: "id")).words == [])
    #expect(try await found(ServedQuery(cache: .offline)).words == [])
  }

  @Test func `a search of the service that finds none names cached matches, and leads to them`()
    async throws
  {
    let server = try Self.searchingNames()
    defer { server.stop() }
    let (things, router) = try added(server, #""search": "q", "#)
    _ = try await things.sync(pages: nil) { _ in }
    let page = try await things.page(ServedQuery(query: "Bottega"))
    let words = "the service's search finds none; 2 cached records match"
    #expect(page.records.isEmpty && page.summary.provenance?.origin == .live)
    #expect(page.summary.warnings.contains { $0.warning == .cachedMatches(2) })
    #expect(page.summary.warnings.contains { $0.warning.message == words })
    let one = try await things.page(ServedQuery(query: "works"))
    #expect(
      one.summary.warnings.contains { $0.warning.message.hasSuffix("1 cached record matches") })
    // Which fields the service has searched is not known, also where its answer is cached.
    for _ in 1...2 {
      let none = try await things.page(ServedQuery(query: "absent"))
      let codes = none.summary.warnings.map(\.warning.code)
      #expect(!codes.contains(.cachedOnly) && !codes.contains(.noMatches), "\(none.summary)")
    }
    let searched = try await things.page(ServedQuery(query: "missing", cache: .offline))
    #expect(searched.summary.warnings.contains { $0.warning.code == .noMatches })
    let offline = try await things.page(ServedQuery(query: "Bottega", cache: .offline))
    #expect(offline.records.count == 2)

    func html(_ path: RoutePath<PagePath>, _ query: [String: String]) async throws -> String {
      let parameters = query.map { ServerRequest.Parameter($0.key, $0.value) }
      return try await router.response(
        to: ServerRequest(method: "GET", query: parameters), for: path, readOnly: false
      ).text
    }
    let list = try await html(RoutePath(.list, "things"), ["query": "Bottega"])
    let link = "query=Bottega&#38;cache=offline"
    #expect(list.contains("2 cached records match.</p>") && list.contains(link), "\(list)")
    #expect(list.contains("Show cached matches"))
    #expect(list.components(separatedBy: "2 cached records match").count == 2, "\(list)")
    let all = try await html(RoutePath(.search), ["query": "Bottega"])
    #expect(all.contains("2 cached records match. <a href=") && all.contains(link), "\(all)")
    #expect(!all.contains("No matches in things"))
    // What is exported are the matches of the store.
    let lunar = try await html(RoutePath(.list, "things"), ["query": "lunar"])
    #expect(lunar.contains(">1 thing for ") && lunar.contains("<p>All 2 cached matches: "))
    let sorted = try await html(RoutePath(.list, "things"), ["query": "lunar", "sort": "id"])
    let note = Warning.storedSearch.message.sentence
    #expect(sorted.contains(#"<p class="note" dir="auto">\#(("\(note)" as HTML).text)"#))
  }

  @Test func `a page names the number of cached matches also where there are very many`()
    async throws
  {
    let rows = (1...1001).map { #"{"id": \#($0), "name": "lamp"}"# }.joined(separator: ",")
    let server = try LoopbackServer { request in
      .json("[\(request.query["q"] == nil ? rows : "")]")
    }
    defer { server.stop() }
    let (things, _) = try added(server, #""search": "q", "#)
    _ = try await things.sync(pages: nil) { _ in }
    let page = try await things.page(ServedQuery(query: "lamp", isForPeople: true))
    #expect(page.records.isEmpty)
    #expect(page.summary.warnings.contains { $0.warning == .cachedMatches(1001) }, "\(page)")
  }

  @Test func `a list without a complete sync leads from a search without matches to cached ones`()
    async throws
  {
    let server = try Self.searchingNames()
    defer { server.stop() }
    let (things, _) = try added(server, #""search": "q", "#)
    _ = try await things.page(.plain)
    let page = try await things.page(ServedQuery(query: "Bottega"))
    #expect(page.records.isEmpty)
    #expect(page.summary.warnings.contains { $0.warning == .cachedMatches(2) })
    // The empty page of the service is cached, too.
    let offline = try await things.page(ServedQuery(query: "Bottega", cache: .offline))
    #expect(offline.records.count == 2)
  }

  @Test func `a page from a position on says in which order its records are`() async throws {
    let server = try Self.searchingNames()
    defer { server.stop() }
    let (things, router) = try added(server)
    _ = try await things.sync(pages: nil) { _ in }
    func html(_ query: (String, String)...) async throws -> String {
      let parameters = query.map { ServerRequest.Parameter($0.0, $0.1) }
      return try await router.response(
        to: ServerRequest(method: "GET", query: parameters), for: RoutePath(.list, "things"),
        readOnly: false
      ).text
    }
    let words = #"<p class="note order">In the order in which the records were first cached, "#
    #expect(try await html(("offset", "1")).contains(words))
    #expect(try await !html(("offset", "1"), ("sort", "name")).contains(words))
    // The script goes to a position in this one.
    let first = try await html(("limit", "1"))
    #expect(first.contains(#"<p class="order" hidden></p>"#) && !first.contains(words))
  }

  @Test func `a live list does not count records that the service has replaced since a sync`()
    async throws
  {
    let ids = Mutex([1, 2, 3])
    let server = try LoopbackServer { _ in
      let rows = ids.withLock(\.self).map { #"{"id": \#($0), "name": "n\#($0)", "n": 0}"# }
      return .json("[\(rows.joined(separator: ","))]")
    }
    defer { server.stop() }
    let (things, router) = try added(server)
    _ = try await things.sync(pages: nil) { _ in }
    func count(_ limit: Int, isForPeople: Bool = true) async throws -> Int? {
      let query = ServedQuery(limit: limit, cache: .reload, isForPeople: isForPeople)
      return try await things.cachedCount(of: query, try await things.page(query))
    }
    #expect(try await count(2) == 3)
    #expect(try await count(2, isForPeople: false) == 3)
    ids.withLock { $0 = [1, 2, 4] }
    #expect(try await count(20) == 3)
    #expect(try await count(20, isForPeople: false) == 3)
    #expect(try await count(2) == nil)
    let html = try await router.response(
      to: ServerRequest(method: "GET"), for: RoutePath(.list, "things"), readOnly: false
    ).text
    #expect(html.contains(">3 things</p>"))
    #expect(try await things.delete("1"))
    #expect(try await count(20) == 2)
  }

  @Test func `a record has each field but its ID and its name, whatever its value`() async throws {
    let server = try LoopbackServer { _ in
      .json(#"[{"id": 2, "name": "7", "n": 2}, {"id": 3, "n": 3}]"#)
    }
    defer { server.stop() }
    let (things, router) = try added(server)
    _ = try await things.sync(pages: nil) { _ in }
    for id in ["2", "3"] {
      let html = try await router.response(
        to: ServerRequest(method: "GET"), for: RoutePath(.record, "things", id), readOnly: false
      ).text
      let panel = html.firstRange(of: #"<section id="detail""#).map { html[$0.lowerBound...] } ?? ""
      #expect(panel.contains("<dt>N</dt>"), "\(panel)")
      #expect(!panel.contains("<dt>ID</dt>"), "\(panel)")
      // The heading has the name, if there is one.
      #expect(panel.contains("<dt>Name</dt>") == (id == "3"), "\(panel)")
    }
    let page = try await things.page(ServedQuery(cache: .offline, isForPeople: true))
    #expect(page.records.map { $0.summary.map(\.field) } == [["n"], ["n"]])
  }

  @Test func `a record beside a live list is as new as the list`() async throws {
    let name = Mutex("old")
    let server = try LoopbackServer { _ in
      .json(#"[{"id": 1, "name": "\#(name.withLock(\.self))", "n": 0}]"#)
    }
    defer { server.stop() }
    let (things, router) = try added(server)
    _ = try await things.record("1", .plain)
    _ = try await things.sync(pages: nil) { _ in }
    name.withLock { $0 = "new" }
    let html = try await router.response(
      to: ServerRequest(method: "GET"), for: RoutePath(.record, "things", "1"), readOnly: false
    ).text
    #expect(html.contains(##"<h2 id="detail-title" tabindex="-1" dir="auto">new</h2>"##))
  }

  @Test func `a page is filled with others in the place of deleted records`() async throws {
    func page(_ limit: Int, _ words: String? = nil) async throws -> ServedListing {
      try await source.page(ServedQuery(query: words, limit: limit))
    }
    let list = try await page(500).records.map(\.id)
    let matches = try await page(500, "an").records.map(\.id)
    try #require(matches.count > 12 && matches.count < list.count)
    let other = try #require(list.first { !matches.contains($0) })
    let total = try await page(5).summary.total
    let deleted = Array(matches.prefix(6)) + [matches[10], other]
    for id in deleted { #expect(try await source.delete(id)) }
    let found = try await page(5, "an")
    #expect(found.records.map(\.id) == Array(matches.filter { !deleted.contains($0) }.prefix(5)))
    #expect(found.summary.total == matches.count - 7)
    let next = try #require(found.summary.next)
    let rest = try await source.page(ServedQuery(query: "an", limit: 500, cursor: next.description))
    let ids = (found.records + rest.records).map(\.id)
    #expect(ids == matches.filter { !deleted.contains($0) })
    let first = try await page(5)
    #expect(first.records.map(\.id) == Array(list.filter { !deleted.contains($0) }.prefix(5)))
    #expect(first.summary.total == total.map { $0 - deleted.count })
  }

  @Test func `a record that a link leads to stands between its neighbours`() async throws {
    #expect(try await source.offset(of: "FR", in: ServedQuery()) == nil)
    _ = try await source.sync(pages: nil) { _ in }
    for order in [nil, "-name", "capital"] {
      let offset = try #require(try await source.offset(of: "FR", in: ServedQuery(order: order)))
      let page = try await source.page(ServedQuery(limit: 1, offset: offset, order: order))
      #expect(offset > 20 && page.records.map(\.id) == ["FR"])
    }
    func place(_ id: String, _ query: ServedQuery) async throws -> Int? {
      try await source.offset(of: id, in: query)
    }
    #expect(try await place("FR", ServedQuery(conditions: ["name=France"])) == 0)
    #expect(try await place("FR", ServedQuery(conditions: ["name=Germany"])) == nil)
    #expect(try await place("FR", ServedQuery(cache: .live)) == nil)
    #expect(try await place("XX", ServedQuery()) == nil)

    func names(_ query: [ServerRequest.Parameter]) async throws -> [String] {
      let page = try await router.response(
        to: ServerRequest(method: "GET", query: query),
        for: RoutePath(.record, "countries", "FR"), readOnly: false)
      #expect(page.text.contains(#"data-id="FR" aria-current="true""#))
      return page.text.matches(of: /class="record" href="[^"]*" data-id="(..)"/).map {
        String($0.1)
      }
    }
    let offset = try #require(try await place("FR", ServedQuery()))
    let page = try await source.page(ServedQuery(offset: offset - 10))
    #expect(try await names([]) == page.records.map(\.id))
    #expect(try await names([.init("sort", "-name")]).firstIndex(of: "FR") == 10)
    // Where it is in the list that the link says, it stays.
    #expect(try await names([.init("offset", String(offset))]).first == "FR")
  }

  private func response(
    to path: APIPath, _ query: KeyValuePairs<String, String>, of name: String = "countries",
    accepting type: String = "application/json"
  ) async throws -> ServerResponse {
    let environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: LongTimeoutTransport(), store: InMemoryStore())
    let api = API(
      sources: [source, ServedPlugin(HeroesPlugin(), in: environment)], sql: nil, adding: nil,
      syncs: SyncJobs(in: environment), now: { MadeUpSource.now })
    let request = ServerRequest(
      method: "GET", query: query.map { .init($0.key, $0.value) },
      headers: [.init("Accept", type)])
    return try await api.response(to: request, for: RoutePath(path, name))
  }

  @Test func `a search of all sources selects and sorts the records of each`() async throws {
    _ = try await source.sync(pages: nil) { _ in }
    let document = try await response(
      to: .search,
      ["query": "an", "where": "capital!=Paris", "where": "name~land", "sort": "-name"]
    ).document
    let items = document["items"]?.array ?? []
    let names = items.compactMap { $0["name"]?.string }
    #expect(names.count == 5 && names == names.sorted(by: >))
    #expect(names.allSatisfy { $0.lowercased().contains("land") })
    #expect(items.allSatisfy { $0["source"] == "countries" })
    // Heroes have no capital, which is said.
    let warning = try #require(document["warnings"]?.array?.first { $0["source"] == "heroes" })
    #expect(warning["code"] == "leftOut", "\(document.text)")
    #expect(warning["message"]?.string?.contains("capital") == true)
    #expect(document["sources"]?["heroes"]?["error"] == .null)

    // Only a field that no source has is an error, and no service selects.
    await #expect(throws: CommandError.self) {
      _ = try await response(to: .search, ["query": "an", "where": "color=red"])
    }
    let refusal = await #expect(throws: Problem.self) {
      _ = try await response(to: .search, ["query": "an", "sort": "name", "cache": "reload"])
    }
    #expect(refusal?.status == 409)
  }

  @Test func `a filter reads the first page of a source of which nothing is cached`() async throws {
    let server = try LoopbackServer { _ in
      .json(#"[{"id": 1, "name": "lamp", "n": 1}, {"id": 2, "name": "lamp", "n": 2}]"#)
    }
    let environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: HTTPTransport(), store: InMemoryStore())
    let api = API(
      sources: [try added(server).source], sql: nil, adding: nil, syncs: SyncJobs(in: environment),
      now: { MadeUpSource.now })
    let query = ServedQuery(query: "lamp", conditions: ["n>1"])
    let offline = try await api.results(of: query.with(\.cache, .offline))
    #expect(offline.compactMap(\.page.failure?.code) == ["nothingCached"])
    #expect(server.requests.isEmpty)
    let found = try await api.results(of: query)
    #expect(try found.flatMap { try $0.page.get().records.map(\.id) } == ["2"])
    #expect(server.requests.count == 1)
  }

  @Test func `the page of a search shows local data until a slow service has answered`()
    async throws
  {
    let mayEnd = DispatchSemaphore(value: 0)
    service.fail(
      with: .begin(headers: [("Content-Length", "9")]).performing { mayEnd.wait() }.closing,
      times: 1)
    let router = router
    func page() async throws -> String {
      try await router.response(
        to: ServerRequest(method: "GET", query: [.init("query", "an")]), for: RoutePath(.search),
        readOnly: false
      ).text
    }
    let first = try await page()
    mayEnd.signal()
    #expect(first.contains("Still asking the service of countries: so far only its local data"))
    #expect(first.contains(#"<span class="label">Bundled sample data</span>"#))
    // As many as the local data have, not only those that are shown.
    let least = try #require(first.firstMatch(of: /"count">at least (\d+)</)?.output.1)
    #expect((Int(least) ?? 0) > 5 && first.contains("At least \(least) matches"))
    #expect(first.contains(">All \(least) matching countries"))
    #expect(
      first.contains(
        #"class="wait" href="/search?query=an&#38;cache=reload">Wait for the answer</a>"#))
    var last = first
    while last.contains("Still asking") { last = try await page() }
    #expect(last.contains(#"<details class="badge live">"#) && !last.contains("At least"))
    // However often the page has looked: the second one is a retry.
    #expect(service.requests.count == 2)
  }

  @Test func `a search whose client has left does not answer for the next one`() async throws {
    let (late, source, gate) = (LateSearches(), source, Gate())
    let mayEnd = Gate()
    let left = Task {
      await late.answer(from: source, to: ServedQuery(query: "an")) {
        // It ends in its own time.
        await Task { try? await mayEnd.pass() }.value
        return SourceListing(source: source, page: .failure(.unknownPath))
      } == nil
    }
    await mayEnd.holds(1)
    left.cancel()
    #expect(await left.value)
    let next = await late.answer(from: source, to: ServedQuery(query: "an")) {
      mayEnd.open()
      try? await gate.pass()
      return SourceListing(source: source, page: .success(ServedListing()))
    }
    #expect(next == nil)
    for gate in [gate, mayEnd] { gate.open() }
  }

  @Test func `requests that wait at the same time have one search`() async {
    let (late, source, gate) = (LateSearches(wait: .seconds(600)), source, Gate())
    let searches = Counter()
    let requests = (0..<4).map { _ in
      Task {
        await late.answer(from: source, to: ServedQuery(query: "an")) {
          searches.add()
          try? await gate.pass()
          return SourceListing(source: source, page: .success(ServedListing()))
        } != nil
      }
    }
    while late.waiting < 4 { await Task.yield() }
    // One whose client leaves does not end it for the others.
    requests[0].cancel()
    #expect(await !requests[0].value)
    #expect(late.waiting == 3)
    gate.open()
    for request in requests.dropFirst() { #expect(await request.value) }
    #expect(searches.value == 1 && late.waiting == 0)
  }

  @Test func `a search of a source that was replaced is not begun again by those who wait`() async {
    let (late, source, gate) = (LateSearches(wait: .seconds(600)), source, Gate())
    let searches = Counter()
    let request = Task {
      await late.answer(from: source, to: ServedQuery(query: "an")) {
        searches.add()
        try? await gate.pass()
        return SourceListing(source: source, page: .failure(.unknownPath))
      } == nil
    }
    await gate.holds(1)
    late.forget(source.name)
    #expect(await request.value)
    #expect(searches.value == 1)
  }

  @Test func `cached records are counted in one way`() async throws {
    let synced = try await source.sync(pages: nil) { _ in }.passed
    #expect(try await source.delete("FR"))
    let router = router
    func page(_ path: RoutePath<PagePath>) async throws -> String {
      try await router.response(to: ServerRequest(method: "GET"), for: path, readOnly: false).text
    }
    let (count, home) = (synced - 1, try await page(RoutePath(.start)))
    #expect(home.contains(">\(count) records cached from 1 of 1 source"))
    #expect(home.contains(">All \(count) cached, besides 1 deleted here;"))
    #expect(try await page(RoutePath(.list, "countries")).contains(">\(count) countries</p>"))
    let sources = try await response(to: .sources, [:]).document["items"]?.array
    #expect(sources?.first?["cached"] == .integer(count))
  }

  @Test func `a hint begins with what was probably meant`() async throws {
    func hint(
      _ query: KeyValuePairs<String, String>, of name: String = "countries"
    ) async -> String? {
      do { _ = try await response(to: .list, query, of: name) } catch { return Problem(error).hint }
      return nil
    }
    #expect(
      await hint([:], of: "contries")
        == #"did you mean "countries"? The sources are countries, heroes"#)
    #expect(await hint([:], of: "planets") == "the sources are countries, heroes")
    let parameters = await hint(["limt": "3"])
    #expect(parameters?.hasPrefix(#"did you mean "limit"? The parameters are "#) == true)
    for query in [["where": "nmae=France"], ["sort": "-nmae"], ["fields": "code,nmae"]]
      as [KeyValuePairs<String, String>]
    {
      #expect(
        await hint(query)
          == #"did you mean "name"? Available fields: code, name, region, capital"#, "\(query)")
    }
  }

  @Test func `a summary tells of the values of a field, as the command line does`() async throws {
    let all = try await source.sync(pages: nil) { _ in }.passed
    let groups = try await response(to: .summary, ["field": "region"]).document
    let counts = (groups["items"]?.array ?? []).compactMap { $0["count"].map(\.text) }
      .compactMap(Int.init)
    #expect(counts.count > 4 && counts.reduce(0, +) == all && counts == counts.sorted(by: >))
    #expect(groups["page"]?["total"] == .integer(counts.count))
    #expect(groups["provenance"]?["origin"] == "cached" && groups["warnings"] == [])

    let distinct = try await response(
      to: .summary, ["field": "region", "kind": "distinct", "where": "region in (EU, AS)"],
      accepting: "text/csv")
    #expect(distinct.text.split { $0.isNewline } == ["region", "AS", "EU"])
    #expect(distinct.header("Content-Type")?.hasPrefix("text/csv") == true)

    let statistics = try await response(to: .summary, ["field": "name", "kind": "stats"]).document
    #expect(statistics["items"]?.array?.first?["distinct"] == .integer(all))
    for wrong in [[:], ["field": "color"], ["field": "name", "kind": "sum"]]
      as [KeyValuePairs<String, String>]
    {
      await #expect(throws: (any Error).self) { _ = try await response(to: .summary, wrong) }
    }
  }

  @Test func `a summary of bundled records says so`() async throws {
    let document = try await response(to: .summary, ["field": "publisher"], of: "heroes").document
    #expect(document["provenance"]?["origin"] == "bundled", "\(document.text)")
    #expect(document["items"]?.array?.isEmpty == false)
  }

  @Test func `changes are where records are, unless a record is called so`() async throws {
    let environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: LongTimeoutTransport(), store: InMemoryStore())
    let records = [ServedRecord("changes", "Changes of the sea")]
    let router = WebRouter(
      program: "aggregator",
      api: API(
        sources: [MadeUpSource.countries, MadeUpSource(name: "words", records: records)], sql: nil,
        adding: nil, syncs: SyncJobs(in: environment), now: { MadeUpSource.now }))
    func response(
      _ source: String, _ query: [ServerRequest.Parameter]
    ) async throws -> ServerResponse {
      try await router.response(
        to: ServerRequest(method: "GET", query: query),
        for: RoutePath(.record, source, "changes"), readOnly: false)
    }
    let moved = try await response("countries", [.init("since", "7d")])
    #expect(moved.status == 308 && moved.header("Location") == "/changes/countries?since=7d")
    let shown = try await response("words", [])
    #expect(shown.status == 200 && shown.text.contains("of the sea"))
  }
}

extension ServerResponse {
  fileprivate var text: String {
    if case .bytes(let bytes) = body { String(decoding: bytes, as: UTF8.self) } else { "" }
  }

  fileprivate var document: JSON {
    get throws { try #require(JSON(reading: Data(text.utf8))) }
  }
}
