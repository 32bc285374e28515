import Foundation
import Synchronization
import Testing

/// A terminal under control of the test.
final class PseudoTerminal: Sendable {
  /// The terminal end, for the program.
  let descriptor: Int32

  private let keyboard: Int32
  private let unread = Mutex<[UInt8]>([])

  init() throws {
    #if os(Linux)
      // Instead of `grantpt` and the like, which Swift does not import here; see `ioctl_tty(2)`.
      keyboard = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      var number: UInt32 = 0
      var isLocked: Int32 = 0
      guard keyboard >= 0, ioctl(keyboard, 0x8004_5430, &number) == 0,
        ioctl(keyboard, 0x4004_5431, &isLocked) == 0
      else { throw POSIXError(.ENXIO) }
      let name = "/dev/pts/\(number)"
    #else
      keyboard = posix_openpt(O_RDWR | O_NOCTTY)
      guard keyboard >= 0, grantpt(keyboard) == 0, unlockpt(keyboard) == 0,
        let name = ptsname(keyboard)
      else { throw POSIXError(.ENXIO) }
    #endif
    descriptor = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXError(.ENXIO) }
  }

  deinit {
    close(descriptor)
    close(keyboard)
  }

  /// `true` if the echo is on.
  var showsTyping: Bool {
    var attributes = termios()
    tcgetattr(descriptor, &attributes)
    return attributes.c_lflag & tcflag_t(ECHO) != 0
  }

  /// The modes of input, output, hardware and editing.
  var modes: [tcflag_t] {
    var attributes = termios()
    tcgetattr(descriptor, &attributes)
    return [attributes.c_iflag, attributes.c_oflag, attributes.c_cflag, attributes.c_lflag]
  }

  /// Sets the size in cells, and that of a cell in pixels.
  func widen(to cells: UInt16, rows: UInt16 = 60, cell: (width: UInt16, height: UInt16) = (0, 0)) {
    var size = winsize(
      ws_row: rows, ws_col: cells, ws_xpixel: cells * cell.width, ws_ypixel: rows * cell.height)
    _ = ioctl(keyboard, UInt(TIOCSWINSZ), &size)
  }

  /// Waits for output, which may end in the middle of a character.
  ///
  /// - Returns: Nothing if the time limit, in milliseconds, has passed.
  func shown(within milliseconds: Int32) async -> [UInt8] {
    await Self.blocking { [self] in read(within: milliseconds) }
  }

  /// Reads the output until it contains these texts, one after another; what follows them is read next.
  ///
  /// - Throws: `POSIXError` after ten minutes.
  @discardableResult func read(until texts: String...) async throws -> String {
    let (screen, isThere) = await Self.blocking { [self] in
      var bytes: [UInt8] = []
      let end = ContinuousClock.now + .seconds(600)
      while ContinuousClock.now < end {
        bytes += read(within: 1000)
        if let count = Self.end(of: texts, in: bytes) {
          unread.withLock { $0 = Array(bytes[count...]) }
          return (String(decoding: bytes[..<count], as: UTF8.self), true)
        }
      }
      return (String(decoding: bytes, as: UTF8.self), false)
    }
    guard isThere else {
      Issue.record("'\(texts)' is not in: \(screen)")
      throw POSIXError(.ETIMEDOUT)
    }
    return screen
  }

  private static func end(of texts: [String], in bytes: [UInt8]) -> Int? {
    var rest = bytes[...]
    for text in texts {
      guard let place = rest.firstRange(of: Array(text.utf8)) else { return nil }
      rest = rest[place.upperBound...]
    }
    return rest.startIndex
  }

  /// Runs on a thread of its own: blocked ones of Swift's few would stop all other tests.
  private static func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async
    -> Value
  {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: body()) }
    }
  }

  private func read(within milliseconds: Int32) -> [UInt8] {
    let early = unread.withLock { unread in
      defer { unread = [] }
      return unread
    }
    guard early.isEmpty else { return early }
    var awaited = pollfd(fd: keyboard, events: Int16(POLLIN), revents: 0)
    guard poll(&awaited, 1, milliseconds) == 1 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = Foundation.read(keyboard, &bytes, bytes.count)
    return Array(bytes.prefix(max(count, 0)))
  }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(keyboard, bytes, bytes.count)
  }

  /// Types a text again and again, and discards the output, until ``Typing/end()``.
  func keepTyping(_ text: String) -> Typing {
    Typing(
      task: Task {
        while !Task.isCancelled {
          type(text)
          _ = await shown(within: 300)
        }
      })
  }

  struct Typing {
    fileprivate let task: Task<Void, Never>

    func end() async {
      task.cancel()
      await task.value
    }
  }
}
