package import AggregatorCore
import AggregatorStore

extension SQLiteStore: ScopeKeepingStore {
  package func switchScope(
    of source: String, keepingAs kept: String, to other: String
  ) async throws(SourceError) {
    try await write { connection throws(SQLiteFailure) in
      for (old, new) in [(source, kept), (other, source)] {
        try connection.run(
          """
          UPDATE sources SET name = ?2
          WHERE name = ?1 AND NOT EXISTS (SELECT 1 FROM sources WHERE name = ?2)
          """, old, new)
      }
    }
  }
}
