package import AggregatorCore
import AggregatorStore

extension PostgresStore: ScopeKeepingStore {
  package func switchScope(
    of source: String, keepingAs kept: String, to other: String
  ) async throws(SourceError) {
    try await write { connection throws(PostgresFailure) in
      for (old, new) in [(source, kept), (other, source)] {
        connection.enqueue(
          """
          UPDATE aggregator_store.sources SET name = $2
          WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM aggregator_store.sources WHERE name = $2)
          """, .text(old), .text(new))
      }
      connection.enqueueNotification(of: source)
    }
  }
}
