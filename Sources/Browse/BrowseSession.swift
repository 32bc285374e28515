import AggregatorFiles
import AggregatorKit
import AggregatorTerminal
import CAggregatorTerminal
import Synchronization

/// The loop between a terminal and a ``BrowseState``: it waits for keys and events, and draws.
///
/// Nothing else happens on its thread, so that no service, store or picture holds up a key.
final class BrowseSession: Sendable {
  /// Alternate screen, no wrapping at the right edge, the mouse, and pasted text marked as such.
  private static let enter: StaticString =
    "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?1000h\u{1B}[?1006h\u{1B}[?2004h\u{1B}[2J"
  private static let leave: StaticString =
    "\u{1B}[?2026l\u{1B}[?2004l\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?7h\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"
  /// The same after ``ScreenWriter/kittyRemoval``.
  private static let leaveKitty: StaticString =
    "\u{1B}[?2026l\u{1B}_Ga=d,d=A,q=2\u{1B}\\\u{1B}[?2004l\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?7h\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"

  /// The time after which an escape is a key of its own, in milliseconds.
  private static let escapeDelay: Int32 = 30
  /// Ages on the screen are renewed after this time, in milliseconds.
  private static let refreshInterval: Int32 = 20_000
  /// The same while a pause is counted down.
  private static let countdownInterval: Int32 = 500
  /// The time between two looks whether the program is in the foreground, in milliseconds.
  private static let backgroundInterval: Int32 = 250

  private let theme: Theme
  private let now: @Sendable () -> Date
  private let wake: Pipe
  private let held: TemporaryFile
  private let device: BrowseDevice
  private let leaving: StaticString
  private let output: Output
  private let events = Mutex<[BrowseEvent]>([])
  /// Held while drawing, so that nothing is drawn after the terminal was restored.
  private let drawing = Mutex(())
  private let result = Mutex<Result<Void, CommandError>?>(nil)
  private let choice = Mutex<[String]?>(nil)

  /// A pipe of which no end blocks.
  private struct Pipe: ~Copyable {
    let input: OpenFile
    let output: OpenFile

    init() throws(CommandError) {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else {
        throw CommandError(.io, "cannot create a pipe: \(String(cString: strerror(errno)))")
      }
      for end in ends {
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
      }
      input = OpenFile(owning: ends[0])
      output = OpenFile(owning: ends[1])
    }
  }

  /// - Parameter hasKitty: True if pictures may be those of kitty's protocol.
  init(
    _ theme: Theme, on device: BrowseDevice, hasKitty: Bool, now: @escaping @Sendable () -> Date
  ) throws(CommandError) {
    self.theme = theme
    self.device = device
    leaving = hasKitty ? Self.leaveKitty : Self.leave
    output = Output(descriptor: device.output, named: "the terminal")
    self.now = now
    wake = try Pipe()
    held = try TemporaryFile()
  }

  /// The reason for which the terminal was lost.
  var failure: Result<Void, CommandError>? { result.withLock(\.self) }

  /// The IDs that the person has picked; `nil` if they have left.
  var picked: [String]? { choice.withLock(\.self) }

  func post(_ event: BrowseEvent) {
    let isFirst = events.withLock { events in
      events.append(event)
      return events.count == 1
    }
    guard isFirst else { return }
    var byte = UInt8(ascii: "e")
    _ = write(wake.output.descriptor, &byte, 1)
  }

  /// Shows a state until the person leaves or the terminal is gone.
  func run(_ state: BrowseState, perform: @escaping (BrowseEffect) -> Void) {
    let loop = Loop(state: state, perform: perform)
    cterminal_use(device.input, device.output, device.keepsKeys)
    let isTaken = Self.enter.withUTF8Buffer { enter in
      leaving.withUTF8Buffer { leave in
        // Static strings end with a zero and stay.
        enter.withMemoryRebound(to: CChar.self) { enter in
          leave.withMemoryRebound(to: CChar.self) { leave in
            cterminal_begin(
              wake.output.descriptor, held.descriptor, enter.baseAddress, leave.baseAddress)
          }
        }
      }
    }
    guard isTaken else {
      return fail(CommandError(.io, "cannot take the terminal: the program is in the background"))
    }
    let restoration = Interruption.atEnd { [self] in drawing.withLock { _ in cterminal_end() } }
    defer {
      drawing.withLock { _ in cterminal_end() }
      restoration.cancel()
    }
    resize(loop)
    while !loop.isOver {
      draw(loop)
      wait(loop)
    }
    choice.withLock { $0 = loop.picked }
  }

  private final class Loop {
    var state: BrowseState
    let perform: (BrowseEffect) -> Void
    var writer = ScreenWriter()
    var decoder = InputDecoder()
    var cursor = ""
    var isOver = false
    var copied: [String] = []
    var picked: [String]?

    init(state: BrowseState, perform: @escaping (BrowseEffect) -> Void) {
      self.state = state
      self.perform = perform
    }

    func handle(_ event: BrowseEvent) {
      for effect in state.handle(event) {
        switch effect {
        case .quit: isOver = true
        case .pick(let ids):
          picked = ids
          isOver = true
        case .redraw: writer.reset()
        case .copy(let text):
          copied.append(text)
          perform(effect)
        default: perform(effect)
        }
      }
    }
  }

  private func fail(_ error: CommandError) { result.withLock { $0 = .failure(error) } }

  // MARK: - Input

  private func wait(_ loop: Loop) {
    var awaited = [
      pollfd(fd: device.input, events: Int16(POLLIN), revents: 0),
      pollfd(fd: wake.input.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    let isWaiting = loop.decoder.isWaiting
    let interval = loop.state.hasCountdown ? Self.countdownInterval : Self.refreshInterval
    let count = poll(&awaited, 2, isWaiting ? Self.escapeDelay : interval)
    loop.state.now = now()
    if count == 0, isWaiting {
      for input in loop.decoder.take([], isComplete: true) { loop.handle(.input(input)) }
    }
    guard count > 0 else { return }
    if awaited[1].revents != 0 { takeSignals(loop) }
    if awaited[0].revents != 0, cterminal_is_entered() { takeKeys(loop) }
    let posted = events.withLock { events in
      defer { events = [] }
      return events
    }
    for event in posted { loop.handle(event) }
  }

  private func takeKeys(_ loop: Loop) {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(device.input, &bytes, bytes.count)
    if count < 0, errno == EINTR || errno == EAGAIN { return }
    // The terminal is gone.
    guard count > 0 else {
      loop.isOver = true
      return
    }
    for input in loop.decoder.take(Array(bytes.prefix(count))) { loop.handle(.input(input)) }
  }

  /// Reads what signal handlers have written.
  private func takeSignals(_ loop: Loop) {
    let signals = takeBytes()
    if signals.contains(UInt8(CTERMINAL_STOPPED)) {
      drawing.withLock { _ in cterminal_leave() }
      cterminal_stop()
      enter(loop)
    } else if signals.contains(UInt8(CTERMINAL_CONTINUED)) {
      enter(loop)
    }
    if signals.contains(UInt8(CTERMINAL_RESIZED)) { resize(loop) }
  }

  private func takeBytes() -> ArraySlice<UInt8> {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(wake.input.descriptor, &bytes, bytes.count)
    return bytes.prefix(max(0, count))
  }

  /// Takes the terminal again, once the program is in the foreground.
  private func enter(_ loop: Loop) {
    while !drawing.withLock({ _ in cterminal_enter() }) {
      // No signal tells a program that runs in the background that it has come to the foreground.
      var awaited = pollfd(fd: wake.input.descriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&awaited, 1, Self.backgroundInterval)
      if takeBytes().contains(UInt8(CTERMINAL_STOPPED)) { cterminal_stop() }
    }
    resize(loop)
  }

  private func resize(_ loop: Loop) {
    let size = Terminal.windowSize(of: device.output)
    loop.writer.reset()
    loop.handle(
      .resized(
        width: size.map { Int($0.ws_col) } ?? 80,
        height: size.flatMap { $0.ws_row > 0 ? Int($0.ws_row) : nil } ?? 24))
  }

  // MARK: - Output

  private func draw(_ loop: Loop) {
    var view = BrowseView(loop.state, theme)
    var text = loop.writer.frame(view.draw())
    let cursor =
      view.cursor.map { "\u{1B}[\($0.row + 1);\($0.column + 1)H\u{1B}[?25h" } ?? "\u{1B}[?25l"
    if !text.isEmpty || cursor != loop.cursor { text += cursor }
    loop.cursor = cursor
    // Ctrl-C leaves the line that is being typed, as in a shell; elsewhere it ends the program, even if the loop hangs.
    let isTyping = loop.state.prompt != nil
    drawing.withLock { _ in cterminal_take_interrupt(isTyping) }
    for copied in loop.copied {
      // OSC 52: the terminal puts it on its clipboard, also over SSH.
      let data = Data(copied.utf8)
      text += "\u{1B}]52;c;\(data.base64EncodedString())\u{7}"
    }
    loop.copied = []
    guard !text.isEmpty else { return }
    do {
      try drawing.withLock { _ in
        if cterminal_is_entered() { try output.write(text) }
      }
    } catch {
      loop.isOver = true
    }
  }
}
