import AggregatorKit

/// The limit of the waits of this module, such as ``ScriptedSource/calls(atLeast:)`` and ``ManualClock/sleepers(atLeast:)``.
///
/// A test that waits for what never happens would hang. A wait that reaches its limit ends, and says what is missing: by default
/// the process ends with that message. A quarter of an hour is longer than the usual `timeLimit` of a suite, which names the
/// test and lets the others go on. To fail a single test instead, and sooner:
///
/// ```swift
/// let limit = WaitLimit(.seconds(60)) { Issue.record("\($0)") }
/// await WaitLimit.$current.withValue(limit) { await source.calls(atLeast: 2) }
/// ```
///
/// Waits of what is tested have no limit: a sleep on a ``ManualClock``, and a call at a closed ``Gate``.
public struct WaitLimit: Sendable {
  /// The limit of waits that this task begins.
  @TaskLocal public static var current: WaitLimit = WaitLimit()

  private let time: Duration
  private let clock: any Clock<Duration>
  private let report: @Sendable (String) -> Void

  /// - Parameter report: Receives what a wait has missed, in one line, before the wait ends.
  public init(
    _ time: Duration = .seconds(900), clock: any Clock<Duration> = ContinuousClock(),
    report: @escaping @Sendable (String) -> Void = { preconditionFailure($0) }
  ) {
    self.time = time
    self.clock = clock
    self.report = report
  }

  /// Waits until the limit is reached, or the task is cancelled; true if it is reached.
  func isReached() async -> Bool {
    let clock = clock
    return await Self.passes(time, on: clock)
  }

  private static func passes(_ time: Duration, on clock: some Clock<Duration>) async -> Bool {
    await clock.reaches(clock.now.advanced(by: time))
  }

  /// Reports a wait that has reached the limit.
  func end(missing: String) { report("waited \(time.text) in vain: \(missing)") }
}
