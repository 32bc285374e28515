import AggregatorFormats
package import AggregatorFoundation
import Synchronization

/// Standard output, or another descriptor, with every failure reported.
///
/// `print` loses data on a full disk and continues after the pipe is closed, both with exit code 0;
/// `FileHandle.write(_:)` crashes in both cases.
package struct Output: Sendable {
  /// The reader closed the pipe and wants no more, which is not an error.
  package struct ClosedPipe: Error {
    package init() {}
  }

  private let descriptor: Int32
  private let name: String
  /// `nil` if it is not compressed; shared by all copies of this output.
  private var compressor: Compressor?

  private final class Compressor: Sendable {
    let deflation: Mutex<Deflation>

    init() throws(FormatError) { deflation = Mutex(try Deflation()) }
  }

  private static let waiting = Mutex(Duration.zero)

  /// The time that all writing of this process and the ends of its pagers have taken, nearly all of it waiting for
  /// readers.
  package static var timeWaited: Duration { waiting.withLock(\.self) }

  /// Counts the time since an instant as spent waiting for a reader.
  static func addWait(since start: ContinuousClock.Instant) {
    waiting.withLock { $0 += .now - start }
  }

  var isStandardOutput: Bool { descriptor == STDOUT_FILENO }

  package init(descriptor: Int32, named name: String = "standard output") {
    self.descriptor = descriptor
    self.name = name
  }

  /// This output in the format of gzip, which ends with ``finish()``; throws ``CommandError`` with code `unavailable` if
  /// zlib is not installed.
  package func compressed() throws(CommandError) -> Output {
    var output = self
    do throws(FormatError) { output.compressor = try Compressor() } catch {
      throw CommandError(
        .unavailable, error.reason, hint: error.remedy.map { .words($0) })
    }
    return output
  }

  /// Writes the end of a compressed file; nothing follows it.
  package func finish() throws {
    guard let compressor else { return }
    try write(Data(compressor.deflation.withLock { try $0.compress([], isLast: true) }))
  }

  /// - Throws: ``ClosedPipe``, or ``CommandError`` with code `io`.
  package func write(_ text: String) throws {
    if let compressor {
      let bytes = Array(text.utf8)
      return try write(Data(compressor.deflation.withLock { try $0.compress(bytes) }))
    }
    var text = text
    try text.withUTF8 { bytes in
      try ProgressLine.aside { try write(UnsafeRawBufferPointer(bytes)) }
    }
  }

  /// For bytes that need not be text: never to a terminal.
  package func write(_ bytes: Data) throws { try bytes.withUnsafeBytes { try write($0) } }

  private func write(_ bytes: UnsafeRawBufferPointer) throws {
    let start = ContinuousClock.now
    defer { Self.addWait(since: start) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = UnsafeRawBufferPointer(rebasing: rest)
      let count = AggregatorFoundation.write(descriptor, piece.baseAddress, piece.count)
      if count >= 0 {
        rest = rest.dropFirst(count)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = AggregatorFoundation.poll(&poll, 1, -1)
      case EPIPE: throw ClosedPipe()
      case let number:
        throw CommandError(
          .io, "cannot write to \(name): \(String(cString: strerror(number)))",
          hint: number == ENOSPC ? "free some disk space and try again" : nil)
      }
    }
  }
}

package enum StandardDescriptors {
  /// Opens standard input, output and error if they are closed, or the next connection would get
  /// their number and messages; in the wrong mode, so that using them still fails.
  package static func fill() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) < 0 {
      // The system assigns the lowest free number, which is this one.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
