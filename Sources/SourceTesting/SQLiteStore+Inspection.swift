package import AggregatorKit

extension SQLiteStore {
  /// A line for each inconsistency in SQLite's integrity, the stored counts, the JSON of records or the
  /// cached pages; none if the file is missing; throws `storage` or `busy`.
  package func inconsistencies() async throws(SourceError) -> [String] {
    let found = try await read { connection throws(SQLiteFailure) in
      var inconsistencies = try connection.rows("PRAGMA integrity_check") { $0.text(0) ?? "" }
        .filter { $0 != "ok" }
      inconsistencies += try connection.rows(
        """
        SELECT key FROM pages
        WHERE EXISTS (SELECT 1 FROM json_each(pages.positions) e
          WHERE e.value NOT IN (SELECT position FROM records WHERE source = pages.source))
        """
      ) { "the page \($0.text(0) ?? "") lacks records" }
      inconsistencies += try connection.rows(
        """
        SELECT name FROM sources
        WHERE records <> (SELECT count(*) FROM records WHERE source = sources.number)
        """
      ) { "the records of \($0.text(0) ?? "") are miscounted" }
      inconsistencies += try connection.rows(
        """
        SELECT name FROM sources WHERE removed_upstream <> (
          SELECT count(*) FROM records
          WHERE source = sources.number AND removed_upstream IS NOT NULL)
        """
      ) { "the records of \($0.text(0) ?? "") removed upstream are miscounted" }
      inconsistencies += try connection.rows("SELECT id FROM records WHERE NOT json_valid(json)") {
        "the record \($0.text(0) ?? "") is not JSON"
      }
      return inconsistencies
    }
    return found ?? []
  }

  /// True if the index has exactly the texts of the records; never moves the file aside; throws
  /// `storage` or `busy`.
  package func isIndexSound() async throws(SourceError) -> Bool {
    try await write { connection throws(SQLiteFailure) in
      do throws(SQLiteFailure) {
        // This writes nothing, but FTS5 has no SELECT for it.
        try connection.run("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
        return true
      } catch {
        guard error.isDamage else { throw error }
        return false
      }
    }
  }
}
