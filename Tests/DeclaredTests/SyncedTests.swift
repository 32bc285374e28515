import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import DeclaredSource

/// Answers of the store after a complete sync, instead of a part of the service's records.
@Suite(.timeLimit(.minutes(10))) struct SyncedTests {
  private static let size = 1203

  /// A service without a search and without single records, whose list is longer than a search scans.
  private static func server() throws -> LoopbackServer {
    try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let rows = (min((page - 1) * 100, size)..<min(page * 100, size)).map {
        "{\"id\": \($0), \"name\": \"lamp \($0)\"}"
      }
      return .json("[\(rows.joined(separator: ","))]")
    }
  }

  private static func plugin(_ server: LoopbackServer) throws -> DeclaredPlugin {
    let text = """
      {"url": "\(server.baseURL)/", "rows": "$", "id": "id", "page": "page=1", "size": "size=100", \
      "paging": "proved", "rate": "off", "fields": ["name"]}
      """
    return DeclaredPlugin("lamps", try Manifest(reading: Data(text.utf8)))
  }

  @Test func `a sync takes one page, and one turn, for each response of an unknown size`()
    async throws
  {
    let server = try LoopbackServer { request in
      let isFirst = request.query["after"] == nil
      let rows = (isFirst ? 0..<250 : 250..<400).map { "{\"id\": \($0), \"name\": \"lamp\"}" }
      return .json(
        "{\"lamps\": [\(rows.joined(separator: ","))], \"next\": \(isFirst ? "\"t\"" : "null")}")
    }
    let text = """
      {"url": "\(server.baseURL)/", "rows": "lamps", "id": "id", "next": "next", "token": "after", \
      "paging": "proved", "rate": "2/h", "fields": ["name"]}
      """
    let plugin = DeclaredPlugin("lamps", try Manifest(reading: Data(text.utf8)))
    let store = InMemoryStore()
    let environment = PluginEnvironment(
      settings: SourceSettings(), transport: HTTPTransport(), store: store)
    let result = try await plugin.sync(into: store, in: environment)
      .run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect((result.added, result.pages, result.isComplete) == (400, 2, true))
    #expect(result.failure == nil && server.requests.count == 2)
  }

  @Test func `searches, lists and lookups are those of the store`() async throws {
    let server = try Self.server()
    let plugin = try Self.plugin(server)
    var environment = PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport())
    environment.store = InMemoryStore()
    let store = try #require(environment.store)
    let source = try plugin.source(in: environment)
    let query = try SearchQuery("1200")
    // Before, a search reads the first thousand, and says so.
    let part = try await source.page(PageRequest(matching: query))
    #expect(part.records.isEmpty && part.warnings.map(\.code.description) == ["scanned"])
    let unknown = await #expect(throws: SourceError.self) { try await source.item("9999") }
    #expect(unknown?.code == .unsupported)

    let result = try await plugin.sync(into: store, in: environment)
      .run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(result.isComplete && result.added > 0)
    let requests = server.requests.count
    let found = try await source.page(PageRequest(matching: query))
    #expect(found.records.map(\.id) == ["1200"])
    #expect((found.provenance.origin, found.warnings, found.next) == (.cached, [], nil))
    #expect(found.provenance.fetchedAt != nil)
    #expect(try await source.page(PageRequest(matching: try SearchQuery("bulb"))).records.isEmpty)
    #expect(try await source.item("1202").item.id == "1202")
    let missing = await #expect(throws: SourceError.self) { try await source.item("9999") }
    #expect(missing?.code == .notFound)
    // Pages that happen to be cached are a part only.
    var ids: Set<String> = []
    for try await step in source.cachePolicy(.offline).pages(size: 500) {
      ids.formUnion(step.items.map(\.id))
    }
    #expect(ids.count == Self.size)
    #expect(server.requests.count == requests)
    // A call that refreshes asks the service.
    let reloaded = try await source.page(PageRequest(matching: query, cachePolicy: .reload))
    #expect(reloaded.warnings.map(\.code.description) == ["scanned"])
  }

  @Test func `members that lists no longer send vanish, details stay`() throws {
    func record(_ row: JSON) throws -> DeclaredRecord {
      try DeclaredRecord(row, id: [try #require(JSONPath("id"))])
    }
    let listed = try record(["id": 1, "name": "a", "old": true])
    let single = try record(["id": 1, "name": "a", "power": 60, "old": true]).detailed
    let known = single.merged(over: listed)
    #expect(known.row == ["id": 1, "name": "a", "old": true, "power": 60])
    let later = try record(["id": 1, "name": "b"]).merged(over: known)
    #expect(later.row == ["id": 1, "name": "b", "power": 60])
    #expect(try record(["id": 1, "name": "b"]).merged(over: later) == later)
    // Also if the record was fetched before any list.
    #expect(try record(["id": 1, "name": "a"]).merged(over: single).row["power"] == 60)
    let stored = try CanonicalJSON.bytes(of: later)
    #expect(try JSONText(stored)?.read(DeclaredRecord.self) == later)
  }
}
