import AggregatorCore
import AggregatorFoundation
import AggregatorStore

/// The steps of a complete pass over a service, which find the records that were removed upstream.
struct Reconciler {
  /// The name of the checkpoint, under which the positions of seen records are kept.
  private let name: String
  private let isLast: Bool
  private let source: Int64
  private let date: Date

  init(by update: CheckpointUpdate, of source: Int64, at date: Date) {
    name = update.name
    isLast = update.to == nil
    self.source = source
    self.date = date
  }

  /// Notes positions as seen and, with the last step, marks those never seen.
  func perform(
    _ step: Reconciliation, seeing positions: [Int64], _ changes: inout StoreChanges,
    _ log: inout ChangeLog, in connection: inout Connection
  ) throws(SQLiteFailure) {
    if step.begins { try connection.forgetSeen(name, of: source) }
    try connection.noteSeen(positions, by: name, of: source)
    if let completion = step.completion {
      let seen = try connection.seenCount(name, of: source)
      if seen < completion.minRecordCount {
        changes.incompleteSeenCount = seen
      } else {
        try remove(
          unseenUpTo: completion.lastPosition, seeing: seen, &changes, &log, in: &connection)
      }
    }
    if isLast { try connection.forgetSeen(name, of: source) }
  }

  /// Marks the records that were not seen, or only notes them until the next pass confirms it.
  private func remove(
    unseenUpTo last: Int64, seeing seen: Int, _ changes: inout StoreChanges,
    _ log: inout ChangeLog, in connection: inout Connection
  ) throws(SQLiteFailure) {
    let notes = "missing \(name)"
    let missing = try connection.unseen(by: name, of: source, upTo: last)
    let noted = Set(missing.isEmpty ? [] : try connection.seen(notes, of: source))
    try connection.forgetSeen(notes, of: source)
    let known = try connection.knownCount(of: source, upTo: last)
    changes.unconfirmedRemovals = StoreChanges.Unconfirmed(
      missing: missing, noted: noted, known: known, seen: seen)
    if changes.unconfirmedRemovals != nil {
      try connection.noteSeen(missing, by: notes, of: source)
    } else {
      try connection.markRemoved(missing, of: source, at: date)
      for position in missing {
        try log.add(BatchPlan.Change(.removed, of: position), in: &connection)
      }
      changes.removedUpstream = missing.count
    }
  }
}

extension Connection {
  /// The number of different records seen: a service may send one twice and leave out another.
  fileprivate mutating func seenCount(
    _ reconciliation: String, of source: Int64
  ) throws(SQLiteFailure) -> Int {
    let count = try row(
      """
      SELECT count(DISTINCT e.value) FROM seen s, json_each(s.positions) e
      WHERE s.source = ?1 AND s.reconciliation = ?2
      """, source, reconciliation
    ) { $0.integer(0) }
    return Int(count ?? 0)
  }

  fileprivate mutating func noteSeen(
    _ positions: [Int64], by reconciliation: String, of source: Int64
  ) throws(SQLiteFailure) {
    try run(
      "INSERT INTO seen (source, reconciliation, positions) VALUES (?1, ?2, ?3)", source,
      reconciliation, positions.jsonArray)
  }

  fileprivate mutating func seen(
    _ reconciliation: String, of source: Int64
  ) throws(SQLiteFailure) -> [Int64] {
    try rows(
      """
      SELECT e.value FROM seen s, json_each(s.positions) e
      WHERE s.source = ?1 AND s.reconciliation = ?2
      """, source, reconciliation
    ) { $0.integer(0) }
  }

  fileprivate mutating func forgetSeen(
    _ reconciliation: String, of source: Int64
  ) throws(SQLiteFailure) {
    try run("DELETE FROM seen WHERE source = ?1 AND reconciliation = ?2", source, reconciliation)
  }

  /// The records up to a position that were not seen, except those known to be removed upstream.
  fileprivate mutating func unseen(
    by reconciliation: String, of source: Int64, upTo last: Int64
  ) throws(SQLiteFailure) -> [Int64] {
    let range = PositionRange(of: source)
    return try rows(
      """
      SELECT position FROM records
      WHERE position > ?3 AND position <= ?4 AND removed_upstream IS NULL
        AND position NOT IN (
          SELECT e.value FROM seen s, json_each(s.positions) e
          WHERE s.source = ?1 AND s.reconciliation = ?2)
      """, source, reconciliation, range.start, min(last, range.end)
    ) { $0.integer(0) }
  }

  /// The number of records up to a position, except those known to be removed upstream.
  fileprivate mutating func knownCount(
    of source: Int64, upTo last: Int64
  ) throws(SQLiteFailure) -> Int {
    let range = PositionRange(of: source)
    let count = try row(
      """
      SELECT count(*) FROM records
      WHERE position > ?1 AND position <= ?2 AND removed_upstream IS NULL
      """, range.start, min(last, range.end)
    ) { $0.integer(0) }
    return Int(count ?? 0)
  }

  fileprivate mutating func markRemoved(
    _ positions: [Int64], of source: Int64, at date: Date
  ) throws(SQLiteFailure) {
    guard !positions.isEmpty else { return }
    try run(
      """
      UPDATE records SET removed_upstream = ?2
      WHERE position IN (SELECT value FROM json_each(?1))
      """, positions.jsonArray, date)
    try run(
      "UPDATE sources SET removed_upstream = removed_upstream + ?2 WHERE number = ?1", source,
      positions.count)
  }
}
