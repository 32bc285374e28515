import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

/// One chain, and a policy for each call.
struct CachePolicyTests {
  private let directory: StoreDirectory
  private let today = Today()
  private let service = Service(30)
  private let source: any DataSource<Note>

  init() throws {
    directory = try StoreDirectory()
    source = try NotesPlugin(over: service, .liveFirst(freshFor: .seconds(60))).source(
      in: PluginEnvironment(
        settings: SourceSettings([:]), transport: TrappingTransport(), store: directory.store(),
        clock: ManualClock(), now: today.now))
  }

  private func origin(_ cachePolicy: CachePolicy) async throws -> Provenance.Origin {
    try await source.page(PageRequest(limit: 5, cachePolicy: cachePolicy)).provenance.origin
  }

  @Test func `each page has its own policy, and all share what is cached`() async throws {
    #expect(try await origin(.offline) == .bundled)
    #expect(service.callCount == 0)
    #expect(try await origin(.normal) == .live)
    #expect(try await origin(.normal) == .cached)
    #expect(service.callCount == 1)
    #expect(try await origin(.reload) == .live)
    #expect(try await origin(.liveOnly) == .live)
    #expect(service.callCount == 3)
    service.fail(with: .unreachable)
    #expect(try await origin(.reload) == .cached)
    #expect(try await origin(.noFallback) == .cached)
    await #expect(throws: SourceError.self) { try await origin(.liveOnly) }
    today.turn(by: 61)
    await #expect(throws: SourceError.self) { try await origin(.noFallback) }
    let calls = service.callCount
    #expect(try await origin(.offline) == .cached)
    #expect(service.callCount == calls)
  }

  @Test func `each record has its own policy`() async throws {
    func origin(_ cachePolicy: CachePolicy) async throws -> Provenance.Origin {
      try await source.item(4, cachePolicy: cachePolicy).provenance.origin
    }
    await #expect(throws: SourceError.self) { try await origin(.offline) }
    #expect(try await origin(.normal) == .live)
    #expect(try await origin(.offline) == .cached)
    #expect(service.callCount == 1)
    #expect(try await origin(.reload) == .live)
    service.fail(with: .unreachable)
    #expect(try await origin(.reload) == .cached)
    await #expect(throws: SourceError.self) { try await origin(.liveOnly) }
  }

  @Test func `a walk keeps its policy on every page`() async throws {
    var ids: [Int] = []
    for try await note in source.items(size: 7, cachePolicy: .reload) { ids.append(note.id) }
    #expect(ids == Array(1...30))
    #expect(service.requests.map(\.cachePolicy) == Array(repeating: .reload, count: 5))
    for try await _ in source.items(size: 7, cachePolicy: .offline) {}
    #expect(service.callCount == 5)
  }

  @Test func `a record that is named by a UUID is cached and found`() async throws {
    let id = try #require(UUID("0b6f2f0c-6d0c-4a2e-9d64-1f3f8a2f5c11"))
    let rooms = BundledSource(
      "rooms", items: [Room(id: id, name: "Library")],
      fields: [
        Field("id", "ID", \.id, about: "The ID."),
        Field("name", "Name", \.name, about: "The name."),
      ])
    let recordStore = RecordStore<Room>("rooms", in: directory.store()) { FoldedText($0.name) }
    let cached = rooms.cached(in: recordStore, freshFor: .seconds(60), now: today.now)
    _ = try await cached.page(PageRequest())
    #expect(try await recordStore.records.item(id).item.name == "Library")
    #expect(UUID("library") == nil)
    let typed: UUID? = Room.ID(id.description.lowercased())
    #expect(typed == id)
  }
}

private struct Room: SourceRecord {
  let id: UUID
  let name: String
}
