import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import CountriesSource
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CountriesChainTests {
  @Test func `sends one request for all pages and a search`() async throws {
    let service = try FakeCountries()
    let chain = try service.chain()
    var count = 0
    for try await step in chain.pages(size: 20) {
      count += step.items.count
      #expect(step.page.provenance.origin == .live)
    }
    let found = try await chain.page(PageRequest(matching: try SearchQuery("curacao")))
    #expect(count == 249)
    #expect(found.records.map(\.code.description) == ["CW"])
    #expect(found.total == 1)
    #expect(service.requests.count == 1)
  }

  @Test(arguments: [true, false])
  func `looks up any number of countries with one request`(isListed: Bool) async throws {
    let home = URL.temporaryDirectory.appending(path: "countries-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    let service = try FakeCountries()
    func chain() throws -> any DataSource<Country> {
      var environment = service.environment()
      environment.store = SQLiteStore(at: home.appending(path: "store.sqlite").path)
      return try CountriesPlugin().source(in: environment)
    }
    if isListed { _ = try await chain().page(PageRequest(limit: 20)) }
    for code in ["GB", "US", "FR", "DE"] {
      let found = try await chain().item(try #require(CountryCode(code)))
      #expect(found.item.code.description == code)
    }
    let error = await #expect(throws: SourceError.self) {
      try await chain().item(try #require(CountryCode("AQ")))
    }
    #expect(error?.message == "countries record \"AQ\" not found")
    #expect(service.requests.count == 1)
  }

  @Test(arguments: [
    ("CURACAO", ["CW"]), ("réunion", ["RE"]), ("aland island", ["AX"]), ("washington d.c.", ["US"]),
    ("kingston", ["JM", "NF"]), ("korea people's", ["KP"]), ("zzz", []),
  ])
  func `finds names and capitals without accents and case`(
    text: String, codes: [String]
  ) async throws {
    let chain = try FakeCountries().chain()
    let page = try await chain.page(PageRequest(matching: try SearchQuery(text)))
    #expect(page.records.map(\.code.description) == codes)
    #expect(page.next == nil)
  }

  @Test(arguments: [1, 2, 7])
  func `returns everything once, whatever the limit`(limit: Int) async throws {
    let service = try FakeCountries()
    let chain = try service.chain()
    let query = try SearchQuery("island")
    let whole = try await chain.page(PageRequest(matching: query, limit: 500)).records
    var names: [String] = []
    for try await step in chain.pages(matching: query, size: limit, ahead: 0) {
      names += step.page.records.map(\.name)
    }
    #expect(names == whole.map(\.name))
    #expect(names.count > 10)
    #expect(service.requests.count == 1)
  }

  @Test(
    arguments: [
      (.status(404, "404: Not Found"), .rejected, 1), (.status(500), .serverError, 3),
      (.html(title: "x"), .malformed, 1),
      (.status(429, "", headers: [("Retry-After", "60")]), .rateLimited, 1),
      (.reset, .connectionLost, 3),
    ] as [(LoopbackReply, SourceError.Code, Int)])
  func `falls back to bundled data when the service fails`(
    reply: LoopbackReply, code: SourceError.Code, requests: Int
  ) async throws {
    let service = try FakeCountries()
    service.fail(with: reply)
    let page = try await service.chain().page(PageRequest(limit: 1000))
    #expect(page.records.count == 250)
    #expect(page.provenance.origin == .bundled)
    #expect(page.provenance.reason?.code == code)
    #expect(service.requests.count == requests)
  }

  @Test func `falls back to bundled data at once when the connection is refused`() async throws {
    let nobody = try RefusingPort()
    let log = EventLog()
    let chain = try FakeCountries().chain(at: nobody.baseURL, observer: log.observer)
    let page = try await chain.page(PageRequest(matching: try SearchQuery("paris")))
    #expect(page.records.map(\.name) == ["France"])
    #expect(page.provenance.reason?.code == .unreachable)
    #expect(log.sentCount == 1)
  }
}
