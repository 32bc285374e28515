import AggregatorCore
import AggregatorPostgres
import AggregatorPostgresServer
import AggregatorStore
import Foundation
import Testing

/// A store whose server or network fails: nothing is lost or doubled, and errors are `busy` or `storage`.
@Suite(.requiresPostgres) struct PostgresFaultTests {
  /// A batch that takes some thousand bytes.
  private static let batch = (1...20).map {
    StoreEntry("n\($0)", String(repeating: "x", count: 200))
  }
  private static let all = ["first"] + batch.indices.map { "n\($0 + 1)" }

  private func store(
    in database: PostgresDatabase, at port: Int? = nil, busyTimeout: Duration = .seconds(60)
  ) throws -> PostgresStore {
    PostgresStore(
      at: try PostgresAddress(database.uri(port: port)), busyTimeout: busyTimeout)
  }

  /// Expects the records, each once, and the store's own count of them.
  private func expect(
    _ ids: [String], in database: PostgresDatabase,
    sourceLocation location: SourceLocation = #_sourceLocation
  ) async throws {
    let stored = try await database.texts(
      "SELECT id FROM aggregator_store.records ORDER BY position")
    #expect(stored == ids, sourceLocation: location)
    let counted = try await database.texts("SELECT records FROM aggregator_store.sources")
    #expect(counted == ["\(ids.count)"], sourceLocation: location)
  }

  /// The code of the error that `body` throws.
  private func code(of body: () async throws -> Void) async -> SourceError.Code? {
    do { try await body() } catch let error as SourceError { return error.code } catch {
      Issue.record(error)
    }
    return nil
  }

  // MARK: - The connection

  static let cuts = [0, 60, 300, 1000, 2500, 5000, 9000].flatMap { count in
    [PostgresProxy.Side.client, .server].map { PostgresProxy.Fault.cut(after: count, from: $0) }
  }

  @Test(arguments: cuts)
  func `a batch whose connection is cut is saved once`(cut: PostgresProxy.Fault) async throws {
    try await withDatabase { database in
      let proxy = try PostgresProxy(before: database.server)
      let store = try store(in: database, at: proxy.port)
      try await store.save([StoreEntry("first")])
      proxy.inject(cut)
      let changes = try await store.save(Self.batch)
      proxy.inject(nil)
      // Also if the cut hid that they were committed.
      #expect(changes.added.count == Self.batch.count)
      try await expect(Self.all, in: database)
    }
  }

  @Test func `a batch is saved once if the end of the answer to its commit is lost`() async throws {
    try await withDatabase { database in
      let proxy = try PostgresProxy(before: database.server)
      let store = try store(in: database, at: proxy.port)
      try await store.save([StoreEntry("first")])
      let ids = ["a", "b", "c"]
      for id in ids {
        // The answer to the batch before is as long.
        let length = proxy.bytes(from: .server)
        proxy.inject(id == "c" ? .cut(after: length - 3, from: .server) : nil)
        let changes = try await store.save([StoreEntry(id)])
        #expect(changes.added == [0])
      }
      #expect(proxy.faultsInjected == 1)
      try await expect(["first"] + ids, in: database)
    }
  }

  @Test func `a shared value is changed once when the connection is cut`() async throws {
    try await withDatabase { database in
      let proxy = try PostgresProxy(before: database.server)
      let store = try store(in: database, at: proxy.port)
      try await store.save([StoreEntry("first")])
      // Connects the reader: a first connection that fails is not tried again.
      _ = try await store.ids()
      for (turn, count) in [0, 100, 200, 300, 400, 500, 700].enumerated() {
        proxy.inject(.cut(after: count, from: turn.isMultiple(of: 2) ? .server : .client))
        try await store.change("count") { text in "\((text.flatMap { Int($0) } ?? 0) + 1)" }
      }
      proxy.inject(nil)
      #expect(proxy.faultsInjected > 3)
      let values = try await database.texts("SELECT value FROM aggregator_store.shared")
      #expect(values == ["7"])
    }
  }

  @Test func `a slow server is waited for`() async throws {
    try await withDatabase { database in
      let proxy = try PostgresProxy(before: database.server)
      let store = try store(in: database, at: proxy.port)
      try await store.save([StoreEntry("first")])
      proxy.inject(.hold(after: 0, from: .server))
      async let changes = store.save(Self.batch)
      while proxy.faultsInjected == 0 { await Task.yield() }
      proxy.inject(nil)
      let saved = try await changes
      #expect(saved.added.count == Self.batch.count)
      try await expect(Self.all, in: database)
    }
  }

  @Test func `a call that waits for a slow server can be cancelled`() async throws {
    try await withDatabase { database in
      let proxy = try PostgresProxy(before: database.server)
      let store = try store(in: database, at: proxy.port)
      try await store.save([StoreEntry("first")])
      proxy.inject(.hold(after: 0, from: .server))
      let task = Task { try await store.save(Self.batch) }
      while proxy.faultsInjected == 0 { await Task.yield() }
      task.cancel()
      let code = await code { _ = try await task.value }
      #expect(code == .cancelled)
      proxy.inject(nil)
      try await store.save(Self.batch)
      try await expect(Self.all, in: database)
    }
  }

  // MARK: - The server

  @Test func `a restart is not noticed`() async throws {
    let server = try await PostgresServer()
    try await withDatabase(on: server) { database in
      let store = try store(in: database)
      try await store.save([StoreEntry("first")])
      try await server.restart()
      try await store.save(Self.batch)
      try await server.restart()
      let ids = try await store.ids()
      #expect(ids == Self.all)
      try await expect(Self.all, in: database)
    }
  }

  @Test func `a killed server is an error until it is started again`() async throws {
    let server = try await PostgresServer()
    try await withDatabase(on: server) { database in
      try await store(in: database).save([StoreEntry("first")])
      try await server.kill()
      let absent = try store(in: database, busyTimeout: .milliseconds(200))
      let writing = await code { try await absent.save(Self.batch) }
      let reading = await code { _ = try await absent.ids() }
      #expect(writing == .storage)
      #expect(reading == .storage)
      try await server.start()
      let store = try store(in: database)
      try await store.save(Self.batch)
      try await expect(Self.all, in: database)
    }
  }

  @Test func `a call waits for a server that is killed and started again`() async throws {
    let server = try await PostgresServer()
    try await withDatabase(on: server) { database in
      let store = try store(in: database)
      try await store.save([StoreEntry("first")])
      try await server.kill()
      async let changes = store.save(Self.batch)
      try await server.start()
      let saved = try await changes
      #expect(saved.added.count == Self.batch.count)
      try await expect(Self.all, in: database)
    }
  }

  @Test func `a standby can be read and refuses to be written`() async throws {
    let server = try await PostgresServer()
    try await withDatabase(on: server) { database in
      try await store(in: database).save([StoreEntry("first")])
      let standby = try await server.standby()
      try await standby.catchUp(with: server)
      let store = try store(in: database.at(standby))
      let ids = try await store.ids()
      #expect(ids == ["first"])
      let code = await code { try await store.save(Self.batch) }
      #expect(code == .storage)
      try await expect(["first"], in: database)
    }
  }

  @Test(.requiresSmallDisk)
  func `a full disk is an error, and keeps what was saved`() async throws {
    let server = try await PostgresServer(diskMegabytes: 20)
    try await withDatabase(.init(isOnSmallDisk: true), on: server) { database in
      let store = try store(in: database)
      var saved: [String] = []
      var failure: SourceError?
      for number in 0..<100 where failure == nil {
        let ids = (0..<20).map { "n\(number)-\($0)" }
        // Random, or it would be compressed.
        let entries = ids.map { id in
          StoreEntry(id, (0..<300).map { _ in UUID().uuidString }.joined())
        }
        do throws(SourceError) {
          try await store.save(entries)
          saved += ids
        } catch { failure = error }
      }
      #expect(failure?.code == .storage)
      #expect(failure?.message.contains("full") == true)
      try await expect(saved, in: database)
    }
  }

  @Test func `a pass over more records than fit in the server's memory ends`() async throws {
    try await withDatabase { database in
      try await database.run("ALTER ROLE \(database.name) SET work_mem = '64kB'")
      let store = try store(in: database, busyTimeout: .seconds(5))
      func pass(_ update: CheckpointUpdate) async throws -> StoreChanges {
        try await store.save(StoreBatch([], update: update), of: "things", at: .day())
      }
      _ = try await pass(
        CheckpointUpdate(
          "pass", from: nil, to: "1", reconciliation: Reconciliation(begins: true, completion: nil))
      )
      let count = 100_000
      try await database.run(
        """
        INSERT INTO aggregator_store.records (position, source, id, saved, first_seen, folded, json)
        SELECT last + n, number, n, 0, 0, '', '{}'
        FROM aggregator_store.sources, generate_series(1, \(count)) n
        """,
        """
        INSERT INTO aggregator_store.seen (source, reconciliation, positions)
        SELECT number, 'pass', json_agg(last + n)
        FROM aggregator_store.sources, generate_series(2, \(count)) n GROUP BY number, n / 100
        """,
        "UPDATE aggregator_store.sources SET last = last + \(count), records = \(count)", "ANALYZE")
      let completion = Reconciliation.Completion(lastPosition: .max, minRecordCount: 0)
      let changes = try await pass(
        CheckpointUpdate(
          "pass", from: "1", to: nil,
          reconciliation: Reconciliation(begins: false, completion: completion)))
      #expect(changes.removedUpstream == 1)
      #expect(
        try await database.texts(
          "SELECT id FROM aggregator_store.records WHERE removed_upstream IS NOT NULL") == ["1"])
    }
  }

  // MARK: - Other clients

  @Test func `a lock that is held too long makes it busy`() async throws {
    try await withDatabase { database in
      let store = try store(in: database, busyTimeout: .milliseconds(200))
      try await store.save([StoreEntry("first")])
      try await database.run(
        "BEGIN", "SELECT FROM aggregator_store.sources FOR UPDATE",
        "PREPARE TRANSACTION '\(database.name)'")
      let code = await code { try await store.save(Self.batch) }
      let ids = try? await store.ids()
      try await database.run("ROLLBACK PREPARED '\(database.name)'")
      #expect(code == .busy)
      #expect(ids == ["first"])
      try await self.store(in: database).save(Self.batch)
      try await expect(Self.all, in: database)
    }
  }

  @Test func `a deadlock is resolved by repeating`() async throws {
    try await withDatabase { database in
      let store = try store(in: database)
      try await store.save([StoreEntry("first")])
      // It locks in the other order, and lets the store find the deadlock.
      async let other = database.run(
        """
        DO $$ BEGIN
          SET LOCAL deadlock_timeout = '50s';
          PERFORM FROM aggregator_store.records FOR UPDATE;
          PERFORM pg_advisory_xact_lock(4711);
          WHILE NOT EXISTS (
            SELECT FROM pg_locks
            WHERE transactionid = pg_current_xact_id()::xid AND NOT granted
          ) LOOP
            PERFORM pg_sleep(0.01);
          END LOOP;
          PERFORM FROM aggregator_store.sources FOR UPDATE;
        END $$
        """)
      let query = """
        SELECT EXISTS (
          SELECT FROM pg_locks JOIN pg_database d ON d.oid = database
          WHERE locktype = 'advisory' AND objid = 4711 AND datname = current_database())
        """
      while try await database.texts(query) == ["f"] {}
      let changes = try await store.save([StoreEntry("first", "changed")] + Self.batch)
      _ = try await other
      #expect(changes.changed == 1)
      #expect(changes.added.count == Self.batch.count)
      try await expect(Self.all, in: database)
    }
  }

  @Test func `another scope of a source finds its own records again`() async throws {
    try await withDatabase { database in
      let base = try store(in: database)
      func scoped(_ secret: String) -> some SourceStore {
        ScopedStore(base) { _ in StoreScope(records: "a", secret: Secret(secret)) }
      }
      try await scoped("ann").save([StoreEntry("1")])
      try await scoped("bob").save([StoreEntry("2")])
      #expect(try await scoped("ann").ids() == ["1"])
      #expect(try await scoped("bob").ids() == ["2"])
      try await scoped("ann").save([StoreEntry("3")])
      #expect(try await scoped("ann").ids() == ["1", "3"])
    }
    try await withDatabase { try await store(in: $0).expectToFreeNames() }
  }

  @Test func `a store of a newer version is left alone`() async throws {
    try await withDatabase { database in
      let open = try store(in: database)
      try await open.save([StoreEntry("first")])
      try await database.run("UPDATE aggregator_store.meta SET version = version + 1")
      for store in [open, try store(in: database)] {
        let code = await code { try await store.save(Self.batch) }
        #expect(code == .unusableStore)
      }
      let reading = await code { _ = try await store(in: database).ids() }
      #expect(reading == .unusableStore)
      try await expect(["first"], in: database)
    }
  }
}
