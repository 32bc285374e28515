import Synchronization

/// The amount of work that a command has done, which it reports if a signal ends it.
package final class InterruptedWork: Sendable {
  private let done = Atomic(0)

  package init() {}

  package func add(_ count: Int) { done.add(count, ordering: .relaxed) }

  /// Says on a signal what was done and what may be missing, in words for the number of what was done.
  package func note(
    to diagnostics: Diagnostics, _ words: @escaping @Sendable (Int) -> String
  ) -> Interruption.CleanUp {
    Interruption.atEnd { [self] in
      diagnostics.note("Interrupted; \(words(done.load(ordering: .relaxed))) may be missing")
    }
  }
}
