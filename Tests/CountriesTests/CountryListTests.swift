import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import CountriesSource
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CountryListTests {
  private func everywhere() async throws -> [Country] {
    try await FakeCountries().countries().page(PageRequest(limit: 1000)).records
  }

  @Test func `reads all 249 rows of a text file, in their order`() async throws {
    let service = try FakeCountries()
    let page = try await service.countries().page(PageRequest(limit: 1000))
    #expect(page.records.count == 249)
    #expect(page.unreadable == .none)
    #expect(page.total == 249)
    #expect(page.next == nil)
    #expect(page.provenance.origin == .live)
    #expect(page.provenance.endpoint == service.url.absoluteString)
    #expect(page.records.prefix(3).map(\.code.description) == ["AF", "AX", "AL"])
    // The service sorts by older names.
    let names = page.records.map(\.name)
    #expect(names != names.sorted())
  }

  @Test func `does not report a country as not found if rows are unreadable`() async throws {
    let service = try FakeCountries()
    service.fail(with: .json(#"[{"code": "FR", "name": "France"}, {"code": 7}]"#))
    let error = await #expect(throws: SourceError.self) {
      try await service.chain(cachePolicy: .noFallback).item(try #require(CountryCode("DE")))
    }
    #expect(error?.code == .malformed)
    #expect(error?.message == "record \"DE\" not found, but 1 row could not be read")
    #expect(
      try await service.chain().item(try #require(CountryCode("FR"))).item.name == "France")
    #expect(try await service.chain().item(try #require(CountryCode("DE"))).item.name == "Germany")
  }

  @Test func `treats an empty capital as unknown`() async throws {
    let without = try await everywhere().filter { $0.capital == nil }
    #expect(without.map(\.code.description).sorted() == ["BV", "HM", "MO", "UM"])
  }

  @Test func `keeps regions, and treats an empty one as unknown`() async throws {
    let countries = try await everywhere()
    #expect(countries.filter { $0.region == nil }.map(\.code.description) == ["HM"])
    #expect(
      countries.filter { $0.region == "Americas" }.map(\.code.description).sorted()
        == ["HT", "MQ", "SX"])
    // North America, not null.
    #expect(countries.first { $0.code.description == "US" }?.region == "NA")
    let regions = Set(countries.map(\.region))
    #expect(regions.count == 9)
  }

  @Test(arguments: ["MY", "AM", "AZ", "BA", "KZ", "TR", "UZ", "KY", "FR", "FI", "ZW"])
  func `reads rows in which other fields are null, missing or extra`(code: String) async throws {
    let countries = try await everywhere()
    #expect(countries.contains { $0.code.description == code })
  }

  @Test func `keeps names and capitals that are not unique, not ASCII, not short`() async throws {
    let countries = try await everywhere()
    #expect(countries.filter { $0.capital == "Rome" }.map(\.code.description) == ["VA", "IT"])
    #expect(countries.filter { $0.capital == "Kingston" }.count == 2)
    #expect(countries.contains { $0.name == "Åland Islands" })
    #expect(countries.contains { $0.name == "Korea (Democratic People's Republic of)" })
    #expect(countries.contains { $0.capital == "Washington, D.C." })
    #expect(countries.map(\.name.count).max() == 52)
    #expect(Set(countries.map(\.id)).count == 249)
  }

  @Test func `finds a country by its code, in any case`() async throws {
    let service = try FakeCountries()
    let code = try #require(CountryCode("cw"))
    let found = try await service.chain().item(code)
    #expect(found.item.name == "Curaçao")
    #expect(found.provenance.origin == .live)
    #expect(service.requests.count == 1)
  }

  @Test func `reports an unknown country`() async throws {
    let code = try #require(CountryCode("AQ"))
    let error = await #expect(throws: SourceError.self) {
      try await FakeCountries().chain().item(code)
    }
    #expect(error?.code == .notFound)
  }

  // MARK: - Pages

  @Test(arguments: [1, 20, 83, 248, 249, 250])
  func `returns every country once, whatever the limit`(limit: Int) async throws {
    let countries = try FakeCountries().countries()
    var ids: [CountryCode] = []
    for try await step in countries.pages(size: limit, ahead: 0) {
      ids += step.page.records.map(\.id)
      #expect(step.page.total == 249)
      let request = PageRequest(after: nil, limit: limit)
      if let next = step.page.next {
        #expect(countries.cursor(skipping: ids.count, from: request) == next)
      }
    }
    #expect(ids.count == 249)
    #expect(Set(ids).count == 249)
  }

  @Test func `sends one request with a user agent for a page`() async throws {
    let service = try FakeCountries()
    _ = try await service.countries().page(PageRequest())
    #expect(service.requests.count == 1)
    #expect(service.requests.first?.rawQuery == nil)
    #expect(service.requests.first?.header("user-agent")?.hasPrefix("aggregator/") == true)
  }

  @Test func `is empty beyond its end`() async throws {
    let cursor = try CursorSeal("countries", for: nil).close(1_000_000_000)
    let page = try await FakeCountries().countries().page(PageRequest(after: cursor))
    #expect(page.records.isEmpty)
    #expect(page.next == nil)
  }

  @Test(arguments: [-1, Int.min, Int.max])
  func `rejects forged positions`(offset: Int) async throws {
    let service = try FakeCountries()
    let cursor = try CursorSeal("countries", for: nil).close(offset)
    let error = await #expect(throws: SourceError.self) {
      try await service.countries().page(PageRequest(after: cursor))
    }
    #expect(error?.code == .invalidCursor)
    #expect(service.requests.isEmpty)
  }

  @Test func `rejects cursors of another source`() async throws {
    let cursor = try CursorSeal("heroes", for: nil).close(20)
    let countries = try FakeCountries().countries()
    let error = await #expect(throws: SourceError.self) {
      try await countries.page(PageRequest(after: cursor))
    }
    #expect(error?.code == .invalidCursor)
    #expect(countries.cursor(skipping: 20, from: PageRequest(after: cursor)) == nil)
    #expect(countries.cursor(skipping: .max, from: PageRequest(limit: 1)) == nil)
    #expect(countries.cursor(skipping: 20, from: PageRequest(limit: 1)) != nil)
  }

  @Test func `rejects searches`() async throws {
    let error = await #expect(throws: SourceError.self) {
      try await FakeCountries().countries().page(PageRequest(matching: try SearchQuery("paris")))
    }
    #expect(error?.code == .invalidRequest)
  }

  // MARK: - Errors

  @Test func `drops rows that cannot be read, and counts them once`() async throws {
    let service = try FakeCountries()
    service.fail(
      with: .status(
        200,
        """
        [{"code":"FR","name":"France"}, null, {"code":"XXX","name":"Three"}, {"code":"DE"},
         {"code":"D\u{130}","name":"Dotted"}, {"code":"IT","name":""}, {"code":7,"name":"Seven"},
         {"code":"es","name":"Spain","region":null,"capital":null}]
        """))
    let countries = try service.countries()
    let first = try await countries.page(PageRequest(limit: 1))
    let second = try await countries.page(PageRequest(after: first.next, limit: 1))
    #expect(first.records.map(\.name) == ["France"])
    #expect(second.records.map(\.code.description) == ["ES"])
    #expect(first.unreadable.count == 6)
    #expect(first.unreadable.firstReason == "row 2: the value is null")
    #expect(second.unreadable == .none)
    #expect(first.total == 2)
  }

  @Test(
    arguments: [
      (.status(404, "404: Not Found"), .rejected, "404: Not Found"),
      (.status(429, "429: Too Many Requests"), .rateLimited, "rate limited by "),
      (.html(title: "Oops"), .malformed, "HTML page"),
      (.html(title: "Oops", status: 503), .serverError, "503"),
      (.status(200, ""), .malformed, "empty"),
      (.status(200, "404: Not Found"), .malformed, "not JSON"),
      // The reply of a similar service after it was shut down.
      (
        .json(#"{"success":false,"data":null,"errors":[{"message":"deprecated"}]}"#), .rejected,
        #"the country list reports an error: "deprecated""#
      ),
      (.redirect(to: "https://other.example/"), .rejected, "another host"),
    ] as [(LoopbackReply, SourceError.Code, String)])
  func `reports the error`(
    reply: LoopbackReply, code: SourceError.Code, words: String
  ) async throws {
    let service = try FakeCountries()
    service.fail(with: reply)
    let error = await #expect(throws: SourceError.self) {
      try await service.countries().page(PageRequest())
    }
    #expect(error?.code == code)
    #expect(error?.message.contains(words) == true)
  }
}

struct CountryCodeTests {
  @Test(arguments: ["FR", "fr", "Fr", "fR"])
  func `is upper-case however it was typed`(text: String) throws {
    let code = try #require(CountryCode(text))
    #expect(code.description == "FR")
    #expect(try JSONEncoder().encode([code]) == Data(#"["FR"]"#.utf8))
    #expect(
      try JSONDecoder().decode([CountryCode].self, from: Data("[\"\(text)\"]".utf8)) == [code])
  }

  @Test(arguments: [
    "", "F", "FRA", "F1", "é", "FÉ", " FR", "FR\n", "@A", "[a", "\u{FF26}\u{FF32}", "ß",
  ])
  func `is two ASCII letters`(text: String) {
    #expect(CountryCode(text) == nil)
  }
}
