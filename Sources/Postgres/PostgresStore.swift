public import AggregatorCore
import AggregatorFoundation
public import AggregatorStore
import Synchronization

/// A store in a PostgreSQL database (https://www.postgresql.org), shared by any number of machines.
///
/// PostgreSQL 13 or later and libpq 14 or later are needed; libpq is loaded at the first use. The tables are in
/// the schema `aggregator_store`, which the first write creates, and views of the sources in the schema
/// `aggregator`. No state is kept in a session, but for ``changeNotifications(of:)``, so it works behind a
/// connection pool, too.
///
/// Where its address has ``PostgresAddress/standbys``, they answer what reads records, once they have what this store has
/// written and was notified of; one that fails, or is more than 10 s behind, is passed over.
///
/// A call whose connection breaks is repeated on another one if that is safe: one that reads, and one that
/// writes if its transaction was not committed, which the server is asked for.
public final class PostgresStore: SourceStore {
  public let address: PostgresAddress

  let history: HistoryLimit
  /// The address of queries of people; `nil` for that of the store.
  let queryAddress: @Sendable () throws(SourceError) -> PostgresAddress?
  private let views: ViewDefinitions?
  /// The marks of the views that an update has left: those that the server refused are not tried again.
  private let settledViews = Mutex<String?>(nil)
  private let writer: PostgresSession
  private let reader: PostgresSession
  let standbys: PostgresStandbys?
  let notifications: PostgresNotifications

  /// Creates a store without connecting to its server.
  ///
  /// The longest wait for a lock, or for a server that restarts, is 5 s by default. `history` bounds the changes
  /// kept of each source. Where the server cannot notify of changes, as behind a connection pool, it is asked
  /// every `pollInterval` while anybody listens.
  public convenience init(
    at address: PostgresAddress, busyTimeout: Duration = .seconds(5),
    history: HistoryLimit = .standard, pollInterval: Duration = .seconds(1),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init(
      at: address, busyTimeout: busyTimeout, history: history, showing: nil,
      pollInterval: pollInterval, clock: clock)
  }

  public var capabilities: StoreCapabilities { StoreCapabilities(database: self, roles: self) }

  /// Creates a store that keeps these views of its sources up to date in the database; `nil` leaves them alone.
  ///
  /// Queries of people are sent to `queryAddress`, because the role of the store may be too powerful; `nil` for that of
  /// the store. `warn` is told of the first standby that cannot answer.
  package init(
    at address: PostgresAddress, busyTimeout: Duration = .seconds(5),
    history: HistoryLimit = .standard, showing views: SourceViews?,
    queryAddress: @escaping @Sendable () throws(SourceError) -> PostgresAddress? = { nil },
    pollInterval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock(),
    standbyLimits: StandbyLimits = StandbyLimits(),
    warningOfStandbys warn: @escaping @Sendable (SourceError) -> Void = { _ in }
  ) {
    self.address = address
    self.queryAddress = queryAddress
    self.history = history
    self.views = views.map { views in
      ViewDefinitions(views) { ($0.postgresName, $0.postgresDefinition) }
    }
    let reachability = Reachability()
    writer = PostgresSession(to: address, "write", busyTimeout, reachability)
    // Readers never wait for a writer of this process if they have a connection of their own.
    let reader = PostgresSession(to: address, "read", busyTimeout, reachability)
    self.reader = reader
    standbys = PostgresStandbys(of: address, reader, standbyLimits, warn: warn)
    notifications = PostgresNotifications(
      of: address, busyTimeout, every: pollInterval, on: clock
    ) { [standbys] in standbys?.noteChange() }
  }

  /// Reads, unless the task is cancelled; `nil` if there is no store yet.
  ///
  /// A standby may answer what is read of `records`.
  @_semantics("optimize.sil.specialize.generic.never")
  package func read<Answer: Sendable>(
    records isOfRecords: Bool = false,
    _ body: @Sendable (inout PostgresConnection) throws(PostgresFailure) -> Answer
  ) async throws(SourceError) -> Answer? {
    guard !Task.isCancelled else { throw .cancelled }
    return try await inspect(records: isOfRecords) { connection, database throws(PostgresFailure) in
      guard let version = database.storeVersion, version > 0 else { return nil }
      guard version <= PostgresSchema.version else { throw .newer }
      return try body(&connection)
    }
  }

  /// Writes in a transaction, and repeats it after a conflict.
  ///
  /// Statements that `body` leaves in the queue are sent with the commit, in the same round trip. If it writes `records`,
  /// no standby answers until it has them.
  @_semantics("optimize.sil.specialize.generic.never")
  package func write<Answer: Sendable>(
    records isOfRecords: Bool = true,
    _ body: @Sendable (inout PostgresConnection) throws(PostgresFailure) -> Answer
  ) async throws(SourceError) -> Answer {
    // Also after a failure: it may hide a commit.
    defer { if isOfRecords { standbys?.noteChange() } }
    return try await writer.write { [self] connection throws(PostgresFailure) in
      guard let views else { return try body(&connection) }
      connection.enqueueViewMark()
      let answer = try body(&connection)
      let settled = settledViews.withLock(\.self)
      if let mark = try connection.update(views, unless: settled) {
        settledViews.withLock { $0 = mark }
      }
      return answer
    }
  }

  /// Brings the views up to date, which every write does, too.
  package func updateViews() async throws(SourceError) {
    try await write { _ throws(PostgresFailure) in }
  }

  /// Runs `body` once the server is known, even if there is no store yet; a standby may answer what is read of `records`.
  @_semantics("optimize.sil.specialize.generic.never")
  func inspect<Answer: Sendable>(
    records isOfRecords: Bool = false,
    _ body: @Sendable (inout PostgresConnection, PostgresDatabase) throws(PostgresFailure) -> Answer
  ) async throws(SourceError) -> Answer {
    if let standbys, standbys.mayAnswer(records: isOfRecords),
      let answer = try await standbys.read(body)
    {
      return answer
    }
    return try await reader.read(body)
  }
}
