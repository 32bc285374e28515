import AggregatorKit
import AggregatorPlugins
import AggregatorQueries
import CountriesSource
import Foundation
import HeroesSource
import Testing

@testable import AggregatorProgramTesting

/// The whole chains of the program's sources, with a transport that must not be used.
@Suite struct OfflineChainTests {
  /// Fails the test on any request.
  private struct Trap: Transport {
    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      Issue.record("\(request.endpoint) was asked")
      throw SourceError(.offline, "nobody was to be asked")
    }
  }

  @Test(arguments: AggregatorPlugins.plugins.map(\.name))
  func `sends nothing in offline mode`(name: String) async throws {
    let plugin = try #require(AggregatorPlugins.plugins.first { $0.name == name })
    let sandbox = try Sandbox()
    let store = SQLiteStore(at: sandbox.root.appending(path: "store.sqlite").path)
    let environment = PluginEnvironment(
      settings: SourceSettings([HeroesPlugin.key: "x1y2z3w4"]), transport: Trap(), store: store)
    try await ask(plugin, in: environment)
    // Deleting creates a file, but makes no difference.
    _ = try await store.delete(["x"], of: name, at: Date(timeIntervalSince1970: 0))
    try await ask(plugin, in: environment)
  }

  @Test func `show reports an unreadable bundle`() async throws {
    let bundle = BundledSource<CountriesSource.Country>(
      "countries", json: #"[{"name": "France"}]"#,
      fields: CountriesPlugin().fields)
    let source = UnavailableSource<CountriesSource.Country>(SourceError(.offline, "offline mode"))
      .fallback(to: bundle)
    let error = await #expect(throws: SourceError.self) {
      try await CountriesPlugin().find("FR", in: source)
    }
    #expect(
      error?.message == "offline mode; cannot read the bundled countries: row 1: code is missing")
  }

  private func ask<P: Plugin>(_ plugin: P, in environment: PluginEnvironment) async throws {
    let source = try plugin.source(in: environment).cachePolicy(.offline)
    let page = try await source.page(PageRequest(limit: 1))
    #expect(page.records.count == 1)
    _ = try await source.page(PageRequest(after: page.next, limit: 1))
    let query = try SearchQuery(plugin.example.query)
    #expect(try await !source.page(PageRequest(matching: query, limit: 5)).records.isEmpty)
    _ = try await source.item(#require(page.records.first?.id))
    let upstreamLoader = try #require(
      try plugin.upstreamLoader(in: environment, cachePolicy: .offline))
    #expect(await upstreamLoader.take(5) { _ in }.failure?.code == .offline)
  }
}
