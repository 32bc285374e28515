import AggregatorText
import Dispatch
import Synchronization

extension DataSource {
  /// Fails every call that takes longer than `limit`, retries included, with `timedOut`.
  public func timeout(
    _ limit: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> some DataSource<Item> { Timeout(base: self, limit: limit, clock: clock) }
}

struct Timeout<Base: DataSource, C: Clock<Duration>>: Interceptor {
  let base: Base
  let limit: Duration
  let clock: C
  var label: String { "timeout(\(limit.text))" }

  func intercept<Answer: Sendable>(
    _ kind: CallKind, cachePolicy: CachePolicy,
    _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    let deadline = Deadline(after: limit, on: clock)
    let tightened = deadline.tightened
    let result = await withTaskGroup(of: Result<Answer, SourceError>.self) { group in
      group.addTask {
        await Deadline.$current.withValue(tightened) { await Result(catching: call) }
      }
      group.addTask {
        // The outer deadline does not apply to the wait that ends this call.
        let isOver = await Deadline.$current.withValue(nil) {
          // It may have been restarted meanwhile.
          while deadline.remaining() > .zero {
            let end = clock.now.advanced(by: deadline.remaining())
            guard await clock.reaches(end) else { return false }
          }
          return true
        }
        guard isOver else { return .failure(.cancelled) }
        return .failure(
          SourceError(
            .timedOut, "no answer within \(limit.text)",
            remedy: Remedy("allow more time, or retry later", .allowMoreTime)))
      }
      defer { group.cancelAll() }
      return await group.next() ?? .failure(.cancelled)
    }
    return try result.get()
  }
}

/// The time when the running call must end.
///
/// ``DataSource/timeout(_:clock:)`` sets it for everything below, so that no wait begins that cannot end
/// in time. An operator that waits asks it first, and an operator that limits the time of calls sets it.
public struct Deadline: Sendable {
  /// The deadline of the running call; `nil` if it has none.
  @TaskLocal public static var current: Deadline?
  /// The longest pause that the running call waits for if its service demands it; `nil` for any that ends in time.
  @TaskLocal package static var longestPause: Duration?
  /// The time left; negative if the deadline has passed.
  public let remaining: @Sendable () -> Duration
  /// Gives the running call its whole time again, but no more than an outer deadline leaves: what it has done so far was not
  /// what it was asked for.
  package let restart: @Sendable () -> Void

  /// True if a wait of this length ends before the current deadline, or there is none.
  public static func leavesRoom(for wait: Duration) -> Bool {
    current.map { wait < $0.remaining() } ?? true
  }

  /// True if the current deadline has passed.
  public static var hasPassed: Bool { !leavesRoom(for: .zero) }

  /// The earlier of this deadline and the current one.
  fileprivate var tightened: Deadline {
    guard let outer = Deadline.current else { return self }
    return Deadline(
      remaining: { [self] in min(remaining(), outer.remaining()) }, restart: restart)
  }

  public init(after duration: Duration, on clock: some Clock<Duration>) {
    let end = End(clock.now.advanced(by: duration))
    self.init(
      remaining: { clock.now.duration(to: end.instant.withLock(\.self)) },
      restart: {
        let new = clock.now.advanced(by: duration)
        end.instant.withLock { $0 = new }
      })
  }

  private init(
    remaining: @escaping @Sendable () -> Duration, restart: @escaping @Sendable () -> Void
  ) {
    self.remaining = remaining
    self.restart = restart
  }

  private final class End<Instant: Sendable>: Sendable {
    let instant: Mutex<Instant>

    init(_ instant: Instant) { self.instant = Mutex(instant) }
  }
}

extension Clock<Duration> {
  /// Waits until a time or the cancellation of the task, and frees its memory then.
  ///
  /// The wait for a deadline is nearly always cancelled, and a cancelled `Task.sleep` leaves 600 bytes
  /// behind until its time: megabytes, at hundreds of calls a second with half a minute each.
  ///
  /// - Returns: True if the time has come.
  package func reaches(_ deadline: Instant) async -> Bool {
    guard self is ContinuousClock else {
      return (try? await sleep(until: deadline, tolerance: nil)) != nil
    }
    let timer = Timer()
    let time = now.duration(to: deadline)
    await withTaskCancellationHandler {
      await withCheckedContinuation { timer.start(time, resuming: $0) }
    } onCancel: {
      timer.source.cancel()
    }
    return !Task.isCancelled
  }
}

/// A timer that can be cancelled on any thread.
///
/// Unchecked, because Dispatch objects are not annotated as `Sendable` on Linux: all of their functions
/// may be called on any thread.
private final class Timer: @unchecked Sendable {
  let source = DispatchSource.makeTimerSource()

  /// Resumes a continuation after some time, or when the timer is cancelled, even before this call.
  func start(_ time: Duration, resuming isOver: CheckedContinuation<Void, Never>) {
    // A source is cancelled once, by the first of the two; it then releases both handlers.
    source.setEventHandler { [self] in source.cancel() }
    source.setCancelHandler { isOver.resume() }
    // At most ten years, so that the nanoseconds fit.
    let nanoseconds = min(max(time / .nanoseconds(1), 0), 3e17)
    // An `Int` of nanoseconds is two seconds on a watch.
    let end = DispatchTime.now().uptimeNanoseconds + UInt64(nanoseconds)
    source.schedule(deadline: DispatchTime(uptimeNanoseconds: end))
    source.activate()
  }
}
