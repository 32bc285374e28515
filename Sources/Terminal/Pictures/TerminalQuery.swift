import AggregatorFoundation

/// Questions that the terminal itself answers.
enum TerminalQuery {
  /// Even over a slow line terminals answer sooner; those that never do cost this once.
  private static let limit = Duration.seconds(1)
  private static let maxBytes = 256

  /// The primary device attributes (DA1 of ECMA-48), such as 4 for sixels; `nil` if it does not answer.
  ///
  /// Every terminal and multiplexer knows this question, and ignores it at worst.
  static func attributes(of terminal: Int32 = STDOUT_FILENO) -> [Int]? {
    // In the background, asking would stop this program.
    guard isatty(terminal) == 1, fcntl(terminal, F_GETFL) & O_ACCMODE == O_RDWR,
      tcgetpgrp(terminal) == getpgrp()
    else { return nil }
    var shown = termios()
    guard tcgetattr(terminal, &shown) == 0 else { return nil }
    var silent = shown
    silent.c_lflag &= ~tcflag_t(ECHO | ICANON)
    let restoration = Interruption.atEnd { [shown] in
      var shown = shown
      tcsetattr(terminal, TCSANOW, &shown)
    }
    tcsetattr(terminal, TCSANOW, &silent)
    defer {
      tcsetattr(terminal, TCSANOW, &shown)
      restoration.cancel()
    }
    // Keys that were typed ahead are for the shell.
    guard !isReadable(terminal, within: .zero) else { return nil }
    do { try Output(descriptor: terminal).write("\u{1B}[c") } catch { return nil }
    return answer(of: terminal)
  }

  private static func answer(of terminal: Int32) -> [Int]? {
    let end = ContinuousClock.now + limit
    var text = ""
    while text.utf8.count < maxBytes, isReadable(terminal, within: end - .now) {
      var bytes = [UInt8](repeating: 0, count: maxBytes)
      let count = read(terminal, &bytes, bytes.count)
      guard count > 0 else { return nil }
      text += String(decoding: bytes.prefix(count), as: UTF8.self)
      if let match = text.firstMatch(of: /\u{1B}\[\?([0-9;]*)c/) {
        return match.1.split(separator: ";").compactMap { Int($0) }
      }
    }
    return nil
  }

  private static func isReadable(_ terminal: Int32, within limit: Duration) -> Bool {
    var awaited = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
    let milliseconds = max(0, Int32(limit / .milliseconds(1)))
    return poll(&awaited, 1, milliseconds) == 1 && awaited.revents & Int16(POLLIN) != 0
  }
}
