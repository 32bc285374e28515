package import AggregatorCore
package import AggregatorStore

extension PostgresStore: DatabaseStore {
  package func facts() async throws(SourceError) -> StoreFacts {
    var facts = try await inspect { [address] connection, database throws(PostgresFailure) in
      let facts = try connection.rows(
        "SELECT current_setting('server_version'), pg_database_size(current_database())")[0]
      // Without the name of its package.
      let version = (facts.text(0) ?? "").prefix { $0 != " " }
      let index = database.storeVersion == nil ? nil : database.searchIndex
      return StoreFacts(
        location: address.description, server: "PostgreSQL \(version)",
        bytes: index == nil ? nil : Int(facts.integer(1)), search: index?.note)
    }
    facts.standbys = try await standbys?.facts() ?? []
    return facts
  }

  package var readsAtStandbys: Bool { standbys != nil }

  package func readNewest() { standbys?.noteChange() }

  package var databaseName: String { "PostgreSQL" }

  package var joinsOtherTables: Bool { false }

  package func columns(of view: SQLView) -> [String] { view.source.postgresColumns }
}

extension PostgresSearchIndex {
  fileprivate var note: String {
    switch self {
    case .trigrams: "search: by an index of trigrams (pg_trgm)"
    case .asciiTrigrams:
      "search: by an index of trigrams (pg_trgm) for ASCII letters only, because LC_CTYPE of the "
        + "database is C; other words are searched in all records"
    case .none: "search: in all records, because the extension pg_trgm is not installed"
    }
  }
}
