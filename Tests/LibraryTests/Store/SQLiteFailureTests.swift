import AggregatorKit
import CAggregatorSQLite
import Testing

@Suite
struct SQLiteFailureTests {
  @Test(arguments: [
    (SQLITE_BUSY, SourceError.Code.busy, "is locked by another process"),
    (SQLITE_BUSY | 2 << 8, .busy, "is locked by another process"),
    (SQLITE_LOCKED, .busy, "is locked by another process"),
    (SQLITE_FULL, .storage, "cannot be written: the disk is full"),
    (
      SQLITE_READONLY, .storage, "cannot be opened or written: attempt to write a readonly database"
    ),
    (SQLITE_CANTOPEN, .storage, "cannot be opened or written: unable to open database file"),
    (SQLITE_PERM, .storage, "cannot be opened or written: access permission denied"),
    (SQLITE_AUTH, .storage, "cannot be opened or written: authorization denied"),
    (SQLITE_IOERR | 3 << 8, .storage, "cannot be used: disk I/O error"),
    (SQLITE_CORRUPT, .storage, "cannot be used: database disk image is malformed"),
    (SQLITE_NOTADB, .storage, "cannot be used: file is not a database"),
    (SQLITE_TOOBIG, .storage, "cannot be used: string or blob too big"),
    (SQLITE_NOMEM, .storage, "cannot be used: out of memory"),
  ])
  func `has an understandable message and a remedy`(
    code: Int32, kind: SourceError.Code, words: String
  ) {
    let error = SQLiteFailure(code, on: nil).error(of: "/home/a/store.sqlite")
    #expect(error.code == kind)
    #expect(error.message == "/home/a/store.sqlite \(words)")
    #expect(error.remedy != nil)
  }

  @Test(arguments: [
    (SQLITE_CORRUPT, true), (SQLITE_CORRUPT | 1 << 8, true), (SQLITE_NOTADB, true),
    (SQLITE_IOERR | 2 << 8, false), (SQLITE_FULL, false), (SQLITE_BUSY, false),
    (SQLITE_CANTOPEN, false), (SQLITE_CONSTRAINT, false), (SQLITE_ERROR, false),
  ])
  func `detects damage`(code: Int32, isDamage: Bool) {
    #expect(SQLiteFailure(code, on: nil).isDamage == isDamage)
  }
}
