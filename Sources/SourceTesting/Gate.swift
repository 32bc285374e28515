public import AggregatorKit
import Synchronization

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
  private typealias Waiter = CheckedContinuation<Result<Void, SourceError>, Never>

  private struct State {
    var isOpen = false
    var waiters: [Int: Waiter] = [:]
    var lastTicket = 0
  }

  private let state = Mutex(State())
  private let held = Counter()

  public init() {}

  public var count: Int { held.value }

  /// Waits until at least `count` calls are blocked.
  public func holds(_ count: Int) async { await held.reaches(count) }

  /// Lets all blocked and all later calls continue.
  public func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [:] }
      return state.waiters
    }
    held.add(-waiters.count)
    for waiter in waiters.values { waiter.resume(returning: .success(())) }
  }

  /// Waits until the gate is open; throws `cancelled` if the task is cancelled first.
  public func pass() async throws(SourceError) {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let isOpen = state.withLock { state in
          if !state.isOpen { state.waiters[ticket] = waiter }
          return state.isOpen
        }
        if isOpen { return waiter.resume(returning: .success(())) }
        held.add()
        // The cancellation handler may have run before the waiter was registered.
        if Task.isCancelled { leave(ticket) }
      }
    } onCancel: {
      leave(ticket)
    }
    try result.get()
  }

  private func leave(_ ticket: Int) {
    guard let waiter = state.withLock({ $0.waiters.removeValue(forKey: ticket) }) else { return }
    held.add(-1)
    waiter.resume(returning: .failure(.cancelled))
  }
}

/// A number that a test can wait for instead of sleeping.
public final class Counter: Sendable {
  private struct Waiter {
    let minCount: Int
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var value = 0
    var waiters: [Int: Waiter] = [:]
    var lastTicket = 0
  }

  private let state = Mutex(State())

  public init() {}

  public var value: Int { state.withLock { $0.value } }

  public func add(_ change: Int = 1) {
    let reached = state.withLock { state -> [Waiter] in
      state.value += change
      let reached = state.waiters.filter { $0.value.minCount <= state.value }
      for ticket in reached.keys { state.waiters[ticket] = nil }
      return Array(reached.values)
    }
    for waiter in reached { waiter.continuation.resume() }
  }

  /// Waits until the value is at least `minCount`, or the task is cancelled.
  public func reaches(_ minCount: Int) async {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReached = state.withLock { state in
          if state.value >= minCount { return true }
          state.waiters[ticket] = Waiter(minCount: minCount, continuation: continuation)
          return false
        }
        if isReached { continuation.resume() }
        // The cancellation handler may have run before the waiter was registered.
        if Task.isCancelled { leave(ticket) }
      }
    } onCancel: {
      leave(ticket)
    }
  }

  private func leave(_ ticket: Int) {
    state.withLock { $0.waiters.removeValue(forKey: ticket) }?.continuation.resume()
  }
}
