package import AggregatorCore

/// The state of a server and of the store in it.
package struct PostgresStatus: Sendable {
  /// The version without the name of its package: `15.4`.
  package let serverVersion: String

  /// The size of the database.
  package let bytes: Int64

  /// The way of searching; `nil` if there is no store yet.
  package let searchIndex: PostgresSearchIndex?
}

extension PostgresStore {
  /// The state of the server and of the store.
  ///
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  package func serverStatus() async throws(SourceError) -> PostgresStatus {
    try await inspect { connection, database throws(PostgresFailure) in
      let facts = try connection.rows(
        "SELECT current_setting('server_version'), pg_database_size(current_database())")
      let version = (facts.text(0, 0) ?? "").prefix { $0 != " " }
      return PostgresStatus(
        serverVersion: String(version), bytes: facts.integer(0, 1),
        searchIndex: database.storeVersion == nil ? nil : database.searchIndex)
    }
  }
}
