import AggregatorFoundation
import AggregatorQueries
import AggregatorTerminal

/// The terminal on which the browser draws.
struct BrowseDevice: Sendable {
  let input: Int32
  let output: Int32
  /// True if Ctrl-C and Ctrl-Z are keys.
  let keepsKeys: Bool

  static let standard = BrowseDevice(
    input: STDIN_FILENO, output: STDOUT_FILENO, keepsKeys: false)

  /// The terminal for a question amid a command whose output may go to a pipe: standard output, else the terminal that
  /// controls the process, else standard error; `nil` if nobody can be asked.
  static func asking(_ context: CommandContext) -> BrowseDevice? {
    guard !context.invocation.has(.noInput), context.terminal.obeysEscapes,
      isatty(STDIN_FILENO) == 1
    else { return nil }
    // In the background nobody types. A terminal that does not control the process has no foreground.
    let foreground = tcgetpgrp(STDIN_FILENO)
    guard foreground < 0 || foreground == getpgrp() else { return nil }
    if isatty(STDOUT_FILENO) == 1 {
      return BrowseDevice(input: STDIN_FILENO, output: STDOUT_FILENO, keepsKeys: true)
    }
    // It stays open up to the end of the process. Standard error is another file while the screen is shown.
    var output = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    if output < 0, isatty(STDERR_FILENO) == 1 {
      output = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
    }
    return output < 0
      ? nil : BrowseDevice(input: STDIN_FILENO, output: output, keepsKeys: true)
  }
}
