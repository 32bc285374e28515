import AggregatorKit
import Foundation
import Synchronization

/// Tells a person at a terminal what takes so long, once it has taken 300 ms.
final class Progress: Sendable {
  private struct State {
    /// The sources whose calls are under way, and how many calls.
    var calls: [String: Int] = [:]
    var replies = 0
    var pages = 0
    var records = 0
    /// Until when it waits, and why.
    var waiting: (end: ContinuousClock.Instant, reason: String)?
    var words: (@Sendable () -> String)?

    mutating func finish(_ source: String) {
      calls[source, default: 1] -= 1
      if calls[source, default: 0] <= 0 { calls[source] = nil }
    }
  }

  private let width: Int?
  private let start = ContinuousClock.now
  private let state = Mutex(State())

  private static let delay = Duration.milliseconds(300)
  private static let interval = Duration.milliseconds(100)

  /// Progress on a terminal, where there is one on standard error that obeys.
  init(on terminal: Terminal, isQuiet: Bool) {
    width = terminal.isError && terminal.obeysEscapes && !isQuiet ? terminal.width : nil
  }

  /// Watches over a run.
  ///
  /// - Returns: What draws, to be cancelled at the run's end; `nil` where nobody would see it.
  func begin() -> Task<Void, Never>? {
    width.map { width in
      // Not structured: the run that it watches is the rest of the program.
      Task {
        var pause = Self.delay
        while (try? await Task.sleep(for: pause)) != nil {
          if let words { ProgressLine.show(words, width: width) } else { ProgressLine.erase() }
          pause = Self.interval
        }
      }
    }
  }

  /// Says this from now on, instead of what the calls to sources tell.
  func say(_ words: @escaping @Sendable () -> String) { state.withLock { $0.words = words } }

  /// Takes in what a source does.
  func note(_ event: Event) {
    guard width != nil else { return }
    state.withLock { state in
      switch event {
      case .asked(let source, _): state.calls[source, default: 0] += 1
      case .answered(let source, _, _, let count):
        state.finish(source)
        state.pages += 1
        state.records += count
      case .failed(let source, _, _): state.finish(source)
      case .received: state.replies += 1
      case .waiting(let time, let reason): state.waiting = (.now + time, reason)
      default: break
      }
    }
  }

  /// What to wait for, and why; `nil` if nobody waits.
  var pause: String? {
    state.withLock(\.waiting).flatMap { waiting in
      let left = waiting.end - .now
      return left > .zero ? "waiting \(left.text): \(waiting.reason)" : nil
    }
  }

  /// How much there is of something for each second of the run.
  func rate(_ count: Int) -> String {
    "\(Int(Double(count) / max((ContinuousClock.now - start) / .seconds(1), 0.001)))/s"
  }

  private var words: String? {
    let state = state.withLock(\.self)
    if let words = state.words { return words() }
    guard !state.calls.isEmpty else { return nil }
    let names = state.calls.keys.sorted().joined(separator: ", ")
    func some(_ count: Int, _ what: String) -> String {
      "\(count) \(what)\(count == 1 ? "" : "s")"
    }
    var parts = ["asking"]
    if state.pages > 0 {
      parts = [some(state.pages, "page"), some(state.records, "record"), rate(state.records)]
    } else if state.replies > 0 {
      parts.append("\(state.replies) answered")
    }
    let amount = parts.joined(separator: ", ")
    return (["\(names): \(amount)"] + [pause].compactMap(\.self)).joined(separator: " · ")
  }
}

extension Observer {
  /// This observer, with a word to whoever shows progress.
  func telling(_ progress: Progress) -> Observer {
    Observer { event in
      progress.note(event)
      self(event)
    }
  }
}

/// The line at the bottom of the terminal that says how far a run has come.
///
/// There is one terminal, so there is one line. Whatever else is written takes it away first.
enum ProgressLine {
  private static let isShown = Mutex(false)
  /// Whether it is not to be shown any more.
  private static let isClosed = Mutex(false)
  private static let erasure = "\r\u{1B}[K"

  /// Shows a line in the place of the one before.
  ///
  /// Nothing happens while something else is being written, or if the task was cancelled.
  ///
  /// - Parameters:
  ///   - text: What it says.
  ///   - width: How many cells the terminal has.
  static func show(_ text: String, width: Int) {
    // The last cell stays free: some terminals break the line there.
    let line = text.safeLine.fitted(to: width - 1)
    isShown.withLockIfAvailable { isShown in
      guard !Task.isCancelled, !isClosed.withLock(\.self) else { return }
      write("\r\(line)\u{1B}[K")
      isShown = true
    }
  }

  /// Takes the line away, unless something else is being written, which has done so.
  static func erase() {
    isShown.withLockIfAvailable { erase(&$0) }
  }

  /// Takes the line away for good.
  static func close() {
    isClosed.withLock { $0 = true }
    isShown.withLock { erase(&$0) }
  }

  /// Writes something else, with the line out of the way.
  static func aside<Failure>(_ body: () throws(Failure) -> Void) throws(Failure) {
    try isShown.withLock { isShown throws(Failure) in
      erase(&isShown)
      try body()
    }
  }

  private static func erase(_ isShown: inout Bool) {
    guard isShown else { return }
    write(erasure)
    isShown = false
  }

  /// Nobody is left to be told that standard error is closed.
  private static func write(_ text: String) {
    _ = text.utf8.withContiguousStorageIfAvailable {
      Foundation.write(STDERR_FILENO, $0.baseAddress, $0.count)
    }
  }
}
