import CSQLite
import Foundation

/// A call to SQLite that failed (https://sqlite.org/rescode.html).
struct SQLiteFailure: Error {
  /// The extended result code.
  let code: Int32

  /// SQLite's own words: `database disk image is malformed`.
  let words: String

  /// The system's words where the system refused something: `No space left on device`.
  let cause: String?

  /// The failure of the last call on a connection.
  init(_ code: Int32, on database: OpaquePointer?) {
    self.code = code
    words = String(cString: database.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
    let number = database.map { sqlite3_system_errno($0) } ?? 0
    let isOfSystem = [SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_FULL].contains(code & 0xFF)
    cause = isOfSystem && number != 0 ? String(cString: strerror(number)) : nil
  }

  /// The result code without its extension.
  var primary: Int32 { code & 0xFF }

  /// Whether the file is no database, or not in order.
  var isDamage: Bool { primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB }

  /// The same for callers, who know no SQLite.
  ///
  /// - Parameter path: The file.
  /// - Returns: An error with code `storage` or `busy`.
  func error(of path: String) -> SourceError {
    switch primary {
    case SQLITE_BUSY, SQLITE_LOCKED:
      SourceError(
        .busy, "\(path) is kept locked by another process", remedy: "try again in a moment")
    case SQLITE_FULL:
      SourceError(
        .storage, "\(path) cannot be written: \(cause ?? "the disk is full")",
        remedy: "free some space and try again")
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_CANTOPEN, SQLITE_AUTH:
      SourceError(
        .storage, "\(path) cannot be opened or written: \(cause ?? words)",
        remedy: "see that the file and its directory are yours, or set AGGREGATOR_HOME")
    default:
      SourceError(
        .storage, "\(path) cannot be used: \(cause ?? words)",
        remedy: "see that the disk has room and works")
    }
  }
}
