import AggregatorKit
import AggregatorTerminal
import CAggregatorLineEditor
import Synchronization

/// The lines that a person types: with a line editor if one is installed and the terminal has a cursor.
package final class ConsoleInput: Sendable {
  enum Line {
    /// `isFirst` is true if Ctrl-C has dropped the lines before.
    case text(String, isFirst: Bool = false)
    /// Ctrl-C: the statement is dropped.
    case cleared
    /// Ctrl-D.
    case end
  }

  private static let prompt = "sql> "
  private static let continuation = "...> "

  /// The names of libedit and GNU Readline, which differ only in details here.
  private static let libraries = [
    "libedit.so.2", "libedit.so.0", "libreadline.so.8", "libedit.3.dylib",
  ]

  /// True if a line editor is installed.
  package static var hasLibrary: Bool { libraries.contains { cline_load($0, complete) } }

  private let hasEditor: Bool
  private let output: Output
  private let isCleared = Mutex(false)

  /// Offers these words after Tab.
  init(on terminal: Terminal, _ output: Output, completing words: SQLWords) {
    self.output = output
    hasEditor = terminal.obeysEscapes && Self.hasLibrary
    consoleWords.withLock { $0 = words }
  }

  func remember(_ line: String) {
    if hasEditor { cline_remember(line) }
  }

  /// Reads a line of a statement that begins with `text`.
  func read(after text: String) throws -> Line {
    let prompt =
      text.isEmpty ? Self.prompt : (text.openQuote.map(String.init) ?? "") + Self.continuation
    guard hasEditor else { return try readPlainly(prompt) }
    consoleWords.withLock { $0.statement = text }
    var shown = termios()
    tcgetattr(STDIN_FILENO, &shown)
    var editing = shown
    // Ctrl-C and Ctrl-D are keys of the editor, which takes over the terminal only after its prompt: a Ctrl-D typed in
    // between would otherwise become null, after which libedit inserts the next key as a character. Suspending is
    // disabled: the shell would restore the terminal, and leave it so after resuming.
    let disabled = cc_t(truncatingIfNeeded: fpathconf(STDIN_FILENO, Int32(_PC_VDISABLE)))
    withUnsafeMutableBytes(of: &editing.c_cc) {
      $0[Int(VINTR)] = disabled
      $0[Int(VEOF)] = disabled
      $0[Int(VSUSP)] = disabled
    }
    // The editor may be about to take over the terminal when a signal ends the program: it then finds none.
    let terminal = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
    Interruption.delay()
    let restoration = Interruption.atEnd { [shown] in
      var shown = shown
      if terminal >= 0 { dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO) }
      tcsetattr(max(terminal, STDIN_FILENO), TCSADRAIN, &shown)
    }
    tcsetattr(STDIN_FILENO, TCSADRAIN, &editing)
    Interruption.allow()
    defer {
      tcsetattr(STDIN_FILENO, TCSADRAIN, &shown)
      restoration.cancel()
      if terminal >= 0 { close(terminal) }
    }
    var isCleared = false
    guard let line = cline_read(prompt, &isCleared) else {
      try output.write("\n")
      return isCleared ? .cleared : .end
    }
    defer { free(line) }
    return .text(String(cString: line))
  }

  private func readPlainly(_ prompt: String) throws -> Line {
    // The terminal drops the line itself, and reading goes on.
    defer { Interruption.onInterrupt {} }
    Interruption.onInterrupt { [self] in
      isCleared.withLock { $0 = true }
      try? output.write("\n\(Self.prompt)")
    }
    try output.write(prompt)
    guard let line = readLine() else {
      try output.write("\n")
      return .end
    }
    let isFirst = isCleared.withLock { isCleared in
      defer { isCleared = false }
      return isCleared
    }
    return .text(line, isFirst: isFirst)
  }
}

extension String {
  /// The quote of SQL that has begun and not ended; `nil` outside of texts and quoted names.
  fileprivate var openQuote: Character? {
    replacing(/'[^']*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/, with: "")
      .first { $0 == "'" || $0 == "\"" }
  }
}

/// A C function has no context; there is one console at a time.
private let consoleWords = Mutex(SQLWords([], commands: []))

private func complete(
  _ word: UnsafePointer<CChar>?, _ index: Int32, _ line: UnsafePointer<CChar>?, _ start: Int32
) -> UnsafeMutablePointer<CChar>? {
  guard let word else { return nil }
  let words = consoleWords.withLock(\.self)
    .completions(
      of: String(cString: word), in: line.map { String(cString: $0) } ?? "", from: Int(start))
  return words.indices.contains(Int(index)) ? strdup(words[Int(index)]) : nil
}
