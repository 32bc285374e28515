import AggregatorFoundation
import Synchronization

/// Standard output for listings, through a pager on a terminal if they are longer than the screen.
///
/// A screenful is held back before the pager starts. While it runs there is no progress line, and
/// messages wait until it has ended.
package final class ListingOutput: Sendable {
  private enum Phase {
    case direct
    case held(String)
    case paged(Pager.Session)
  }

  private struct State {
    var phase: Phase
    var isComplete = false
    /// The pager ended before the listing.
    var isDropped = false
    var isInterrupted = false
    var messages: [@Sendable () -> Void] = []
    var cancel: (@Sendable () -> Void)?
  }

  private let output: Output
  private let pager: Pager?
  private let size: (rows: Int, columns: Int)
  /// Held while writing, which may block, unlike the lock of the state.
  private let writing = Mutex(())
  private let state: Mutex<State>

  /// - Parameters:
  ///   - pager: `nil` to write directly.
  ///   - size: The size of the terminal in cells.
  package init(_ output: Output, through pager: Pager?, size: (rows: Int, columns: Int)) {
    self.output = output
    self.pager = pager
    self.size = size
    state = Mutex(State(phase: pager == nil ? .direct : .held("")))
  }

  /// - Throws: ``Output/ClosedPipe``, also if the pager has ended, or ``CommandError``.
  package func write(_ text: String) throws {
    try writing.withLock { _ in
      let (phase, isDropped) = state.withLock { ($0.phase, $0.isDropped) }
      guard !isDropped else { throw Output.ClosedPipe() }
      switch phase {
      case .direct: try output.write(text)
      case .paged(let session): try session.output.write(text.withoutCursorMovements)
      case .held(let earlier):
        let all = earlier + text
        // The prompt of the shell takes a row too.
        guard all.rows(in: size.columns) >= size.rows else {
          return state.withLock { $0.phase = .held(all) }
        }
        guard let session = start() else { return try writeDirectly(all) }
        try session.output.write(all.withoutCursorMovements)
      }
    }
  }

  /// The end of a listing: prints it if it fits the screen.
  package func flush() throws {
    state.withLock { $0.isComplete = true }
    try release()
  }

  /// Prints the text held back, and all that follows without a pager, unless that has started.
  package func release() throws {
    try writing.withLock { _ in
      if case .held(let text) = state.withLock(\.phase) { try writeDirectly(text) }
    }
  }

  private func writeDirectly(_ text: String) throws {
    state.withLock { $0.phase = .direct }
    if !text.isEmpty { try output.write(text) }
  }

  private func start() -> Pager.Session? {
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
    state.withLock { $0.phase = .paged(session) }
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
    if case .success = result, !isDropped { try flush() }
    if case .failure = result, !isDropped { try? release() }
    if isDropped { state.withLock { $0.messages = [] } }
    finish()
    return isDropped ? ended : try result.get()
  }

  private func finish() {
    guard case .paged(let session) = state.withLock(\.phase) else { return }
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

  /// Prints a message now, or after the end of the pager.
  package func say(_ message: @escaping @Sendable () -> Void) {
    let isKept = state.withLock { state in
      guard case .paged = state.phase else { return false }
      state.messages.append(message)
      return true
    }
    if !isKept { message() }
  }
}

extension String {
  /// The rows of a terminal that these lines take, or more.
  fileprivate func rows(in columns: Int) -> Int {
    split(separator: "\n", omittingEmptySubsequences: false).dropLast().reduce(0) { rows, line in
      rows + (line.utf8.contains(0x1B) ? 1 : max(1, (line.utf8.count + columns - 1) / columns))
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
        width +=
          piece.replacing(/\u{1B}\[[0-9;]*m|\u{1B}\]8;[^\u{1B}]*\u{1B}\\/, with: "").displayWidth
        text += piece + String(repeating: " ", count: max(0, column - width))
        width = max(width, column)
        rest = rest[move.range.upperBound...]
      }
      return text + rest
    }.joined(separator: "\n")
  }
}
