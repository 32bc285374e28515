import CAggregatorServer
import Dispatch
import Synchronization

/// The open connections of a server, and the thread that enforces their deadlines.
///
/// libmicrohttpd's own timeout counts inactivity only, so a client that sends a byte now and then would stay; and
/// it does not watch connections whose requests are being answered.
final class ConnectionTable: Sendable {
  private struct State {
    var connections: [ObjectIdentifier: ServerConnection] = [:]
    var drained: CheckedContinuation<Void, Never>?
    var drainDeadline: ContinuousClock.Instant?
  }

  let limits: ServerLimits
  let responder: HTTPServer.Responder
  private let state = Mutex(State())
  private let stopping = Atomic(false)
  private let eventStreams = Atomic(0)
  private let wakeUp = DispatchSemaphore(value: 0)

  init(_ limits: ServerLimits, _ responder: HTTPServer.Responder) {
    self.limits = limits
    self.responder = responder
  }

  var isStopping: Bool { stopping.load(ordering: .sequentiallyConsistent) }

  // MARK: - Connections

  func open(_ handle: cserver_connection, _ socket: Int32, _ address: String) -> ServerConnection {
    let connection = ServerConnection(handle, socket, address, self)
    let displaced = state.withLock { state in
      let displaced = victim(of: connection, in: state.connections.values)
      state.connections[ObjectIdentifier(connection)] = connection
      if state.connections.count == 1 { wakeUp.signal() }
      return displaced
    }
    displaced?.shutDown()
    return connection
  }

  func remove(_ connection: ServerConnection) {
    state.withLock { state in
      state.connections[ObjectIdentifier(connection)] = nil
      if state.drainDeadline != nil { wakeUp.signal() }
    }
  }

  /// The connection to close for a new one.
  ///
  /// Over a limit it is the oldest that waits for its client, so that clients that send nothing cannot keep
  /// others out; the new one itself if all others are being answered.
  private func victim(
    of new: ServerConnection, in connections: some Collection<ServerConnection>
  ) -> ServerConnection? {
    if isStopping { return new }
    guard connections.count >= min(limits.connections, limits.connectionsPerAddress) else {
      return nil
    }
    let open = connections.filter { !$0.isShutDown }
    let neighbours = open.filter { $0.address == new.address }
    let isCrowded = neighbours.count >= limits.connectionsPerAddress
    guard isCrowded || open.count >= limits.connections else { return nil }
    let waiting = (isCrowded ? neighbours : open).compactMap { connection in
      connection.waitingSince.map { (connection: connection, since: $0) }
    }
    return waiting.min { $0.since < $1.since }?.connection ?? new
  }

  // MARK: - Event streams

  func openEventStream() -> Bool {
    if eventStreams.add(1, ordering: .relaxed).newValue <= limits.eventStreams { return true }
    closeEventStream()
    return false
  }

  func closeEventStream() { eventStreams.subtract(1, ordering: .relaxed) }

  // MARK: - Deadlines

  /// Checks the deadlines on its thread until the server stops.
  func run() {
    let interval = DispatchTimeInterval.nanoseconds(
      Int(limits.checkInterval / .nanoseconds(1)))
    while true {
      let connections = state.withLock { Array($0.connections.values) }
      let now = ContinuousClock.now
      for connection in connections { connection.check(now) }
      if endsDraining(now) { return }
      if connections.isEmpty && !isStopping {
        wakeUp.wait()
      } else {
        _ = wakeUp.wait(timeout: .now() + interval)
      }
    }
  }

  /// Waits until all requests are answered or the time is over, and abandons the rest.
  func drain(within time: Duration) async {
    stopping.store(true, ordering: .sequentiallyConsistent)
    for connection in state.withLock({ Array($0.connections.values) }) { connection.stop() }
    await withCheckedContinuation { continuation in
      state.withLock { state in
        state.drained = continuation
        state.drainDeadline = .now + time
      }
      wakeUp.signal()
    }
    for connection in state.withLock({ Array($0.connections.values) }) { connection.abandon() }
  }

  private func endsDraining(_ now: ContinuousClock.Instant) -> Bool {
    let drained = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard let deadline = state.drainDeadline,
        state.connections.isEmpty || now >= deadline
      else { return nil }
      return state.drained
    }
    drained?.resume()
    return drained != nil
  }
}
