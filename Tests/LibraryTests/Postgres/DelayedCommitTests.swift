import AggregatorKit
import AggregatorPostgresServer
import Foundation
import Testing

@testable import AggregatorPostgres

@Suite(.requiresPostgres, .timeLimit(.minutes(10)))
struct DelayedCommitTests {
  @Test func `a reader never passes a position that commits later`() async throws {
    try await withDatabase { database in
      let address = try PostgresAddress(database.uri)
      let (one, other) = (PostgresStore(at: address), PostgresStore(at: address))
      try await one.save([StoreEntry("a")])
      let first = try await one.status(of: "things").lastPosition
      // Another machine has given the next position to a record, but not committed it yet.
      var slow = try PostgresConnection.open(address, within: .seconds(60))
      slow.begin(waiting: .seconds(60))
      slow.enqueue("SELECT FROM aggregator_store.sources WHERE name = 'things' FOR UPDATE")
      slow.enqueue(
        """
        INSERT INTO aggregator_store.records (position, source, id, saved, first_seen, folded, json)
        SELECT last + 1, number, 'b', 0, 0, 'text of b', '{"id":"b"}'
        FROM aggregator_store.sources WHERE name = 'things'
        """)
      slow.enqueue("UPDATE aggregator_store.sources SET last = last + 1, records = records + 1")
      _ = try slow.run()
      let saving = Task { try await other.save([StoreEntry("c")]) }
      // It waits for the lock, however long that takes.
      let waiting = """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
        """
      while try await database.texts(waiting) == ["0"] {}
      let ids = try await one.ids()
      #expect(ids == ["a"])
      try slow.commit()
      #expect(try await saving.value.added == [0])
      let later = try await one.records(of: "things", matching: [], after: first, limit: 9)
      #expect(later.records.map(\.position) == [first + 1, first + 2])
      let all = try await one.ids()
      #expect(all == ["a", "b", "c"])
    }
  }
}
