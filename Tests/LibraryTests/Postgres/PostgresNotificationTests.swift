import AggregatorCore
import AggregatorPostgres
import AggregatorPostgresServer
import AggregatorSourceTesting
import AggregatorStore
import Foundation
import Testing

@Suite(.requiresPostgres, .timeLimit(.minutes(10))) struct PostgresNotificationTests {
  private func store(
    in database: PostgresDatabase, at port: Int? = nil, clock: any Clock<Duration> = ManualClock()
  ) throws -> PostgresStore {
    PostgresStore(at: try PostgresAddress(database.uri(port: port)), clock: clock)
  }

  /// Waits for an element, and returns false for the end.
  private func isNotified(_ stream: AsyncStream<Void>) async -> Bool {
    var elements = stream.makeAsyncIterator()
    return await elements.next() != nil
  }

  /// The number of connections that listen.
  private func listenerCount(in database: PostgresDatabase) async throws -> Int {
    let texts = try await database.texts(
      """
      SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'LISTEN%'
      """)
    return texts.count
  }

  @Test func `all who listen share one connection, which ends with the last`() async throws {
    try await withDatabase { database in
      let store = try store(in: database)
      try await store.save([StoreEntry("before")])
      let one = await store.changeNotifications(of: "things")
      let other = await store.changeNotifications(of: "others")
      #expect(try await listenerCount(in: database) == 1)
      try await self.store(in: database).save([StoreEntry("a")])
      #expect(await isNotified(one))
      #expect(await one.bufferedCount() == 0)
      #expect(try await listenerCount(in: database) == 1)
      #expect(await other.bufferedCount() == 0)
      while try await listenerCount(in: database) > 0 { await Task.yield() }
      // Listening begins again.
      let again = await store.changeNotifications(of: "things")
      try await self.store(in: database).save([StoreEntry("b")])
      #expect(await isNotified(again))
    }
  }

  @Test func `only changes of the source are notified`() async throws {
    try await withDatabase { database in
      let store = try store(in: database)
      try await store.save([StoreEntry("before")])
      let unchanged = await store.changeNotifications(of: "things")
      let others = await store.changeNotifications(of: "others")
      try await store.save([StoreEntry("before")], at: 1)
      _ = try await store.restore(["before"], of: "things")
      // Heard after all that was sent before.
      try await store.save([StoreEntry("a")], of: "others")
      #expect(await isNotified(others))
      #expect(await unchanged.bufferedCount() == 0)
    }
  }

  @Test func `a lost connection is replaced, and something may have been missed`() async throws {
    try await withDatabase { database in
      let proxy = try PostgresProxy(before: database.server)
      let store = try store(in: database, at: proxy.port, clock: ContinuousClock())
      let stream = await store.changeNotifications(of: "things")
      proxy.cutAll()
      #expect(await isNotified(stream))
      let later = await store.changeNotifications(of: "things")
      try await self.store(in: database).save([StoreEntry("a")])
      #expect(await isNotified(later))
    }
  }

  @Test(.requiresPgBouncer) func `behind a pool the source is polled`() async throws {
    try await withDatabase { database in
      let pool = try await PgBouncer(before: database)
      let clock = ManualClock()
      let store = try store(in: database, at: pool.port, clock: clock)
      try await store.save([StoreEntry("before")])
      let stream = await store.changeNotifications(of: "things")
      await clock.sleepers(atLeast: 1)
      #expect(try await listenerCount(in: database) == 0)
      try await self.store(in: database).save([StoreEntry("a")], of: "others")
      clock.advance(by: .seconds(1))
      await clock.sleepers(atLeast: 1)
      try await self.store(in: database).save([StoreEntry("before", mark: 1)])
      clock.advance(by: .seconds(1))
      await clock.sleepers(atLeast: 1)
      #expect(await stream.bufferedCount() == 1)
      withExtendedLifetime(pool) {}
    }
  }

  @Test func `at a standby the source is polled`() async throws {
    let server = try await PostgresServer()
    try await withDatabase(on: server) { database in
      let primary = try store(in: database)
      try await primary.save([StoreEntry("before")])
      let standby = try await server.standby()
      try await standby.catchUp(with: server)
      let clock = ManualClock()
      let store = try store(in: database.at(standby), clock: clock)
      let stream = await store.changeNotifications(of: "things")
      await clock.sleepers(atLeast: 1)
      try await primary.save([StoreEntry("a")])
      try await standby.catchUp(with: server)
      clock.advance(by: .seconds(1))
      await clock.sleepers(atLeast: 1)
      #expect(await stream.bufferedCount() == 1)
    }
  }
}
