import Synchronization

/// A state for whose changes tasks can wait.
final class Watched<State: Sendable>: Sendable {
  private struct Waiter {
    let condition: @Sendable (State) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct Content {
    var state: State
    var waiters: [Int: Waiter] = [:]
    var lastTicket = 0
  }

  private let content: Mutex<Content>

  init(_ state: State) { content = Mutex(Content(state: state)) }

  var state: State { content.withLock(\.state) }

  /// Changes the state, then resumes the tasks whose condition holds.
  @discardableResult
  func change<Answer: Sendable>(_ body: (inout State) -> Answer) -> Answer {
    let (answer, done) = content.withLock { content in
      let answer = body(&content.state)
      let done = content.waiters.filter { $0.value.condition(content.state) }
      for ticket in done.keys { content.waiters[ticket] = nil }
      return (answer, done.values.map(\.continuation))
    }
    for continuation in done { continuation.resume() }
    return answer
  }

  /// Waits until the condition holds, or the task is cancelled.
  func wait(until condition: @escaping @Sendable (State) -> Bool) async {
    let ticket = content.withLock { content in
      content.lastTicket += 1
      return content.lastTicket
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let holds = content.withLock { content in
          if condition(content.state) { return true }
          content.waiters[ticket] = Waiter(condition: condition, continuation: continuation)
          return false
        }
        if holds { return continuation.resume() }
        // The cancellation handler may have run before the waiter was registered.
        if Task.isCancelled { leave(ticket) }
      }
    } onCancel: {
      leave(ticket)
    }
  }

  private func leave(_ ticket: Int) {
    content.withLock { $0.waiters.removeValue(forKey: ticket) }?.continuation.resume()
  }
}

/// Answers that are given one after the other.
final class Script<Answer: Sendable>: Sendable {
  private let rest: Mutex<ArraySlice<Answer>>

  init(_ answers: [Answer]) { rest = Mutex(answers[...]) }

  func next() -> Answer? { rest.withLock { $0.popFirst() } }
}
