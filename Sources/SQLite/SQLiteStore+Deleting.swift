public import AggregatorCore
public import Foundation

extension SQLiteStore {
  /// Marks ids as deleted.
  public func delete(
    _ ids: [String], of source: String, at date: Date
  ) async throws(SourceError) -> [String] {
    try await write { connection throws(SQLiteFailure) in
      let number = try connection.numbered(source)
      var deleted: [String] = []
      for id in ids {
        let isNew = try connection.row(
          """
          INSERT INTO tombstones (source, id, deleted) VALUES (?1, ?2, ?3)
          ON CONFLICT DO NOTHING RETURNING true
          """, number, id, date
        ) { _ in true }
        if isNew == true { deleted.append(id) }
      }
      return deleted
    }
  }

  /// Takes the mark of deletion away.
  public func restore(_ ids: [String]?, of source: String) async throws(SourceError) -> [String] {
    try await write { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return [] }
      guard let ids else {
        return try connection.rows(
          "DELETE FROM tombstones WHERE source = ?1 RETURNING id", number
        ) { $0.text(0) ?? "" }
      }
      var restored: [String] = []
      for id in ids {
        let wasDeleted = try connection.row(
          "DELETE FROM tombstones WHERE source = ?1 AND id = ?2 RETURNING true", number, id
        ) { _ in true }
        if wasDeleted == true { restored.append(id) }
      }
      return restored
    }
  }

  /// Which of some ids are deleted.
  public func deleted(
    among ids: [String], of source: String
  ) async throws(SourceError) -> Set<String> {
    try await read { connection throws(SQLiteFailure) in
      var deleted: Set<String> = []
      guard let number = try connection.number(of: source) else { return deleted }
      for id in ids {
        let isDeleted = try connection.row(
          "SELECT true FROM tombstones WHERE source = ?1 AND id = ?2", number, id
        ) { _ in true }
        if isDeleted == true { deleted.insert(id) }
      }
      return deleted
    } ?? []
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
      // Without this the index keeps what was in it, and that it is no longer there.
      try connection.run("INSERT INTO search (search) VALUES ('optimize')")
      try connection.run("DELETE FROM pages WHERE source = ?1", number)
      try connection.run("DELETE FROM places WHERE source = ?1", number)
      try connection.run("DELETE FROM met WHERE source = ?1", number)
      if forgetsDeleted {
        try connection.run("DELETE FROM tombstones WHERE source = ?1", number)
      }
      // Positions are never given twice: an old cursor must not lead among new records.
      try connection.run(
        "UPDATE sources SET records = 0, vanished = 0, walked = NULL WHERE number = ?1", number)
    }
    try await compact()
  }
}
