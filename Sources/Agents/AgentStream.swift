import AggregatorKit
package import AggregatorTerminal
import Dispatch
import Synchronization

/// A connection of the Model Context Protocol over standard input and output: a message a line.
package final class AgentStream: Sendable {
  /// The longest message, in bytes.
  private static let maxLine = 1 << 20
  /// The most requests at once; further ones wait in the pipe.
  private static let width = 64

  private let server: AgentServer
  private let output: Mutex<Output>
  private let slots = DispatchSemaphore(value: width)
  private let state = Mutex(State())

  private struct State {
    var isInitialized = false
    /// The writer of the other end is gone, or its reader.
    var isClosed = false
    var tasks: [AgentMessage.ID: Task<Void, Never>] = [:]
    var listeners: Set<AgentMessage.ID> = []
    var running = 0
    var finished: CheckedContinuation<Void, Never>?
  }

  package init(_ server: AgentServer, output: Output) {
    self.server = server
    self.output = Mutex(output)
  }

  /// Answers the messages of standard input up to its end, and those in flight then.
  package func run() async {
    let (lines, continuation) = AsyncStream<InputLine>.makeStream()
    SystemThread.start { [slots] in
      var reader = InputLines(of: STDIN_FILENO, atMost: Self.maxLine)
      while let line = reader.next() {
        slots.wait()
        continuation.yield(line)
      }
      continuation.finish()
    }
    for await line in lines {
      if state.withLock(\.isClosed) { break }
      take(line)
    }
    let listeners = state.withLock { state in
      state.listeners.compactMap { state.tasks[$0] }
    }
    for task in listeners { task.cancel() }
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if state.running > 0 { state.finished = continuation }
        return state.running == 0
      }
      if isDone { continuation.resume() }
    }
  }

  private func take(_ line: InputLine) {
    let message: AgentMessage?
    do throws(AgentError) {
      guard case .bytes(let bytes) = line else {
        throw AgentError(.invalidRequest, "the message is longer than \(Self.maxLine) bytes")
      }
      message = try AgentMessage(bytes)
    } catch {
      send(error.response(to: nil))
      return leave()
    }
    guard let message else { return leave() }
    guard let id = message.id else {
      if message.method == "notifications/cancelled",
        let id = message.params["requestId"].flatMap({ AgentMessage.ID($0) })
      {
        state.withLock { $0.tasks[id] }?.cancel()
      }
      return leave()
    }
    let isNew = state.withLock { state in
      guard state.tasks[id] == nil else { return false }
      state.running += 1
      if message.method == "initialize" { state.isInitialized = true }
      if message.method == "subscriptions/listen" { state.listeners.insert(id) }
      // While the lock is held, so that it cannot end before it is known.
      state.tasks[id] = Task { [isInitialized = state.isInitialized] in
        await self.answer(message, id, isInitialized)
      }
      return true
    }
    guard isNew else {
      send(
        AgentError(.invalidRequest, "a request with this ID is being answered").response(to: id))
      return leave()
    }
  }

  private func answer(_ message: AgentMessage, _ id: AgentMessage.ID, _ isInitialized: Bool) async {
    let answer: JSON
    do throws(AgentError) {
      let life = try server.life(of: message, isInitialized: isInitialized)
      let result = try await server.result(of: message, in: life) { [self] in send($0) }
      answer = ["jsonrpc": "2.0", "id": id.json, "result": result]
    } catch {
      answer = error.response(to: id)
    }
    // Whoever cancels a request wants no answer.
    if !Task.isCancelled { send(answer) }
    let finished = state.withLock { state in
      state.tasks[id] = nil
      state.listeners.remove(id)
      state.running -= 1
      guard state.running == 0 else { return nil as CheckedContinuation<Void, Never>? }
      defer { state.finished = nil }
      return state.finished
    }
    leave()
    finished?.resume()
  }

  private func leave() { slots.signal() }

  private func send(_ message: JSON) {
    do {
      try output.withLock { try $0.write(message.text + "\n") }
    } catch {
      // Nobody reads the answers any more.
      let tasks = state.withLock { state in
        state.isClosed = true
        return Array(state.tasks.values)
      }
      for task in tasks { task.cancel() }
    }
  }
}
