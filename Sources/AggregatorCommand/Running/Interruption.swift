import Foundation
import Synchronization

/// What happens on Ctrl-C and on SIGTERM: the program ends at once, by that signal, so that a shell or a
/// script sees it as interrupted (130, 143).
///
/// The signals are blocked in every thread and taken by one that waits for them. A dispatch source lost
/// one of them now and then; a handler may do next to nothing.
enum Interruption {
  private static let signals = [SIGINT, SIGTERM]

  private static let cleanUp = Mutex<(@Sendable () -> Void)?>(nil)

  /// What to do before the program ends by a signal, such as bringing a terminal back to order.
  ///
  /// - Parameter action: What to do; `nil` for nothing.
  static func atEnd(_ action: (@Sendable () -> Void)?) { cleanUp.withLock { $0 = action } }

  /// Starts to watch.
  ///
  /// Call it before anything makes a thread, because threads inherit what is blocked.
  static func watch() {
    // Writing to a pipe that nobody reads is an error of `write`, not the end of the program.
    signal(SIGPIPE, SIG_IGN)
    var watched = sigset_t()
    sigemptyset(&watched)
    // What the caller ignores (`nohup`, a background job) stays ignored.
    for number in signals where !isIgnored(number) { sigaddset(&watched, number) }
    pthread_sigmask(SIG_BLOCK, &watched, nil)
    let thread = Thread { [watched] in
      var watched = watched
      var number: Int32 = 0
      guard sigwait(&watched, &number) == 0 else { return }
      die(of: number)
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

  /// Cleans up, for a second at most: what is to be told of it may find nobody who reads.
  private static func end() {
    // Nothing is waited for where there is nothing to tell: a pager may hold up what is being written.
    guard let action = cleanUp.withLock(\.self) else { return ProgressLine.erase() }
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      ProgressLine.close()
      action()
      isDone.signal()
    }
    _ = isDone.wait(timeout: .now() + 1)
  }

  /// Ends the process by a signal.
  private static func die(of number: Int32) {
    end()
    signal(number, SIG_DFL)
    // A blocked signal would only stay pending.
    var this = sigset_t()
    sigemptyset(&this)
    sigaddset(&this, number)
    pthread_sigmask(SIG_UNBLOCK, &this, nil)
    raise(number)
  }
}
