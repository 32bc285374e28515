import AggregatorKit
import AggregatorPostgres
import AggregatorPostgresServer
import AggregatorStore
import Foundation
import Testing

/// A source is empty in one short transaction, however many records it has; they are removed afterwards.
@Suite(.requiresPostgres, .timeLimit(.minutes(10)))
struct PostgresClearTests {
  private func store(
    in database: PostgresDatabase, busyTimeout: Duration = .seconds(60)
  ) throws -> PostgresStore {
    PostgresStore(at: try PostgresAddress(database.uri), busyTimeout: busyTimeout)
  }

  /// Saves two records and a page.
  private func fill(_ source: String, in store: PostgresStore) async throws {
    let batch = StoreBatch(
      [StoreEntry("a"), StoreEntry("b")],
      page: ("key", PageMetadata(next: nil, total: nil, endpoint: nil)))
    _ = try await store.save(batch, of: source, at: .day())
  }

  private static let counts = """
    SELECT concat_ws(' ', (SELECT count(*) FROM aggregator_store.records),
      (SELECT count(*) FROM aggregator_store.changes), (SELECT count(*) FROM aggregator_store.pages),
      (SELECT count(*) FROM aggregator_store.sources))
    """

  @Test func `removes every record in several transactions, and nothing of others`() async throws {
    try await withDatabase { database in
      let store = try store(in: database)
      for source in ["things", "others"] {
        try await fill(source, in: store)
        try await store.save([StoreEntry("a", mark: 1)], of: source, at: 1)
        _ = try await store.delete(["b"], of: source, at: .day())
      }
      // With a gap, as a store of an earlier version has after a clearing.
      try await database.run(
        """
        WITH source AS (
          UPDATE aggregator_store.sources SET last = last + 100000, records = records + 25000
          WHERE name = 'things' RETURNING number, last)
        INSERT INTO aggregator_store.records (position, source, id, saved, first_seen, folded, json)
        SELECT last - 25000 + n, number, 'n' || n, 0, 0, 'text', '{}'
        FROM source, generate_series(1, 25000) n
        """)
      let others = try await store.found(of: "others")
      try await store.clear("things", forgetsDeleted: false)
      #expect(try await database.texts(Self.counts) == ["2 1 1 2"])
      #expect(try await store.found(of: "others") == others)
      #expect(try await store.status(of: "others").history?.count == 1)
      try await store.save([StoreEntry("a"), StoreEntry("b")])
      // The deletion has moved to the new number.
      #expect(try await store.ids() == ["a"])
      #expect(try await store.restore(nil, of: "things") == ["b"])
    }
  }

  @Test func `is done while its records cannot be removed, which the next sync does`() async throws
  {
    try await withDatabase { database in
      let store = try store(in: database, busyTimeout: .milliseconds(200))
      try await fill("things", in: store)
      try await store.save([StoreEntry("a")], of: "others")
      // Holds the records, as a process does that was stopped in the middle.
      try await database.run(
        "BEGIN", "SELECT FROM aggregator_store.records FOR UPDATE",
        "PREPARE TRANSACTION '\(database.name)'")
      let before = try await store.status(of: "things").lastPosition
      try await store.clear("things", forgetsDeleted: true)
      #expect(try await store.ids().isEmpty)
      #expect(try await store.page("key", of: "things") == nil)
      try await store.save([StoreEntry("c")])
      #expect(try await store.ids() == ["c"])
      #expect(try await store.status(of: "things").lastPosition > before)
      #expect(try await database.texts(Self.counts) == ["4 0 1 3"])
      try await database.run("ROLLBACK PREPARED '\(database.name)'")
      _ = try await store.save(StoreBatch([], completesSync: true), of: "others", at: .day())
      // The first transaction removes records, and the second all else.
      #expect(try await database.texts(Self.counts) == ["2 0 0 2"])
      #expect(try await store.ids() == ["c"])
    }
  }

  @Test func `loses nothing that others save beside it`() async throws {
    try await withDatabase { database in
      let stores = try (0..<3).map { _ in try store(in: database) }
      try await stores[0].save([StoreEntry("first")])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (writer, store) in stores.enumerated() {
          group.addTask {
            for number in 0..<20 {
              try await store.save([StoreEntry("\(writer) \(number)")])
              if number % 7 == writer { try await store.clear("things", forgetsDeleted: true) }
            }
          }
        }
        try await group.waitForAll()
      }
      try await stores[1].save([StoreEntry("last")])
      let ids = try await stores[0].ids()
      #expect(ids.last == "last")
      #expect(try await stores[0].status(of: "things").records == ids.count)
      #expect(try await database.texts(Self.counts) == ["\(ids.count) 0 0 1"])
    }
  }
}
