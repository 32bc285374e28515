import Synchronization

/// Lets calls through at a rate, in the order of their coming.
final class Turnstile<C: Clock<Duration>>: Sendable {
  let rate: Rate
  private let cost: Int
  private let clock: C
  private let start: C.Instant
  private let windows = Mutex<[CallKind: SlidingWindow]>([:])

  init(_ rate: Rate, cost: Int, on clock: C) {
    self.rate = rate
    self.cost = cost
    self.clock = clock
    start = clock.now
  }

  /// Waits for this call's turn.
  func pass(_ kind: CallKind) async throws(SourceError) {
    guard !Task.isCancelled else { throw .cancelled }
    let now = start.duration(to: clock.now)
    let turn = windows.withLock { windows in
      windows[kind, default: SlidingWindow(rate, cost: cost)].reserve(at: now) {
        Deadline.leavesRoom(for: $0)
      }
    }
    let wait = turn.time - now
    guard turn.isTaken else {
      throw SourceError(
        .rateLimited, "our own limit of \(rate) is used up",
        remedy: "try again in \(wait.inWords)", retryAfter: wait, cause: QuotaUsedUp())
    }
    guard wait > .zero else { return }
    Observer.current(.waiting(wait, reason: "at most \(rate)"))
    do { try await clock.sleep(for: wait) } catch {
      windows.withLock { $0[kind]?.giveBack(turn.time) }
      throw .cancelled
    }
  }
}

/// Why a call failed that was never made: tells our own quota from the service's.
struct QuotaUsedUp: Error {}

/// The times of the last calls: exact, where a token bucket would let twice the rate through when a
/// burst follows a pause.
struct SlidingWindow: Sendable {
  /// At most so many calls in any such period.
  private let bounds: [(count: Int, period: Duration)]
  private let longest: Duration
  /// The times of calls that still count, ascending; some lie ahead.
  private var turns: [Duration] = []

  init(_ rate: Rate, cost: Int = 1) {
    precondition(cost > 0, "a call that costs \(cost)")
    bounds = rate.bounds.map { (max($0.count / cost, 1), $0.period) }
    longest = rate.bounds.map(\.period).max() ?? .zero
  }

  /// The next free time; taken if `accepts` agrees to wait for it.
  mutating func reserve(
    at now: Duration, accepts: (Duration) -> Bool
  ) -> (time: Duration, isTaken: Bool) {
    turns.removeFirst(turns.prefix { $0 + longest <= now }.count)
    // A turn that is given back may leave a gap; later callers still queue behind the last one.
    let time = bounds.reduce(max(now, turns.last ?? now)) { time, bound in
      turns.count < bound.count ? time : max(time, turns[turns.count - bound.count] + bound.period)
    }
    let isTaken = time <= now || accepts(time - now)
    if isTaken { turns.append(time) }
    return (time, isTaken)
  }

  mutating func giveBack(_ time: Duration) {
    if let index = turns.lastIndex(of: time) { turns.remove(at: index) }
  }
}
