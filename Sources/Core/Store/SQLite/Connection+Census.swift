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
  /// - Returns: How many records have vanished.
  /// - Throws: ``SQLiteFailure``.
  mutating func take(
    _ census: Census, at move: PlaceMove, meeting positions: [Int64], of source: Int64,
    at date: Date
  ) throws(SQLiteFailure) -> Int {
    if census.begins { try forgetMet(by: move, of: source) }
    try run(
      "INSERT INTO met (source, census, positions) VALUES (?1, ?2, ?3)", source, move.name,
      positions.jsonArray)
    let vanished = census.isComplete ? try markVanished(by: move, of: source, at: date) : 0
    if move.to == nil { try forgetMet(by: move, of: source) }
    return vanished
  }

  private mutating func forgetMet(by move: PlaceMove, of source: Int64) throws(SQLiteFailure) {
    try run("DELETE FROM met WHERE source = ?1 AND census = ?2", source, move.name)
  }

  private mutating func markVanished(
    by move: PlaceMove, of source: Int64, at date: Date
  ) throws(SQLiteFailure) -> Int {
    let range = PositionRange(of: source)
    try run(
      """
      UPDATE records SET vanished = ?5
      WHERE position > ?3 AND position <= ?4 AND vanished IS NULL AND position NOT IN (
        SELECT e.value FROM met m, json_each(m.positions) e WHERE m.source = ?1 AND m.census = ?2)
      """, source, move.name, range.start, range.end, date)
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
