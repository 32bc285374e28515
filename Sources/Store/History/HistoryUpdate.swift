import AggregatorCore
package import AggregatorFoundation

/// The numbers of a source's changes as they are stored.
package struct HistoryState: Sendable {
  /// False if none is kept; numbers are given all the same.
  package let isKept: Bool

  /// The number of the last change that was removed.
  package let trimmed: Int64

  /// The number given last.
  package let last: Int64
}

/// The effect of a batch on the history of a source.
package struct HistoryUpdate: Sendable {
  /// True to remove all changes and syncs first, because no history is kept any more.
  package let isCleared: Bool

  /// The state to store before changes are removed; `nil` to leave it as it is.
  ///
  /// Changes are known since this batch if they are kept, unless they were known before.
  package let state: HistoryState?

  /// The changes to add, which have the last numbers of the state.
  package let changes: [BatchPlan.Change]

  /// The oldest changes are removed up to the first that is not before this date.
  package let oldest: Date

  /// The oldest changes above this number are removed, however young they are.
  package let maxCount: Int

  /// The point to note as that of a completed sync, of which the last two are kept; `nil` for none.
  package let sync: HistoryMark?

  /// `nil` for a batch that writes no record and completes no sync: it leaves the history alone, and does not
  /// begin one.
  init?(
    of batch: BatchState, adding added: [BatchPlan.Change], completing completesSync: Bool,
    at source: SourceChanges, on date: Date, keeping limit: HistoryLimit
  ) {
    guard source.added > 0 || !added.isEmpty || completesSync else { return nil }
    let start = PositionRange(of: batch.source).start
    let stored = batch.history ?? HistoryState(isKept: false, trimmed: start, last: start)
    let last = stored.last + Int64(added.count)
    isCleared = limit.isOff && stored.isKept
    oldest = date.addingTimeInterval(-(limit.age / .seconds(1)))
    maxCount = limit.count
    if limit.isOff {
      // Only counted: by the number of the last change those who listen notice it.
      state = added.isEmpty ? nil : HistoryState(isKept: false, trimmed: last, last: last)
      changes = []
      sync = nil
    } else {
      let isUnchanged = stored.isKept && added.isEmpty
      state = isUnchanged ? nil : HistoryState(isKept: true, trimmed: stored.trimmed, last: last)
      changes = added
      sync = completesSync ? HistoryMark(position: source.last, change: last) : nil
    }
  }
}
