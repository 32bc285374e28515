public import Foundation

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

  private struct State {
    var now = Instant(offset: .zero)
    /// The wake-up times of the sleepers, by ticket.
    var sleepers: [Int: Instant] = [:]
    var lastTicket = 0
  }

  private let state = Watched(State())

  public init() {}

  public var now: Instant { state.state.now }

  public var minimumResolution: Duration { .zero }

  /// The date that was `start` when the clock was made, and advances with it.
  ///
  /// ```swift
  /// let list = PagedList(heroes, clock: clock, now: { clock.date(startingAt: start) })
  /// ```
  public func date(startingAt start: Date) -> Date {
    start.addingTimeInterval(now.offset / .seconds(1))
  }

  /// The time until the first sleeper wakes; `nil` if there is none.
  public var untilNextWake: Duration? {
    let state = state.state
    return state.sleepers.values.min().map { state.now.duration(to: $0) }
  }

  public var sleeperCount: Int { state.state.sleepers.count }

  /// Waits until at least `count` tasks sleep; see ``WaitLimit``.
  public func sleepers(atLeast count: Int) async {
    await state.wait {
      $0.sleepers.count >= count
    } orReport: {
      "sleeping tasks: \($0.sleepers.count) of \(count)"
    }
  }

  /// Wakes all sleepers that are due; their tasks resume in any order, so advance step by step
  /// where that matters.
  public func advance(by duration: Duration) {
    precondition(duration >= .zero, "cannot advance by \(duration)")
    state.change { state in
      let now = state.now.advanced(by: duration)
      state.now = now
      state.sleepers = state.sleepers.filter { $0.value > now }
    }
  }

  /// `tolerance` is ignored; throws `CancellationError` if the task is cancelled first.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    let ticket = state.change { state in
      state.lastTicket += 1
      if deadline > state.now { state.sleepers[state.lastTicket] = deadline }
      return state.lastTicket
    }
    await withTaskCancellationHandler {
      await state.wait { $0.sleepers[ticket] == nil }
    } onCancel: {
      state.change { $0.sleepers[ticket] = nil }
    }
    try Task.checkCancellation()
  }
}
