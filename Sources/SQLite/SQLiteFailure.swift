package import AggregatorCore
import CAggregatorSQLite
import Foundation

/// A call to SQLite that failed (https://sqlite.org/rescode.html).
package struct SQLiteFailure: Error {
  /// The extended result code.
  package let code: Int32

  /// SQLite's own words: `database disk image is malformed`.
  package let words: String

  /// The system's words where the system refused something: `Permission denied`.
  package let cause: String?

  /// The failure of the last call on a connection.
  package init(_ code: Int32, on database: OpaquePointer?) {
    self.code = code
    words = String(cString: database.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
    let number = database.map { sqlite3_system_errno($0) } ?? 0
    // For other codes the number is that of an earlier failure.
    let isOfSystem = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF)
    cause = isOfSystem && number != 0 ? String(cString: strerror(number)) : nil
  }

  /// The result code without its extension.
  package var primary: Int32 { code & 0xFF }

  /// Whether the file is no database, or not in order.
  package var isDamage: Bool { primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB }

  /// The same for callers, who know no SQLite.
  ///
  /// - Parameter path: The file.
  /// - Returns: An error with code `storage` or `busy`; `cancelled` where the task was, and so waited no
  ///   longer.
  package func error(of path: String) -> SourceError {
    switch primary {
    case SQLITE_BUSY where Task.isCancelled: .cancelled
    case SQLITE_BUSY, SQLITE_LOCKED:
      SourceError(
        .busy, "\(path) is kept locked by another process", remedy: "try again in a moment")
    case SQLITE_FULL:
      SourceError(
        .storage, "\(path) cannot be written: the disk is full",
        remedy: "free some space and try again")
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_CANTOPEN, SQLITE_AUTH:
      SourceError(
        .storage, "\(path) cannot be opened or written: \(cause ?? words)",
        remedy: Remedy("see that the file and its directory are yours", .moveStore))
    default:
      SourceError(
        .storage, "\(path) cannot be used: \(cause ?? words)",
        remedy: "see that the disk has room and works")
    }
  }
}
