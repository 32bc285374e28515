import AggregatorFiles
import CAggregatorSQLite
package import Foundation

/// The id of a record, seen in passing.
package struct StoredID: Sendable {
  /// The id.
  package let id: String

  /// The record; `nil` if only its deletion is stored.
  package let json: Data?
}

extension SQLiteStore {
  /// Ids of a source, as whoever types one wants to see them: at once or not at all.
  ///
  /// It waits for nobody, makes no file and leaves a damaged one where it is.
  ///
  /// - Parameters:
  ///   - source: The source's name.
  ///   - beginning: What the ids begin with, byte by byte.
  ///   - areDeleted: Whether those that are deleted are wanted, or those that are neither deleted nor
  ///     vanished.
  ///   - limit: How many at most.
  /// - Returns: The first ids in the order of their bytes; none if they cannot be had.
  package func glance(
    at source: String, idsFrom beginning: String, areDeleted: Bool, atMost limit: Int
  ) -> [StoredID] {
    do throws(SQLiteFailure) {
      guard var connection = try file.glanced() else { return [] }
      return try connection.ids(
        of: source, from: beginning, areDeleted: areDeleted, atMost: limit)
    } catch {
      return []
    }
  }
}

extension StoreFile {
  /// A connection that reads the file as it is; `nil` where there is none of ours.
  fileprivate func glanced() throws(SQLiteFailure) -> Connection? {
    guard FileIdentity(path)?.isRegular == true else { return nil }
    // As it is opened otherwise, while nobody gives it another name; but that is not waited for.
    guard let directory = try? OpenFile(PrivateFile.directory(of: path), O_RDONLY | O_DIRECTORY),
      flock(directory.descriptor, LOCK_SH | LOCK_NB) == 0
    else { return nil }
    // Where nobody is at work, the files that readers share would have to be made.
    var connection =
      FileIdentity(realPath + "-shm") == nil
      ? try Connection(unchanging: path, busyTimeout: .zero)
      : try Connection(path, busyTimeout: .zero, flags: SQLITE_OPEN_READONLY)
    let mark = try connection.row("PRAGMA application_id") { $0.integer(0) }
    let version = try connection.row("PRAGMA user_version") { $0.integer(0) }
    guard mark == Schema.applicationID, version == Schema.version else { return nil }
    return connection
  }
}

extension Connection {
  /// Ids that begin with a text.
  fileprivate mutating func ids(
    of source: String, from beginning: String, areDeleted: Bool, atMost limit: Int
  ) throws(SQLiteFailure) -> [StoredID] {
    guard let number = try number(of: source) else { return [] }
    // No text comes after this one in the order of bytes, but before all others.
    let end = "\(beginning)\u{10FFFF}"
    let read = { (row: borrowing Statement) in
      StoredID(id: row.text(0) ?? "", json: row.isNull(1) ? nil : row.bytes(1))
    }
    if areDeleted {
      return try rows(
        """
        SELECT t.id, r.json FROM tombstones t
        LEFT JOIN records r ON r.source = t.source AND r.id = t.id
        WHERE t.source = ?1 AND t.id >= ?2 AND t.id < ?3 ORDER BY t.id LIMIT ?4
        """, number, beginning, end, limit, read: read)
    }
    return try rows(
      """
      SELECT r.id, r.json FROM records r
      WHERE r.source = ?1 AND r.id >= ?2 AND r.id < ?3 AND r.vanished IS NULL
        AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = r.source AND t.id = r.id)
      ORDER BY r.id LIMIT ?4
      """, number, beginning, end, limit, read: read)
  }
}
