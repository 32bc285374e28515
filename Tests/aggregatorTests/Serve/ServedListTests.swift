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
}
