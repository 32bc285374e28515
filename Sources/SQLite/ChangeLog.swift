import AggregatorCore
import AggregatorFoundation
import AggregatorStore

/// Writes the changes of one transaction into the history of a source.
///
/// It touches the history only once something is written: saving unchanged records stays free.
struct ChangeLog {
  private let source: Int64
  private let date: Date
  private let limit: HistoryLimit

  /// The number of the change removed last, and of that written last; `nil` until the history is needed.
  private var numbers: (trimmed: Int64, last: Int64)?
  private var hasChanges = false

  init(of source: Int64, at date: Date, keeping limit: HistoryLimit) {
    self.source = source
    self.date = date
    self.limit = limit
  }

  /// Begins the history of the source at this transaction, unless it has begun, or removes it if none is kept.
  mutating func begin(in connection: inout Connection) throws(SQLiteFailure) {
    guard numbers == nil else { return }
    let known = try connection.row(
      "SELECT trimmed, last, start IS NULL FROM history WHERE source = ?1", source
    ) { (trimmed: $0.integer(0), last: $0.integer(1), isEmpty: $0.integer(2) != 0) }
    let start = PositionRange(of: source).start
    numbers = known.map { ($0.trimmed, $0.last) } ?? (start, start)
    if limit.isOff {
      if known?.isEmpty == false { try connection.clearHistory(of: source) }
    } else if known?.isEmpty ?? true {
      try connection.run(
        """
        INSERT INTO history (source, start, trimmed, last) VALUES (?1, ?2, ?3, ?3)
        ON CONFLICT (source) DO UPDATE SET start = excluded.start
        """, source, date, start)
    }
  }

  mutating func add(
    _ change: BatchPlan.Change, in connection: inout Connection
  ) throws(SQLiteFailure) {
    try begin(in: &connection)
    guard let last = numbers?.last else { return }
    numbers?.last = last + 1
    hasChanges = true
    guard !limit.isOff else { return }
    try connection.run(
      "INSERT INTO changes (number, position, kind, changed, json) VALUES (?1, ?2, ?3, ?4, ?5)",
      last + 1, change.position, change.kind.rawValue, date, change.before)
  }

  /// Notes that a sync is complete; the last two such notes are kept.
  mutating func completeSync(in connection: inout Connection) throws(SQLiteFailure) {
    try begin(in: &connection)
    guard !limit.isOff, let last = numbers?.last else { return }
    try connection.run(
      """
      INSERT INTO syncs (source, position, change, completed)
      SELECT ?1, last, ?2, ?3 FROM sources WHERE number = ?1
      """, source, last, date)
    try connection.run(
      """
      DELETE FROM syncs WHERE number IN (
        SELECT number FROM syncs WHERE source = ?1 ORDER BY number DESC LIMIT -1 OFFSET 2)
      """, source)
  }

  /// Saves the number given last, and removes the changes beyond the limit.
  func finish(in connection: inout Connection) throws(SQLiteFailure) {
    guard hasChanges, let (trimmed, last) = numbers else { return }
    guard !limit.isOff else {
      // Only counted: by the number of the last change those who listen notice it.
      try connection.run(
        """
        INSERT INTO history (source, start, trimmed, last) VALUES (?1, NULL, ?2, ?2)
        ON CONFLICT (source) DO UPDATE SET trimmed = excluded.trimmed, last = excluded.last
        """, source, last)
      return
    }
    try connection.run("UPDATE history SET last = ?2 WHERE source = ?1", source, last)
    let oldest = date.addingTimeInterval(-(limit.age / .seconds(1)))
    // Reads the changes that will be removed, and one more.
    let young = try connection.row(
      """
      SELECT number FROM changes WHERE number > ?1 AND number <= ?2 AND changed >= ?3
      ORDER BY number LIMIT 1
      """, trimmed, last, oldest
    ) { $0.integer(0) }
    let end = max((young ?? last + 1) - 1, last - Int64(limit.count))
    guard end > trimmed else { return }
    try connection.run(
      """
      UPDATE history SET trimmed = ?2,
        start = max(start, coalesce((SELECT changed FROM changes WHERE number = ?2), start))
      WHERE source = ?1
      """, source, end)
    try connection.run(
      "DELETE FROM changes WHERE number > ?1 AND number <= ?2", trimmed, end)
  }
}

extension Connection {
  /// Removes the changes of a source; their numbers are never reused, because a watch may know one.
  mutating func clearHistory(of source: Int64) throws(SQLiteFailure) {
    let range = PositionRange(of: source)
    try run("DELETE FROM changes WHERE number > ?1 AND number <= ?2", range.start, range.end)
    try run("DELETE FROM syncs WHERE source = ?1", source)
    try run("UPDATE history SET start = NULL, trimmed = last WHERE source = ?1", source)
  }
}
