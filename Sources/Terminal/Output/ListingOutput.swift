import AggregatorFoundation
import Synchronization

/// Standard output for listings, through a pager on a terminal if they are longer than the screen.
///
/// A screenful is held back before the pager starts. While it runs there is no progress line, and
/// messages wait until it has ended. A table that fits the screen, but not with the messages that follow it, has the names
/// of its columns again at its end: a pager for a line or two would only be in the way.
package final class ListingOutput: Sendable {
  private enum Phase {
    case direct
    case held([Piece])
    case paged(Pager.Session, heads: HeadRepeater?)
  }

  private struct Piece {
    let text: String
    let head: String?

    var beginsWithHead: Bool { head.map(text.hasPrefix) ?? false }
  }

  private struct State {
    var phase: Phase
    var isComplete = false
    var isWide = false
    /// The pager ended before the listing.
    var isDropped = false
    var isInterrupted = false
    var messages: [@Sendable () -> Void] = []
    /// The rows that these take after a table.
    var rowsOfMessages = 0
    /// Printed in the place of ``messages`` if the pager ends before the listing.
    var messageIfDropped: (@Sendable () -> Void)?
    var cancel: (@Sendable () -> Void)?
  }

  private let output: Output
  private let pager: Pager?
  private let size: (rows: Int, columns: Int)
  /// The rows that messages after a table may take: only where it leaves fewer, it waits for them.
  private static let maxRowsOfMessages = 8

  /// Held while writing, which may block, unlike the lock of the state.
  private let writing = Mutex(Document())

  /// A document that neither a signal nor a failure must cut.
  private struct Document {
    /// The text that ends it now; `nil` for none.
    var ending: String?
    var cleanUp: Interruption.CleanUp?
    /// True after the end: nothing follows.
    var isOver = false
  }
  private let state: Mutex<State>

  /// - Parameters:
  ///   - pager: `nil` to write directly.
  ///   - size: The size of the terminal in cells.
  package init(_ output: Output, through pager: Pager?, size: (rows: Int, columns: Int)) {
    self.output = output
    self.pager = pager
    self.size = size
    state = Mutex(State(phase: pager == nil ? .direct : .held([])))
  }

  /// - Parameters:
  ///   - head: The line of the text that names the columns, which a pager shows on every screen.
  ///   - ending: The text that ends the document if a signal or a failure ends the program before the next text.
  /// - Throws: ``Output/ClosedPipe``, also if the pager has ended, or ``CommandError``.
  package func write(
    _ text: String, under head: String? = nil, endedBy ending: String? = nil
  ) throws {
    try writing.withLock { document in
      // The thread of the signal ends the program.
      while document.isOver { pause() }
      document.ending = ending
      // Another descriptor may be another file's by then, and this one is not saved.
      if ending == nil || !output.isStandardOutput {
        document.cleanUp?.cancel()
        document.cleanUp = nil
      } else if document.cleanUp == nil {
        document.cleanUp = Interruption.atEnd { [self] in endDocument() }
      }
      let (phase, isDropped, isComplete) = state.withLock {
        ($0.phase, $0.isDropped, $0.isComplete)
      }
      guard !isDropped else { throw Output.ClosedPipe() }
      switch phase {
      case .direct: try output.write(text)
      case .paged(let session, let heads):
        try page([Piece(text: text, head: head)], by: session, heads)
      case .held(let earlier) where isComplete:
        // Another one follows.
        try writeDirectly(earlier)
        try output.write(text)
      case .held(let earlier):
        let all = earlier + [Piece(text: text, head: head)]
        // The prompt of the shell takes a row too.
        let text = all.map(\.text).joined()
        let isWide = state.withLock(\.isWide) && text.isWider(than: size.columns)
        guard isWide || text.rows(in: size.columns) >= size.rows else {
          return state.withLock { $0.phase = .held(all) }
        }
        let first = all.first { !$0.text.isEmpty }
        let pager = isWide ? pager?.scrolling : pager
        let pinned = first?.beginsWithHead == true ? pager?.pinningFirstLine : nil
        guard let session = start(pinned ?? pager) else { return try writeDirectly(all) }
        try page(all, by: session, pinned == nil ? HeadRepeater(rows: size.rows - 1) : nil)
      }
    }
  }

  /// Completes the document that is written so far, unless it is held back or in a pager.
  private func endDocument() {
    writing.withLock { document in
      guard let ending = document.ending, case .direct = state.withLock(\.phase) else { return }
      document.isOver = true
      // Nobody reads it, or it is cut.
      try? output.write(ending)
    }
  }

  /// Lines that are wider than the screen are scrolled to in a pager, however few they are.
  package func widen() { state.withLock { $0.isWide = true } }

  private func page(
    _ pieces: [Piece], by session: Pager.Session, _ heads: HeadRepeater?
  ) throws {
    var heads = heads
    for piece in pieces {
      let text = piece.text.withoutCursorMovements
      let head = piece.head?.withoutCursorMovements
      try session.output.write(
        heads?.repeating(head, in: text, columns: size.columns) ?? text)
    }
    state.withLock { $0.phase = .paged(session, heads: heads) }
  }

  /// The end of a listing: prints it if it fits the screen, a table that nearly fills it together with the messages that
  /// follow.
  package func flush() throws {
    let fillsScreen = state.withLock { state in
      state.isComplete = true
      guard case .held(let pieces) = state.phase else { return false }
      return pieces.contains { $0.head != nil }
        && rows(of: pieces) + Self.maxRowsOfMessages >= size.rows
    }
    if !fillsScreen { try release() }
  }

  private func rows(of pieces: [Piece]) -> Int {
    pieces.reduce(0) { $0 + $1.text.rows(in: size.columns) }
  }

  /// Prints the text held back, and all that follows without a pager, unless that has started.
  package func release() throws {
    try writing.withLock { _ in
      if case .held(let pieces) = state.withLock(\.phase) { try writeDirectly(pieces) }
    }
  }

  private func writeDirectly(_ pieces: [Piece]) throws {
    let (messages, rowsBelow) = state.withLock { state in
      defer { (state.phase, state.messages) = (.direct, []) }
      return (state.messages, state.isComplete ? state.rowsOfMessages : 0)
    }
    var text = pieces.map(\.text).joined()
    // The prompt of the shell takes a row too.
    if rowsBelow > 0, rows(of: pieces) + rowsBelow >= size.rows {
      text += pieces.lazy.compactMap(\.head).last ?? ""
    }
    if !text.isEmpty { try output.write(text) }
    for message in messages { message() }
  }

  private func start(_ pager: Pager?) -> Pager.Session? {
    guard let pager else { return nil }
    ProgressLine.close()
    let session = Pager.Session(pager) { [self] in
      // The reader wants no more.
      let cancel = state.withLock { state in
        state.isDropped = !state.isComplete
        return state.isDropped ? state.cancel : nil
      }
      cancel?()
    }
    guard let session else { return nil }
    state.withLock { $0.phase = .paged(session, heads: nil) }
    Interruption.first { [self] signal in
      let cancel = state.withLock { state in
        state.isInterrupted = true
        return state.cancel
      }
      cancel?()
      session.end(by: signal)
    }
    return session
  }

  /// Runs `body`, which is cancelled if the reader ends the pager before the end of the listing.
  ///
  /// A reader who ends the pager wants no more: the result is then `ended`, whatever `body` throws.
  package func run<Value: Sendable>(
    ended: Value, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard pager != nil else { return try await body() }
    let task = Task { try await body() }
    state.withLock { $0.cancel = { task.cancel() } }
    let result = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
    }
    let isDropped = state.withLock { $0.isDropped || $0.isInterrupted }
    if case .success = result, !isDropped {
      state.withLock { $0.isComplete = true }
      try release()
    }
    if case .failure = result, !isDropped { try? release() }
    if isDropped {
      state.withLock { state in state.messages = state.messageIfDropped.map { [$0] } ?? [] }
    }
    finish()
    return isDropped ? ended : try result.get()
  }

  private func finish() {
    guard case .paged(let session, _) = state.withLock(\.phase) else { return }
    session.finish()
    let (messages, isInterrupted) = state.withLock { state in
      defer {
        state.phase = .direct
        state.messages = []
      }
      return (state.messages, state.isInterrupted)
    }
    // The thread of the signal ends the program.
    while isInterrupted { pause() }
    // Its process ID may be another program's by now.
    Interruption.first(nil)
    for message in messages { message() }
  }

  /// Prints a message after the end of the pager, instead of all others, if it ends before the listing.
  package func sayIfDropped(_ message: @escaping @Sendable () -> Void) {
    state.withLock { $0.messageIfDropped = message }
  }

  /// Prints a message of so many rows of this terminal now, or after the end of the pager or of a table.
  package func say(rows: Int = 0, _ message: @escaping @Sendable () -> Void) {
    let isKept = state.withLock { state in
      switch state.phase {
      case .paged: break
      case .held where state.isComplete: state.rowsOfMessages += rows
      case .held, .direct: return false
      }
      state.messages.append(message)
      return true
    }
    if !isKept { message() }
  }
}

/// Writes the head of a table again at the top of every screen, for pagers that cannot pin it.
private struct HeadRepeater {
  /// The rows that a pager shows of the text.
  let rows: Int
  /// The rows of the current screen that are written.
  private var row = 0

  init(rows: Int) { self.rows = rows }

  /// The text with its head wherever a screen begins.
  mutating func repeating(_ head: String?, in text: String, columns: Int) -> String {
    var result = ""
    var rest = text[...]
    while !rest.isEmpty {
      let end = rest.firstIndex(of: "\n").map { rest.index(after: $0) } ?? rest.endIndex
      let line = String(rest[..<end])
      rest = rest[end...]
      if row >= rows { row = 0 }
      if row == 0, let head, line != head {
        result += head
        row += 1
      }
      result += line
      row += line.rows(in: columns)
    }
    return result
  }
}

extension String {
  /// The rows of a terminal that these lines take, or more.
  fileprivate func rows(in columns: Int) -> Int {
    split(separator: "\n", omittingEmptySubsequences: false).dropLast().reduce(0) { rows, line in
      rows + (line.utf8.contains(0x1B) ? 1 : max(1, (line.utf8.count + columns - 1) / columns))
    }
  }

  /// This text without colors and links.
  private var withoutStyles: String {
    replacing(/\u{1B}\[[0-9;]*m|\u{1B}\]8;[^\u{1B}]*\u{1B}\\/, with: "")
  }

  /// True if a line takes more cells than a terminal has columns.
  fileprivate func isWider(than columns: Int) -> Bool {
    split(separator: "\n").contains { line in
      line.utf8.count > columns
        && String(line).withoutCursorMovements.withoutStyles.displayWidth > columns
    }
  }

  /// This text with spaces for `CSI n G`, which pagers show as text; see ``Line/move(to:)``.
  var withoutCursorMovements: String {
    guard utf8.contains(0x1B) else { return self }
    return split(separator: "\n", omittingEmptySubsequences: false).map { line in
      guard line.utf8.contains(0x1B) else { return String(line) }
      var text = ""
      var width = 0
      var rest = line
      while let move = rest.firstMatch(of: /\u{1B}\[([0-9]{1,5})G/) {
        let piece = rest[..<move.range.lowerBound]
        let column = (Int(move.1) ?? 1) - 1
        width += String(piece).withoutStyles.displayWidth
        text += piece + String(repeating: " ", count: max(0, column - width))
        width = max(width, column)
        rest = rest[move.range.upperBound...]
      }
      return text + rest
    }.joined(separator: "\n")
  }
}
