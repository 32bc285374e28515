import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import CAggregatorPostgres
import Synchronization

/// The notifications of a database, over one connection for all who listen, and only while somebody does.
final class PostgresNotifications: Sendable {
  private let address: PostgresAddress
  private let busyTimeout: Duration
  private let pollInterval: Duration
  private let clock: any Clock<Duration>
  /// Called before those who listen: what they read then must have the change.
  private let willNotify: @Sendable () -> Void
  private let listeners = ChangeListeners()
  private let running = Mutex<(listener: PostgresListener, task: Task<Void, Never>)?>(nil)

  /// The longest wait before another attempt to reach the server.
  private static let maxPause = Duration.seconds(30)

  init(
    of address: PostgresAddress, _ busyTimeout: Duration, every pollInterval: Duration,
    on clock: any Clock<Duration>, willNotify: @escaping @Sendable () -> Void
  ) {
    self.address = address
    self.busyTimeout = busyTimeout
    self.pollInterval = pollInterval
    self.clock = clock
    self.willNotify = willNotify
  }

  func stream(of source: String) async -> AsyncStream<Void> {
    let stream = listeners.stream(of: source) { [self] in endIfUnused() }
    await listener().prepare(for: RecordKey(source))
    return stream
  }

  /// The listener that runs, or a new one.
  private func listener() -> PostgresListener {
    running.withLock { running in
      if let running { return running.listener }
      let listener = PostgresListener(to: address, busyTimeout)
      let task = Task { [listeners, clock, pollInterval, willNotify] in
        var pause = pollInterval
        while !Task.isCancelled {
          if let changes = await listener.changes(of: listeners.sources) {
            if !changes.sources.isEmpty { willNotify() }
            listeners.notify(changes.sources.contains)
            pause = pollInterval
            guard changes.mustPoll else { continue }
          } else {
            pause = min(pause * 2, Self.maxPause)
          }
          try? await clock.sleep(for: pause)
        }
      }
      running = (listener, task)
      return listener
    }
  }

  private func endIfUnused() {
    running.withLock { running in
      // Another may have begun to listen meanwhile.
      guard listeners.sources.isEmpty else { return }
      running?.task.cancel()
      running = nil
    }
  }
}

extension PostgresStore {
  /// An element whenever records of a source have changed, by any machine.
  ///
  /// The server tells of changes over a connection of its own, which all who listen share. Behind a connection
  /// pool such as PgBouncer, and at a standby, it tells nothing: there the source is examined every
  /// `pollInterval`. The stream ends at once if libpq is not installed.
  public func changeNotifications(of source: String) async -> AsyncStream<Void> {
    do throws(SourceError) { try Libpq.load() } catch { return AsyncStream { $0.finish() } }
    let stream = await notifications.stream(of: source)
    // Nothing tells of a change before it, so what is read next must have it.
    standbys?.noteChange()
    return stream
  }
}

/// A connection on which the server tells of changes, with a thread of its own.
///
/// Where nothing can be heard, the sources are compared with what they were before.
actor PostgresListener {
  /// The changes since the last call.
  struct Changes: Sendable {
    var sources: Set<RecordKey> = []
    /// True if the server tells nothing by itself.
    var mustPoll = false
  }

  private let address: PostgresAddress
  private let busyTimeout: Duration
  private let executor = QueueExecutor("store.listen")

  private var connection: PostgresConnection?
  private var mustPoll = false
  /// The contents at the last call, if the server tells nothing.
  private var known: [RecordKey: String?] = [:]
  /// True if a change may have been missed.
  private var hasGap = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// The longest wait for a notification, and so the time until a cancelled task ends.
  private static let wakeInterval = Duration.milliseconds(200)

  init(to address: PostgresAddress, _ busyTimeout: Duration) {
    self.address = address
    self.busyTimeout = busyTimeout
  }

  /// Connects if necessary, so that a later change of a source is noticed.
  func prepare(for source: RecordKey) {
    _ = withConnection { connection, listener throws(PostgresFailure) in
      guard listener.mustPoll else { return }
      listener.known[source] = .some(try connection.contents(of: source.text))
    }
  }

  /// The sources that may have changed, after a moment; `nil` if the server cannot be reached.
  func changes(of sources: Set<RecordKey>) -> Changes? {
    withConnection { connection, listener throws(PostgresFailure) in
      var changes = Changes(mustPoll: listener.mustPoll)
      if listener.mustPoll {
        for source in sources {
          let contents = try connection.contents(of: source.text)
          if listener.known[source] != .some(contents) { changes.sources.insert(source) }
          listener.known[source] = .some(contents)
        }
      } else if !listener.hasGap {
        let payloads = try connection.notifications(within: Self.wakeInterval)
        let isOfAll = payloads.contains(PostgresConnection.payloadOfAll)
        changes.sources = sources.filter { isOfAll || payloads.contains($0.text.nulEscaped) }
      }
      if listener.hasGap { changes.sources = sources }
      listener.hasGap = false
      return changes
    }
  }

  /// `nil` after a failure, which leaves a gap.
  @_semantics("optimize.sil.specialize.generic.never")
  private func withConnection<Answer>(
    _ body: (inout PostgresConnection, isolated PostgresListener) throws(PostgresFailure) -> Answer
  ) -> Answer? {
    do throws(PostgresFailure) {
      var open = try take()
      open.allow(busyTimeout)
      let answer = try body(&open, self)
      connection = consume open
      return answer
    } catch {
      hasGap = true
      return nil
    }
  }

  private func take() throws(PostgresFailure) -> PostgresConnection {
    if let open = connection.take(), open.isUsable { return open }
    var open = try PostgresConnection.open(address, within: busyTimeout)
    mustPoll = try !open.listen()
    return open
  }
}

extension PostgresConnection {
  /// The channel on which every transaction that changes records sends a notification.
  private static let channel = PostgresSchema.schema

  /// The size of a payload that every server accepts, in bytes.
  private static let maxPayloadSize = 7999

  /// Notifies those who listen of a change of a source, `nil` for all, once the transaction is committed.
  package mutating func enqueueNotification(of source: String?) {
    enqueue(
      "SELECT pg_notify('\(Self.channel)', $1)",
      .text(source.map(Self.payload) ?? Self.payloadOfAll))
  }

  static let payloadOfAll = ""

  static func payload(of source: String) -> String {
    source.nulEscaped.utf8.count <= maxPayloadSize ? source : payloadOfAll
  }

  /// Begins to listen; `false` if nothing would be heard: behind a pool that lends its sessions, or at a
  /// standby.
  mutating func listen() throws(PostgresFailure) -> Bool {
    // A pool invents the process ID that it gives its clients.
    let pid = try rows("SELECT pg_backend_pid()::bigint")[0].integer(0)
    guard pid == Int64(cpq_backend_pid(handle)) else { return false }
    do throws(PostgresFailure) {
      _ = try rows("LISTEN \(Self.channel)")
      return true
    } catch let error where error.state != nil { return false }
  }

  /// Waits for notifications, for some time and no longer than `limit`, and returns their payloads.
  mutating func notifications(within limit: Duration) throws(PostgresFailure) -> Set<String> {
    var state = pollfd(fd: cpq_socket(handle), events: Int16(POLLIN), revents: 0)
    let count = poll(&state, 1, Int32(limit / .milliseconds(1)))
    guard count >= 0 || errno == EINTR, cpq_consume_input(handle) else { throw broken }
    var payloads: Set<String> = []
    while let payload = cpq_next_notification(handle) {
      defer { free(payload) }
      payloads.insert(String(cString: payload))
    }
    return payloads
  }

  /// Numbers of which at least one is another after any change of a source's records and deletions; `nil` if
  /// it has none.
  mutating func contents(of source: String) throws(PostgresFailure) -> String? {
    do throws(PostgresFailure) {
      return try rows(.contents(of: source)).first?.text(0)
    } catch let error where error.isSchemaMissing { return nil }
  }
}
