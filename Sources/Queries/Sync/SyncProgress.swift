package import AggregatorKit
import AggregatorTerminal
import Synchronization

/// The progress of a sync, and the note when a signal ends it.
package final class SyncProgress: Sendable {
  private let name: String
  private let context: CommandContext
  private let result = Mutex(SyncResult())
  private let note: Interruption.CleanUp

  package init(of name: String, resumingWith command: String, in context: CommandContext) {
    self.name = name
    self.context = context
    note = Interruption.atEnd {
      context.diagnostics.note(
        "Interrupted; progress saved. Resume with: \(context.diagnostics.command(command))")
    }
    context.progress.say { [self] in text }
  }

  package func end() { note.cancel() }

  package func show(_ result: SyncResult) { self.result.withLock { $0 = result } }

  /// The bar, or without a total `heroes: page 12, 1200 heroes, 96/s`; both count earlier runs of the same pass.
  private var text: String {
    let result = result.withLock(\.self)
    let count = result.added + result.changed + result.unchanged
    let line =
      result.pages == 0
      ? "Fetching \(name)…"
      : result.total.map { context.progress.bar(name, result.passed, of: $0, after: count) }
        ?? "\(name): page \(result.earlierPages + result.pages), \(result.passed) \(name), "
        + context.progress.rate(count)
    return ([line] + [context.progress.status].compactMap(\.self)).joined(separator: " · ")
  }
}
