import Dispatch

extension Clock<Duration> {
  /// Waits until a time comes or the task is cancelled, and leaves nothing behind.
  ///
  /// A deadline is a wait that is nearly always cancelled, and of a cancelled `Task.sleep` 600 bytes stay
  /// until its time has come: megabytes, where hundreds of calls a second have half a minute each.
  ///
  /// - Parameter deadline: The time.
  /// - Returns: Whether it has come.
  func reaches(_ deadline: Instant) async -> Bool {
    guard self is ContinuousClock else {
      return (try? await sleep(until: deadline, tolerance: nil)) != nil
    }
    await wait(for: now.duration(to: deadline))
    return !Task.isCancelled
  }
}

/// Waits for some time, or until the task is cancelled.
private func wait(for time: Duration) async {
  let timer = Timer()
  await withTaskCancellationHandler {
    await withCheckedContinuation { timer.start(time, resuming: $0) }
  } onCancel: {
    timer.source.cancel()
  }
}

/// A timer that tasks on any thread may cancel.
///
/// Unchecked, because Dispatch does not say on Linux that its objects are made for that: all of their
/// functions may be called on every thread.
private final class Timer: @unchecked Sendable {
  let source = DispatchSource.makeTimerSource()

  /// Resumes a continuation after some time, or when the timer is cancelled, even if it is already.
  func start(_ time: Duration, resuming isOver: CheckedContinuation<Void, Never>) {
    // A source is cancelled once, by whoever comes first; it then lets go of both handlers.
    source.setEventHandler { [self] in source.cancel() }
    source.setCancelHandler { isOver.resume() }
    // No more than ten years, for whom nanoseconds are no number.
    let nanoseconds = min(max(time / .nanoseconds(1), 0), 3e17)
    source.schedule(deadline: .now() + .nanoseconds(Int(nanoseconds)))
    source.activate()
  }
}
