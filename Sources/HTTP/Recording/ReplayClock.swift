import AggregatorCore
import Synchronization

/// A clock for replays: it goes like any other, but a wait inside of a call that has a deadline takes no
/// time.
///
/// Such a wait, before a retry or for a turn, moves the clock on instead. So whoever asks whether a wait
/// still fits before the deadline gets the answer of the recorded run, at once. Everybody else sleeps
/// as usual, and wakes when the clock gets there.
public final class ReplayClock: Clock, Sendable {
  /// An instant of the continuous clock.
  public typealias Instant = ContinuousClock.Instant

  private struct State {
    /// By how much the clock is ahead of the continuous clock.
    var ahead = Duration.zero
    var sleepers: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastTicket = 0
  }

  private let state = Mutex(State())

  /// A clock that has not been moved yet.
  public init() {}

  /// The time of the continuous clock, and all waits that took none.
  public var now: Instant { ContinuousClock.now.advanced(by: state.withLock(\.ahead)) }

  /// That of the continuous clock.
  public var minimumResolution: Duration { ContinuousClock().minimumResolution }

  /// Waits until an instant; inside of a call with a deadline only in name.
  ///
  /// - Parameters:
  ///   - deadline: When to wake.
  ///   - tolerance: How much later will do.
  /// - Throws: `CancellationError` if the task is cancelled before that.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    guard Deadline.current == nil else { return move(to: deadline) }
    let (moves, ticket) = enter()
    defer { state.withLock { $0.sleepers[ticket] = nil } }
    while now < deadline {
      let rest = now.duration(to: deadline)
      await withTaskGroup { group in
        group.addTask { try? await Task.sleep(for: rest, tolerance: tolerance) }
        group.addTask { for await _ in moves { return } }
        await group.next()
        group.cancelAll()
      }
      try Task.checkCancellation()
    }
  }

  /// Moves the clock on, and wakes whose time has come.
  ///
  /// - Parameter duration: How far; zero or more.
  package func advance(by duration: Duration) { move(to: now.advanced(by: duration)) }

  /// Moves the clock to the deadline of the running call, and waits until whoever watches over it ends
  /// the call.
  ///
  /// It returns at once if there is no deadline, or one of another clock.
  func passDeadline() async {
    guard let left = Deadline.current?.remaining() else { return }
    move(to: now.advanced(by: left))
    guard Deadline.hasPassed else { return }
    // Ended by the cancellation, which is only a wake-up away.
    try? await Task.sleep(for: .seconds(10))
  }

  private func move(to instant: Instant) {
    let sleepers = state.withLock { state in
      let now = ContinuousClock.now.advanced(by: state.ahead)
      state.ahead += max(now.duration(to: instant), .zero)
      return Array(state.sleepers.values)
    }
    for sleeper in sleepers { sleeper.yield() }
  }

  private func enter() -> (AsyncStream<Void>, ticket: Int) {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let ticket = state.withLock { state in
      state.lastTicket += 1
      state.sleepers[state.lastTicket] = continuation
      return state.lastTicket
    }
    return (stream, ticket)
  }
}
