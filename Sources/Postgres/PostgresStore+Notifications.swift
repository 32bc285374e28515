import AggregatorCore
import AggregatorStore
import Synchronization

/// The notifications of a database, over one connection for all who listen, and only while somebody does.
final class PostgresNotifications: Sendable {
  private let address: PostgresAddress
  private let busyTimeout: Duration
  private let pollInterval: Duration
  private let clock: any Clock<Duration>
  private let listeners = ChangeListeners()
  private let running = Mutex<(listener: PostgresListener, task: Task<Void, Never>)?>(nil)

  /// The longest wait before another attempt to reach the server.
  private static let maxPause = Duration.seconds(30)

  init(
    of address: PostgresAddress, _ busyTimeout: Duration, every pollInterval: Duration,
    on clock: any Clock<Duration>
  ) {
    self.address = address
    self.busyTimeout = busyTimeout
    self.pollInterval = pollInterval
    self.clock = clock
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
      let task = Task { [listeners, clock, pollInterval] in
        var pause = pollInterval
        while !Task.isCancelled {
          if let changes = await listener.changes(of: listeners.sources) {
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
    return await notifications.stream(of: source)
  }
}
