import AggregatorKit
import AggregatorPlugins
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorAPI
@testable import AggregatorArguments
@testable import AggregatorProgramTesting
@testable import AggregatorServer
@testable import AggregatorTelemetry
@testable import AggregatorWeb

/// The guides about `serve` match the program.
@Suite struct ServeGuideTests {
  private static let folder = "Sources/AggregatorKit/AggregatorKit.docc"

  @Test(arguments: [("Serve", 5), ("AMockServer", 5), ("Browse", 4)])
  func `the command lines of the guides are valid`(guide: String, count: Int) throws {
    let text = try Repository.text(of: "\(Self.folder)/\(guide).md")
    let lines = text.matches(of: /\n\$ aggregator (.+)/).map { String($0.1) }
    #expect(lines.count >= count)
    for line in lines {
      let words = line.split(separator: " ").prefix { $0 != "|" }.map(String.init)
      guard case .run = try ArgumentParser(.standard).parse(words).action.get() else {
        Issue.record("\(line) does not run anything")
        continue
      }
    }
  }

  @Test func `the guide has the metrics of the program`() throws {
    let text = try Repository.text(of: "\(Self.folder)/Serve.md")
    let named = Set(text.matches(of: /`(aggregator_[a-z_]+)`/).map { String($0.1) })
    let served = Set(Metrics().text.matches(of: /# TYPE ([a-z_]+)/).map { String($0.1) })
    #expect(named == served)
  }

  @Test func `the guide has the paths and the cache policies of the API`() throws {
    let text = try Repository.text(of: "\(Self.folder)/Serve.md")
    for policy in ServedQuery.Cache.allCases { #expect(text.contains("| `\(policy.rawValue)` |")) }
    let named = text.matches(of: /\| `[A-Z]+ (\/[^`]*)` \|/).map { String($0.1) }
    let environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: LongTimeoutTransport(),
      store: InMemoryStore())
    let heroes = try #require(AggregatorPlugins.plugins.first { $0.name == "heroes" })
    func served(_ plugin: some Plugin) -> any ServedSource {
      ServedPlugin(plugin, in: environment)
    }
    let document = OpenAPI.document(
      for: [served(heroes)], of: OpenAPI.Server(version: "1", address: "http://a"))
    guard case .object(let paths)? = document["paths"] else { return }
    let known = paths.map { $0.name.replacing("/heroes", with: "/{source}") }
    // The guide writes that path shorter.
    #expect(Set(named) == Set(known).subtracting(["/api/v1/{source}/{id}/restore"]))
  }

  @Test func `an unknown request is answered as in the guide`() throws {
    let text = try Repository.text(of: "\(Self.folder)/AMockServer.md")
    let sandbox = try Sandbox()
    let request = "GET https://h/api/characters/?api_key=REDACTED&limit=20&offset=0"
    try sandbox.write(
      "# aggregator recording 1\n# 2026-01-05T09:12:44Z\n\(request)\n\n### HTTP 200\n",
      to: "tape/0003-get-api-characters.http")
    let replay = WireReplay(try Recording(sandbox.root.appending(path: "tape")))
    let response = replay.response(
      to: ServerRequest(
        method: "GET", rawPath: "/api/characters/", rawQuery: "limit=50&offset=0"))
    guard case .bytes(let bytes) = response.body else { return }
    #expect(text.contains("```\n\(String(decoding: bytes, as: UTF8.self))```"))
    let block = try #require(
      text.firstMatch(of: /```\n(# aggregator recording 1\n.*?)```/.dotMatchesNewlines()))
    try sandbox.write(String(block.1), to: "edited/0001-get-api-characters.http")
    let edited = WireReplay(try Recording(sandbox.root.appending(path: "edited")))
    let slow = edited.response(
      to: ServerRequest(
        method: "GET", rawPath: "/api/characters/", rawQuery: "api_key=x&limit=20&offset=0"))
    #expect(slow.status == 429)
    #expect(slow.header("Retry-After") == "2")
  }
}
