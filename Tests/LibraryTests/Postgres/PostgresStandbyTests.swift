import AggregatorCore
import AggregatorPostgres
import AggregatorPostgresServer
import AggregatorSourceTesting
import AggregatorStore
import Foundation
import Synchronization
import Testing

/// A store that reads at a real standby, whose replay stands still while a test needs it to be behind.
@Suite(.requiresPostgres, .timeLimit(.minutes(10))) struct PostgresStandbyTests {
  /// The failures of standbys that a store has told of.
  private final class Warnings: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock(\.self) }
    func note(_ failure: SourceError) { texts.withLock { $0.append(failure.message) } }
  }

  private let warnings = Warnings()

  /// A primary with a store that has the record `first`, and a standby that has it, too.
  private func withStandby(
    _ body: (_ database: PostgresDatabase, _ standby: PostgresServer) async throws -> Void
  ) async throws {
    let server = try await PostgresServer()
    try await withDatabase(on: server) { database in
      let standby = try await server.standby()
      try await PostgresStore(at: try PostgresAddress(database.uri)).save([StoreEntry("first")])
      try await standby.catchUp(with: server)
      try await body(database, standby)
    }
  }

  /// A store that reads at these servers, which no real time makes too old or passes over.
  private func store(
    in database: PostgresDatabase, at port: Int? = nil, reading standbys: PostgresDatabase...,
    lag: Duration = .seconds(86400)
  ) throws -> PostgresStore {
    var address = try PostgresAddress(database.uri(port: port))
    for standby in standbys { address.standbys.append(try PostgresAddress(standby.uri)) }
    var limits = StandbyLimits()
    (limits.lag, limits.pause) = (lag, .zero)
    return PostgresStore(
      at: address, busyTimeout: .seconds(1), showing: nil, standbyLimits: limits,
      warningOfStandbys: warnings.note)
  }

  /// Another machine, which does not know of standbys.
  private func save(_ ids: String..., in database: PostgresDatabase) async throws {
    try await PostgresStore(at: try PostgresAddress(database.uri)).save(
      ids.map { StoreEntry($0) })
  }

  private func pause(_ standby: PostgresServer) async throws {
    try await standby.run("SELECT pg_wal_replay_pause()")
  }

  private func resume(_ standby: PostgresServer) async throws {
    try await standby.run("SELECT pg_wal_replay_resume()")
  }

  @Test func `records are read at the standby, and all else at the primary`() async throws {
    try await withStandby { database, standby in
      let store = try store(in: database, reading: database.at(standby))
      try await pause(standby)
      try await save("second", in: database)
      #expect(try await store.ids() == ["first"])
      #expect(try await store.status(of: "things").records == 1)
      #expect(try await store.record("second", of: "things") == nil)
      #expect(try await store.ids(of: "things", startingWith: "s", limit: 9) == [])
      let revision = try await store.revision(of: "things")
      // A sync, and whatever else writes, reads at the primary.
      try await ReadPreference.$current.withValue(.primary) { () async throws in
        #expect(try await store.ids() == ["first", "second"])
        #expect(try await store.status(of: "things").records == 2)
        #expect(try await store.revision(of: "things") != revision)
      }
      _ = try await database.run(
        "INSERT INTO aggregator_store.checkpoints VALUES (1, 'place', 'here')")
      #expect(try await store.checkpoint("place", of: "things") == "here")
      #expect(try await store.ids() == ["first"])
      try await resume(standby)
      try await standby.catchUp(with: database.server)
      #expect(try await store.ids() == ["first", "second"])
      #expect(warnings.all == [])
    }
  }

  @Test func `a process sees its own writes, and the standby again when it has them`() async throws
  {
    try await withStandby { database, standby in
      let store = try store(in: database, reading: database.at(standby))
      #expect(try await store.ids() == ["first"])
      try await pause(standby)
      try await store.save([StoreEntry("own")])
      #expect(try await store.ids() == ["first", "own"])
      _ = try await store.delete(["first"], of: "things", at: Date())
      #expect(try await store.ids() == ["own"])
      // What it does not show, as rates, needs no standby to have it.
      try await resume(standby)
      try await standby.catchUp(with: database.server)
      #expect(try await store.ids() == ["own"])
      try await pause(standby)
      try await store.change("rate") { _ in "1" }
      try await save("other", in: database)
      #expect(try await store.ids() == ["own"])
      store.readNewest()
      #expect(try await store.ids() == ["own", "other"])
      #expect(warnings.all == [])
    }
  }

  @Test func `who is notified of a change reads it`() async throws {
    try await withStandby { database, standby in
      let store = try store(in: database, reading: database.at(standby))
      var changes = await store.changeNotifications(of: "things").makeAsyncIterator()
      #expect(try await store.ids() == ["first"])
      try await pause(standby)
      try await save("second", in: database)
      _ = await changes.next()
      #expect(try await store.ids() == ["first", "second"])
      // Nor is a change missed before somebody begins to listen.
      let late = try self.store(in: database, reading: database.at(standby))
      #expect(try await late.ids() == ["first"])
      _ = await late.changeNotifications(of: "things")
      #expect(try await late.ids() == ["first", "second"])
    }
  }

  @Test func `no standby is asked again, and no primary, while nothing is written`() async throws {
    try await withStandby { database, standby in
      let proxy = try PostgresProxy(before: database.server)
      let store = try store(in: database, at: proxy.port, reading: database.at(standby))
      _ = try await store.ids()
      let bytes = proxy.bytes(from: .client)
      for _ in 0..<5 { _ = try await store.ids() }
      #expect(proxy.bytes(from: .client) == bytes)
    }
  }

  @Test func `the primary answers while a standby is stopped, killed or gone`() async throws {
    try await withStandby { database, standby in
      let store = try store(in: database, reading: database.at(standby))
      #expect(try await store.ids() == ["first"])
      try await standby.kill()
      #expect(try await store.ids() == ["first"])
      #expect(warnings.all.count == 1)
      try await save("second", in: database)
      #expect(try await store.ids() == ["first", "second"])
      try await standby.start()
      try await standby.catchUp(with: database.server)
      try await pause(standby)
      try await save("third", in: database)
      #expect(try await store.ids() == ["first", "second"])
      try await standby.stop()
      #expect(try await store.ids() == ["first", "second", "third"])
      // The second one answers before the primary does.
      let other = try await database.server.standby()
      try await save("fourth", in: database)
      try await other.catchUp(with: database.server)
      try await pause(other)
      try await save("fifth", in: database)
      let both = try self.store(in: database, reading: database.at(standby), database.at(other))
      for _ in 0..<3 {
        #expect(try await both.ids() == ["first", "second", "third", "fourth"])
      }
      // Each store tells of the first failure only.
      #expect(1...2 ~= warnings.all.count, "\(warnings.all)")
    }
  }

  @Test func `a standby too far behind is passed over`() async throws {
    try await withStandby { database, standby in
      try await pause(standby)
      try await save("second", in: database)
      while try await standby.run("SELECT pg_last_wal_receive_lsn() > pg_last_wal_replay_lsn()")
        != [["t"]]
      { await Task.yield() }
      let late = try self.store(in: database, reading: database.at(standby), lag: .zero)
      #expect(try await late.ids() == ["first", "second"])
      #expect(warnings.all.count == 1)
      #expect(warnings.all.first?.contains("behind") == true, "\(warnings.all)")
      let facts = try await late.facts().standbys
      #expect(facts.count == 1 && facts[0].failure?.message.contains("behind") == true)
    }
  }

  @Test func `a query that the replay cancels is answered by the primary`() async throws {
    try await withStandby { database, standby in
      let store = try store(in: database, reading: database.at(standby))
      try await database.run(
        "BEGIN", "LOCK TABLE aggregator_store.records IN ACCESS EXCLUSIVE MODE",
        "PREPARE TRANSACTION '\(database.name)'")
      try await standby.catchUp(with: database.server)
      async let ids = store.ids()
      // It waits for the lock that was replayed, as a query does that the replay waits for.
      let cancellation = """
        SELECT pg_cancel_backend(pid) FROM pg_stat_activity
        WHERE usename = '\(database.name)' AND wait_event_type = 'Lock'
        """
      while try await standby.run(cancellation) != [["t"]] { await Task.yield() }
      try await database.run("ROLLBACK PREPARED '\(database.name)'")
      #expect(try await ids == ["first"])
      #expect(warnings.all.count == 1)
      #expect(warnings.all.first?.contains("cancel") == true, "\(warnings.all)")
    }
  }

  @Test func `other databases and primaries are refused`() async throws {
    try await withStandby { database, standby in
      let other = try await PostgresServer()
      func failure(_ reading: PostgresDatabase) async throws -> SourceError? {
        do {
          _ = try await store(in: database, reading: reading).ids()
          return nil
        } catch { return error as? SourceError }
      }
      let primary = try await failure(database)
      #expect(primary?.code == .invalidSettings)
      #expect(
        primary?.message.contains("it is a primary, not a standby") == true,
        "\(primary?.message ?? "")")
      #expect(primary?.remedy != nil)
      try await withDatabase(on: database.server) { second in
        try await standby.catchUp(with: database.server)
        let wrong = try await failure(second.at(standby))
        #expect(wrong?.code == .invalidSettings)
        #expect(wrong?.message.contains("another database") == true)
      }
      try await withDatabase(on: other) { foreign in
        let standby = try await other.standby()
        try await standby.catchUp(with: other)
        let wrong = try await failure(foreign.at(standby))
        #expect(wrong?.code == .invalidSettings, "\(wrong?.message ?? "")")
      }
    }
  }

  @Test func `a standby that becomes a primary is read no more`() async throws {
    try await withStandby { database, standby in
      let store = try store(in: database, reading: database.at(standby))
      #expect(try await store.ids() == ["first"])
      try await standby.run("SELECT pg_promote()")
      try await save("second", in: database)
      store.readNewest()
      #expect(try await store.ids() == ["first", "second"])
      #expect(warnings.all.count == 1)
    }
  }

  @Test func `no records of another scope are shown while the standby still has them`() async throws
  {
    try await withStandby { database, standby in
      func scoped(_ store: PostgresStore, _ scope: String) -> ScopedStore {
        ScopedStore(store) { _ in StoreScope(records: scope) }
      }
      let writer = try PostgresStore(at: PostgresAddress(database.uri))
      try await scoped(writer, "one").save([StoreEntry("own")], of: "scoped")
      try await standby.catchUp(with: database.server)
      try await pause(standby)
      let one = scoped(try store(in: database, reading: database.at(standby)), "one")
      #expect(try await one.ids(of: "scoped") == ["own"])
      try await scoped(writer, "two").save([StoreEntry("other")], of: "scoped")
      // The standby still shows the first scope, to those whose it is.
      #expect(try await one.ids(of: "scoped") == ["own"])
      let two = scoped(try store(in: database, reading: database.at(standby)), "two")
      #expect(try await two.ids(of: "scoped") == ["other"])
      try await resume(standby)
      try await standby.catchUp(with: database.server)
      #expect(try await two.ids(of: "scoped") == ["other"])
      #expect(warnings.all == [])
    }
  }

  @Test func `the laws of a store hold`() async throws {
    try await withStandby { database, standby in
      var address = try PostgresAddress(database.uri)
      address.standbys = [try PostgresAddress(database.at(standby).uri)]
      // One store: another machine may see what this one has written a moment later. A standby may show a commit a moment
      // before the primary does, which has the checkpoints.
      let store = PostgresStore(at: address)
      await expectStoreLaws(StoreLaw.all.filter { $0.name != "batch-atomic" }) { store }
    }
  }

  @Test func `the addresses of standbys are separated by commas`() throws {
    let one = "postgresql://a:5432,b:5433/db?target_session_attrs=standby"
    let list = try PostgresAddress.list("\(one), postgres://c/db")
    #expect(list.map(\.description) == [one, "postgres://c/db"])
    for text in ["", "postgresql://a/db,,", "/srv/store.sqlite,postgresql://a/db"] {
      #expect(throws: SourceError.self) { try PostgresAddress.list(text) }
    }
  }
}
