package import AggregatorKit
import AggregatorPostgres
import AggregatorQueries
import AggregatorTerminal

/// The result of a query, read one page of rows at a time.
package protocol SQLResult: Actor {
  /// The names of the columns; they need not be unique.
  var columns: [String] { get }

  /// The number of records of each source that are too large for a query, and left out.
  var tooLarge: [String: Int] { get }

  /// The names of the sources that the query reads.
  var sources: [String] { get }

  /// `nil` after the last; throws `invalidRequest` for a mistake that only the data reveals, `timedOut`,
  /// `cancelled`, `storage` or `busy`.
  func page(within time: Duration) throws(SourceError) -> [[SQLValue]]?
}

/// The store as queries read it.
enum SQLDatabase: Sendable {
  case file(SQLiteStore, scoped: ScopedStore?)
  /// Queries are sent to an address of their own: the role of the store may be too powerful.
  case server(PostgresStore, scoped: ScopedStore?, address: PostgresAddress)

  /// `address` is that for queries of a store in PostgreSQL; `nil` for that of the store.
  init(_ store: any Store, queriesTo address: PostgresAddress?) throws(CommandError) {
    let scoped = store as? ScopedStore
    switch store.unscoped {
    case let store as SQLiteStore: self = .file(store, scoped: scoped)
    case let store as PostgresStore:
      self = .server(store, scoped: scoped, address: address ?? store.address)
    default: throw CommandError(.notFound, "this store does not support SQL")
    }
  }

  /// The store, with its scopes.
  var store: any Store {
    switch self {
    case .file(let store, let scoped): scoped ?? store
    case .server(let store, let scoped, _): scoped ?? store
    }
  }

  /// The tables of sources.
  func tables(of views: [SQLView]) -> [SQLTable] {
    views.map { view in
      let columns =
        if case .file = self { view.columns } else { view.source.postgresColumns.map(\.name) }
      return SQLTable(schema: nil, name: view.name, columns: columns)
    }
  }

  /// Puts records of a source away that must not be shown; a query reads the store itself.
  func prepare(_ source: String) async throws(SourceError) {
    switch self {
    case .file(_, let scoped): try await scoped?.prepare(source)
    case .server(_, let scoped, _):
      try await permitted { () async throws(SourceError) in try await scoped?.prepare(source) }
    }
  }

  /// Warns of sources whose records may be those of another account.
  func warningsOfUnknownSecrets(_ sources: [String]) async -> [SourceWarning] {
    var warnings: [SourceWarning] = []
    for source in sources {
      guard let warning = await store.warningOfUnknownSecret(source) else { continue }
      warnings.append(SourceWarning(source, warning))
    }
    return warnings
  }

  /// The gaps in the cached records of some sources.
  func gaps(
    of sources: [String], among plugins: [any Plugin]
  ) async throws(SourceError) -> [CacheGap] {
    try await permitted { () async throws(SourceError) in
      try await plugins.gaps(of: sources, in: store)
    } ?? []
  }

  /// `nil` if the role may read the views, but not the store.
  private func permitted<Answer>(
    _ body: () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer? {
    do throws(SourceError) { return try await body() } catch {
      guard case .server = self, error.isLackOfRights else { throw error }
      return nil
    }
  }

  /// Compiles one `SELECT`, which may be hostile; throws `invalidRequest`, `timedOut`, `cancelled`,
  /// `storage` or `busy`.
  func query(
    _ text: String, over views: [SQLView], and attached: [SQLAttachment], within time: Duration
  ) async throws(SourceError) -> any SQLResult {
    switch self {
    case .file(let store, _):
      return try await store.query(text, over: views, and: attached, within: time)
    case .server(let store, _, let address):
      return try await store.query(text, over: views, at: address, within: time)
    }
  }
}

extension SourceError {
  /// True if a role of PostgreSQL lacks a right.
  package var isLackOfRights: Bool { (cause as? PostgresFailure)?.state == "42501" }
}
