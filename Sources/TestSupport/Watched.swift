public import AggregatorKit
import Synchronization

/// A state for whose changes tasks can wait.
package final class Watched<State: Sendable>: Sendable {
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

  package init(_ state: State) { content = Mutex(Content(state: state)) }

  package var state: State { content.withLock(\.state) }

  /// Changes the state, then resumes the tasks whose condition holds.
  @discardableResult
  package func change<Answer: Sendable>(_ body: (inout State) -> Answer) -> Answer {
    let (answer, done) = content.withLock { content in
      let answer = body(&content.state)
      let done = content.waiters.filter { $0.value.condition(content.state) }
      for ticket in done.keys { content.waiters[ticket] = nil }
      return (answer, done.values.map(\.continuation))
    }
    for continuation in done { continuation.resume() }
    return answer
  }

  /// Waits until the condition holds, the task is cancelled, or the ``WaitLimit`` is reached, which is reported.
  package func wait(
    until condition: @escaping @Sendable (State) -> Bool, orReport missing: (State) -> String
  ) async {
    guard !condition(state) else { return }
    let limit = WaitLimit.current
    let isLate = await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        await self.wait(until: condition)
        return false
      }
      group.addTask { await limit.isReached() }
      let isLate = await group.next() ?? false
      group.cancelAll()
      return isLate
    }
    if isLate, !Task.isCancelled { limit.end(missing: missing(state)) }
  }

  /// Waits until the condition holds, or the task is cancelled, without a limit.
  package func wait(until condition: @escaping @Sendable (State) -> Bool) async {
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

/// Blocks calls until a test lets them continue.
///
/// ```swift
/// let gate = Gate()
/// let source = ScriptedSource<Hero>(over: heroes, held: gate)
/// async let page = source.page(PageRequest())
/// await gate.holds(1)  // the call is under way …
/// gate.open()          // … and continues
/// ```
public final class Gate: Sendable {
  private let opened = Counter()
  private let held = Counter()

  public init() {}

  public var count: Int { held.value }

  /// Waits until at least `count` calls are blocked; see ``WaitLimit``.
  public func holds(_ count: Int) async { await held.reaches(count) }

  /// Lets all blocked and all later calls continue.
  public func open() { opened.add() }

  /// Waits until the gate is open; throws `cancelled` if the task is cancelled first.
  public func pass() async throws(SourceError) {
    guard opened.value == 0 else { return }
    held.add()
    await opened.number.wait { $0 >= 1 }
    held.add(-1)
    guard opened.value > 0 else { throw .cancelled }
  }
}

/// A number that a test can wait for instead of sleeping.
public final class Counter: Sendable {
  fileprivate let number = Watched(0)

  public init() {}

  public var value: Int { number.state }

  public func add(_ change: Int = 1) { number.change { $0 += change } }

  /// Waits until the value is at least `minCount`, or the task is cancelled; see ``WaitLimit``.
  public func reaches(_ minCount: Int) async {
    await number.wait {
      $0 >= minCount
    } orReport: {
      "counter: \($0) of \(minCount)"
    }
  }
}
