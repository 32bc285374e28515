public import AggregatorKit
import Synchronization

/// Holds calls until a test lets them go.
///
/// ```swift
/// let gate = Gate()
/// let source = ScriptedSource<Hero>(over: heroes, held: gate)
/// async let page = source.page(PageRequest())
/// await gate.holds(1)  // the call is under way …
/// gate.open()          // … and goes on
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

  /// A closed gate.
  public init() {}

  /// How many are held now.
  public var count: Int { held.value }

  /// Waits until so many are held.
  ///
  /// - Parameter count: How many, 1 or more.
  public func holds(_ count: Int) async { await held.reaches(count) }

  /// Lets all go who are held and all who come.
  public func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [:] }
      return state.waiters
    }
    held.add(-waiters.count)
    for waiter in waiters.values { waiter.resume(returning: .success(())) }
  }

  /// Waits until the gate is open.
  ///
  /// - Throws: `SourceError` with code `cancelled` if the task is cancelled before that.
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
        // The cancellation handler may have run before there was anything to end.
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

/// A number that a test can wait for, where it would otherwise have to sleep and hope.
public final class Counter: Sendable {
  private struct Waiter {
    let least: Int
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var value = 0
    var waiters: [Int: Waiter] = [:]
    var lastTicket = 0
  }

  private let state = Mutex(State())

  /// A gauge at 0.
  public init() {}

  /// What it says now.
  public var value: Int { state.withLock { $0.value } }

  /// Changes what it says.
  ///
  /// - Parameter change: How much is added; 1 by default.
  public func add(_ change: Int = 1) {
    let reached = state.withLock { state -> [Waiter] in
      state.value += change
      let reached = state.waiters.filter { $0.value.least <= state.value }
      for ticket in reached.keys { state.waiters[ticket] = nil }
      return Array(reached.values)
    }
    for waiter in reached { waiter.continuation.resume() }
  }

  /// Waits until it says `least` or more, or the task is cancelled.
  ///
  /// - Parameter least: What to wait for.
  public func reaches(_ least: Int) async {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReached = state.withLock { state in
          if state.value >= least { return true }
          state.waiters[ticket] = Waiter(least: least, continuation: continuation)
          return false
        }
        if isReached { continuation.resume() }
        // The cancellation handler may have run before there was anything to end.
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
