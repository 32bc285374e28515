import AggregatorKit
import AggregatorSourceTesting
import AggregatorTestSupport
import CountriesSource
import Foundation
import Testing

@testable import AggregatorAPI
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorWeb
@testable import DeclaredSource

/// What the page of a record says of its past.
@Suite struct RecordHistoryTests {
  private let sandbox: Sandbox
  private let store: SQLiteStore
  private let source: ServedPlugin<CountriesPlugin>

  init() throws {
    sandbox = try Sandbox()
    store = SQLiteStore(at: sandbox.root.appending(path: "store.sqlite").path)
    source = ServedPlugin(
      CountriesPlugin(),
      in: PluginEnvironment(
        settings: SourceSettings([:]), transport: LongTimeoutTransport(), store: store))
  }

  private func save(_ capital: String, onDay day: Int) async throws {
    let country = CountriesSource.Country(
      code: try #require(CountryCode("KZ")), name: "Kazakhstan", region: "AS", capital: capital)
    _ = try await CountriesPlugin().recordStore(in: store).save(
      [country], at: Date(timeIntervalSince1970: Double(day) * 86_400))
  }

  /// Saves a pass that found no record.
  private func remove(onDay day: Int, of name: String = "countries") async throws {
    var completion = Reconciliation.Completion(lastPosition: .max, minRecordCount: 0)
    completion.allowsNone = true
    let reconciliation = Reconciliation(begins: true, completion: completion)
    let update = CheckpointUpdate("sync", from: nil, to: nil, reconciliation: reconciliation)
    _ = try await store.save(
      StoreBatch([], update: update, completesSync: true), of: name,
      at: Date(timeIntervalSince1970: Double(day) * 86_400))
  }

  private func page(of id: String) async throws -> String {
    let query = ServedQuery(cache: .offline, isForPeople: true)
    let pages = HTMLRenderer(
      program: "aggregator", sources: [source], isReadOnly: false, now: Date(), hasSQL: true)
    return pages.page(
      SourceContent(
        source: source, query: query,
        detail: DetailContent(
          id: id, answer: .success(try await source.record(id, query)),
          history: try await source.history(of: id))),
      part: .detail)
  }

  @Test func `the changes of a record are listed, the latest first`() async throws {
    for (day, capital) in ["Almaty", "Astana", "<Nur-Sultan>"].enumerated() {
      try await save(capital, onDay: day)
    }
    let page = try await page(of: "KZ")
    #expect(page.contains("<summary>History (2 changes)</summary>"))
    let times = page.matches(of: /<time class="kind"[^>]*>([^<]*)</).map { String($0.1) }
    #expect(times == ["3 Jan 1970, 00:00 UTC", "2 Jan 1970, 00:00 UTC"])
    let values = page.matches(of: /<del dir="auto">([^<]*)<\/del> → <ins dir="auto">([^<]*)</)
    let words = values.map { "\($0.1) → \($0.2)" }
    #expect(words == ["Astana → &#60;Nur-Sultan&#62;", "Almaty → Astana"])
    #expect(page.contains("<li>First seen 1 Jan 1970</li>"))
  }

  @Test func `a changed number has the size of the change`() async throws {
    let server = try LoopbackServer(
      replies: [20, 22].map { .json(#"[{"id": 1, "price": \#($0), "maker_id": \#($0)}]"#) })
    let manifest = """
      {"url": "\(server.baseURL)/things", "rows": "$", "id": "id", "paging": "single", "fields": ["price", "maker_id"]}
      """
    let things = ServedPlugin(
      DeclaredPlugin("things", try Manifest(reading: Data(manifest.utf8))),
      in: PluginEnvironment(
        settings: SourceSettings([:]), transport: HTTPTransport(), store: store))
    for _ in 1...2 { _ = try await things.sync(pages: nil) { _ in } }
    let query = ChangesQuery(since: "sync")
    let page = try #require(try await things.changes(query))
    let pages = HTMLRenderer(
      program: "aggregator", sources: [things], isReadOnly: false, now: Date())
    let html = pages.changes(ChangesContent(source: things, query: query, page: .success(page)))
    let sizes = html.matches(of: /<ins dir="auto">22<\/ins>([^<]*)<\/span>/).map { String($0.1) }
    #expect(sizes.sorted() == ["", " (+10%)"])
  }

  @Test func `changes only in values that are not among the fields are counted`() async throws {
    func rows(_ price: Int, _ hits: Int) -> LoopbackReply {
      .json(
        #"[{"id": 1, "price": \#(price), "hits": 1}, {"id": 2, "price": 7, "hits": \#(hits)}]"#)
    }
    let server = try LoopbackServer(replies: [rows(20, 1), rows(22, 3)])
    let manifest = """
      {"url": "\(server.baseURL)/things", "rows": "$", "id": "id", "paging": "single", "fields": ["price"]}
      """
    let things = ServedPlugin(
      DeclaredPlugin("things", try Manifest(reading: Data(manifest.utf8))),
      in: PluginEnvironment(
        settings: SourceSettings([:]), transport: HTTPTransport(), store: store))
    for _ in 1...2 { _ = try await things.sync(pages: nil) { _ in } }
    let words = "1 changed only in values that are not among the fields"
    let all = try #require(try await things.changes(since: "sync", atMost: 10))
    #expect(all.summary.counts == [.changed: 1] && all.entries.map(\.id) == ["1"])
    #expect(all.summary.omissions == [words])
    let sum = try #require(try await things.changeSummary(since: "sync"))
    #expect(sum.counts == [.changed: 1] && sum.omissions == [words])
    let query = ChangesQuery(since: "sync", kind: .changed)
    let page = try #require(try await things.changes(query))
    #expect(page.entries.map(\.id) == ["1"] && page.summary.omissions == [words])
    let pages = HTMLRenderer(
      program: "aggregator", sources: [things], isReadOnly: false, now: Date())
    let html = pages.changes(ChangesContent(source: things, query: query, page: .success(page)))
    #expect(html.contains(">\(words).</p>"))
  }

  @Test func `changes that are no longer known are not passed over`() async throws {
    try await save("Almaty", onDay: 0)
    try await save("Astana", onDay: 1)
    try await store.clearHistory(of: "countries")
    #expect(try await source.history(of: "KZ") == nil)
    try await save("Nur-Sultan", onDay: 9)
    let page = try await page(of: "KZ")
    #expect(page.contains("<summary>History (1 change)</summary>"))
    #expect(
      page.contains(
        "<li>First seen 1 Jan 1970. Changes before 10 Jan 1970 are not known</li>"))
  }

  @Test func `changes that are known, but too many to show, are not passed over`() async throws {
    try await save("Almaty", onDay: 0)
    try await store.clearHistory(of: "countries")
    for day in 1...51 { try await save("Capital \(day)", onDay: day) }
    let page = try await page(of: "KZ")
    #expect(page.contains("<summary>History (50 changes)</summary>"))
    #expect(page.contains("are not known. Earlier changes are not shown</li>"))
  }

  @Test func `a record that a sync has not found says so`() async throws {
    try await save("Almaty", onDay: 0)
    #expect(try await !page(of: "KZ").contains("Not found by"))
    try await remove(onDay: 2)
    #expect(
      try await page(of: "KZ").contains(
        #"<p>Not found by the sync of <time datetime="1970-01-03T00:00:00Z">3 Jan 1970, 00:00 UTC</time>."#
      ))
    #expect(try await page(of: "KZ").contains("<div>Not found by a sync "))
  }

  @Test(
    arguments: [(true, .normal), (true, .reload), (false, .reload)]
      as [(Bool, ServedQuery.Cache)])
  func `a record that the service no longer has is shown as it was last`(
    isRemoved: Bool, cache: ServedQuery.Cache
  ) async throws {
    let server = try LoopbackServer { request in
      request.path == "/things" ? .json(#"[{"id": 1, "name": "Lamp"}]"#) : .status(404, "no")
    }
    defer { server.stop() }
    let manifest = """
      {"url": "\(server.baseURL)/things", "item": "\(server.baseURL)/things/{id}", "rows": "$", "id": "id", \
      "paging": "single", "rate": "off", "fields": ["name"]}
      """
    let things = ServedPlugin(
      DeclaredPlugin("things", try Manifest(reading: Data(manifest.utf8))),
      in: PluginEnvironment(
        settings: SourceSettings([:]), transport: HTTPTransport(), store: store))
    _ = try await things.sync(pages: nil) { _ in }
    // A day after any sync of this test.
    if isRemoved { try await remove(onDay: 80_000, of: "things") }
    let query = ServedQuery(cache: cache, isForPeople: true)
    let pages = HTMLRenderer(
      program: "aggregator", sources: [things], isReadOnly: false, now: Date())
    let html = pages.page(
      SourceContent(
        source: things, query: query,
        detail: DetailContent(
          id: "1", answer: .success(try await things.record("1", query)),
          history: try await things.history(of: "1"))),
      part: .detail)
    #expect(html.contains(">Lamp</h2>"), "\(html)")
    #expect(html.contains("<p>Not found by the sync of <time ") == isRemoved, "\(html)")
    #expect(html.contains("not found") != isRemoved, "\(html)")
    // Programs are told that the service does not have it, and so is whoever asks for nothing else.
    for query in [ServedQuery(cache: cache), ServedQuery(cache: .live, isForPeople: true)] {
      let error = await #expect(throws: SourceError.self) { try await things.record("1", query) }
      #expect(error?.code == .notFound)
    }
  }

  @Test func `changes of a kind are listed, with their times and the way to more`() async throws {
    try await save("Almaty", onDay: 0)
    try await remove(onDay: 5)
    func page(_ kind: ChangeEntry.Kind?, next: PageCursor? = nil) async throws -> String {
      let query = ChangesQuery(since: "1970-01-02", kind: kind)
      var page = try #require(try await source.changes(query))
      page.next = next
      let pages = HTMLRenderer(
        program: "aggregator", sources: [source], isReadOnly: false, now: Date())
      return pages.changes(
        ChangesContent(
          source: source, query: query, page: .success(page)))
    }
    for kind in [nil, ChangeEntry.Kind.removed] {
      let html = try await page(kind)
      #expect(html.contains("1 removed since 2 Jan 1970, 00:00 UTC"))
      let entry = #"datetime="1970-01-06T00:00:00Z" title="00:00 UTC">00:00</time>"#
      #expect(html.contains(entry))
      #expect(html.contains(#"<a href="/sources/countries/KZ" dir="auto">Kazakhstan</a>"#))
      #expect(!html.contains("More changes"))
      // The counts of the only day are said above, and all of them are a file.
      #expect(html.contains(#"<h2 id="1970-01-06">6 Jan 1970</h2>"#))
      let end = #"&#38;all=true&#38;format=csv" download="countries-changes.csv">CSV</a>"#
      #expect(html.contains("/api/v1/countries/records/changes?since=1970-01-02"))
      #expect(html.contains(end))
    }
    let html = try await page(.added, next: PageCursor("x7"))
    #expect(html.contains("No changes here"))
    let more = "/changes/countries?since=1970-01-02&#38;kind=added&#38;cursor=x7"
    #expect(html.contains(#"rel="next" href="\#(more)">More changes</a>"#))
    #expect(html.contains(#"?since=1970-01-02&#38;kind=added" aria-current="true">Added</a>"#))
  }

  @Test func `changes of a field are listed alone, with the way back`() async throws {
    try await save("Almaty", onDay: 0)
    try await save("Astana", onDay: 2)
    let pages = HTMLRenderer(
      program: "aggregator", sources: [source], isReadOnly: false, now: Date())
    func page(of field: String) async throws -> String {
      let query = ChangesQuery(since: "1970-01-02", field: field)
      let page = try await source.changes(query)
      return pages.changes(ChangesContent(source: source, query: query, page: .success(page)))
    }
    let html = try await page(of: "capital")
    #expect(html.contains("1 changed since 2 Jan 1970, 00:00 UTC"))
    let back = #"<a href="/changes/countries?since=1970-01-02">Changes of all fields</a>"#
    #expect(html.contains("Only changes of <bdi>Capital</bdi> · \(back)"))
    // Another time keeps the field, another kind does not, and a file has the same changes.
    #expect(html.contains("/changes/countries?since=7d&#38;field=capital"))
    #expect(html.contains("/changes/countries?since=1970-01-02&#38;kind=added\""))
    #expect(html.contains("changes?since=1970-01-02&#38;field=capital&#38;all=true&#38;format=csv"))
    let other = try await page(of: "name")
    #expect(other.contains("No changes since") && other.contains(back))
  }

  @Test func `changes of a rare kind are found behind many others, and all are counted`()
    async throws
  {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    let codes = (0..<600).map { "\(letters[$0 / 26])\(letters[$0 % 26])" }
    func save(_ codes: some Sequence<String>, _ capital: String, onDay day: Int) async throws {
      let countries = codes.compactMap { CountryCode($0) }.map {
        CountriesSource.Country(code: $0, name: "\($0)", region: "AS", capital: capital)
      }
      _ = try await CountriesPlugin().recordStore(in: store).save(
        countries, at: Date(timeIntervalSince1970: Double(day) * 86_400))
    }
    try await save(codes.dropLast(), "Old", onDay: 0)
    try await save(codes.dropLast(), "New", onDay: 2)
    try await save(codes.suffix(1), "New", onDay: 2)
    let added = try await source.changes(
      ChangesQuery(since: "1970-01-02", kind: .added, limit: 1))
    #expect(added?.entries.map(\.id) == codes.suffix(1) && added?.next == nil)
    let removed = try await source.changes(
      ChangesQuery(since: "1970-01-02", kind: .removed, limit: 1))
    #expect(removed?.entries.count == 0 && removed?.next == nil)
    var ids: [String] = []
    var cursor: PageCursor?
    repeat {
      let page = try await source.changes(
        ChangesQuery(since: "1970-01-02", kind: .changed, limit: 200, cursor: cursor))
      ids += page?.entries.map(\.id) ?? []
      cursor = page?.next
    } while cursor != nil
    #expect(ids == codes.dropLast())
    let capitals = try await source.changes(
      ChangesQuery(since: "1970-01-02", field: "capital", limit: 1000))
    #expect(capitals?.entries.map(\.id) == codes.dropLast() && capitals?.next == nil)
    let names = try await source.changes(ChangesQuery(since: "1970-01-02", field: "name", limit: 1))
    #expect(names?.entries.count == 0 && names?.next == nil)
    let sum = try #require(try await source.changeSummary(since: "1970-01-02"))
    #expect(sum.counts == [.changed: 599, .added: 1] && !sum.isCut)
    #expect(sum.days == ["1970-01-03": sum.counts])
  }

  @Test func `the page counts what has changed back, and says if there was only a first sync`()
    async throws
  {
    let query = ChangesQuery(since: "sync")
    let pages = HTMLRenderer(
      program: "aggregator", sources: [source], isReadOnly: false, now: Date())
    func complete(onDay day: Int) async throws {
      _ = try await store.save(
        StoreBatch([], completesSync: true), of: "countries",
        at: Date(timeIntervalSince1970: Double(day) * 86_400))
    }
    func html() async throws -> String {
      let page = try await source.changes(query)
      return pages.changes(ChangesContent(source: source, query: query, page: .success(page)))
    }
    let none = "No sync is known yet: there is nothing to compare with"
    try await save("Almaty", onDay: 0)
    let unsynced = try await html()
    #expect(unsynced.contains(">\(none)</h2>"))
    try await complete(onDay: 1)
    let first = try await html()
    let words = "First sync: 1 record; later syncs show what has changed"
    #expect(first.contains("<p class=\"count\">\(words)</p>"))
    let state = try await source.state()
    let home = pages.home([(source, .success(state))])
    #expect(home.contains("<a href=\"/changes/countries\">\(words)</a>"))
    // That one is deleted here later does not change it.
    _ = try await source.delete("KZ")
    let left = try await html()
    #expect(left.contains("<p class=\"count\">\(words)</p>"))
    _ = try await source.restore("KZ")
    try await save("Astana", onDay: 2)
    try await save("Almaty", onDay: 3)
    try await complete(onDay: 4)
    let second = try await html()
    let start = "the sync before the last, 2 Jan 1970, 00:00 UTC"
    #expect(second.contains("<p class=\"count\">No changes since \(start)"))
    #expect(!second.contains("in the last day"))
    let page = try await source.changes(query)
    var content = ChangesContent(source: source, query: query, page: .success(page))
    #expect(content.isEmpty)
    var day = ChangeSummary(date: nil, knownSince: nil)
    for _ in 1...16 { day.add(.changed, on: "1970-01-05T00:00:00Z") }
    content.lastDay = day
    let way = #"<a href="/changes/countries?since=1d">16 in the last day</a></p>"#
    #expect(pages.changes(content).contains(way))
    #expect(second.contains(">1 changed and changed back.</p>"))
    // The members of the rows, as far as they have changed since the same point.
    let extra = try JSONDecoder().decode(
      SchemaChange.self, from: Data(#"{"m": "extra", "k": "vanished", "b": [], "a": []}"#.utf8))
    let known = ": \(extra.text)"
    for (date, count) in [(Date.distantPast, 0), (Date(timeIntervalSince1970: 345_600), 1)] {
      content.schemaChanges = [SchemaEntry(extra, at: date)]
      let html = pages.changes(content).replacing("&#34;", with: "\"")
      #expect(html.ranges(of: known).count == count, "\(date)")
    }
    content.schemaChanges = []
    _ = try await store.delete(["KZ"], of: "countries", at: Date(timeIntervalSince1970: 432_000))
    #expect(try await html().contains(">1 deleted here, and left out.</p>"))
  }

  @Test func `changes are summed up by day and by field`() throws {
    func country(_ name: String, _ capital: String) throws -> CountriesSource.Country {
      let code = try #require(CountryCode("KZ"))
      return CountriesSource.Country(code: code, name: name, region: "AS", capital: capital)
    }
    let (old, new) = (try country("Kazakhstan", "Almaty"), try country("Kazakhstan", "Astana"))
    let changes: [(RecordChange<CountriesSource.Country>, day: Double)] = [
      (.changed(from: old, to: new), 1),
      (.changed(from: new, to: try country("Qazaqstan", "Almaty")), 2),
      (.removed(old), 2),
    ]
    var page = ChangePage(summary: ChangeSummary(date: nil, knownSince: nil))
    page.entries = changes.compactMap { change, day in
      ChangeEntry(
        change, at: Date(timeIntervalSince1970: day * 86_400), of: CountriesPlugin())
    }
    for entry in page.entries { page.summary.add(entry) }
    let pages = HTMLRenderer(
      program: "aggregator", sources: [source], isReadOnly: false, now: Date())
    var content = ChangesContent(
      source: source, query: ChangesQuery(since: "sync"), page: .success(page))
    let html = pages.changes(content)
    for tab in ["All 3", "Added 0", "Changed 2", "Removed 1"] {
      #expect(html.contains(">\(tab)</a>"), "\(tab)")
    }
    #expect(html.matches(of: /<nav\s/).count == 3)
    let bars = html.matches(of: /<rect x="([^"]*)" y="([^"]*)"[^>]* class="([a-z]*)"/)
    #expect(
      bars.map { "\($0.1) \($0.2) \($0.3)" } == [
        "0.1 60 changed", "1.1 60 changed", "1.1 10 removed",
      ])
    let way = #"<a href="/changes/countries?since=sync&#38;field="#
    let fields = ["capital\">Capital 2</a>", "name\">Name 1</a>"].map { way + $0 }
    #expect(html.contains(">Changed fields: \(fields.joined(separator: ", "))</p>"))
    let days = html.matches(of: /<li><a href="#([-0-9]+)">[^<]*<\/a>: ([^<]*)<\/li>/)
    #expect(
      days.map { "\($0.1) \($0.2)" } == [
        "1970-01-02 1 changed", "1970-01-03 1 changed, 1 removed",
      ])
    #expect(days.allSatisfy { html.contains("<h2 id=\"\($0.1)\">") })
    // A record that was removed has what it last had, but its name and its ID, which are said.
    #expect(html.matches(of: /<details><summary>Its last values<\/summary>/).count == 1)
    let values = html.matches(
      of: /<span class="difference">([A-Z][a-z]+) <ins dir="auto">([^<]*)<\/ins>/)
    #expect(values.map { "\($0.1) \($0.2)" } == ["Region AS", "Capital Almaty"])
    // Of several days, each has its counts.
    #expect(html.matches(of: /<h2 id="[^"]*">[^<]* <small class="difference">/).count == 2)
    // A page that has not all of them takes the numbers of more, or none.
    page.next = PageCursor("x7")
    content = ChangesContent(source: source, query: content.query, page: .success(page))
    #expect(pages.changes(content).contains(">Changed fields on this page: \(fields[0]), "))
    #expect(!pages.changes(content).contains("<svg role"))
    var sum = ChangeSummary(date: nil, knownSince: nil)
    for _ in 0..<1200 { for entry in page.entries { sum.add(entry) } }
    content.sum = sum
    let all = pages.changes(content)
    #expect(all.contains(">All 3,600</a>") && all.contains(": 1,200 changed, 1,200 removed</li>"))
    // Of those that were not read, nothing is known.
    sum.isCut = true
    content.sum = sum
    let cut = pages.changes(content)
    #expect(cut.contains(">Added</a>") && cut.contains(">Changed 2,400+</a>"))
  }

  @Test func `changes write numbers as lists do`() throws {
    let manifest = """
      {"url": "https://shop.example/items", "rows": "$", "id": "id", "paging": "single", "fields": ["price"], "kinds": {"price": "number"}}
      """
    let plugin = DeclaredPlugin("items", try Manifest(reading: Data(manifest.utf8)))
    func item(_ price: Double) -> DeclaredRecord {
      DeclaredRecord(id: "1", row: ["id": "1", "price": .number(price)])
    }
    let entry = ChangeEntry(.changed(from: item(39.7), to: item(41)), at: Date(), of: plugin)
    var page = ChangePage(summary: ChangeSummary(date: nil, knownSince: nil))
    page.entries = [try #require(entry)]
    page.summary.add(page.entries[0])
    let pages = HTMLRenderer(
      program: "aggregator", sources: [source], isReadOnly: false, now: Date())
    var content = ChangesContent(
      source: source, query: ChangesQuery(since: "sync"), page: .success(page))
    content.sample.add(.number(12.25), of: "price")
    let html = pages.changes(content)
    #expect(html.contains(">39.70</del>") && html.contains(">41.00</ins>"))
  }

  @Test func `a sync that has failed is said to have, with its reason`() {
    let (start, pages) = (
      Date(timeIntervalSince1970: 86_400),
      HTMLRenderer(program: "aggregator", sources: [source], isReadOnly: false, now: Date())
    )
    var content = ChangesContent(
      source: source, query: ChangesQuery(since: "sync"), page: .success(nil))
    content.syncs = [
      ServedSync(
        startedAt: start, duration: .seconds(3), outcome: .failed, reason: "refused <b>",
        counts: [2600, 0, 4, 0]),
      ServedSync(
        startedAt: start, duration: .seconds(2), outcome: .complete, counts: [1, 1, 0, 0]),
    ]
    let failed = pages.changes(content)
    let day = "2 Jan 1970, 00:00 UTC"
    #expect(
      failed.contains(
        "<span>Last sync run by a server: \(day), failed after 3 s: refused &#60;b&#62;.</span>"
      ))
    #expect(failed.contains("stays cached: 2,600 records, 4 changed. Other records may be older"))
    #expect(failed.contains(">Failed: refused &#60;b&#62;</td><td class=\"number\">3 s</td>"))
    #expect(failed.contains(">Last sync that ended</a>"))
    #expect(
      failed.contains(">Complete</td><td class=\"number\">2 s</td><td class=\"number\">1</td>"))
    content.syncs.removeFirst()
    let done = pages.changes(content)
    #expect(
      done.contains(
        "<span>Last sync run by a server: \(day), complete after 2 s.</span>"))
    #expect(done.contains("<summary>Details of this sync</summary>"))
    #expect(!done.contains("note failed") && done.contains(">Last sync</a>"))
    content.syncs = [
      ServedSync(
        startedAt: start, duration: .seconds(3), outcome: .failed, reason: "refused",
        counts: [0, 0, 0, 0])
    ]
    #expect(!pages.changes(content).contains("stays cached"))
    let reason = "there may be further pages that are not read, so no record counts as removed"
    content.syncs = [
      ServedSync(
        startedAt: start, duration: .seconds(2), outcome: .ended, reason: reason,
        counts: [19, 0, 0, 0])
    ]
    let unproved = pages.changes(content)
    #expect(unproved.contains("\(day), ended after 2 s: \(reason).</span>"))
    #expect(!unproved.contains("note failed") && !unproved.contains("stays cached"))
  }

  @Test func `each sync leads to its changes, and a time before the first one to those after it`() {
    func sync(_ second: Double, _ counts: [Int]) -> ServedSync {
      ServedSync(
        startedAt: Date(timeIntervalSince1970: second), duration: .milliseconds(1500),
        outcome: .complete, counts: counts)
    }
    func content(from second: Double, _ syncs: [ServedSync]) -> ChangesContent {
      let (date, start) = (
        Date(timeIntervalSince1970: second), Date(timeIntervalSince1970: 86_400.5)
      )
      let page = ChangePage(
        summary: ChangeSummary(date: date, knownSince: date < start ? start : nil))
      return ChangesContent(
        source: source, query: ChangesQuery(since: "1d"), page: .success(page), syncs: syncs)
    }
    let syncs = [sync(90_000, [51, 2, 5, 1]), sync(86_400.25, [50, 50, 0, 0])]
    var shown = content(from: 0, syncs)
    shown.baseline = shown.firstFetch
    #expect(shown.asked.since == "1970-01-02T00:00:01.750Z")
    let pages = HTMLRenderer(
      program: "aggregator", sources: [source], isReadOnly: false, now: Date())
    let html = pages.changes(shown)
    #expect(html.contains("these are the changes after it"))
    let address = "/changes/countries?since=1970-01-02T00%3A59%3A59Z"
    #expect(html.contains(#"<a href="\#(address)">2 Jan 1970, 01:00 UTC</a>"#))
    #expect(html.contains(#"<a href="\#(address)&#38;kind=changed">5</a>"#))
    #expect(html.contains(#"<td class="number">51</td>"#))
    // The kinds keep the time that was chosen, and the form has another one.
    #expect(html.contains(#"href="/changes/countries?since=1d&#38;kind=added""#))
    #expect(html.contains(#"name="since" required value="""#))
    // What the first sync has added is asked for by its start; one that changes records is not the first.
    #expect(content(from: 86_399, syncs).firstFetch == nil)
    #expect(content(from: 0, [sync(90_000, [51, 2, 5, 1])]).firstFetch == nil)
    #expect(content(from: 0, Array(repeating: syncs[1], count: 10)).firstFetch == nil)
    // Nor is one that was an hour after the history began, which another program has fetched.
    #expect(content(from: 0, [sync(90_000, [51, 0, 0, 0])]).firstFetch == nil)
  }

  @Test func `cached records are as old as those that no page has`() async throws {
    let records = CountriesPlugin().recordStore(in: store)
    func add(_ code: String, _ rows: Int, onDay day: Int) async throws -> Double? {
      let country = CountriesSource.Country(
        code: try #require(CountryCode(code)), name: code, region: "EU", capital: code)
      var page = PageMetadata(next: nil, total: nil, endpoint: nil)
      page.rows = rows
      let date = Date(timeIntervalSince1970: Double(day) * 86_400)
      _ = try await records.save([country], page: ("page", page), at: date)
      return try await source.state().fetchedAt.map { $0.timeIntervalSince1970 / 86_400 }
    }
    try await save("Astana", onDay: 1)
    #expect(try await add("FR", 1, onDay: 5) == 1)
    #expect(try await add("FR", 2, onDay: 7) == 7)
  }

  @Test func `nothing is said of a record that is not stored`() async throws {
    #expect(try await !page(of: "FR").contains("History"))
  }
}
