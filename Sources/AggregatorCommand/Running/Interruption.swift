import Foundation
import Synchronization

/// Ctrl-C and SIGTERM: the program cleans up and ends at once by that signal, so that a shell or a
/// script sees it as interrupted (130, 143).
///
/// The signals are blocked in every thread and accepted by one that waits for them: a dispatch
/// source occasionally lost one, and a signal handler may do next to nothing.
enum Interruption {
  private static let signals = [SIGINT, SIGTERM]

  private static let cleanUp = Mutex<(@Sendable () -> Void)?>(nil)

  /// Sets the clean-up before the program ends by a signal, such as restoring the terminal.
  static func atEnd(_ action: (@Sendable () -> Void)?) { cleanUp.withLock { $0 = action } }

  /// Call it before any thread is created, because threads inherit the signal mask.
  static func watch() {
    // Writing to a closed pipe makes `write` fail instead of ending the program.
    signal(SIGPIPE, SIG_IGN)
    var watched = sigset_t()
    sigemptyset(&watched)
    // Signals that the caller ignores (`nohup`, a background job) stay ignored.
    for number in signals where !isIgnored(number) { sigaddset(&watched, number) }
    pthread_sigmask(SIG_BLOCK, &watched, nil)
    let thread = Thread { [watched] in
      var watched = watched
      var signal: Int32 = 0
      guard sigwait(&watched, &signal) == 0 else { return }
      die(of: signal)
    }
    thread.stackSize = 64 << 10
    thread.start()
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

  /// Cleans up, for at most a second: its messages may block.
  private static func end() {
    // Without clean-up nothing may block: a pager may hold up the output.
    guard let action = cleanUp.withLock(\.self) else { return ProgressLine.erase() }
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      ProgressLine.close()
      action()
      isDone.signal()
    }
    _ = isDone.wait(timeout: .now() + 1)
  }

  private static func die(of number: Int32) {
    end()
    signal(number, SIG_DFL)
    // A blocked signal would stay pending.
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(number)
  }
}
