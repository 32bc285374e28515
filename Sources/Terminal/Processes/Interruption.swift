package import AggregatorFoundation
import Dispatch
import Synchronization

/// Signals that end the program, such as Ctrl-C: it cleans up and ends at once by the signal, so that a
/// shell or a script sees it as interrupted (130, 143).
///
/// The signals are blocked in every thread, and the main thread waits for them: a dispatch source
/// occasionally lost one, and a signal handler may do next to nothing.
package enum Interruption {
  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  /// A clean-up before the program ends by a signal, such as restoring the terminal.
  package struct CleanUp: Sendable {
    fileprivate let number: Int

    /// Nothing is left to clean up.
    package func cancel() {
      Interruption.cleanUps.withLock { $0.removeAll { $0.number == number } }
    }
  }

  private typealias Action = (number: Int, run: @Sendable () -> Void)

  /// In the order of their registration.
  private static let cleanUps = Mutex<[Action]>([])

  private static let lastNumber = Atomic(0)

  /// Registers a clean-up; those registered earlier run first.
  package static func atEnd(_ run: @escaping @Sendable () -> Void) -> CleanUp {
    let number = lastNumber.add(1, ordering: .relaxed).newValue
    cleanUps.withLock { $0.append((number, run)) }
    return CleanUp(number: number)
  }

  /// Runs what is still registered when the program ends by itself: another thread may keep a value, and with it a
  /// directory, for a moment longer than the task that used it.
  package static func cleanUp() {
    for action in cleanUps.withLock(\.self) { action.run() }
  }

  private static let starting = DispatchSemaphore(value: 1)

  /// Delays the clean-ups until ``allow()``, so that what is being started is registered by then.
  package static func delay() { starting.wait() }

  /// Ends ``delay()``.
  package static func allow() { starting.signal() }

  private static let firstAction = Mutex<(@Sendable (Int32) -> Void)?>(nil)

  /// Registers an action that runs before the clean-ups and may take as long as it needs, such as waiting
  /// for the reader of a pager; all signals but Ctrl-C end the program meanwhile.
  ///
  /// `nil` removes it.
  package static func first(_ run: (@Sendable (Int32) -> Void)?) {
    firstAction.withLock { $0 = run }
  }

  private static let interrupt = Mutex<(@Sendable () -> Void)?>(nil)

  /// Registers an action for Ctrl-C, which then does not end the program; `nil` removes it.
  package static func onInterrupt(_ run: (@Sendable () -> Void)?) {
    interrupt.withLock { $0 = run }
  }

  /// Makes `write` fail on a closed pipe instead of ending the program.
  package static func ignoreClosedPipes() { signal(SIGPIPE, SIG_IGN) }

  /// Blocks the signals, and returns them.
  ///
  /// Call it before any thread is created, because threads inherit the signal mask. Signals that the caller ignores
  /// (`nohup`, a background job) stay ignored.
  package static func block() -> sigset_t {
    var blocked = sigset_t()
    sigemptyset(&blocked)
    for number in signals where !isIgnored(number) { sigaddset(&blocked, number) }
    pthread_sigmask(SIG_BLOCK, &blocked, nil)
    return blocked
  }

  /// Waits for the blocked signals on this thread.
  package static func wait(for blocked: sigset_t) -> Never {
    var blocked = blocked
    var signal: Int32 = 0
    while true {
      guard sigwait(&blocked, &signal) == 0 else { continue }
      if signal == SIGINT, let run = interrupt.withLock(\.self) { run() } else { die(of: signal) }
    }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    #if canImport(Darwin)
      return action.__sigaction_u.__sa_handler == SIG_IGN
    #else
      return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        == unsafeBitCast(SIG_IGN, to: Int.self)
    #endif
  }

  /// Cleans up, for at most six seconds: its messages may block, and another program has two of them to end.
  private static func end() {
    // Nothing starts any more.
    delay()
    let actions = cleanUps.withLock(\.self)
    // Without clean-up nothing may block: a pager may hold up the output.
    guard !actions.isEmpty else { return ProgressLine.closeWithoutBlocking() }
    let isDone = DispatchSemaphore(value: 0)
    SystemThread.start {
      ProgressLine.close()
      for action in actions { action.run() }
      isDone.signal()
    }
    _ = isDone.wait(timeout: .now() + 6)
  }

  private static func die(of number: Int32) {
    if let first = firstAction.withLock(\.self) {
      for other in signals where other != SIGINT && other != number && !isIgnored(other) {
        restore(other)
      }
      first(number)
    }
    end()
    restore(number)
    raise(number)
  }

  private static func restore(_ number: Int32) {
    signal(number, SIG_DFL)
    // A blocked signal would stay pending.
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }
}
