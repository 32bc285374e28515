import AggregatorCore
import AggregatorFoundation
import Synchronization

/// A clock for replays: a wait inside of a call that has a deadline takes no time.
///
/// Such a wait, for a retry or a rate limit, advances the clock instead. So a wait fits before the deadline
/// if it did when it was recorded, without delay. Other waits take their time, or less if the clock is
/// advanced.
public final class ReplayClock: Clock, Sendable {
  public typealias Instant = ContinuousClock.Instant

  private struct State {
    var ahead = Duration.zero
    var sleepers: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastTicket = 0
  }

  private let state = Mutex(State())

  public init() {}

  /// The time of the continuous clock plus all waits that took no time.
  public var now: Instant { ContinuousClock.now.advanced(by: state.withLock(\.ahead)) }

  public var minimumResolution: Duration { ContinuousClock().minimumResolution }

  /// Waits until an instant; inside of a call with a deadline it advances the clock and returns.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    guard Deadline.current == nil else { return move(to: deadline) }
    let (moves, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let ticket = state.withLock { state in
      state.lastTicket += 1
      state.sleepers[state.lastTicket] = continuation
      return state.lastTicket
    }
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

  /// Advances the clock by zero or more, and ends the waits that are over.
  package func advance(by duration: Duration) { move(to: now.advanced(by: duration)) }

  /// Advances the clock to the deadline of the current call, if it has one of this clock, and waits until it is cancelled.
  func passDeadline() async {
    guard let left = Deadline.current?.remaining() else { return }
    move(to: now.advanced(by: left))
    guard Deadline.hasPassed else { return }
    // Ended by the cancellation, which follows at once.
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
}

/// The time of the latest exchange plus the time since.
///
/// Recording and replay both use it, from the same whole second on, so that results computed from the
/// date right after an exchange are the same.
final class ExchangeTime: Sendable {
  private let latest: Mutex<(time: Date, at: Duration)?>
  private let before: @Sendable () -> Date
  private let elapsed: @Sendable () -> Duration

  /// Without a `start` it begins with `before`, the real time.
  init(
    from start: Date? = nil, before: @escaping @Sendable () -> Date, on clock: some Clock<Duration>
  ) {
    let begin = clock.now
    elapsed = { begin.duration(to: clock.now) }
    self.before = before
    latest = Mutex(start.map { ($0, .zero) })
  }

  var now: Date {
    guard let latest = latest.withLock({ $0 }) else { return before() }
    return latest.time.addingTimeInterval((elapsed() - latest.at) / .seconds(1))
  }

  /// The real time in whole seconds, as it is recorded.
  var stamp: Date { Date(timeIntervalSince1970: before().timeIntervalSince1970.rounded(.down)) }

  /// Sets the time of the latest exchange, unless a later one was set.
  func advance(to time: Date) {
    let at = elapsed()
    latest.withLock { latest in
      if (latest?.time ?? time) <= time { latest = (time, at) }
    }
  }
}
