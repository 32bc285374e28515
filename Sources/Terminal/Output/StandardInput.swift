import AggregatorKit
import Synchronization

package enum StandardInput {
  /// Reads up to the end, up to a number of bytes, or one line without its break; throws `io`.
  package static func read(atMost maxSize: Int, isLine: Bool = false) throws(CommandError)
    -> [UInt8]
  {
    var bytes: [UInt8] = []
    // Byte by byte, so as not to take input after the line.
    var chunk = [UInt8](repeating: 0, count: isLine ? 1 : 16 << 10)
    while bytes.count < maxSize {
      let count = AggregatorFoundation.read(STDIN_FILENO, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw CommandError(.io, "cannot read standard input: \(String(cString: strerror(errno)))")
      }
      guard count > 0, !isLine || chunk[0] != UInt8(ascii: "\n") else { break }
      bytes += chunk.prefix(count)
    }
    return bytes
  }
}

package enum InputLine: Sendable {
  /// The bytes of a line, without its end.
  case bytes([UInt8])
  /// A line that is longer than allowed, and left out.
  case tooLong
}

/// Reads the lines of a descriptor one after the other, as they arrive; blank ones are left out.
package struct InputLines: IteratorProtocol {
  private let descriptor: Int32
  private let limit: Int
  private var buffer: [UInt8] = []
  private var start = 0
  private var isTooLong = false
  private var isAtEnd = false

  /// - Parameter limit: The most bytes of a line.
  package init(of descriptor: Int32, atMost limit: Int) {
    self.descriptor = descriptor
    self.limit = limit
  }

  package mutating func next() -> InputLine? {
    while true {
      if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = Array(buffer[start..<end])
        start = end + 1
        if isTooLong {
          isTooLong = false
          return .tooLong
        }
        if line.contains(where: { $0 > 0x20 }) { return .bytes(line) }
        continue
      }
      buffer.removeFirst(start)
      start = 0
      if buffer.count > limit {
        isTooLong = true
        buffer = []
      }
      if isAtEnd {
        defer { buffer = [] }
        if isTooLong {
          isTooLong = false
          return .tooLong
        }
        return buffer.contains { $0 > 0x20 } ? .bytes(buffer) : nil
      }
      fill()
    }
  }

  private mutating func fill() {
    let size = 64 << 10
    let old = buffer.count
    buffer += [UInt8](repeating: 0, count: size)
    var count = 0
    repeat {
      count = buffer.withUnsafeMutableBytes { bytes in
        read(descriptor, bytes.baseAddress.map { $0 + old }, size)
      }
    } while count < 0 && errno == EINTR
    buffer.removeLast(size - max(0, count))
    if count <= 0 { isAtEnd = true }
  }
}

package enum Confirmation {
  /// The answers `y` and `yes` are `true`; throws `usage` if it cannot ask.
  package static func ask(_ question: String, mayAsk: Bool) throws(CommandError) -> Bool {
    guard mayAsk, isatty(STDIN_FILENO) == 1 else {
      throw CommandError(.usage, "--yes is required when not running interactively")
    }
    let answer = ProgressLine.asking {
      try? Output(descriptor: STDERR_FILENO).write("\(question.safeLine)? [y/N] ")
      return readLine()?.trimmed.lowercased()
    }
    return answer == "y" || answer == "yes"
  }

  /// Asks for the number of an option; `nil` for an empty answer.
  package static func choose(_ question: String, among options: [String]) -> Int? {
    ProgressLine.asking {
      let error = Output(descriptor: STDERR_FILENO)
      let lines = options.enumerated().map { "  \($0 + 1)  \($1.safeLine)\n" }
      try? error.write("\(question.safeLine)\n\(lines.joined())")
      while true {
        try? error.write("Number, or Return to leave it open: ")
        guard let answer = readLine()?.trimmed, !answer.isEmpty else { return nil }
        if let number = Int(answer), 1...options.count ~= number { return number - 1 }
      }
    }
  }
}

/// A prompt for a secret, with the echo off; standard input if that is not a terminal.
package enum SecretInput {
  private static let maxSize = 4096

  /// The value of a setting, trimmed of white space; throws `usage` if there is no valid one.
  package static func read(_ key: String, mayAsk: Bool) throws(CommandError) -> String {
    let isTerminal = isatty(STDIN_FILENO) == 1
    guard !isTerminal || mayAsk else {
      throw CommandError(.usage, "missing value", hint: "pass it on standard input")
    }
    let bytes = isTerminal ? ProgressLine.asking { ask("\(key): ") } : read(isLine: false)
    guard bytes.count <= maxSize else {
      throw CommandError(.usage, "the value is longer than \(maxSize) bytes; nothing was changed")
    }
    let value = String(decoding: bytes, as: UTF8.self).trimmed
    guard !value.isEmpty else {
      throw isTerminal
        ? CommandError(.usage, "the value is empty; nothing was changed")
        : CommandError(
          .usage, "no value on standard input", hint: .command("config set \(key) < key.txt"))
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
    // Suspending is disabled: the shell would restore the echo, and leave it on after resuming.
    let disabled = cc_t(truncatingIfNeeded: fpathconf(STDIN_FILENO, Int32(_PC_VDISABLE)))
    withUnsafeMutableBytes(of: &hidden.c_cc) { $0[Int(VSUSP)] = disabled }
    // A terminal left without echo would look dead, so signals restore it too.
    let restoration = Interruption.atEnd { [shown] in
      var shown = shown
      tcsetattr(STDIN_FILENO, TCSANOW, &shown)
    }
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
    try? error.write(prompt)
    let line = read(isLine: true)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
    restoration.cancel()
    try? error.write("\n")
    return line
  }

  /// Reads one byte more than allowed; unreadable input counts as empty.
  private static func read(isLine: Bool) -> [UInt8] {
    (try? StandardInput.read(atMost: maxSize + 1, isLine: isLine)) ?? []
  }
}
