import Synchronization

/// A clock that moves only when a test moves it.
///
/// ```swift
/// let clock = ManualClock()
/// async let page = heroes.timeout(.seconds(15), clock: clock).page(PageRequest())
/// await clock.sleepers(atLeast: 1)  // somebody waits …
/// clock.advance(by: .seconds(15))   // … for this
/// ```
public final class ManualClock: Clock, Sendable {
  /// A time since the clock was made.
  public struct Instant: InstantProtocol {
    /// The time since the clock was made.
    public let offset: Duration

    /// A later instant, or an earlier one.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// The time from here to `other`.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// The order in time.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    let ticket: Int
    let end: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(offset: .zero)
    /// In the order of waking.
    var sleepers: [Sleeper] = []
    var lastTicket = 0
  }

  private let state = Mutex(State())
  private let asleep = Counter()

  /// A clock at zero.
  public init() {}

  /// Where the test has moved it.
  public var now: Instant { state.withLock { $0.now } }

  /// None: every instant can be told from every other.
  public var minimumResolution: Duration { .zero }

  /// How long the first who will wake has yet to sleep; `nil` if nobody sleeps.
  public var untilNextWake: Duration? {
    state.withLock { state in state.sleepers.first.map { state.now.duration(to: $0.end) } }
  }

  /// How many sleep now.
  public var sleeperCount: Int { asleep.value }

  /// Waits until so many sleep.
  ///
  /// - Parameter count: How many, 1 or more.
  public func sleepers(atLeast count: Int) async { await asleep.reaches(count) }

  /// Moves the clock and wakes whose time has come.
  ///
  /// Their tasks may go on in any order; where that matters, move it step by step.
  ///
  /// - Parameter duration: How far; zero or more.
  public func advance(by duration: Duration) {
    precondition(duration >= .zero, "time does not go back by \(duration)")
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let woken = state.sleepers.prefix { $0.end <= state.now }
      state.sleepers.removeFirst(woken.count)
      return woken
    }
    asleep.add(-woken.count)
    for sleeper in woken { sleeper.continuation.resume() }
  }

  /// Sleeps until the clock has been moved to `deadline`.
  ///
  /// - Parameters:
  ///   - deadline: When to wake.
  ///   - tolerance: Not used: it wakes when the clock is moved.
  /// - Throws: `CancellationError` if the task is cancelled before that.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let sleeper = Sleeper(ticket: ticket, end: deadline, continuation: continuation)
        let isDue = state.withLock { state in
          guard deadline > state.now else { return true }
          let place = state.sleepers.firstIndex { $0.end > deadline }
          state.sleepers.insert(sleeper, at: place ?? state.sleepers.endIndex)
          return false
        }
        if isDue { return continuation.resume() }
        asleep.add()
        // The cancellation handler may have run before there was anything to end.
        if Task.isCancelled { wake(ticket) }
      }
    } onCancel: {
      wake(ticket)
    }
  }

  /// Ends a sleep that was cancelled.
  private func wake(_ ticket: Int) {
    let sleeper = state.withLock { state in
      state.sleepers.firstIndex { $0.ticket == ticket }.map { state.sleepers.remove(at: $0) }
    }
    guard let sleeper else { return }
    asleep.add(-1)
    sleeper.continuation.resume(throwing: CancellationError())
  }
}
