public import AggregatorCore
public import AggregatorStore
import Foundation

extension SQLiteStore {
  /// A page as a service gave it, with its records as they are now.
  public func page(_ key: String, of source: String) async throws(SourceError) -> StoredPage? {
    let found = try await read { connection throws(SQLiteFailure) in
      try connection.page(key, of: source)
    }
    return found ?? nil
  }

  /// A text saved under a name.
  public func checkpoint(_ name: String, of source: String) async throws(SourceError) -> String? {
    let found = try await read { connection throws(SQLiteFailure) in
      try connection.row(
        """
        SELECT value FROM places
        WHERE source = (SELECT number FROM sources WHERE name = ?1) AND name = ?2
        """, source, name
      ) { $0.text(0) }
    }
    return (found ?? nil) ?? nil
  }
}

extension Connection {
  fileprivate mutating func page(
    _ key: String, of source: String
  ) throws(SQLiteFailure) -> StoredPage? {
    let row = try row(
      """
      SELECT page, positions, fetched FROM pages
      WHERE source = (SELECT number FROM sources WHERE name = ?1) AND key = ?2
      """, source, key
    ) { (page: $0.bytes(0), positions: $0.text(1) ?? "[]", fetched: $0.date(2)) }
    // What cannot be read was written by another version: it is as good as not there.
    guard let row, let fetched = row.fetched,
      let page = try? JSONText(row.page)?.read(FetchedPage.self)
    else { return nil }
    let records = try rows(
      """
      SELECT r.position, r.saved, r.json
      FROM json_each(?1) e JOIN records r ON r.position = e.value
      WHERE r.vanished IS NULL ORDER BY e.key
      """, row.positions
    ) {
      StoredRecord(position: $0.integer(0), json: $0.bytes(2), savedAt: $0.date(1) ?? fetched)
    }
    return StoredPage(records: records, page: page, fetchedAt: fetched)
  }

  /// Keeps a page in the place of an earlier one, and drops what is older than all that are kept.
  mutating func savePage(
    _ key: String, _ page: FetchedPage, positions: [Int64], of source: Int64, at date: Date,
    keeping most: Int
  ) throws(SQLiteFailure) {
    guard let json = try? CanonicalJSON.bytes(of: page) else { return }
    try run(
      """
      INSERT INTO pages (source, key, fetched, positions, page) VALUES (?1, ?2, ?3, ?4, ?5)
      ON CONFLICT (source, key) DO UPDATE SET
        fetched = excluded.fetched, positions = excluded.positions, page = excluded.page
      """, source, key, date, positions.jsonArray, json)
    try run(
      """
      DELETE FROM pages WHERE number IN (
        SELECT number FROM pages WHERE source = ?1 ORDER BY fetched DESC LIMIT -1 OFFSET ?2)
      """, source, most)
  }

  /// Moves or forgets a place, unless it is somewhere else than the walk thinks.
  mutating func update(_ update: CheckpointUpdate, of source: Int64) throws(SQLiteFailure) -> Bool {
    let found = try row(
      "SELECT value FROM places WHERE source = ?1 AND name = ?2", source, update.name
    ) { $0.text(0) }
    guard (found ?? nil) == update.from else { return false }
    guard let to = update.to else {
      try run("DELETE FROM places WHERE source = ?1 AND name = ?2", source, update.name)
      return true
    }
    try run(
      """
      INSERT INTO places (source, name, value) VALUES (?1, ?2, ?3)
      ON CONFLICT (source, name) DO UPDATE SET value = excluded.value
      """, source, update.name, to)
    return true
  }
}
