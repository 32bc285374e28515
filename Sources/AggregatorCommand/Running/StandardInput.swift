import AggregatorKit
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
  /// - Throws: ``CommandError`` with code `usage` if nothing was given.
  static func read(_ prompt: String, mayAsk: Bool) throws(CommandError) -> String {
    let isTerminal = isatty(STDIN_FILENO) == 1
    guard !isTerminal || mayAsk else {
      throw CommandError(.usage, "the value is missing", hint: "give it on standard input")
    }
    let bytes = isTerminal ? ask(prompt) : read { _ in false }
    guard bytes.count <= mostBytes else {
      throw CommandError(.usage, "the value is longer than \(mostBytes) bytes; nothing was changed")
    }
    let value = String(decoding: bytes, as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    guard !value.isEmpty else {
      throw CommandError(.usage, "no value was given; nothing was changed")
    }
    guard !value.contains(where: \.isNewline) else {
      throw CommandError(.usage, "the value has more than one line; nothing was changed")
    }
    return value
  }

  private static func ask(_ prompt: String) -> [UInt8] {
    let error = Output(descriptor: STDERR_FILENO)
    var shown = termios()
    tcgetattr(STDIN_FILENO, &shown)
    var hidden = shown
    hidden.c_lflag &= ~tcflag_t(ECHO)
    // Not to be suspended: a shell brings the echo back, and would leave it on afterwards.
    let disabled = cc_t(truncatingIfNeeded: fpathconf(STDIN_FILENO, Int32(_PC_VDISABLE)))
    withUnsafeMutableBytes(of: &hidden.c_cc) { $0[Int(VSUSP)] = disabled }
    // A terminal left without echo would look dead, so an interruption brings it back too.
    Interruption.atEnd { [shown] in
      var shown = shown
      tcsetattr(STDIN_FILENO, TCSANOW, &shown)
    }
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
    try? error.write(prompt)
    let line = read { $0 == UInt8(ascii: "\n") }
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
    Interruption.atEnd(nil)
    try? error.write("\n")
    return line
  }

  /// Reads up to a byte that ends it, or the end, or one byte more than a value can have.
  private static func read(until isEnd: (UInt8) -> Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while bytes.count <= mostBytes {
      let count = Foundation.read(STDIN_FILENO, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1, !isEnd(byte) else { break }
      bytes.append(byte)
    }
    return bytes
  }
}

/// Asks a person whether something is really to be done.
enum Confirmation {
  /// Asks, where there is somebody to ask.
  ///
  /// - Parameters:
  ///   - question: The question without its mark: `delete 3 users`.
  ///   - mayAsk: Whether a person may be asked.
  /// - Returns: `true` for `y` or `yes`.
  /// - Throws: ``CommandError`` with code `usage` where there is nobody to ask.
  static func ask(_ question: String, mayAsk: Bool) throws(CommandError) -> Bool {
    guard mayAsk, isatty(STDIN_FILENO) == 1 else {
      throw CommandError(.usage, "not without being asked to", hint: "give --yes to \(question)")
    }
    try? Output(descriptor: STDERR_FILENO).write("\(question.safeLine)? [y/N] ")
    let answer = readLine()?.trimmingCharacters(in: .whitespaces).lowercased()
    return answer == "y" || answer == "yes"
  }
}

/// Reads a query from standard input.
enum SQLInput {
  /// More than SQLite takes, so that it is the one to refuse.
  private static let mostBytes = 200_000

  /// Reads all of it.
  ///
  /// - Returns: The text.
  /// - Throws: ``CommandError`` with code `io`.
  static func read() throws(CommandError) -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while bytes.count < mostBytes {
      let count = Foundation.read(STDIN_FILENO, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw CommandError(.io, "cannot read standard input: \(String(cString: strerror(errno)))")
      }
      guard count > 0 else { break }
      bytes += chunk.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
