package import AggregatorCore
import AggregatorText

/// A store in a database, as programs open it: it keeps scopes, can be copied, and answers queries of people, each one
/// `SELECT` in its dialect of SQL.
package protocol DatabaseStore: ScopeKeepingStore, CopyableStore {
  /// The place, the database and the size of the store, also of one that does not exist yet.
  ///
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func facts() async throws(SourceError) -> StoreFacts

  /// The name of the database: `PostgreSQL`.
  var databaseName: String { get }

  /// True if a query can also read files, and bundled records in the place of cached ones, and call `matches`.
  var joinsOtherTables: Bool { get }

  func columns(of view: SQLView) -> [String]

  /// Compiles a query, which may be hostile: it fails, and nothing else does, if it needs too much memory.
  ///
  /// Throws `invalidRequest`, also for a parameter without a value, `timedOut`, `cancelled`, `storage` or `busy`.
  func query(
    _ statement: SQLStatement, over views: [SQLView], and attached: [SQLAttachment],
    within time: Duration
  ) async throws(SourceError) -> any SQLResult
}

/// The state of the database of a store.
package struct StoreFacts: Sendable {
  /// The path, or the URL without its password.
  package let location: String

  /// The name and version of the server; `nil` without one.
  package let server: String?

  /// The size; `nil` if there is no store yet.
  package let bytes: Int?

  /// A sentence about the search, if that depends on the server.
  package let search: String?

  /// The standbys at which records are read.
  package var standbys: [StandbyFacts] = []

  /// The paths of damaged files of this store that were moved aside.
  package var movedFiles: [String] = []

  package init(location: String, server: String? = nil, bytes: Int?, search: String? = nil) {
    self.location = location
    self.server = server
    self.bytes = bytes
    self.search = search
  }
}

/// The state of a standby of the server of a store.
package struct StandbyFacts: Sendable {
  /// The URL without its password.
  package let location: String

  /// The time that it is behind the primary; `nil` if it cannot be read.
  package let lag: Duration?

  /// The reason it is passed over; `nil` if it is read.
  package let failure: SourceError?

  package init(location: String, lag: Duration? = nil, failure: SourceError? = nil) {
    self.location = location
    self.lag = lag
    self.failure = failure
  }

  /// One line: `reads at postgresql://b.example/records, up to 40 ms behind`.
  ///
  /// One that has replayed all that it has received may still be behind by what is on its way.
  package var text: String {
    guard let lag else { return failure?.message ?? location }
    return "reads at \(location), "
      + (lag > .zero ? "up to \(lag.text) behind" : "which has all that it was sent")
  }
}

extension DatabaseStore {
  package func query(
    _ text: String, over views: [SQLView], within time: Duration
  ) async throws(SourceError) -> any SQLResult {
    try await query(SQLStatement(text), over: views, and: [], within: time)
  }
}

/// A store whose database has roles, of which one may only read what queries show.
package protocol SQLRoleStore: SourceStore {
  /// The role with this name and the statements that it still needs.
  ///
  /// - Throws: ``SourceError`` with code `invalidRequest` for a name that no role can have, or the name of a role that
  ///   may do more than read.
  func sqlRole(_ name: String) async throws(SourceError) -> SQLRole

  /// Runs the statements of a role; creates the store if there is none.
  ///
  /// - Throws: ``SourceError`` whose ``SourceError/missingRight`` is set if this needs an administrator.
  func create(_ role: SQLRole) async throws(SourceError)
}

/// A role for queries, which may read the views of the sources and nothing else of a store.
package struct SQLRole: Sendable {
  package let name: String

  /// The statements that create it, or give it its rights.
  package let statements: [String]

  package init(name: String, statements: [String]) {
    self.name = name
    self.statements = statements
  }
}

/// The failure of a database as the cause of an error.
package protocol DatabaseFailure: Error {
  /// The message of the database if its role lacks a right; otherwise `nil`.
  var missingRight: String? { get }
}

extension SourceError {
  /// The message of the database if the role of the store lacks a right; otherwise `nil`.
  package var missingRight: String? { (cause as? any DatabaseFailure)?.missingRight }
}

/// The optional abilities of a ``SourceStore``.
public struct StoreCapabilities: Sendable {
  /// The store as one with scopes; `nil` if it shows all records.
  package var scopes: ScopedStore?

  /// The store in a database; `nil` for another one, such as one in memory.
  package var database: (any DatabaseStore)?

  /// The store as one that creates roles for queries; `nil` if its database has none.
  package var roles: (any SQLRoleStore)?

  public init() {}

  package init(database: any DatabaseStore, roles: (any SQLRoleStore)? = nil) {
    self.database = database
    self.roles = roles
  }
}
