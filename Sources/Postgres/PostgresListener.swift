import AggregatorCore
import AggregatorFoundation
import AggregatorStore

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

  private static let answerTime = Duration.seconds(60)

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
  private func withConnection<Answer>(
    _ body: (inout PostgresConnection, isolated PostgresListener) throws(PostgresFailure) -> Answer
  ) -> Answer? {
    do throws(PostgresFailure) {
      var open = try take()
      open.deadline = .now + busyTimeout + Self.answerTime
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
