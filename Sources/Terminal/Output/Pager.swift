package import AggregatorKit
import Dispatch

/// A program that shows text page by page, such as `less`.
package struct Pager: Hashable, Sendable {
  /// The program's path and its arguments.
  package private(set) var words: [String]

  package let variables: [String: String]

  /// The pager that these variables choose; `nil` for none, or if it is not installed.
  ///
  /// As with `git`, `less` quits at the end of a text of one screen, keeps colors and leaves the text on the
  /// screen.
  package init?(_ variables: [String: String], of program: ProgramName) {
    let text = variables[program.variable("PAGER")] ?? variables["PAGER"] ?? "less"
    guard text.split(whereSeparator: \.isWhitespace) != ["cat"],
      let words = ExternalProgram.words(of: text, variables)
    else { return nil }
    self.words = words
    self.variables = ["LESS": "FRX", "LV": "-c"].merging(variables) { $1 }
  }

  private var isLess: Bool { URL(filePath: words[0]).lastPathComponent == "less" }

  /// This pager, with lines that are wider than the screen to be scrolled to if it is `less`, even if there are few.
  var scrolling: Pager {
    var pager = self
    if isLess { pager.words += ["-S", "-+F"] }
    return pager
  }

  /// This pager with the first line always on the screen; `nil` if it cannot keep it there, as `less` can since
  /// version 600.
  var pinningFirstLine: Pager? {
    guard isLess, let file = try? TemporaryFile(),
      ExternalProgram.run(
        [words[0], "--version"], variables, descriptors: [STDOUT_FILENO: file.descriptor]) == 0,
      let match = String(decoding: file.bytes, as: UTF8.self).prefixMatch(of: /less ([0-9]{1,6})/),
      let version = Int(match.1), version >= 600
    else { return nil }
    var pager = self
    pager.words.append("--header=1")
    return pager
  }

  /// A pager that runs and reads from a pipe.
  final class Session: Sendable {
    let output: Output

    private let child: pid_t
    private let pipe: Int32
    private let attributes: termios
    private let isRunning = DispatchGroup()

    /// `nil` if it cannot be started; `atEnd` is called once the pager has ended.
    init?(_ pager: Pager, atEnd: @escaping @Sendable () -> Void) {
      var ends: [Int32] = [-1, -1]
      guard AggregatorFoundation.pipe(&ends) == 0 else { return nil }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      var attributes = termios()
      tcgetattr(STDOUT_FILENO, &attributes)
      let child = ExternalProgram.start(
        pager.words, pager.variables, descriptors: [STDIN_FILENO: ends[0]])
      close(ends[0])
      guard let child else {
        close(ends[1])
        return nil
      }
      self.child = child
      self.attributes = attributes
      pipe = ends[1]
      output = Output(descriptor: pipe, named: "the pager")
      isRunning.enter()
      SystemThread.start(stackSize: 64 << 10) { [self] in
        let status = ExternalProgram.status(of: child)
        if status & 0x7F != 0 { restoreTerminal() }
        atEnd()
        isRunning.leave()
      }
    }

    /// Ends the text, and waits until the reader has ended the pager.
    func finish() {
      // Not closed: a write in another thread must not reach a file that gets the same number.
      let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
      dup2(null, pipe)
      close(null)
      let start = ContinuousClock.now
      isRunning.wait()
      Output.addWait(since: start)
    }

    /// Ends the pager before this program ends by the signal.
    ///
    /// Ctrl-C also reaches the pager, for which it is a key: the text ends, and the reader goes on.
    func end(by signal: Int32) {
      if signal == SIGINT { return finish() }
      kill(child, SIGTERM)
      _ = isRunning.wait(timeout: .now() + 1)
    }

    /// A pager that was killed leaves the terminal as it used it.
    private func restoreTerminal() {
      guard tcgetpgrp(STDOUT_FILENO) == getpgrp() else { return }
      var attributes = attributes
      tcsetattr(STDOUT_FILENO, TCSADRAIN, &attributes)
    }
  }
}
