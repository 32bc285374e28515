import AggregatorKit
import Synchronization

/// What a person sees of a sync while it runs, and when Ctrl-C ends it.
final class SyncProgress: Sendable {
  private let name: String
  private let session: Session
  private let result = Mutex(SyncResult())

  /// The progress of a sync.
  ///
  /// - Parameters:
  ///   - name: The source's name.
  ///   - command: What to type to go on.
  ///   - session: The run.
  init(of name: String, goingOnBy command: String, in session: Session) {
    self.name = name
    self.session = session
    session.progress.say { [self] in words }
    Interruption.atEnd {
      session.diagnostics.note(
        "stopped · what was fetched is kept, go on: \(session.diagnostics.command(command))")
    }
  }

  /// Takes in what was done so far.
  func show(_ result: SyncResult) { self.result.withLock { $0 = result } }

  /// The line: `heroes: page 12, 1200 of 4005 heroes, 96/s`; the numbers are those of the whole pass.
  private var words: String {
    let result = result.withLock(\.self)
    let amount = result.total.map { "\(result.passed) of \($0)" } ?? "\(result.passed)"
    let rate = session.progress.rate(result.added + result.changed + result.same)
    let line =
      result.pages == 0
      ? "Fetching \(name)…"
      : "\(name): page \(result.earlierPages + result.pages), \(amount) \(name), \(rate)"
    return ([line] + [session.progress.pause].compactMap(\.self)).joined(separator: " · ")
  }
}
