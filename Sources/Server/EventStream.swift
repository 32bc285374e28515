import CAggregatorServer
import Synchronization

/// Server-sent events on their way to a client, whose connection is suspended while there are none.
final class EventStream: Sendable {
  /// The most bytes that wait for a client.
  private static let limit = 1 << 20

  private struct State {
    /// A comment, so that the client receives the head at once.
    var pending = Array(":\n\n".utf8)
    var pendingSince: ContinuousClock.Instant? = .now
    var isSuspended = false
    var isEnded = false
    var task: Task<Void, Never>?
  }

  private let events: AsyncStream<ServerSentEvent>
  private let connection: cserver_connection
  private let table: ConnectionTable
  private let state = Mutex(State())

  init?(
    _ events: AsyncStream<ServerSentEvent>, on connection: cserver_connection,
    in table: ConnectionTable
  ) {
    guard table.openEventStream() else { return nil }
    self.events = events
    self.connection = connection
    self.table = table
  }

  deinit { table.closeEventStream() }

  /// Starts to take the events, for a response that ends the stream when it is freed.
  func opened() -> cserver_response {
    let context = Unmanaged.passRetained(self)
    let response = cserver_response_of_reader(
      { context, _, buffer, count in
        guard let context, let buffer else { return -1 }
        return Unmanaged<EventStream>.fromOpaque(context).takeUnretainedValue()
          .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
      }, context.toOpaque(),
      { context in
        guard let context else { return }
        Unmanaged<EventStream>.fromOpaque(context).takeRetainedValue().end()
      })
    guard response != 0 else {
      context.release()
      return 0
    }
    let task = Task { [self, events] in
      for await event in events {
        guard append(event) else { break }
      }
      finish()
    }
    let isEnded = state.withLock { state in
      state.task = task
      return state.isEnded
    }
    if isEnded { task.cancel() }
    return response
  }

  /// True if the client has not taken anything for too long.
  func isStalled(_ now: ContinuousClock.Instant) -> Bool {
    state.withLock(\.pendingSince).map { now >= $0 + table.limits.response } ?? false
  }

  /// Ends the stream at once, without what waits to be sent.
  func end() {
    let task = state.withLock { state in
      state.pending = []
      defer { state.task = nil }
      return state.task
    }
    task?.cancel()
    finish()
  }

  /// Ends the stream after what waits to be sent.
  private func finish() {
    resume { $0.isEnded = true }
  }

  private func append(_ event: ServerSentEvent) -> Bool {
    let bytes = event.encoded
    return resume { state in
      guard !state.isEnded, state.pending.count + bytes.count <= Self.limit else {
        state.isEnded = true
        return false
      }
      if state.pending.isEmpty { state.pendingSince = .now }
      state.pending += bytes
      return true
    }
  }

  @discardableResult
  private func resume<Answer: Sendable>(_ change: (inout State) -> Answer) -> Answer {
    let (answer, isSuspended) = state.withLock { state in
      let answer = change(&state)
      defer { state.isSuspended = false }
      return (answer, state.isSuspended)
    }
    // A suspended connection is not freed, and only one caller gets here.
    if isSuspended { cserver_resume(connection) }
    return answer
  }

  private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    state.withLock { state in
      guard !state.pending.isEmpty else {
        if state.isEnded { return -1 }
        state.isSuspended = true
        state.pendingSince = nil
        cserver_suspend(connection)
        return 0
      }
      let count = min(buffer.count, state.pending.count)
      buffer.copyBytes(from: state.pending.prefix(count))
      state.pending.removeFirst(count)
      state.pendingSince = .now
      return count
    }
  }
}

extension ServerSentEvent {
  /// The event as it is sent: a line for each line of its data, and an empty one.
  var encoded: [UInt8] {
    var text = ""
    if let name { text += "event: \(name.filter { !$0.isNewline })\n" }
    for line in data.split(separator: #/\r\n|\r|\n/#, omittingEmptySubsequences: false) {
      text += "data: \(line)\n"
    }
    return Array("\(text)\n".utf8)
  }
}
