package import AggregatorCore

extension SQLiteStore {
  /// What is wrong with the file: what SQLite finds, records that the search index or the counts
  /// disagree with, and kept pages whose records are not all there.
  ///
  /// - Returns: A line for each fault; empty if the file is in order, or is not there yet.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  package func faults() async throws(SourceError) -> [String] {
    let found = try await read { connection throws(SQLiteFailure) in
      var faults = try connection.rows("PRAGMA integrity_check") { $0.text(0) ?? "" }
        .filter { $0 != "ok" }
      faults += try connection.rows(
        """
        SELECT key FROM pages
        WHERE EXISTS (SELECT 1 FROM json_each(pages.positions) e
          WHERE e.value NOT IN (SELECT position FROM records WHERE source = pages.source))
        """
      ) { "the page \($0.text(0) ?? "") lacks records" }
      faults += try connection.rows(
        """
        SELECT name FROM sources
        WHERE records <> (SELECT count(*) FROM records WHERE source = sources.number)
        """
      ) { "the records of \($0.text(0) ?? "") are miscounted" }
      faults += try connection.rows(
        """
        SELECT name FROM sources WHERE vanished <>
          (SELECT count(*) FROM records WHERE source = sources.number AND vanished IS NOT NULL)
        """
      ) { "the vanished records of \($0.text(0) ?? "") are miscounted" }
      faults += try connection.rows("SELECT id FROM records WHERE NOT json_valid(json)") {
        "the record \($0.text(0) ?? "") is no JSON"
      }
      return faults
    }
    return found ?? []
  }

  /// Whether the search index holds exactly the texts of the records.
  ///
  /// - Returns: `false` if it does not. The file is left where it is.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  package func isIndexTrue() async throws(SourceError) -> Bool {
    try await write { connection throws(SQLiteFailure) in
      do throws(SQLiteFailure) {
        // It writes nothing, but only a statement that could is able to ask.
        try connection.run("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
        return true
      } catch {
        guard error.isDamage else { throw error }
        return false
      }
    }
  }
}
