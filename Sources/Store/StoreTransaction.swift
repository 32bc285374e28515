package import AggregatorCore
package import AggregatorFoundation

/// A transaction of a store, open for saving a batch.
///
/// The effect of a batch is decided here, once for all stores, by ``save(_:of:at:keeping:)``; a store only carries
/// it out. Each requirement is a statement or two, for all records of the batch together. A store that sends its
/// statements over a network may collect those that only write, until the next that reads or the commit.
package protocol StoreTransaction: ~Copyable {
  associatedtype Failure: Error

  /// Locks a source until the commit, and reads what the effect of a batch depends on.
  ///
  /// A source that the store does not have is created; its last position is the ``PositionRange/start``.
  mutating func state(for batch: StoreBatch, of source: String) throws(Failure) -> BatchState

  /// Adds new records, first seen and saved at `date`, also to the index of the search.
  mutating func insert(
    _ records: [BatchPlan.Form], of source: Int64, at date: Date
  ) throws(Failure)

  /// Gives records new positions, which they have since `date`, also in the search index, the history and the pages.
  ///
  /// - Parameter moves: The old positions, and the new ones, which ascend, among those of records that were inserted.
  mutating func move(
    _ moves: [(from: Int64, to: Int64)], of source: Int64, at date: Date
  ) throws(Failure)

  /// The number of different records at these positions that are there, and not removed upstream.
  mutating func count(at positions: [Int64], of source: Int64) throws(Failure) -> Int

  /// Replaces the JSON, the text and the date of records, by their positions.
  mutating func replace(_ records: [BatchPlan.Form], at date: Date) throws(Failure)

  /// Marks records as removed upstream at `date`; `nil` takes the mark away.
  mutating func mark(_ positions: [Int64], removedUpstreamAt date: Date?) throws(Failure)

  /// Updates what the store keeps of a source itself.
  mutating func update(_ source: Int64, by changes: SourceChanges) throws(Failure)

  /// Saves a page in place of one with the same key, and drops the oldest beyond ``StoreLimit/pages``.
  mutating func savePage(
    _ page: PageMetadata, as key: String, positions: [Int64], of source: Int64, at date: Date
  ) throws(Failure)

  /// Drops all pages of a source.
  mutating func removePages(of source: Int64) throws(Failure)

  /// The text of a checkpoint; `nil` if there is none.
  mutating func checkpoint(_ name: String, of source: Int64) throws(Failure) -> String?

  /// Gives a checkpoint another text; `nil` removes it.
  mutating func setCheckpoint(_ name: String, to text: String?, of source: Int64) throws(Failure)

  /// Adds positions, which may be there already, to the seen ones of a pass.
  mutating func noteSeen(_ positions: [Int64], by pass: String, of source: Int64) throws(Failure)

  /// Removes all seen positions of a pass.
  mutating func forgetSeen(by pass: String, of source: Int64) throws(Failure)

  /// Compares the records up to `last` whose IDs start with a prefix, `nil` for all of them, without ones removed upstream,
  /// with the seen positions of `pass`.
  ///
  /// - Returns: The positions that were not seen, ascending; those of them that are noted as seen by `notes`; the number of
  ///   the records; and the number of different ones seen: a service may send one twice and leave out another.
  mutating func unseen(
    by pass: String, and notes: String, upTo last: Int64, of source: Int64,
    startingWith prefix: String?
  ) throws(Failure) -> (missing: [Int64], noted: [Int64], known: Int, seen: Int)

  /// Changes the history of a source; a store that keeps none does nothing.
  mutating func update(
    _ history: HistoryUpdate, of source: Int64, at date: Date
  ) throws(Failure)
}

/// The stored state on which the effect of a batch depends.
package struct BatchState {
  /// The number of the source.
  package let source: Int64

  /// The position of its record first seen last.
  package let last: Int64

  /// The text of the ``StoreBatch/checkpointName``; `nil` if there is none.
  package let checkpoint: String?

  /// The store's own time; `nil` if it has no clock of its own.
  package let time: Date?

  /// The stored record of each entry; `nil` for a new one.
  package let records: [BatchPlan.Known?]

  /// `nil` if the source never had a history.
  package let history: HistoryState?

  package init(
    source: Int64, last: Int64, checkpoint: String?, time: Date? = nil,
    records: [BatchPlan.Known?], history: HistoryState? = nil
  ) {
    self.source = source
    self.last = last
    self.checkpoint = checkpoint
    self.time = time
    self.records = records
    self.history = history
  }
}

/// The effect of a batch on what a store keeps of a source itself.
package struct SourceChanges: Hashable, Sendable {
  /// The position of the record first seen last.
  package var last: Int64

  /// The number of new records.
  package var added = 0

  /// The number of records that are removed upstream now, less that of those that are no longer.
  package var removedUpstream = 0

  /// The time of the fetch; `nil` to leave the last one.
  package var fetchedAt: Date?
}

extension StoreTransaction where Self: ~Copyable {
  /// Saves a batch, unless its ``StoreBatch/decision`` refuses it.
  package mutating func save(
    _ batch: StoreBatch, of name: String, at date: Date, keeping limit: HistoryLimit
  ) throws(Failure) -> StoreChanges {
    let state = try state(for: batch, of: name)
    guard let batch = batch.decided(on: state.checkpoint, at: state.time) else {
      return StoreChanges()
    }
    let unchanged = Set(batch.unchanged)
    if !unchanged.isEmpty {
      let count = try count(at: Array(unchanged), of: state.source)
      if count != unchanged.count {
        var changes = StoreChanges()
        changes.missesUnchanged = true
        return changes
      }
    }
    let plan = BatchPlan(
      batch.entries, after: state.last, known: state.records,
      movingUpTo: batch.update?.reconciliation?.movesUpTo ?? .min)
    if !plan.insertions.isEmpty { try insert(plan.insertions, of: state.source, at: date) }
    if !plan.moves.isEmpty { try move(plan.moves, of: state.source, at: date) }
    if !plan.replacements.isEmpty { try replace(plan.replacements, at: date) }
    if !plan.unrecorded.isEmpty || !plan.moves.isEmpty {
      var unrecorded = UnrecordedChanges(
        try checkpoint(UnrecordedChanges.name, of: state.source))
      unrecorded.add(plan.unrecorded)
      if !plan.moves.isEmpty { unrecorded.forget() }
      try setCheckpoint(UnrecordedChanges.name, to: unrecorded.text, of: state.source)
    }
    if !plan.returned.isEmpty { try mark(plan.returned, removedUpstreamAt: nil) }
    if let (key, page) = batch.page {
      try savePage(page, as: key, positions: plan.positions, of: state.source, at: date)
    }
    for page in batch.readPages {
      let text = page.text(
        Array(plan.positions[page.entries]), Array(plan.json[page.entries]))
      try setCheckpoint(page.name, to: text, of: state.source)
    }
    var changes = plan.changes
    changes.unchanged += batch.unchanged.count
    var source = SourceChanges(last: state.last + Int64(plan.insertions.count + plan.moves.count))
    source.added = plan.insertions.count
    var removed: [Int64] = []
    if let update = batch.update, update.from == state.checkpoint {
      changes.didMoveCheckpoint = true
      if batch.isFetched { source.fetchedAt = date }
      removed = try move(
        update, of: state.source, seeing: plan.positions + batch.unchanged, &changes)
      if !removed.isEmpty { try mark(removed, removedUpstreamAt: date) }
    }
    source.removedUpstream = removed.count - plan.returned.count
    if source != SourceChanges(last: state.last) { try self.update(state.source, by: source) }
    let isOutdated = batch.update != nil && !changes.didMoveCheckpoint
    let history = HistoryUpdate(
      of: state,
      adding: plan.history + removed.map { BatchPlan.Change(kind: .removed, position: $0) },
      completing: batch.completesSync && !isOutdated && !changes.isInconclusive, at: source,
      on: date, keeping: limit)
    if let history { try self.update(history, of: state.source, at: date) }
    return changes
  }

  /// Moves a checkpoint, with the reconciliation step of the batch; returns the positions of the records that it
  /// proves to be removed upstream.
  private mutating func move(
    _ update: CheckpointUpdate, of source: Int64, seeing positions: [Int64],
    _ changes: inout StoreChanges
  ) throws(Failure) -> [Int64] {
    if update.replacesPages { try removePages(of: source) }
    var text = update.to
    var removed: [Int64] = []
    if let step = update.reconciliation {
      if step.begins { try forgetSeen(by: update.name, of: source) }
      try noteSeen(positions, by: update.name, of: source)
      if let completion = step.completion {
        removed = try complete(update.name, completion, step.prefix, of: source, &changes)
        if changes.isInconclusive { text = update.toIfInconclusive ?? text }
      }
      if text == nil || step.completion != nil { try forgetSeen(by: update.name, of: source) }
    }
    try setCheckpoint(update.name, to: text, of: source)
    return removed
  }

  /// Returns the records that a pass has not seen, or only notes them until the next pass confirms it.
  private mutating func complete(
    _ pass: String, _ completion: Reconciliation.Completion, _ prefix: String?, of source: Int64,
    _ changes: inout StoreChanges
  ) throws(Failure) -> [Int64] {
    let notes = "missing \(pass)"
    let found = try unseen(
      by: pass, and: notes, upTo: completion.lastPosition, of: source, startingWith: prefix)
    changes.seenCount = found.seen
    guard !completion.onlyCounts else { return [] }
    guard found.seen >= completion.minRecordCount else {
      changes.incompleteSeenCount = found.seen
      return []
    }
    try forgetSeen(by: notes, of: source)
    changes.unconfirmedRemovals =
      completion.isProved
      ? nil
      : StoreChanges.Unconfirmed(
        missing: found.missing, noted: Set(found.noted), known: found.known,
        seen: completion.allowsNone ? nil : found.seen)
    guard changes.unconfirmedRemovals == nil else {
      try noteSeen(found.missing, by: notes, of: source)
      return []
    }
    changes.removedUpstream = found.missing.count
    return found.missing
  }
}
