import Foundation

/// Standard output, or another descriptor, written so that every failure is noticed.
///
/// `print` loses data on a full disk and goes on after the reader has left, both with exit code 0;
/// `FileHandle.write(_:)` crashes in both cases.
struct Output: Sendable {
  /// The reader closed its end of the pipe: no more is wanted, and nothing is wrong.
  struct ReaderGone: Error {}

  private let descriptor: Int32
  private let name: String

  /// A descriptor that is open for writing.
  ///
  /// - Parameters:
  ///   - descriptor: Its number.
  ///   - name: What it is called when writing fails.
  init(descriptor: Int32, named name: String = "standard output") {
    self.descriptor = descriptor
    self.name = name
  }

  /// Writes all of a text.
  ///
  /// - Throws: ``ReaderGone``, or ``CommandError`` with code `io`.
  func write(_ text: String) throws {
    var text = text
    try text.withUTF8 { bytes in
      try ProgressLine.aside { try write(UnsafeRawBufferPointer(bytes)) }
    }
  }

  /// Writes all of some bytes, which need not be text: never to a terminal.
  ///
  /// - Throws: ``ReaderGone``, or ``CommandError`` with code `io`.
  func write(_ bytes: Data) throws { try bytes.withUnsafeBytes { try write($0) } }

  private func write(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = UnsafeRawBufferPointer(rebasing: rest)
      let count = Foundation.write(descriptor, piece.baseAddress, piece.count)
      if count >= 0 {
        rest = rest.dropFirst(count)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = Foundation.poll(&poll, 1, -1)
      case EPIPE: throw ReaderGone()
      case let number:
        throw CommandError(
          .io, "cannot write to \(name): \(String(cString: strerror(number)))",
          hint: number == ENOSPC ? "free some space and try again" : nil)
      }
    }
  }
}

/// Standard input, output and error.
enum StandardDescriptors {
  /// Takes the place of those that the caller closed.
  ///
  /// The next file or connection would get their number, and what is meant for a person would go to a
  /// service. They are opened the wrong way round, so that using them fails as if they were closed.
  static func fill() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) < 0 {
      // The system gives the lowest number that is free, which is this one.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
