import Foundation
import Synchronization

/// Reads a secret without showing it: from a terminal with the echo off, else from standard input.
enum SecretInput {
  private static let mostBytes = 4096

  /// Reads one line.
  ///
  /// - Parameters:
  ///   - prompt: What to ask on a terminal.
  ///   - mayAsk: Whether a person may be asked.
  /// - Returns: The line without white space around it.
  /// - Throws: ``Failure`` with code `usage` if nothing was given.
  static func read(_ prompt: String, mayAsk: Bool) throws(Failure) -> String {
    let isTerminal = isatty(STDIN_FILENO) == 1
    guard !isTerminal || mayAsk else {
      throw Failure(.usage, "the value is missing", hint: "give it on standard input")
    }
    let line = isTerminal ? ask(prompt) : readLine(upTo: mostBytes)
    let value = line.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !value.isEmpty else { throw Failure(.usage, "no value was given; nothing was changed") }
    return value
  }

  private static func ask(_ prompt: String) -> String {
    let error = Output(descriptor: STDERR_FILENO)
    var shown = termios()
    tcgetattr(STDIN_FILENO, &shown)
    var hidden = shown
    hidden.c_lflag &= ~tcflag_t(ECHO)
    // A terminal left without echo would look dead, so an interruption brings it back too.
    Interruption.atEnd { [shown] in
      var shown = shown
      tcsetattr(STDIN_FILENO, TCSANOW, &shown)
    }
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
    try? error.write(prompt)
    let line = readLine(upTo: mostBytes)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
    Interruption.atEnd(nil)
    try? error.write("\n")
    return line
  }

  private static func readLine(upTo most: Int) -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while bytes.count < most {
      let count = Foundation.read(STDIN_FILENO, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1, byte != 0x0A else { break }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
