import Foundation

/// A terminal that nobody sits at.
final class PseudoTerminal: Sendable {
  /// The end that a program takes for a terminal.
  let descriptor: Int32

  private let keyboard: Int32

  init() throws {
    #if os(Linux)
      // What `grantpt` and its kin do, which Swift does not know here; see `ioctl_tty(2)`.
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

  /// Whether what is typed is shown.
  var showsTyping: Bool {
    var attributes = termios()
    tcgetattr(descriptor, &attributes)
    return attributes.c_lflag & tcflag_t(ECHO) != 0
  }

  /// Has lines of so many cells.
  func widen(to cells: UInt16) {
    var size = winsize(ws_row: 60, ws_col: cells, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(keyboard, UInt(TIOCSWINSZ), &size)
  }

  /// What is shown next, as bytes that may end in the middle of a character; waits for it.
  ///
  /// - Parameter milliseconds: For how long.
  /// - Returns: Nothing if it took longer.
  func shown(within milliseconds: Int32) -> [UInt8] {
    var awaited = pollfd(fd: keyboard, events: Int16(POLLIN), revents: 0)
    guard poll(&awaited, 1, milliseconds) == 1 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(keyboard, &bytes, bytes.count)
    return Array(bytes.prefix(max(count, 0)))
  }

  /// Types.
  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(keyboard, bytes, bytes.count)
  }
}
