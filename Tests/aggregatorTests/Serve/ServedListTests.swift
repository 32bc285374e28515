import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import AggregatorTerminal
import CountriesSource
import Foundation
import Testing

@testable import AggregatorQueries
@testable import AggregatorServer
@testable import AggregatorWeb

/// What a server knows of the cached list of a source.
@Suite(.timeLimit(.minutes(10))) struct ServedListTests {
  private let service: FakeCountries
  private let sandbox: Sandbox
  private let source: ServedPlugin<CountriesPlugin>

  init() throws {
    service = try FakeCountries()
    sandbox = try Sandbox()
    source = ServedPlugin(
      CountriesPlugin(),
      in: PluginEnvironment(
        settings: Settings(service.settings), transport: HTTPTransport.standard,
        store: SQLiteStore(at: sandbox.root.appending(path: "store.sqlite").path)))
  }

  @Test func `no list waits for the values of records after a sync`() async throws {
    #expect(await source.index?.table == nil)
    let result = try await source.sync(pages: nil) { _ in }
    #expect(result.isComplete)
    let table = try #require(await source.index?.table)
    #expect(table.positions.count == result.passed)
    #expect(Set(table.columns.keys) == Set(source.fields.map(\.id)))
    _ = try await source.page(ServedQuery(conditions: ["name~a"], order: "-name"))
    #expect(await source.index?.table?.readings == 1)
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
    #expect(try await source.delete("FR"))
    #expect(try await count(nil) == all - 1)
    let matches = try #require(try await count("an"))
    let index = try #require(source.index)
    #expect(try await index.count(matching: Query("an")) == matches)
    let last = try await source.page(ServedQuery(query: "an", offset: matches - 1))
    #expect(last.records.count == 1 && last.summary.total == matches)
  }

  @Test func `changes are where records are, unless a record is called so`() async throws {
    let environment = PluginEnvironment(
      settings: Settings([:]), transport: HTTPTransport.standard, store: InMemoryStore())
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
    guard case .bytes(let page) = shown.body else {
      Issue.record("the page is a stream")
      return
    }
    #expect(shown.status == 200 && String(decoding: page, as: UTF8.self).contains("of the sea"))
  }
}
