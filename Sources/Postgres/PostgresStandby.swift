import AggregatorCore
import AggregatorStore
import AggregatorText
import Synchronization

/// The bounds within which standbys are read.
package struct StandbyLimits: Sendable {
  /// The longest time that a standby may be behind.
  package var lag = Duration.seconds(10)

  /// The time for which the lag that was found holds; after it the next read measures again.
  package var examination = Duration.seconds(1)

  /// The time for which a standby that has failed is passed over.
  package var pause = Duration.seconds(10)

  /// The longest wait for a connection.
  package var connecting = Duration.seconds(2)

  package init() {}
}

/// A standby of the store's server.
final class PostgresStandby: Sendable {
  private struct State {
    /// The process of the server that was examined last.
    var process: Int32?
    var examinedAt: ContinuousClock.Instant?
    var replayed: Int64 = 0
    var isPassedOverUntil: ContinuousClock.Instant?
    /// True once it was found to be a standby of the store's server.
    var isKnown = false
  }

  /// The use of the standby that its errors name as failed.
  private static let use = "read at the standby"

  let address: PostgresAddress
  private let limits: StandbyLimits
  private let warn: @Sendable (SourceError) -> Void
  private let session: PostgresSession
  private let state = Mutex(State())

  init(
    at address: PostgresAddress, _ limits: StandbyLimits,
    warn: @escaping @Sendable (SourceError) -> Void
  ) {
    self.address = address
    self.limits = limits
    self.warn = warn
    session = PostgresSession(to: address, "standby", limits.connecting, Reachability())
  }

  private var isPassedOver: Bool {
    state.withLock { state in state.isPassedOverUntil.map { $0 > .now } ?? false }
  }

  /// Runs `body`, which only reads, once the log of the primary was replayed up to `position`; `nil` if this cannot
  /// answer.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings` for a server that never was a standby of the primary, or
  ///   `cancelled`.
  @_semantics("optimize.sil.specialize.generic.never")
  func read<Answer: Sendable>(
    after position: Int64, of primary: PostgresIdentity,
    _ body: @Sendable (inout PostgresConnection, PostgresDatabase) throws(PostgresFailure) -> Answer
  ) async throws(SourceError) -> Answer? {
    guard !isPassedOver else { return nil }
    do throws(PostgresFailure) {
      // Those who wait for their turn while a connection fails do not try another one each.
      let answer: Answer?? = try await session.readOnce(if: { !self.isPassedOver }) {
        connection, database throws(PostgresFailure) in
        guard try self.hasReplayed(position, &connection, primary) else { return Answer?.none }
        return try body(&connection, database)
      }
      return answer ?? nil
    } catch {
      let failure = error.error(of: address, in: Self.use)
      guard error.kind != .cancelled else { throw failure }
      // One that has become a primary is passed over.
      guard error.kind != .foreign || state.withLock(\.isKnown) else { throw failure }
      let pause = error.kind == .lagging ? limits.examination : limits.pause
      state.withLock { $0.isPassedOverUntil = .now + pause }
      warn(failure)
      return nil
    }
  }

  func facts(of primary: PostgresIdentity) async -> StandbyFacts {
    do throws(PostgresFailure) {
      let lag = try await session.readOnce { [limits] connection, _ throws(PostgresFailure) in
        try connection.checkIdentity(primary)
        return try connection.progress(within: limits.lag).lag
      }
      return StandbyFacts(location: address.description, lag: lag)
    } catch {
      return StandbyFacts(
        location: address.description, failure: error.error(of: address, in: Self.use))
    }
  }

  /// True if the log of the primary was replayed up to `position`; `lagging` if this is too far behind.
  private func hasReplayed(
    _ position: Int64, _ connection: inout PostgresConnection, _ primary: PostgresIdentity
  ) throws(PostgresFailure) -> Bool {
    let process = connection.processID
    let known = state.withLock(\.self)
    let isSame = known.process == process
    if isSame, known.replayed >= position, let examined = known.examinedAt,
      examined + limits.examination > .now
    {
      return true
    }
    if !isSame { try connection.checkIdentity(primary) }
    let now = ContinuousClock.now
    let found = try connection.progress(within: limits.lag)
    state.withLock { state in
      (state.process, state.examinedAt, state.replayed) = (process, now, found.replayed)
      state.isKnown = true
    }
    return found.replayed >= position
  }
}

/// Numbers that a server and its standbys have in common.
struct PostgresIdentity: Hashable, Sendable {
  /// Of the cluster; `nil` if the role may not read it.
  let system: String?
  /// The object ID of the database.
  let database: Int64
  /// The object ID of the table of records; `nil` if there is no store yet.
  let records: Int64?

  fileprivate func isOfSameDatabase(as other: PostgresIdentity) -> Bool {
    guard database == other.database else { return false }
    if let system, let other = other.system { return system == other }
    // A standby may not have the table yet.
    return records == nil || other.records == nil || records == other.records
  }
}

extension PostgresConnection {
  mutating func identity() throws(PostgresFailure) -> PostgresIdentity {
    let row = try rows(
      """
      SELECT d.oid::bigint, (
        SELECT c.oid::bigint FROM pg_catalog.pg_class c
          JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = '\(PostgresSchema.schema)' AND c.relname = 'records')
      FROM pg_catalog.pg_database d WHERE d.datname = current_database()
      """)[0]
    return PostgresIdentity(
      system: try systemIdentifier(), database: row.integer(0),
      records: row.isNull(1) ? nil : row.integer(1))
  }

  private mutating func systemIdentifier() throws(PostgresFailure) -> String? {
    do throws(PostgresFailure) {
      return try rows("SELECT system_identifier::text FROM pg_catalog.pg_control_system()")[0]
        .name(0)
    } catch let error where error.state == "42501" { return nil }
  }

  /// The end of the log, in bytes.
  mutating func logPosition() throws(PostgresFailure) -> Int64 {
    try rows(
      """
      SELECT pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
        ELSE pg_current_wal_insert_lsn() END, '0/0')::bigint
      """)[0].integer(0)
  }

  /// - Throws: ``PostgresFailure`` of kind `foreign` for another database than that of the primary.
  fileprivate mutating func checkIdentity(_ primary: PostgresIdentity) throws(PostgresFailure) {
    guard try identity().isOfSameDatabase(as: primary) else {
      throw PostgresFailure(.foreign, "it is another database than that of the store")
    }
  }

  /// The end of the log that this standby has replayed, in bytes, and the longest time that it may be behind.
  ///
  /// One that has replayed all that it has received is not behind as long as it receives. Otherwise the time counts since
  /// the last transaction that was replayed, which is longer where nothing was written meanwhile.
  ///
  /// - Throws: ``PostgresFailure``, of kind `foreign` for a server that is no standby, and `lagging` if it is behind by
  ///   more than `limit`.
  fileprivate mutating func progress(
    within limit: Duration
  ) throws(PostgresFailure) -> (replayed: Int64, lag: Duration) {
    let row = try rows(
      """
      SELECT pg_is_in_recovery(), pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint,
        CASE WHEN pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn()
            AND EXISTS (SELECT 1 FROM pg_catalog.pg_stat_wal_receiver) THEN 0
          ELSE greatest(0, extract(epoch FROM
            clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::bigint END
      """)[0]
    guard row.bool(0) else { throw PostgresFailure(.foreign, "it is a primary, not a standby") }
    guard !row.isNull(2) else {
      throw PostgresFailure(.lagging, "it is not known how far it is behind")
    }
    let lag = Duration.milliseconds(row.integer(2))
    guard lag <= limit else { throw PostgresFailure(.lagging, "it is \(lag.text) behind") }
    return (row.integer(1), lag)
  }
}
