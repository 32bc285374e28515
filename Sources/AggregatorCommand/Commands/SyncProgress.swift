import Core
import Foundation
import Synchronization

/// What a person sees of a sync while it runs, and when Ctrl-C ends it.
final class SyncProgress: Sendable {
  private struct State {
    var result = SyncResult()
    /// Until when it waits, and why.
    var waiting: (end: ContinuousClock.Instant, reason: String)?
  }

  private let name: String
  private let command: String
  private let session: Session
  private let state = Mutex(State())
  private let start = ContinuousClock.now

  /// The progress of a sync.
  ///
  /// - Parameters:
  ///   - name: The source's name.
  ///   - command: What to type to go on.
  ///   - session: The run.
  init(of name: String, goingOnBy command: String, in session: Session) {
    self.name = name
    self.command = command
    self.session = session
  }

  /// Takes in what was done so far.
  func show(_ result: SyncResult) {
    state.withLock { state in
      state.result = result
      state.waiting = nil
    }
  }

  /// Takes in that the sync waits.
  func wait(_ time: Duration, because reason: String) {
    state.withLock { $0.waiting = (.now + time, reason) }
  }

  /// Shows how it goes, where somebody sees it, while something is done.
  func during<Value: Sendable>(_ body: () async -> Value) async -> Value {
    let terminal = session.terminal
    let isSeen = terminal.isError && terminal.obeysEscapes && !session.isQuiet
    let line = isSeen ? ProgressLine(on: terminal) { self.words } : nil
    Interruption.atEnd { [self] in
      line?.erase()
      session.diagnostics.note(
        "stopped · what was fetched is kept, go on: \(session.diagnostics.command(command))")
    }
    defer { Interruption.atEnd(nil) }
    return if let line { await line.during(body) } else { await body() }
  }

  /// The line: `heroes: 12 pages, 1200 of 4005 heroes, 96/s`.
  private var words: String {
    state.withLock { state in
      let result = state.result
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      let rate = Int(Double(result.added + result.changed + result.same) / max(seconds, 0.001))
      let amount = result.total.map { "\(result.passed) of \($0)" } ?? "\(result.passed)"
      let left = state.waiting.map { $0.end - .now } ?? .zero
      let pause =
        left > .zero ? " · waiting \(left.inWords): \(state.waiting?.reason ?? "")" : ""
      return "\(name): \(result.pages) page\(result.pages == 1 ? "" : "s"), \(amount) \(name), "
        + "\(rate)/s\(pause)"
    }
  }
}

extension Observer {
  /// This observer, with a word to somebody who shows progress.
  func telling(_ progress: SyncProgress) -> Observer {
    Observer { event in
      if case .waiting(let time, let reason) = event { progress.wait(time, because: reason) }
      self(event)
    }
  }
}
