import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import CAggregatorPostgres
import Synchronization

/// A lazily opened connection to the store's server, with a thread of its own.
actor PostgresSession {
  private let address: PostgresAddress
  /// The longest wait for a lock, or for a server that restarts.
  private let busyTimeout: Duration
  private let reachability: Reachability
  private let executor: QueueExecutor

  private var connection: PostgresConnection?
  /// The facts that the open connection, or an earlier one, has read; `nil` before the first.
  private var database: PostgresDatabase?
  /// True once the server has accepted a connection: if it refuses one later, it may be restarting.
  private var hasConnected = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(
    to address: PostgresAddress, _ label: String, _ busyTimeout: Duration,
    _ reachability: Reachability
  ) {
    self.address = address
    self.busyTimeout = busyTimeout
    self.reachability = reachability
    executor = QueueExecutor("store.\(label)")
  }

  /// Runs `body`, which only reads.
  @_semantics("optimize.sil.specialize.generic.never")
  func read<Answer: Sendable>(
    _ body: @Sendable (inout PostgresConnection, PostgresDatabase) throws(PostgresFailure) -> Answer
  ) throws(SourceError) -> Answer {
    try repeated { (session: isolated PostgresSession) throws(PostgresFailure) in
      try session.withConnection(mayCreate: false, body)
    }
  }

  /// Runs `body`, which only reads, without another attempt; `nil` if `isAllowed` returns false when its turn comes.
  func readOnce<Answer: Sendable>(
    if isAllowed: @Sendable () -> Bool = { true },
    _ body: @Sendable (inout PostgresConnection, PostgresDatabase) throws(PostgresFailure) -> Answer
  ) throws(PostgresFailure) -> Answer? {
    guard isAllowed() else { return nil }
    return try withConnection(mayCreate: false, body)
  }

  /// Runs `body` in a transaction, and commits it.
  ///
  /// A `body` that leaves all of its statements in the queue must be idempotent: if the connection breaks then,
  /// nothing tells whether they were committed.
  @_semantics("optimize.sil.specialize.generic.never")
  func write<Answer: Sendable>(
    _ body: @Sendable (inout PostgresConnection) throws(PostgresFailure) -> Answer
  ) throws(SourceError) -> Answer {
    try repeated { (session: isolated PostgresSession) throws(PostgresFailure) in
      var uncertain: (transaction: String, answer: Answer)?
      do throws(PostgresFailure) {
        return try session.withConnection(mayCreate: true) {
          connection, _ throws(PostgresFailure) in
          connection.begin(waiting: session.busyTimeout)
          let answer = try body(&connection)
          if let transaction = connection.transactionID { uncertain = (transaction, answer) }
          try connection.commit()
          return answer
        }
      } catch {
        guard error.kind == .broken || error.kind == .timedOut,
          let (transaction, answer) = uncertain,
          try session.isCommitted(transaction, after: error)
        else { throw error }
        return answer
      }
    }
  }

  /// Asks the server whether a transaction was committed whose connection has broken.
  private func isCommitted(
    _ transaction: String, after failure: PostgresFailure
  ) throws(PostgresFailure) -> Bool {
    let end = ContinuousClock.now + busyTimeout
    while true {
      var status: String?
      do throws(PostgresFailure) {
        status = try withConnection(mayCreate: false) { connection, _ throws(PostgresFailure) in
          try connection.rows("SELECT pg_xact_status($1::text::xid8)", .text(transaction))
            .first?.text(0)
        }
      } catch {
        guard error.kind != .cancelled else { throw error }
        // "transaction ID … is in the future": the server ended before it had written anything of it.
        if error.state == "22023" { return false }
      }
      switch status {
      case "committed": return true
      case "aborted": return false
      default:
        guard end > .now else {
          throw PostgresFailure(.timedOut, "it is not known whether the last change was saved")
        }
        try pause(.milliseconds(100))
      }
    }
  }

  // MARK: - Connections

  /// Runs `body` on an open connection, which is kept if it can be used again.
  @_semantics("optimize.sil.specialize.generic.never")
  private func withConnection<Answer>(
    mayCreate: Bool,
    _ body: (inout PostgresConnection, PostgresDatabase) throws(PostgresFailure) -> Answer
  ) throws(PostgresFailure) -> Answer {
    var open = try take()
    open.allow(busyTimeout)
    let database = try prepared(&open, mayCreate: mayCreate)
    let answer = try body(&open, database)
    if open.isUsable { connection = consume open }
    return answer
  }

  private func take() throws(PostgresFailure) -> PostgresConnection {
    if let open = connection.take(), open.isUsable { return open }
    let open = try PostgresConnection.open(address, within: busyTimeout)
    database = nil
    hasConnected = true
    return open
  }

  /// Examines the server of a new connection, and creates or upgrades the store.
  private func prepared(
    _ open: inout PostgresConnection, mayCreate: Bool
  ) throws(PostgresFailure) -> PostgresDatabase {
    if let database, database.storeVersion != nil { return database }
    var found = try PostgresDatabase(&open)
    let isOlder = found.storeVersion.map { $0 < PostgresSchema.version } ?? mayCreate
    if isOlder || mayCreate && found.lacksIndex {
      guard !found.isReadOnly else { throw PostgresFailure(.refused(state: "25006"), "read-only") }
      try open.migrate(waiting: busyTimeout)
      found = try PostgresDatabase(&open)
    }
    if let version = found.storeVersion, version > PostgresSchema.version { throw .newer }
    database = found
    return found
  }

  // MARK: - Repeating

  @_semantics("optimize.sil.specialize.generic.never")
  private func repeated<Answer>(
    _ body: (isolated PostgresSession) throws(PostgresFailure) -> Answer
  ) throws(SourceError) -> Answer {
    try Libpq.load()
    if let failure = reachability.failure { throw failure.error(of: address) }
    let end = ContinuousClock.now + busyTimeout
    var wait = Duration.milliseconds(20)
    var mayExamine = true
    do throws(PostgresFailure) {
      while true {
        do throws(PostgresFailure) { return try body(self) } catch {
          if error.isSchemaMissing || error.state == PostgresSchema.otherVersionState {
            // Another process has changed the store since the connection was opened.
            guard mayExamine else { throw error }
            mayExamine = false
            database = nil
          } else {
            let isTransient =
              error.isConflict || error.isPassing || error.kind == .broken
              || error.kind == .unreachable && hasConnected
            guard isTransient, end > .now else { throw error }
            try pause(wait)
            wait = min(wait * 2, .milliseconds(500))
          }
        }
      }
    } catch {
      if error.kind == .unreachable || error.kind == .timedOut { reachability.note(error) }
      throw error.error(of: address)
    }
  }

  /// Waits on the session's own thread, unless the task is cancelled.
  private func pause(_ time: Duration) throws(PostgresFailure) {
    let end = ContinuousClock.now + time
    while end > .now {
      guard !Task.isCancelled else { throw PostgresFailure(.cancelled, "cancelled") }
      usleep(5000)
    }
  }
}

/// The memory of a server that could not be reached, so that one command waits for it once, not in each of its
/// steps.
final class Reachability: Sendable {
  private let state = Mutex<(failure: PostgresFailure, until: ContinuousClock.Instant)?>(nil)

  /// The failure of a call that gave up a moment ago.
  var failure: PostgresFailure? {
    state.withLock { state in state.flatMap { $0.until > .now ? $0.failure : nil } }
  }

  func note(_ failure: PostgresFailure) {
    state.withLock { $0 = (failure, .now + .seconds(5)) }
  }
}

/// The client library of PostgreSQL, loaded at run time.
package enum Libpq {
  private static let names =
    ["libpq.so.5", "libpq.5.dylib"]
    + ["/opt/homebrew/opt/libpq/lib", "/usr/local/opt/libpq/lib"].map { "\($0)/libpq.5.dylib" }

  /// True if it is installed, and new enough.
  package static let isInstalled = names.contains { cpq_load($0) }

  /// - Throws: ``SourceError`` with code `storage` if it is missing or too old.
  static func load() throws(SourceError) {
    guard isInstalled else {
      throw SourceError(
        .storage, "libpq 14 or later is not installed",
        remedy: "run \"apt-get install libpq5\", or use a store in a file")
    }
  }
}
