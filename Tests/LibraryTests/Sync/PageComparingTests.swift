import AggregatorKit
import AggregatorPostgres
import AggregatorPostgresServer
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// A part of a catalogue.
private struct Part: SourceRecord {
  struct List: Decodable, Sendable {
    struct Row: Decodable, Sendable {
      let number: Int
      let name: String
    }

    let total: Int?
    let rows: LossyArray<Row>
  }

  let id: Int
  let name: String
}

/// Parts in pages of ten, by a parameter that counts rows.
private struct PartsPlugin: Plugin {
  let base: URL
  let service: PartsService
  var decoderVersion: String? = "1"

  let name = "parts"
  let summary = "parts"
  let example = PluginExample(query: "bolt", id: "1")
  let fields: [Field<Part>] = [Field(\.id), Field(\.name)]
  let policy = Policy(largestPage: 10, upstreamPageSize: .fixed(10))

  func remote(in environment: PluginEnvironment) -> any DataSource<Part> {
    RESTSource(
      name, in: environment, list: HTTPRequest(.get, base),
      paging: RESTPaging(
        .offset(.query("skip"), start: 0), size: (.query("take"), 10), honorsSize: true,
        predictsCursors: !service.sendsTotal),
      decoding: Part.List.self
    ) { [service] list in
      let response = RESTResponse(list.rows, total: list.total) {
        Part(id: $0.number, name: $0.name)
      }
      // Pages after the end are requested ahead.
      if !response.records.isEmpty { service.noteRead() }
      return response
    }
  }
}

/// The names of the parts, empty for none, and the number of pages of them that were read.
private final class PartsService: Sendable {
  static let all = (1...35).map { "part \($0)" }

  let sendsTotal: Bool
  private let state = Mutex((names: PartsService.all, reads: 0))

  init(sendsTotal: Bool = false) { self.sendsTotal = sendsTotal }

  var names: [String] {
    get { state.withLock(\.names) }
    set { state.withLock { $0.names = newValue } }
  }

  var reads: Int { state.withLock(\.reads) }

  func noteRead() { state.withLock { $0.reads += 1 } }

  func reply(to request: LoopbackRequest) -> LoopbackReply {
    let skip = request.query["skip"].flatMap { Int($0) } ?? 0
    let all = names.enumerated().filter { !$1.isEmpty }
    let rows = all.dropFirst(skip).prefix(10).map {
      #"{"number": \#($0 + 1), "name": "\#($1)"}"#
    }
    let total = sendsTotal ? #""total": \#(all.count), "# : ""
    return .json(#"{\#(total)"rows": [\#(rows.joined(separator: ","))]}"#)
  }
}

/// A sync does not read pages again whose responses have not changed.
@Suite(.timeLimit(.minutes(10))) struct PageComparingTests {
  private let service = PartsService()
  private let today = Today()

  /// Runs `body` with a function that syncs and returns what came of it, and the number of pages that were read.
  private func withSync(
    of other: PartsService? = nil,
    _ body: (
      _ sync: (_ store: any SourceStore, _ version: String?) async throws -> (SyncResult, Int)
    ) async throws -> Void
  ) async throws {
    let service = other ?? service
    try await withServer({ service.reply(to: $0) }) { server in
      try await body { store, version in
        let plugin = PartsPlugin(base: server.baseURL, service: service, decoderVersion: version)
        let environment = PluginEnvironment(
          settings: SourceSettings(), transport: HTTPTransport(), store: store, now: today.now)
        let before = service.reads
        let result = try await plugin.sync(into: store, in: environment).run(jobs: 2)
        #expect(result.failure == nil && result.isComplete)
        return (result, service.reads - before)
      }
    }
  }

  private func expectUnchangedPagesAreNotRead(_ store: any SourceStore) async throws {
    try await withSync { sync in
      var (result, read) = try await sync(store, "1")
      #expect((result.added, read) == (35, 4))
      (result, read) = try await sync(store, "1")
      #expect((result.unchanged, result.added, result.changed, read) == (35, 0, 0, 0))
      // Only the page with the change.
      service.names[12] = "another name"
      (result, read) = try await sync(store, "1")
      #expect((result.unchanged, result.changed, read) == (34, 1, 1))
      // Rows that move up change their pages; the one that is gone is found.
      service.names[25] = ""
      (result, read) = try await sync(store, "1")
      #expect((result.unchanged, result.removedUpstream, read) == (34, 1, 2))
      (result, read) = try await sync(store, "1")
      #expect((result.unchanged, result.removedUpstream, read) == (34, 0, 0))
      service.names[25] = "part 26"
      (result, read) = try await sync(store, "1")
      #expect((result.unchanged, result.changed, read) == (34, 1, 2))
      (result, read) = try await sync(store, "1")
      #expect((result.unchanged, read) == (35, 0))
    }
    #expect(try await store.found(of: "parts").count == 35)
  }

  @Test func `unchanged pages are not read again`() async throws {
    try await expectUnchangedPagesAreNotRead(InMemoryStore())
    service.names = PartsService.all
    try await expectUnchangedPagesAreNotRead(try StoreDirectory().store())
  }

  @Test(.requiresPostgres)
  func `unchanged pages are not read again into PostgreSQL`() async throws {
    try await withDatabase { database in
      try await expectUnchangedPagesAreNotRead(
        PostgresStore(at: try PostgresAddress(database.uri)))
    }
  }

  @Test func `another version, or none, reads every page`() async throws {
    let store = try StoreDirectory().store()
    try await withSync { sync in
      _ = try await sync(store, "1")
      #expect(try await sync(store, "2").1 == 4)
      #expect(try await sync(store, "2").1 == 0)
      #expect(try await sync(store, nil).1 == 4)
    }
  }

  @Test func `after a week every page is read`() async throws {
    let store = try StoreDirectory().store()
    try await withSync { sync in
      _ = try await sync(store, "1")
      today.turn(by: 6 * 86_400)
      #expect(try await sync(store, "1").1 == 0)
      today.turn(by: 2 * 86_400)
      #expect(try await sync(store, "1").1 == 4)
      // A clock that was set back proves nothing.
      today.turn(by: -30 * 86_400)
      #expect(try await sync(store, "1").1 == 4)
    }
  }

  @Test func `a page with a deleted or a missing record is read`() async throws {
    let store = try StoreDirectory().store()
    try await withSync { sync in
      _ = try await sync(store, "1")
      _ = try await store.delete(["14"], of: "parts", at: today.now())
      var (result, read) = try await sync(store, "1")
      #expect((result.unchanged, result.added, read) == (35, 0, 1))
      try await store.clear("parts", forgetsDeleted: false)
      (result, read) = try await sync(store, "1")
      #expect((result.unchanged, result.added, read) == (0, 35, 4))
    }
  }

  @Test func `a total that changes leaves no checkpoints behind`() async throws {
    let store = try StoreDirectory().store()
    let service = PartsService(sendsTotal: true)
    try await withSync(of: service) { sync in
      _ = try await sync(store, "1")
      #expect(try await sync(store, "1").1 == 0)
      for number in 36...38 {
        service.names.append("part \(number)")
        // Each page says the total.
        #expect(try await sync(store, "1").1 == 4)
        #expect(try await store.checkpoints(of: "parts", startingWith: "page ").count == 4)
      }
    }
  }

  @Test func `a batch with a position that is not there saves nothing`() async throws {
    for store in [InMemoryStore() as any SourceStore, try StoreDirectory().store()] {
      try await withSync { sync in _ = try await sync(store, "1") }
      let before = try await store.status(of: "parts")
      var batch = StoreBatch([], update: CheckpointUpdate("at", from: nil, to: "1"))
      batch.unchanged = [before.lastPosition, before.lastPosition + 1]
      let changes = try await store.save(batch, of: "parts", at: today.now())
      #expect(changes.missesUnchanged && !changes.didMoveCheckpoint)
      #expect(try await store.checkpoint("at", of: "parts") == nil)
    }
  }
}
