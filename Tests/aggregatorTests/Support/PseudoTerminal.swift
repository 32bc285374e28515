import Foundation

/// A terminal under control of the test.
final class PseudoTerminal: Sendable {
  /// The terminal end, for the program.
  let descriptor: Int32

  private let keyboard: Int32

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

  /// Sets the size in cells, and that of a cell in pixels.
  func widen(to cells: UInt16, rows: UInt16 = 60, cell: (width: UInt16, height: UInt16) = (0, 0)) {
    var size = winsize(
      ws_row: rows, ws_col: cells, ws_xpixel: cells * cell.width, ws_ypixel: rows * cell.height)
    _ = ioctl(keyboard, UInt(TIOCSWINSZ), &size)
  }

  /// Waits for output, which may end in the middle of a character.
  ///
  /// - Returns: Nothing if the time limit, in milliseconds, has passed.
  func shown(within milliseconds: Int32) -> [UInt8] {
    var awaited = pollfd(fd: keyboard, events: Int16(POLLIN), revents: 0)
    guard poll(&awaited, 1, milliseconds) == 1 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(keyboard, &bytes, bytes.count)
    return Array(bytes.prefix(max(count, 0)))
  }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(keyboard, bytes, bytes.count)
  }
}
