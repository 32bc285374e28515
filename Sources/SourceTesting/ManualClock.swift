import Synchronization

/// A clock that only a test advances.
///
/// ```swift
/// let clock = ManualClock()
/// async let page = heroes.timeout(.seconds(15), clock: clock).page(PageRequest())
/// await clock.sleepers(atLeast: 1)  // wait for the timeout …
/// clock.advance(by: .seconds(15))   // … and trigger it
/// ```
public final class ManualClock: Clock, Sendable {
  public struct Instant: InstantProtocol {
    public let offset: Duration

    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    public func duration(to other: Instant) -> Duration { other.offset - offset }

    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    let ticket: Int
    let end: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(offset: .zero)
    /// Ordered by wake-up time.
    var sleepers: [Sleeper] = []
    var lastTicket = 0
  }

  private let state = Mutex(State())
  private let asleep = Counter()

  public init() {}

  public var now: Instant { state.withLock { $0.now } }

  public var minimumResolution: Duration { .zero }

  /// The time until the first sleeper wakes; `nil` if there is none.
  public var untilNextWake: Duration? {
    state.withLock { state in state.sleepers.first.map { state.now.duration(to: $0.end) } }
  }

  public var sleeperCount: Int { asleep.value }

  /// Waits until at least `count` tasks sleep.
  public func sleepers(atLeast count: Int) async { await asleep.reaches(count) }

  /// Wakes all sleepers that are due; their tasks resume in any order, so advance step by step
  /// where that matters.
  public func advance(by duration: Duration) {
    precondition(duration >= .zero, "cannot advance by \(duration)")
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let woken = state.sleepers.prefix { $0.end <= state.now }
      state.sleepers.removeFirst(woken.count)
      return woken
    }
    asleep.add(-woken.count)
    for sleeper in woken { sleeper.continuation.resume() }
  }

  /// `tolerance` is ignored; throws `CancellationError` if the task is cancelled first.
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
          let index = state.sleepers.firstIndex { $0.end > deadline }
          state.sleepers.insert(sleeper, at: index ?? state.sleepers.endIndex)
          return false
        }
        if isDue { return continuation.resume() }
        asleep.add()
        // The cancellation handler may have run before the sleeper was registered.
        if Task.isCancelled { wake(ticket) }
      }
    } onCancel: {
      wake(ticket)
    }
  }

  private func wake(_ ticket: Int) {
    let sleeper = state.withLock { state in
      state.sleepers.firstIndex { $0.ticket == ticket }.map { state.sleepers.remove(at: $0) }
    }
    guard let sleeper else { return }
    asleep.add(-1)
    sleeper.continuation.resume(throwing: CancellationError())
  }
}
