import AggregatorKit
import CAggregatorSQLite
import Testing

@Suite
struct SQLiteFailureTests {
  @Test(arguments: [
    (SQLITE_BUSY, SourceError.Code.busy, "PATH is locked by another process"),
    (SQLITE_BUSY | 2 << 8, .busy, "PATH is locked by another process"),
    (SQLITE_LOCKED, .busy, "PATH is locked by another process"),
    (SQLITE_FULL, .storage, "cannot write PATH: the disk is full"),
    (
      SQLITE_READONLY, .storage, "cannot open or write PATH: attempt to write a readonly database"
    ),
    (SQLITE_CANTOPEN, .storage, "cannot open or write PATH: unable to open database file"),
    (SQLITE_PERM, .storage, "cannot open or write PATH: access permission denied"),
    (SQLITE_AUTH, .storage, "cannot open or write PATH: authorization denied"),
    (SQLITE_IOERR | 3 << 8, .storage, "cannot use PATH: disk I/O error"),
    (SQLITE_CORRUPT, .storage, "cannot use PATH: database disk image is malformed"),
    (SQLITE_NOTADB, .storage, "cannot use PATH: file is not a database"),
    (SQLITE_TOOBIG, .storage, "cannot use PATH: string or blob too big"),
    (SQLITE_NOMEM, .storage, "cannot use PATH: out of memory"),
  ])
  func `has an understandable message and a remedy`(
    code: Int32, kind: SourceError.Code, words: String
  ) {
    let error = SQLiteFailure(code, on: nil).error(of: "/home/a/store.sqlite")
    #expect(error.code == kind)
    #expect(error.message == words.replacing("PATH", with: "/home/a/store.sqlite"))
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
