public import AggregatorCore
public import AggregatorStore

extension SQLiteStore {
  /// Changes a small text that all processes share.
  public func change(
    _ key: String, _ body: @escaping @Sendable (String?) -> String?
  ) async throws(SourceError) {
    // Most callers leave it as it is, and need not wait for those who write.
    let isChanged = try await read { connection throws(SQLiteFailure) in
      let old = try connection.sharedText(key)
      return body(old).map { $0 != old } ?? false
    }
    guard isChanged ?? true else { return }
    try await write { connection throws(SQLiteFailure) in
      let old = try connection.sharedText(key)
      guard let new = body(old), new != old else { return }
      try connection.run(
        """
        INSERT INTO shared (key, value) VALUES (?1, ?2)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value
        """, key, new)
    }
  }

  /// How much there is of a source.
  public func status(of source: String) async throws(SourceError) -> StoreStatus {
    try await read { connection throws(SQLiteFailure) in
      var status = StoreStatus()
      guard let number = try connection.number(of: source) else { return status }
      let row = try connection.row(
        """
        SELECT (SELECT records FROM sources WHERE number = ?1),
          (SELECT vanished FROM sources WHERE number = ?1),
          (SELECT count(*) FROM tombstones WHERE source = ?1), count(*),
          max(coalesce(max(fetched), 0), coalesce((SELECT walked FROM sources WHERE number = ?1), 0))
        FROM pages WHERE source = ?1
        """, number
      ) { row in
        (
          stored: row.integer(0).count, removedUpstream: row.integer(1).count,
          deleted: row.integer(2).count, pages: row.integer(3).count,
          at: row.integer(4) > 0 ? row.date(4) : nil
        )
      }
      guard let row else { return status }
      status.records = Int64(try connection.recordCount(of: number)).count
      status.removedUpstream = row.removedUpstream
      status.hidden = max(0, row.stored - row.removedUpstream - status.records)
      status.deleted = row.deleted
      status.pages = row.pages
      status.fetchedAt = row.at
      return status
    } ?? StoreStatus()
  }
}

extension Connection {
  /// A small text that all processes share.
  fileprivate mutating func sharedText(_ key: String) throws(SQLiteFailure) -> String? {
    try row("SELECT value FROM shared WHERE key = ?1", key) { $0.text(0) } ?? nil
  }
}

extension Int64 {
  /// This as a number of things: those of a damaged file may be anything, and are added up.
  fileprivate var count: Int { Int(Swift.min(Swift.max(self, 0), 1 << Schema.positionBits)) }
}
