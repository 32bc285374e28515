import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import CountriesSource
import Foundation
import Testing

@testable import AggregatorQueries
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
    #expect(try await count(nil) == nil)
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
}
