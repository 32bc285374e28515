import AggregatorLaws
import Foundation

/// A line on standard error that names the running check if the process crashes.
///
/// A trap, such as an index out of range, ends the process before any issue can be recorded.
enum CrashNote {
  /// Later calls have no effect.
  static func install() { _ = previous }

  /// The actions before ours, which run after it: a backtrace, or the end of the process.
  private static let previous: [(number: Int32, action: sigaction)] =
    [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE].map { number in
      var (before, action) = (sigaction(), sigaction())
      #if canImport(Darwin)
        action.__sigaction_u.__sa_handler = CrashNote.write
      #else
        action.__sigaction_handler.sa_handler = CrashNote.write
      #endif
      action.sa_flags = SA_ONSTACK
      sigaction(number, &action, &before)
      return (number, before)
    }

  /// Runs in the thread that crashed, and so in its task, without allocating memory.
  ///
  /// When it returns, the instruction traps again, under the previous action.
  private static let write: @convention(c) (Int32) -> Void = { number in
    if var name = RunningCheck.name {
      put("\ncrashed in the check of ")
      name.withUTF8 { _ = Foundation.write(STDERR_FILENO, $0.baseAddress, $0.count) }
      put("\n")
    }
    for index in previous.indices where previous[index].number == number {
      var action = previous[index].action
      sigaction(number, &action, nil)
    }
  }

  private static func put(_ text: StaticString) {
    _ = Foundation.write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
  }
}
