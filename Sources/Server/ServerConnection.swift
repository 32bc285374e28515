import CAggregatorServer
import Synchronization

/// A connection of a client, and its current request.
///
/// Its methods are called on the thread of the server, unless said otherwise.
final class ServerConnection: Sendable {
  private enum Phase {
    /// Waits for a request or the rest of it.
    case waiting
    /// Suspended, while the handler's task runs.
    case handling
    /// Resumed with a response.
    case answered(ServerResponse)
    case sending
    case streaming(EventStream)
    /// Closes as soon as the server's thread has noticed.
    case shutDown
    /// The socket must not be used any more.
    case closed

    var isOver: Bool {
      switch self {
      case .shutDown, .closed: true
      default: false
      }
    }
  }

  private struct State {
    var phase = Phase.waiting
    var deadline: ContinuousClock.Instant?
    var waitingSince = ContinuousClock.now
    /// False between a response and the next request.
    var hasBegun = true
    var request = ReceivedRequest()
    var task: Task<Void, Never>?
  }

  let address: String
  private let handle: cserver_connection
  private let socket: Int32
  private let table: ConnectionTable
  private let state: Mutex<State>

  init(
    _ handle: cserver_connection, _ socket: Int32, _ address: String, _ table: ConnectionTable
  ) {
    self.handle = handle
    self.socket = socket
    self.address = address
    self.table = table
    state = Mutex(State(deadline: .now + table.limits.request))
  }

  // MARK: - A request arrives

  func begin(_ target: String) {
    state.withLock { state in
      state.request = ReceivedRequest(target: target, client: address)
      // The deadline of the first request is that of the connection.
      if !state.hasBegun { state.deadline = .now + table.limits.request }
      state.hasBegun = true
    }
  }

  func receive(field: ServerRequest.Parameter) {
    state.withLock { $0.request.headers.append(field) }
  }

  func receiveHead(_ method: String, _ count: Int) -> Bool {
    let refusal = state.withLock { state in
      state.request.method = method
      return state.request.refusal(ofHead: count, table.limits)
    }
    guard let refusal else { return true }
    guard refusal == .headTooLarge else { return send(response(to: refusal)) }
    // libmicrohttpd may have no memory left for the head of a response, and would close the connection without one.
    write(response(to: refusal))
    return false
  }

  func receive(body: UnsafeRawBufferPointer) -> Bool {
    state.withLock { $0.request.append(body, table.limits) }
  }

  /// Starts the handler, or sends its response.
  func complete() -> Bool {
    var refusal: RequestRefusal?
    let response = state.withLock { state -> ServerResponse? in
      if case .answered(let response) = state.phase { return response }
      guard case .waiting = state.phase else { return nil }
      do throws(RequestRefusal) {
        start(try state.request.parsed(), &state)
      } catch {
        refusal = error
      }
      return nil
    }
    if let response = response ?? refusal.map(response(to:)) { return send(response) }
    return state.withLock { !$0.phase.isOver }
  }

  private func start(_ request: ServerRequest, _ state: inout State) {
    state.request.body = []
    state.deadline = nil
    state.phase = .handling
    // Before the task, which may resume at once.
    cserver_suspend(handle)
    state.task = Task { answer(await table.responder.respond(request).encoded(for: request)) }
  }

  /// Hands a response to the server's thread; on any thread.
  private func answer(_ response: ServerResponse) {
    let isAwaited = state.withLock { state in
      guard case .handling = state.phase else { return false }
      state.phase = .answered(response)
      return true
    }
    // A suspended connection is not freed, and only one caller gets here.
    if isAwaited { cserver_resume(handle) }
  }

  // MARK: - A response is sent

  private func response(to refusal: RequestRefusal) -> ServerResponse {
    table.responder.refuse(refusal, state.withLock { $0.request.head })
  }

  private func send(_ response: ServerResponse) -> Bool {
    let isHead = state.withLock { $0.request.method == "HEAD" }
    switch response.body {
    case .bytes(let bytes): return send(response, bytes)
    case .events where isHead: return send(response, [])
    case .events(let events):
      guard let stream = EventStream(events, on: handle, in: table) else {
        return send(self.response(to: .tooManyStreams))
      }
      return send(response, stream)
    }
  }

  private func send(_ response: ServerResponse, _ bytes: [UInt8]) -> Bool {
    transmit(
      cserver_response_of_bytes(bytes, bytes.count), response, as: .sending,
      until: .now + table.limits.deadline(forResponseOf: bytes.count))
  }

  /// Writes a response of bytes past libmicrohttpd; the connection must be closed then.
  private func write(_ response: ServerResponse) {
    guard case .bytes(let body) = response.body else { return }
    var head = "HTTP/1.1 \(response.status) \r\n"
    for field in response.headers where !field.value.utf8.contains(where: { $0 < 0x20 }) {
      head += "\(field.name): \(field.value)\r\n"
    }
    head += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
    let isHead = state.withLock { $0.request.method == "HEAD" }
    let bytes = Array(head.utf8) + (isHead ? [] : body)
    cserver_write(socket, bytes, bytes.count)
  }

  private func send(_ response: ServerResponse, _ stream: EventStream) -> Bool {
    let isQueued = transmit(stream.opened(), response, as: .streaming(stream), until: nil)
    // The server may have begun to stop before it could see the stream.
    if table.isStopping || !isQueued { stream.end() }
    return isQueued
  }

  private func transmit(
    _ message: cserver_response, _ response: ServerResponse, as phase: Phase,
    until deadline: ContinuousClock.Instant?
  ) -> Bool {
    guard message != 0 else { return false }
    for field in response.headers { cserver_add_field(message, field.name, field.value) }
    if table.isStopping { cserver_add_field(message, "Connection", "close") }
    state.withLock { state in
      state.task = nil
      if case .shutDown = state.phase { return }
      state.phase = phase
      state.deadline = deadline
    }
    return cserver_send(handle, Int32(response.status), message)
  }

  func finish() {
    state.withLock { state in
      state.task?.cancel()
      state.task = nil
      if case .shutDown = state.phase { return }
      state.request = ReceivedRequest()
      state.hasBegun = false
      state.waitingSince = .now
      state.deadline = .now + table.limits.idle
      state.phase = .waiting
      if table.isStopping { shutDown(&state) }
    }
  }

  func close() {
    state.withLock { $0.phase = .closed }
    table.remove(self)
  }

  // MARK: - The end, on any thread

  var isShutDown: Bool { state.withLock(\.phase.isOver) }

  /// The time since when the client owes a request; `nil` if it does not.
  var waitingSince: ContinuousClock.Instant? {
    state.withLock { state in
      if case .waiting = state.phase { state.waitingSince } else { nil }
    }
  }

  /// Closes the connection if its client has missed a deadline, and cancels its task if the client has left.
  func check(_ now: ContinuousClock.Instant) {
    let stream = state.withLock { state -> EventStream? in
      switch state.phase {
      case .waiting, .sending:
        if let deadline = state.deadline, now >= deadline { shutDown(&state) }
      case .handling:
        if cserver_has_left(socket) { state.task?.cancel() }
      case .streaming(let stream):
        guard cserver_has_left(socket) || stream.isStalled(now) else { return nil }
        shutDown(&state)
        return stream
      case .answered, .shutDown, .closed: break
      }
      return nil
    }
    stream?.end()
  }

  func shutDown() {
    state.withLock { state in shutDown(&state) }
  }

  /// Ends the connection if it waits for a request, and the event stream if it is one.
  func stop() {
    let stream = state.withLock { state -> EventStream? in
      if case .waiting = state.phase { shutDown(&state) }
      if case .streaming(let stream) = state.phase { return stream }
      return nil
    }
    stream?.end()
  }

  func abandon() {
    let isSuspended = state.withLock { state in
      defer { shutDown(&state) }
      guard case .handling = state.phase else { return false }
      state.task?.cancel()
      return true
    }
    if isSuspended { cserver_resume(handle) }
  }

  private func shutDown(_ state: inout State) {
    if case .closed = state.phase { return }
    state.phase = .shutDown
    cserver_shut_down(socket)
  }
}
