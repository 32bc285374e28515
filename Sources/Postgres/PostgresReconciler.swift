import AggregatorCore
import AggregatorFoundation
import AggregatorStore

/// What a step of a pass has found out.
struct PostgresReconciliation {
  var incompleteSeenCount: Int?
  var unconfirmedRemovals: StoreChanges.Unconfirmed?
  /// The positions of the records that it marked as removed upstream.
  var removed: [Int64] = []
}

extension PostgresConnection {
  /// The positions that the steps of a pass have seen, with parameters `$1` and `$2`.
  private static let seen = """
    SELECT e.position::bigint AS position
    FROM aggregator_store.seen s, json_array_elements_text(s.positions::json) e (position)
    WHERE s.source = $1 AND s.reconciliation = $2
    """

  /// Notes positions as seen and, with the last step of a pass, marks the records never seen, which it returns.
  mutating func reconcile(
    _ step: Reconciliation, seeing positions: [Int64], at update: CheckpointUpdate,
    of source: Int64, at date: Date
  ) throws(PostgresFailure) -> PostgresReconciliation {
    if step.begins { forgetSeen(update.name, of: source) }
    noteSeen(positions, by: update.name, of: source)
    defer { if update.to == nil { forgetSeen(update.name, of: source) } }
    guard let completion = step.completion else { return PostgresReconciliation() }
    return try complete(completion, of: update.name, source, at: date)
  }

  private mutating func complete(
    _ completion: Reconciliation.Completion, of name: String, _ source: Int64, at date: Date
  ) throws(PostgresFailure) -> PostgresReconciliation {
    let range = PositionRange(of: source)
    let last = min(completion.lastPosition, range.end)
    let notes = "missing \(name)"
    let counted = enqueue(
      "SELECT count(DISTINCT position) FROM (\(Self.seen)) seen", .integer(source), .text(name))
    let unseen = enqueue(
      """
      SELECT r.position FROM aggregator_store.records r
      WHERE r.position > $3 AND r.position <= $4 AND r.removed_upstream IS NULL
        AND r.position NOT IN (\(Self.seen)) ORDER BY r.position
      """, .integer(source), .text(name), .integer(range.start), .integer(last))
    let earlier = enqueue(Self.seen, .integer(source), .text(notes))
    let all = enqueue(
      """
      SELECT count(*) FROM aggregator_store.records
      WHERE position > $1 AND position <= $2 AND removed_upstream IS NULL
      """, .integer(range.start), .integer(last))
    let results = try run()
    let seen = Int(results[counted].integer(0, 0))
    guard seen >= completion.minRecordCount else {
      return PostgresReconciliation(incompleteSeenCount: seen)
    }
    let missing = results[unseen].rows { results[unseen].integer($0, 0) }
    let unconfirmed = StoreChanges.Unconfirmed(
      missing: missing, noted: Set(results[earlier].rows { results[earlier].integer($0, 0) }),
      known: Int(results[all].integer(0, 0)), seen: seen)
    forgetSeen(notes, of: source)
    guard unconfirmed == nil else {
      noteSeen(missing, by: notes, of: source)
      return PostgresReconciliation(unconfirmedRemovals: unconfirmed)
    }
    remove(missing, of: source, at: date)
    return PostgresReconciliation(removed: missing)
  }

  /// Marks records as removed upstream.
  private mutating func remove(_ positions: [Int64], of source: Int64, at date: Date) {
    guard !positions.isEmpty else { return }
    enqueue(
      "UPDATE aggregator_store.records SET removed_upstream = $2 WHERE position = ANY ($1)",
      .integers(positions), .date(date))
    enqueue(
      """
      UPDATE aggregator_store.sources SET removed_upstream = removed_upstream + $2
      WHERE number = $1
      """, .integer(source), .integer(Int64(positions.count)))
  }

  private mutating func noteSeen(_ positions: [Int64], by name: String, of source: Int64) {
    enqueue(
      """
      INSERT INTO aggregator_store.seen (source, reconciliation, positions) VALUES ($1, $2, $3)
      """, .integer(source), .text(name), .text(positions.jsonArray))
  }

  private mutating func forgetSeen(_ name: String, of source: Int64) {
    enqueue(
      "DELETE FROM aggregator_store.seen WHERE source = $1 AND reconciliation = $2",
      .integer(source), .text(name))
  }
}
