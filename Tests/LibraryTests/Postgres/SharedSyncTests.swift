import AggregatorKit
import AggregatorPostgres
import AggregatorPostgresServer
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorStore

/// Several stores on one database stand for several machines.
@Suite(.requiresPostgres, .timeLimit(.minutes(10)))
struct SharedSyncTests {
  /// Notes with these numbers, in pages whose cursors are predictable; the total is known.
  private func service(
    _ ids: some Sequence<Int>, held gate: Gate? = nil
  ) -> ScriptedSource<Note> {
    ScriptedSource(
      over: BundledSource("notes", items: ids.map { Note($0) }, fields: Note.fields), held: gate)
  }

  /// The same without predictable cursors.
  private func chained(
    _ ids: some Sequence<Int>, held gate: Gate? = nil
  ) -> ScriptedSource<Note> {
    let all = service(ids)
    return ScriptedSource(held: gate) { request throws(SourceError) in try await all.page(request) }
  }

  private func sync(
    _ base: any DataSource<Note>, into store: any SourceStore, as worker: String = "one",
    at seconds: Double = 0
  ) -> Sync<Note> {
    Sync(
      base: base,
      recordStore: NotesPlugin(over: base, .liveFirst(freshFor: .seconds(60))).recordStore(
        in: store),
      size: 10, mode: .full(of: "all"), clock: PollingClock(), now: { .day(seconds) },
      observer: .silent, worker: worker)
  }

  private func machines(_ database: PostgresDatabase, _ count: Int) throws -> [PostgresStore] {
    try (0..<count).map { _ in PostgresStore(at: try PostgresAddress(database.uri)) }
  }

  private func ids(in store: any SourceStore) async throws -> [Int] {
    try await store.found(of: "notes").map { json in
      try JSONDecoder().decode(Note.self, from: Data(json.utf8)).id
    }
  }

  @Test(arguments: [1, 3])
  func `divides the pages among machines`(jobs: Int) async throws {
    try await withDatabase { database in
      let stores = try machines(database, 3)
      // They begin together: one that is connected late may find the pass of the others at its end, and begin another.
      for store in stores { _ = try await store.status(of: "notes") }
      for (ids, added, removed) in [(1...295, 295, 0), (11...300, 5, 10)] {
        let base = service(ids)
        let results = await withTaskGroup(of: SyncResult.self) { group in
          for (index, store) in stores.enumerated() {
            group.addTask {
              await sync(base, into: store, as: "\(index)").run(upTo: nil, jobs: jobs, waits: false)
              { _ in }
            }
          }
          return await group.reduce(into: []) { $0.append($1) }
        }
        let failures = results.compactMap(\.failure)
        #expect(failures.isEmpty)
        #expect(results.allSatisfy { $0.isComplete })
        // Each page was fetched once, whoever did it.
        let starts = base.requests.map { $0.cursor?.description ?? "" }
        #expect(Set(starts).count == starts.count)
        #expect(results.reduce(0) { $0 + $1.pages } == (ids.count + 9) / 10)
        #expect(results.reduce(0) { $0 + $1.added } == added)
        #expect(results.reduce(0) { $0 + $1.removedUpstream } == removed)
        #expect(try await self.ids(in: stores[0]).sorted() == Array(ids))
      }
      let status = try await stores[0].status(of: "notes")
      #expect((status.records, status.removedUpstream) == (290, 10))
    }
  }

  @Test func `goes on alone where pages are not where they were expected, which is no new start`()
    async throws
  {
    try await withDatabase { database in
      let base = Mispredicting(base: service(1...35))
      let result = await sync(base, into: try machines(database, 1)[0]).run(
        upTo: nil, jobs: 2, waits: false
      ) { _ in }
      #expect(result.isComplete && result.added == 35 && !result.hasRestarted)
    }
  }

  @Test(arguments: [true, false])
  func `gives records that were cached before the place that the service gives them`(
    isDivided: Bool
  ) async throws {
    try await withDatabase { database in
      let store = try machines(database, 1)[0]
      let base = isDivided ? service(1...35) : chained(1...35)
      let records = NotesPlugin(over: base, .liveFirst(freshFor: .seconds(60))).recordStore(
        in: store)
      _ = try await records.save([Note(30), Note(4)], at: .day(0))
      let result = await sync(base, into: store, at: 1).run(upTo: nil, jobs: 1, waits: false) { _ in
      }
      #expect(result.isComplete && (result.added, result.unchanged) == (33, 2))
      #expect(try await ids(in: store) == Array(1...35))
    }
  }

  @Test func `takes over what a lost machine has leased, and refuses what it still saves`()
    async throws
  {
    try await withDatabase { database in
      let stores = try machines(database, 2)
      let gate = Gate()
      let slow = service(1...30, held: gate)
      let lost = Task {
        await sync(slow, into: stores[0], as: "lost").run(upTo: nil, jobs: 1, waits: false) { _ in }
      }
      await gate.holds(1)
      let activity = try await sync(slow, into: stores[1]).activity()
      #expect(activity?.workers == ["lost": 1])
      // As if a minute had passed by the clock of the server.
      _ = try await database.run(
        """
        UPDATE aggregator_store.checkpoints
        SET value = regexp_replace(value, '"e":[0-9]{13}', '"e":1000', 'g')
        """)
      let base = service(1...30)
      let result = await sync(base, into: stores[1], as: "new").run(
        upTo: nil, jobs: 2, waits: false
      ) { _ in }
      #expect(result.isComplete && result.added == 30 && result.pages == 3)
      gate.open()
      let late = await lost.value
      #expect(late.added == 0 && late.unchanged == 0 && late.pages == 0)
      #expect(try await ids(in: stores[0]).sorted() == Array(1...30))
    }
  }

  @Test func `lets one machine fetch pages that cannot be requested in any order`() async throws {
    try await withDatabase { database in
      let stores = try machines(database, 2)
      let gate = Gate()
      let slow = chained(1...30, held: gate)
      let first = Task {
        await sync(slow, into: stores[0], as: "first").run(upTo: nil, jobs: 1, waits: false) { _ in
        }
      }
      await gate.holds(1)
      let second = await sync(chained(1...30), into: stores[1], as: "second").run(
        upTo: nil, jobs: 1, waits: false
      ) { _ in }
      #expect(second.failure?.code == .busy)
      #expect(second.failure?.message == "being synced by first")
      let activity = try await sync(slow, into: stores[1]).activity()
      #expect(activity?.workers == ["first": nil])
      gate.open()
      #expect(await first.value.added == 30)
      // The lease has been given back.
      let third = await sync(chained(1...30), into: stores[1], as: "third").run(
        upTo: nil, jobs: 1, waits: false
      ) { _ in }
      #expect(third.failure == nil && third.unchanged == 30)
    }
  }

  @Test func `leaves nothing leased when a machine stops at its bound or fails`() async throws {
    try await withDatabase { database in
      let stores = try machines(database, 2)
      let bounded = await sync(service(1...95), into: stores[0]).run(upTo: 3, jobs: 2, waits: false)
      { _ in }
      #expect((bounded.pages, bounded.isComplete) == (3, false))
      let failing = ScriptedSource<Note>(
        page: { _ throws(SourceError) in throw .because(.serverError) },
        skip: { service(1...95).cursor(skipping: $0, from: $1) })
      let failed = await sync(failing, into: stores[0]).run(upTo: nil, jobs: 4, waits: false) { _ in
      }
      #expect(failed.failure?.code == .serverError && failed.pages == 0)
      let base = service(1...95)
      let rest = await sync(base, into: stores[1]).run(upTo: nil, jobs: 2, waits: false) { _ in }
      #expect(rest.isComplete && rest.pages == 7 && rest.earlierPages == 3)
      #expect(base.callCount == 7)
      #expect(try await ids(in: stores[0]).sorted() == Array(1...95))
    }
  }

  @Test func `does not take a pass for complete that another machine continues alone`() async throws
  {
    try await withDatabase { database in
      let store = try machines(database, 1)[0]
      let gate = Gate()
      let base = service(1...30, held: gate)
      let joined = Task {
        await sync(base, into: store).run(upTo: nil, jobs: 1, waits: false) { _ in }
      }
      await gate.holds(1)
      // As another machine does that finds a page where none was expected.
      _ = try await database.run(
        """
        UPDATE aggregator_store.checkpoints
        SET name = 'lease ' || name, value = '{"e":9999999999999,"i":"x","w":"other"}'
        WHERE name = 'sync all'
        """)
      gate.open()
      let result = await joined.value
      #expect(result.failure?.message == "being synced by other")
      #expect(!result.isComplete)
    }
  }

  /// A service that sends at most so many rows, knows no total, and ends with an empty page.
  private func blind(_ count: Int, atMost rows: Int) -> ScriptedSource<Note> {
    let all = (0..<count).map { Note($0) }
    let cursors = service(0..<count + 100)
    return ScriptedSource(
      page: { request throws(SourceError) in
        let start = request.cursor.flatMap { cursor in
          (1..<count + 100).first { cursors.cursor(skipping: $0, from: PageRequest()) == cursor }
        }
        let page = Array(all.dropFirst(start ?? 0).prefix(min(request.limit, rows)))
        return Page(
          page,
          next: page.isEmpty
            ? nil : cursors.cursor(skipping: (start ?? 0) + page.count, from: PageRequest()),
          provenance: Provenance(.live))
      }, skip: { cursors.cursor(skipping: $0, from: $1) })
  }

  @Test(arguments: [(95, 100), (95, 4), (100, 100), (0, 100)])
  func `fills pages of a service that sends fewer rows than requested`(
    count: Int, rows: Int
  ) async throws {
    try await withDatabase { database in
      let store = try machines(database, 1)[0]
      let result = await sync(blind(count, atMost: rows), into: store)
        .run(upTo: nil, jobs: 3, waits: false) { _ in }
      #expect(result.failure == nil && result.isComplete && result.added == count)
      let ids = try await ids(in: store)
      #expect(ids.sorted() == Array(0..<count))
      // It was divided: one worker alone would have left a lease.
      let pass = try await database.texts("SELECT name FROM aggregator_store.checkpoints")
      #expect(!pass.contains { $0.hasPrefix("lease") })
    }
  }

  @Test func `keeps one rate over machines whose clocks differ by a minute`() async throws {
    try await withDatabase { database in
      let stores = try machines(database, 2)
      let rate = Rate(3, per: .seconds(3600))
      let base = service(1...10)
      let sources = [-30.0, 30].enumerated().map { index, skew in
        let state = SharedState(
          of: "notes", in: stores[index], now: { Date().addingTimeInterval(skew) })
        return base.rateLimited(by: rate, sharing: state).timeout(.seconds(15))
      }
      for call in 0..<3 { #expect(await sources[call % 2].failure() == nil) }
      for source in sources {
        let failure = await source.failure()
        #expect(failure?.message == "local rate limit 3/h reached")
        // The first call was a moment ago, by either clock.
        let wait = try #require(failure?.retryAfter)
        #expect(wait > .seconds(3600 - 300) && wait <= .seconds(3600))
      }
      #expect(base.callCount == 3)
    }
  }

  @Test func `one of three machines reads what has changed`() async throws {
    try await withDatabase { database in
      let stores = try machines(database, 3)
      let service = TimestampedService(.ascending)
      for id in 1...95 { service.set(id, at: Double(id)) }
      let plugin = TimestampedPlugin(service)
      func syncAll() async throws -> [SyncResult] {
        try await withThrowingTaskGroup(of: SyncResult.self) { group in
          for store in stores {
            group.addTask {
              let environment = PluginEnvironment(
                settings: SourceSettings(), transport: TrappingTransport(), store: store,
                clock: PollingClock())
              return try await plugin.sync(into: store, in: environment)
                .run(upTo: nil, jobs: 1, waits: true) { _ in }
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
      }
      let first = try await syncAll()
      #expect(first.allSatisfy { $0.failure == nil && $0.isComplete })
      service.forgetRequests()
      for id in 200..<212 { service.set(id, at: Double(id)) }
      let results = try await syncAll()
      #expect(results.allSatisfy { $0.failure == nil && $0.kind == .incremental && $0.isComplete })
      #expect(results.reduce(0) { $0 + $1.added } == 12)
      #expect(results.count { $0.added > 0 } == 1)
      #expect(try await ids(in: stores[1]).count == 107)
    }
  }

  @Test func `divides the lists of other records among machines`() async throws {
    try await withDatabase { database in
      let stores = try machines(database, 3)
      let service = NestedService()
      for number in 0..<30 { service.add("org/r\(number)", leaves: number % 4 * 2) }
      let plugin = LeavesPlugin(service, incremental: true)
      func syncAll(at seconds: Double) async throws -> [SyncResult] {
        try await withThrowingTaskGroup(of: SyncResult.self) { group in
          for (index, store) in stores.enumerated() {
            group.addTask {
              // Pauses are real: machines that ask again at once would keep from its work the one that they wait for.
              var environment = PluginEnvironment(
                settings: SourceSettings(), transport: TrappingTransport(), store: store,
                now: { .day(seconds) })
              environment.sources = { [FoldersPlugin(service: service), plugin] }
              return try await plugin.sync(into: store, in: environment)
                .run(upTo: nil, jobs: index + 1, waits: false) { _ in }
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
      }
      let first = try await syncAll(at: 0)
      #expect(first.compactMap(\.failure).isEmpty && first.allSatisfy(\.isComplete))
      // A machine that comes late asks for what has changed since, and for all of an empty list, which has no mark.
      let empty = (0..<8).map { "org/r\($0 * 4) 0" }
      let lists = service.requests.filter { !$0.hasPrefix("folders") && !empty.contains($0) }
      #expect(Set(lists).count == lists.count)
      #expect(first.reduce(0) { $0 + $1.added } == service.leaves.count)
      service.remove("org/r3")
      service.set(0, in: "org/r1", "changed", at: 100)
      let second = try await syncAll(at: 1000)
      #expect(second.compactMap(\.failure).isEmpty && second.allSatisfy(\.isComplete))
      #expect(second.reduce(0) { $0 + $1.changed } == 1)
      #expect(second.reduce(0) { $0 + $1.removedUpstream } == 6)
      #expect(try await stores[0].found(of: "leaves").count == service.leaves.count)
    }
  }
}

/// Short waits, between two looks at a store, take no time; long ones last until they are cancelled.
private struct PollingClock: Clock {
  private let base = ContinuousClock()

  var now: ContinuousClock.Instant { base.now }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
    if base.now.duration(to: deadline) < .seconds(5) { return await Task.yield() }
    try await ContinuousClock().sleep(for: .seconds(3600))
  }
}

/// Expects each page one record too late.
private struct Mispredicting: Decorator {
  let base: ScriptedSource<Note>
  var label: String { "mispredicting" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Note> {
    try await base.page(request)
  }

  func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    base.cursor(skipping: count + 1, from: request)
  }
}
