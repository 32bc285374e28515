import AggregatorCore
import AggregatorStore

extension PostgresStatement {
  /// Numbers of which at least one is another after any change of a source's records and deletions, but for other details
  /// of a record; no row if it has none.
  static func contents(of source: String) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT concat_ws(' ', s.last, s.records, s.removed_upstream, coalesce(h.last, 0), t.count, t.hash)
      FROM aggregator_store.sources s
        LEFT JOIN aggregator_store.history h ON h.source = s.number
        CROSS JOIN LATERAL (
          SELECT count(*), sum(hashtextextended(id, 0)::numeric) AS hash
          FROM aggregator_store.tombstones WHERE source = s.number) t
      WHERE s.name = $1 AND (s.records > 0 OR t.count > 0)
      """, [.text(source)])
  }

  static func numbers(of source: String) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT c.value, s.number, s.last, s.records, s.removed_upstream, h.trimmed, h.last
      FROM aggregator_store.sources s
        LEFT JOIN aggregator_store.history h ON h.source = s.number
        LEFT JOIN aggregator_store.checkpoints c ON c.source = s.number AND c.name = $2
      WHERE s.name = $1
      """, [.text(source), .text(UnrecordedChanges.name)])
  }

  /// The IDs that are deleted, but those of records that are gone upstream, and the positions of their records.
  fileprivate static func deletions(of source: String) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT t.id, r.position
      FROM aggregator_store.sources s
        JOIN aggregator_store.tombstones t ON t.source = s.number
        LEFT JOIN aggregator_store.records r ON r.source = t.source AND r.id = t.id
      WHERE s.name = $1 AND r.removed_upstream IS NULL
      """, [.text(source)])
  }

  /// The records that may have changed since a mark, each with whether it is deleted, and its ID.
  fileprivate static func changedRecords(
    of source: String, since mark: RecordMark
  ) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT r.position, r.saved, r.json, r.removed_upstream, EXISTS (
        SELECT 1 FROM aggregator_store.tombstones t WHERE t.source = r.source AND t.id = r.id), r.id
      FROM (
        SELECT position FROM aggregator_store.changes WHERE number > $2 AND number <= $3
        UNION SELECT position FROM aggregator_store.records WHERE position > $4 AND position <= $3
        UNION SELECT d.position FROM aggregator_store.records d
          WHERE d.position = ANY ($5::bigint[]) AND (d.removed_upstream IS NOT NULL OR NOT EXISTS (
            SELECT 1 FROM aggregator_store.tombstones t WHERE t.source = d.source AND t.id = d.id))
        UNION SELECT unnest(string_to_array(c.value, ' ')::bigint[])
          FROM aggregator_store.sources s
            JOIN aggregator_store.checkpoints c ON c.source = s.number AND c.name = $6
          WHERE s.name = $1 AND c.value ~ '^[0-9]{1,18}( [0-9]{1,18})*$') p
        JOIN aggregator_store.records r ON r.position = p.position
      WHERE r.source = (SELECT number FROM aggregator_store.sources WHERE name = $1)
      ORDER BY r.position LIMIT $7
      """,
      [
        .text(source), .integer(mark.last.change), .integer(mark.range.end),
        .integer(mark.last.position), .integers(Array(mark.deleted)),
        .text(UnrecordedChanges.name), .integer(Int64(RecordUpdate.limit + 1)),
      ])
  }
}

extension PostgresResult {
  /// Those of the ``PostgresStatement/numbers(of:)``.
  var unrecorded: UnrecordedChanges { UnrecordedChanges(first?.text(0)) }
}

extension PostgresConnection {
  mutating func update(
    of source: String, since mark: RecordMark?
  ) throws(PostgresFailure) -> RecordUpdate? {
    let contents = enqueue(.contents(of: source))
    let found = enqueue(.numbers(of: source))
    let deletions = enqueue(.deletions(of: source))
    let changed = mark.map { enqueue(.changedRecords(of: source, since: $0)) }
    let results = try snapshot()
    guard let revision = results[contents].first?.text(0), let row = results[found].first else {
      return nil
    }
    let unrecorded = results[found].unrecorded
    var numbers = RecordNumbers(
      revision: "\(revision) \(unrecorded.count)", source: row.integer(1), last: row.integer(2),
      unrecorded: unrecorded)
    for row in results[deletions] {
      numbers.add(deleted: row.text(0) ?? "", at: row.isNull(1) ? nil : row.integer(1))
    }
    numbers.records = Int(row.integer(3))
    numbers.removedUpstream = Int(row.integer(4))
    if !row.isNull(5) {
      (numbers.trimmed, numbers.lastChange) = (row.integer(5), row.integer(6))
    }
    let rows = changed.map { index in
      results[index].map { ChangedRow($0.text(5) ?? "", StoredRecord($0), isDeleted: $0.bool(4)) }
    }
    let new = mark.map(numbers.newlyDeleted) ?? []
    let hidden = results[deletions].filter { !$0.isNull(1) && new.contains($0.integer(1)) }
      .compactMap { $0.text(0) }
    return numbers.update(since: mark, rows ?? [], hidden: hidden)
  }
}
