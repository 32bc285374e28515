public import AggregatorCore
import AggregatorStore

/// A source that is cleared gets another number, with another range of positions, so that all of its records are gone in
/// one short transaction. They are removed afterwards, under a name that no source has.
extension PostgresStore {
  public func clear(_ source: String, forgetsDeleted: Bool) async throws(SourceError) {
    try await write { connection throws(PostgresFailure) in
      // In the order in which a new source takes them.
      connection.enqueueLockOfNumbers()
      guard let old = try connection.rows(.lock(of: source)).first?.integer(0) else { return }
      connection.enqueue(
        "UPDATE aggregator_store.sources SET name = \(Self.clearedPrefix) || number WHERE number = $1",
        .integer(old))
      let new = try connection.addSource(source)
      // A number that was given, and is above all earlier ones: it does not look like that of a source that never had a record.
      connection.enqueue(
        "UPDATE aggregator_store.sources SET last = last + 1 WHERE number = $1", .integer(new))
      if !forgetsDeleted {
        connection.enqueue(
          "UPDATE aggregator_store.tombstones SET source = $2 WHERE source = $1",
          .integer(old), .integer(new))
      }
      connection.enqueueNotification(of: source)
    }
    await removeCleared()
  }

  package func names() async throws(SourceError) -> [String] {
    try await read { connection throws(PostgresFailure) in
      try connection.rows(
        "SELECT name FROM aggregator_store.sources WHERE NOT starts_with(name, \(Self.clearedPrefix))"
      ).map { $0.text(0) ?? "" }
    } ?? []
  }

  /// In SQL, with the number of the source behind it; in names of sources U+0001 only begins an escape.
  fileprivate static let clearedPrefix = "(chr(1) || 'cleared ')"

  /// The records that a transaction removes, which takes about 30 ms.
  private static let removedAtOnce: Int64 = 10_000

  /// Removes what cleared sources have left, in at most `limit` transactions, so that no lock is held and no log grows for long.
  ///
  /// Where this fails or ends early, another call goes on: the source itself is empty all the same.
  func removeCleared(atMost limit: Int = .max) async {
    var count = 0
    while count < limit,
      (try? await write(records: false) { connection throws(PostgresFailure) in
        try connection.removeCleared(atMost: Self.removedAtOnce)
      }) ?? false
    {
      count += 1
    }
  }
}

extension PostgresConnection {
  /// Removes some records of a cleared source, or the last of it; false if there is none.
  ///
  /// A row that is held is waited for, not skipped: a writer that waited for it under its earlier name holds it, too, and removes nothing.
  fileprivate mutating func removeCleared(atMost limit: Int64) throws(PostgresFailure) -> Bool {
    let found = try rows(
      """
      SELECT number, last FROM aggregator_store.sources
      WHERE starts_with(name, \(PostgresStore.clearedPrefix))
      ORDER BY number LIMIT 1 FOR UPDATE
      """)
    guard let source = found.first else { return false }
    let (number, last) = (source.integer(0), source.integer(1))
    let range = PositionRange(of: number)
    // From the end, so that no removed record is read again, even if old readers keep them all in the index.
    let end = try rows(
      "SELECT max(position) FROM aggregator_store.records WHERE position > $1 AND position <= $2",
      .integer(range.start), .integer(last))[0]
    guard end.isNull(0) else {
      let rest = max(range.start, end.integer(0) - limit)
      enqueue(
        "DELETE FROM aggregator_store.records WHERE position > $1 AND position <= $2",
        .integer(rest), .integer(end.integer(0)))
      enqueue(
        "UPDATE aggregator_store.sources SET last = $2 WHERE number = $1", .integer(number),
        .integer(rest))
      return true
    }
    clearHistory(of: number)
    for table in ["pages", "checkpoints", "seen", "tombstones", "history"] {
      enqueue("DELETE FROM aggregator_store.\(table) WHERE source = $1", .integer(number))
    }
    enqueue("DELETE FROM aggregator_store.sources WHERE number = $1", .integer(number))
    return true
  }
}
