import AggregatorFoundation

/// The pictures that a terminal can show.
package struct TerminalGraphics: Sendable {
  package let format: Picture.Format

  /// The colors of symbols, under the name that `chafa` has for them.
  package let colors: String

  /// Asks the terminal if its variables do not tell.
  package init(
    _ variables: [String: String], of terminal: Int32 = STDOUT_FILENO, hasColor: Bool,
    obeysEscapes: Bool
  ) {
    let cell = Self.measuredCell(of: terminal)
    colors = hasColor ? Self.colors(variables) : "none"
    if !obeysEscapes {
      format = .symbols
    } else if let known = Self.format(variables) {
      format = known
    } else {
      // Without the size of a cell, sixels have no size either.
      format =
        cell != nil && TerminalQuery.attributes(of: terminal)?.contains(4) == true
        ? .sixels : .symbols
    }
  }

  /// The format of a terminal that is known by its variables.
  private static func format(_ variables: [String: String]) -> Picture.Format? {
    let (term, program) = (variables["TERM", default: ""], variables["TERM_PROGRAM", default: ""])
    // Inside a multiplexer the variables of the outer terminal are still set.
    let isInside = ["TMUX", "STY"].contains { variables[$0]?.isEmpty == false }
    if isInside || ["tmux", "screen"].contains(where: term.hasPrefix) { return nil }
    if ["xterm-kitty", "xterm-ghostty"].contains(term) || program == "ghostty" { return .kitty }
    if ["iTerm.app", "WezTerm"].contains(program) || variables["LC_TERMINAL"] == "iTerm2" {
      return .iterm
    }
    return nil
  }

  private static func colors(_ variables: [String: String]) -> String {
    let term = variables["TERM", default: ""]
    if ["truecolor", "24bit"].contains(variables["COLORTERM"]) || term.hasSuffix("-direct") {
      return "full"
    }
    return term.contains("256color") ? "256" : "16"
  }

  /// The size of a cell in pixels; `nil` if the terminal does not report it.
  package static func measuredCell(of terminal: Int32) -> (width: Int, height: Int)? {
    guard let size = Terminal.windowSize(of: terminal), size.ws_row > 0 else { return nil }
    let cell = (width: Int(size.ws_xpixel / size.ws_col), height: Int(size.ws_ypixel / size.ws_row))
    return cell.width > 0 && cell.height > 0 ? cell : nil
  }
}

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
