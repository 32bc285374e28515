public import Foundation

extension SQLiteStore {
  /// Marks ids as deleted.
  public func delete(
    _ ids: [String], of source: String, at date: Date
  ) async throws(SourceError) -> [String] {
    try await write { connection throws(SQLiteFailure) in
      let number = try connection.numbered(source)
      return try connection.rows(
        """
        INSERT INTO tombstones (source, id, deleted) SELECT ?1, value, ?3 FROM json_each(?2)
        WHERE true ON CONFLICT DO NOTHING RETURNING id
        """, number, ids.jsonArray, date
      ) { $0.text(0) ?? "" }
    }
  }

  /// Takes the mark of deletion away.
  public func restore(_ ids: [String]?, of source: String) async throws(SourceError) -> [String] {
    try await write { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return [] }
      return try connection.rows(
        """
        DELETE FROM tombstones
        WHERE source = ?1 AND (?2 IS NULL OR id IN (SELECT value FROM json_each(?2))) RETURNING id
        """, number, ids?.jsonArray
      ) { $0.text(0) ?? "" }
    }
  }

  /// Which of some ids are deleted.
  public func deleted(
    among ids: [String], of source: String
  ) async throws(SourceError) -> Set<String> {
    let found = try await read { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return [String]() }
      return try connection.rows(
        """
        SELECT id FROM tombstones WHERE source = ?1 AND id IN (SELECT value FROM json_each(?2))
        """, number, ids.jsonArray
      ) { $0.text(0) ?? "" }
    }
    return Set(found ?? [])
  }

  /// Forgets a source's records, pages and places, and gives their room back to the disk.
  public func clear(_ source: String, forgetsDeleted: Bool) async throws(SourceError) {
    try await write { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return }
      let range = PositionRange(of: number)
      try connection.run(
        """
        INSERT INTO search (search, rowid, folded)
        SELECT 'delete', position, folded FROM records WHERE position > ?1 AND position <= ?2
        """, range.start, range.end)
      try connection.run(
        "DELETE FROM records WHERE position > ?1 AND position <= ?2", range.start, range.end)
      try connection.run("DELETE FROM pages WHERE source = ?1", number)
      try connection.run("DELETE FROM places WHERE source = ?1", number)
      if forgetsDeleted {
        try connection.run("DELETE FROM tombstones WHERE source = ?1", number)
      }
      // Positions are never given twice: an old cursor must not lead among new records.
      try connection.run("UPDATE sources SET records = 0 WHERE number = ?1", number)
    }
    try await compact()
  }
}
