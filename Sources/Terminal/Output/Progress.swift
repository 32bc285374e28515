import AggregatorCore
package import AggregatorKit
import AggregatorText
import Synchronization

/// Progress for a person at a terminal, shown once a run takes 300 ms.
package final class Progress: Sendable {
  private struct State {
    var calls: [String: Int] = [:]
    var responses = 0
    var pages = 0
    var records = 0
    var waiting: (end: ContinuousClock.Instant, reason: String)?
    /// The host whose response is awaited.
    var host: String?
    /// The number of retries of the running call.
    var retries = 0
    /// The number of all records, if known.
    var total: Int?
    var text: (@Sendable () -> String)?
    /// The start of the work that rates are those of.
    var start = ContinuousClock.now

    mutating func finish(_ source: String) {
      calls[source, default: 1] -= 1
      if calls[source, default: 0] <= 0 { calls[source] = nil }
      retries = 0
      host = nil
    }
  }

  private let width: Int?
  private let hasUTF8: Bool
  private let state = Mutex(State())

  private static let delay = Duration.milliseconds(300)
  private static let interval = Duration.milliseconds(100)

  /// Progress on standard error, if that is a terminal with escape sequences.
  package init(on terminal: Terminal, isQuiet: Bool) {
    hasUTF8 = terminal.hasUTF8
    width = terminal.isError && terminal.obeysEscapes && !isQuiet ? terminal.width : nil
  }

  /// Returns a task to cancel at the end of the run; `nil` if nothing is drawn.
  package func begin() -> Task<Void, Never>? {
    width.map { width in
      // Unstructured: it runs beside the rest of the program.
      Task {
        var pause = Self.delay
        while (try? await Task.sleep(for: pause)) != nil, !ProgressLine.isOver {
          if let text { ProgressLine.show(text, width: width) } else { ProgressLine.erase() }
          pause = Self.interval
        }
      }
    }
  }

  /// Shows this text instead of the one derived from events, which `nil` brings back.
  package func say(_ text: (@Sendable () -> String)?) { state.withLock { $0.text = text } }

  /// Forgets all that was done before, of which rates and remaining times say nothing.
  package func restart() { state.withLock { $0 = State() } }

  package func note(_ event: Event) {
    guard width != nil else { return }
    state.withLock { state in
      switch event {
      case .asked(let source, _): state.calls[source, default: 0] += 1
      case .answered(let source, _, _, let count):
        state.finish(source)
        state.pages += 1
        state.records += count
      case .failed(let source, _, _): state.finish(source)
      case .sent(_, let address): state.host = URL(string: address)?.host()
      case .received:
        state.responses += 1
        state.host = nil
      case .lost: state.host = nil
      case .retrying: state.retries += 1
      case .waiting(let time, let reason): state.waiting = (.now + time, reason)
      default: break
      }
    }
  }

  /// Sets the number of all records; `nil` if it is unknown.
  package func expect(_ total: Int?) { state.withLock { $0.total = total } }

  /// A line with the reason for a pause, or the host that was sent the first request, or a repeated one.
  package func withStatus(_ line: String) -> String {
    ([line] + [Self.status(state.withLock(\.self))].compactMap(\.self)).joined(separator: " · ")
  }

  private static func status(_ state: State) -> String? {
    if let (end, reason) = state.waiting, case let left = end - .now, left > .zero {
      return "\(reason): waiting \(left.text)"
    }
    guard let host = state.host, state.retries > 0 || state.responses == 0 else { return nil }
    return "waiting for \(host)" + (state.retries > 0 ? ", retry \(state.retries)" : "")
  }

  /// The share of a known total; see ``ProgressBar``.
  package func bar(_ name: String, _ done: Int, of total: Int, after count: Int) -> String {
    ProgressBar(width: width ?? Terminal.defaultWidth, hasUTF8: hasUTF8)
      .line(name, done, of: total, after: count, in: time)
  }

  package func rate(_ count: Int) -> String {
    "\(Int(Double(count) / max(time / .seconds(1), 0.001)))/s"
  }

  private var time: Duration { ContinuousClock.now - state.withLock(\.start) }

  private var text: String? {
    let state = state.withLock(\.self)
    if let text = state.text { return text() }
    guard !state.calls.isEmpty else { return nil }
    let names = state.calls.keys.sorted().joined(separator: ", ")
    var line = "Fetching \(names)…"
    if state.pages > 0, let total = state.total {
      line = bar(names, state.records, of: total, after: state.records)
    } else if state.pages > 0 {
      line +=
        " page \(state.pages + 1), \(state.records.of("record")), \(rate(state.records))"
    } else if state.responses > 0 {
      line += " \(state.responses.of("response"))"
    }
    return withStatus(line)
  }
}

extension Observer {
  package func reporting(to progress: Progress) -> Observer { also(progress.note) }
}

/// The bottom line of the terminal; all other output erases it first.
package enum ProgressLine {
  private static let isShown = Mutex(false)
  private static let isClosed = Mutex(false)
  /// The number of questions that wait for an answer.
  private static let questions = Mutex(0)
  private static let erasure = "\r\u{1B}[K"

  /// Does nothing while other output is being written, or if the task is cancelled.
  package static func show(_ text: String, width: Int) {
    // The last cell stays free: some terminals wrap the line there.
    let line = text.safeLine.fitted(to: width - 1)
    isShown.withLockIfAvailable { isShown in
      guard !Task.isCancelled, !isClosed.withLock(\.self), questions.withLock({ $0 == 0 }) else {
        return
      }
      write("\r\(line)\u{1B}[K")
      isShown = true
    }
  }

  /// Erases the line, unless other output is being written, which has erased it.
  package static func erase() {
    isShown.withLockIfAvailable { erase(&$0) }
  }

  /// Erases the line for good, unless other output blocks for a tenth of a second.
  static func closeWithoutBlocking() {
    isClosed.withLock { $0 = true }
    for _ in 0..<100 {
      guard isShown.withLockIfAvailable({ erase(&$0) }) == nil else { return }
      usleep(1000)
    }
  }

  /// True if no line will be shown any more.
  fileprivate static var isOver: Bool { isClosed.withLock(\.self) }

  /// Erases the line for good.
  package static func close() {
    isClosed.withLock { $0 = true }
    isShown.withLock { erase(&$0) }
  }

  /// Shows no line while a person is asked something, whose cursor it would move.
  static func asking<Answer, Failure>(
    _ body: () throws(Failure) -> Answer
  ) throws(Failure) -> Answer {
    questions.withLock { $0 += 1 }
    defer { questions.withLock { $0 -= 1 } }
    isShown.withLock { erase(&$0) }
    return try body()
  }

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

  /// Errors are ignored: if standard error is closed, there is nowhere to report it.
  private static func write(_ text: String) {
    _ = text.utf8.withContiguousStorageIfAvailable {
      AggregatorFoundation.write(STDERR_FILENO, $0.baseAddress, $0.count)
    }
  }
}

/// The share of a known total that is done, and the time that the rest takes at the same rate.
package struct ProgressBar: Sendable {
  /// The width of the terminal; a narrow one shows less.
  let width: Int
  let hasUTF8: Bool

  private static let maxCells = 20

  package init(width: Int, hasUTF8: Bool) {
    self.width = width
    self.hasUTF8 = hasUTF8
  }

  /// `heroes: ██████░░░░░░░░ 30% · 1,200 of 4,005, 96/s · 29 s left`.
  ///
  /// - Parameters:
  ///   - count: The part of `done` that took `time`: earlier runs may have done the rest.
  package func line(
    _ name: String, _ done: Int, of total: Int, after count: Int, in time: Duration
  ) -> String {
    let done = min(done, total)
    // Not 100 before the end.
    let percent = total > 0 ? done * 100 / total : 100
    var parts = [width >= 40 ? "\(name): \(bar(percent)) \(percent)%" : "\(name): \(percent)%"]
    let rate = Double(count) / max(time / .seconds(1), 0.001)
    if width >= 60 {
      parts.append("\(done.grouped) of \(total.grouped), \(Int(min(rate, 1e9)).grouped)/s")
    }
    // The first records say little about the others.
    if count > 0, time >= .seconds(1), done < total {
      parts.append("\(Duration.seconds(Double(total - done) / rate).text) left")
    }
    return parts.joined(separator: " · ")
  }

  private func bar(_ percent: Int) -> String {
    let cells = min(width / 4, Self.maxCells)
    let full = cells * percent / 100
    return String(repeating: hasUTF8 ? "█" : "#", count: full)
      + String(repeating: hasUTF8 ? "░" : ".", count: cells - full)
  }
}
