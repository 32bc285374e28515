import AggregatorStore
import Foundation

extension Connection {
  /// Takes a step of a census.
  ///
  /// - Parameters:
  ///   - census: Whether it begins or is complete with the step.
  ///   - move: The step.
  ///   - positions: The records that it met.
  ///   - source: The source's number.
  ///   - date: When it was taken.
  ///   - changes: What the step did; what vanished is added.
  /// - Throws: ``SQLiteFailure``.
  mutating func take(
    _ reconciliation: Reconciliation, at update: CheckpointUpdate, meeting positions: [Int64],
    of source: Int64,
    at date: Date, _ changes: inout StoreChanges
  ) throws(SQLiteFailure) {
    if reconciliation.begins { try forgetMet(by: update, of: source) }
    try run(
      "INSERT INTO met (source, census, positions) VALUES (?1, ?2, ?3)", source, update.name,
      positions.jsonArray)
    if let completion = reconciliation.completion {
      let met = try metCount(by: update, of: source)
      if met < completion.least {
        changes.shortReconciliation = met
      } else {
        changes.removedUpstream = try markVanished(
          by: update, of: source, since: completion.began, at: date)
      }
    }
    if update.to == nil { try forgetMet(by: update, of: source) }
  }

  /// How many different records a census met: a service may give one again where it left out another.
  private mutating func metCount(
    by update: CheckpointUpdate, of source: Int64
  ) throws(SQLiteFailure) -> Int {
    let count = try row(
      """
      SELECT count(DISTINCT e.value) FROM met m, json_each(m.positions) e
      WHERE m.source = ?1 AND m.census = ?2
      """, source, update.name
    ) { $0.integer(0) }
    return Int(count ?? 0)
  }

  private mutating func forgetMet(by update: CheckpointUpdate, of source: Int64)
    throws(SQLiteFailure)
  {
    try run("DELETE FROM met WHERE source = ?1 AND census = ?2", source, update.name)
  }

  private mutating func markVanished(
    by update: CheckpointUpdate, of source: Int64, since began: Date, at date: Date
  ) throws(SQLiteFailure) -> Int {
    let range = PositionRange(of: source)
    try run(
      """
      UPDATE records SET vanished = ?5
      WHERE position > ?3 AND position <= ?4 AND vanished IS NULL AND first_seen <= ?6
        AND position NOT IN (
          SELECT e.value FROM met m, json_each(m.positions) e WHERE m.source = ?1 AND m.census = ?2)
      """, source, update.name, range.start, range.end, date, began)
    let count = changeCount()
    try run("UPDATE sources SET vanished = vanished + ?2 WHERE number = ?1", source, count)
    return count
  }

  /// Takes back that a record has vanished.
  mutating func bringBack(_ position: Int64, of source: Int64) throws(SQLiteFailure) {
    try run("UPDATE records SET vanished = NULL WHERE position = ?1", position)
    try run("UPDATE sources SET vanished = vanished - 1 WHERE number = ?1", source)
  }
}
