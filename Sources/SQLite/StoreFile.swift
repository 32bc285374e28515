package import AggregatorCore
import AggregatorFiles
import CAggregatorSQLite
import Foundation

/// Where the store lies, and how its file is opened, made and, where it is no good, moved aside.
package struct StoreFile: Sendable {
  /// The absolute path.
  package let path: String

  /// How long to wait for others who keep it locked.
  package let busyTimeout: Duration

  /// Who is told that a file was moved aside.
  let report: @Sendable (Warning) -> Void

  /// What a connection is for.
  package enum Purpose: String { case reading, writing }

  /// Opens the file.
  ///
  /// - Parameter purpose: For writing, the file is made where there is none.
  /// - Returns: A connection; `nil` for reading where there is no file.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  package func open(for purpose: Purpose) throws(SourceError) -> Connection? {
    // Again where other processes made, moved or deleted the file at the same time; not for ever.
    for _ in 0..<5 {
      if purpose == .writing { try make() }
      guard let found = identity else {
        if purpose == .reading { return nil }
        continue
      }
      guard !found.isDirectory else {
        throw SourceError(
          .storage, "\(path) is a directory", remedy: Remedy("move it away", .moveStore))
      }
      let fault: String
      do throws(SQLiteFailure) {
        // Whoever opens a file while it gets another name may take the next one's log for its own.
        switch try locked(LOCK_SH, opened) {
        case .ours(let connection):
          try Self.settle(connection)
          return connection
        case .empty where purpose == .reading: return nil
        case .empty(var connection):
          try Self.settle(connection)
          try migrate(&connection)
          return connection
        case .older(var connection):
          try Self.settle(connection)
          guard !connection.isReadOnly else { return connection }
          try migrate(&connection)
          return connection
        case .cut: fault = "is damaged"
        case .foreign: fault = "is no store of this program"
        case .newer: fault = "was written by a later version of this program"
        }
      } catch {
        guard identity == found else { continue }
        guard error.isDamage else { throw error.error(of: path) }
        fault = error.primary == SQLITE_NOTADB ? "is no database" : "is damaged"
      }
      try moveAside(fault, if: { identity == found })
    }
    throw SourceError(.busy, "\(path) is being replaced", remedy: "try again in a moment")
  }

  /// What the file is, apart from its name; `nil` if there is none.
  private var identity: FileIdentity? { FileIdentity(path) }

  /// The path without symbolic links; SQLite's further files lie beside it.
  var realPath: String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
  }

  // MARK: - Opening

  private enum Opened: ~Copyable {
    case ours(Connection)
    case older(Connection)
    case empty(Connection)
    case cut
    case foreign
    case newer
  }

  private func opened() throws(SQLiteFailure) -> Opened {
    do throws(SQLiteFailure) {
      return try classified(Connection(path, busyTimeout: busyTimeout))
    } catch let error where error.primary == SQLITE_CANTOPEN || error.primary == SQLITE_READONLY {
      // In a directory that nobody may write to, the files that readers share cannot be made. Without
      // a log, and so without a writer, nobody needs them.
      guard !hasLog else { throw error }
      return try classified(Connection(unchanging: path, busyTimeout: busyTimeout))
    }
  }

  /// Whether there are changes that are not yet in the file itself.
  private var hasLog: Bool { FileIdentity(realPath + "-wal").map { $0.size > 0 } ?? false }

  private func classified(_ connection: consuming Connection) throws(SQLiteFailure) -> Opened {
    var connection = connection
    // At one moment, or a file that another process is about to make would look like nobody's.
    let (tables, mark, version, page) = try connection.snapshot {
      connection throws(SQLiteFailure) in
      // Reading the tables' names finds a file that lacks whole pages.
      let tables = try connection.row("SELECT count(*) FROM sqlite_schema") { $0.integer(0) }
      let mark = try connection.row("PRAGMA application_id") { $0.integer(0) }
      let version = try connection.row("PRAGMA user_version") { $0.integer(0) }
      let page = try connection.row("PRAGMA page_size") { $0.integer(0) }
      return (tables ?? 0, mark ?? 0, version ?? 0, page ?? 1)
    }
    // For a part of the last page that is missing SQLite takes zeros.
    // The log first: it is gone only when all of it is in the file.
    if !hasLog, let size = identity?.size, !size.isMultiple(of: page) { return .cut }
    if tables == 0, mark == 0, version == 0 { return .empty(connection) }
    guard mark == Schema.applicationID, version > 0 else { return .foreign }
    guard version <= Schema.version else { return .newer }
    return version == Schema.version ? .ours(connection) : .older(connection)
  }

  /// Makes ready a connection to a file that is ours.
  private static func settle(_ connection: borrowing Connection) throws(SQLiteFailure) {
    connection.tidyUpWhenClosed()
    // As the log is put into the file when it has that many pages, and not at a quarter of them, what is
    // written again and again, such as an index, gets there less often.
    try connection.execute(
      """
      PRAGMA synchronous = NORMAL;
      PRAGMA cache_size = -4096;
      PRAGMA temp_store = MEMORY;
      PRAGMA journal_size_limit = 16777216;
      PRAGMA wal_autocheckpoint = 4000;
      """)
  }

  /// Makes an empty file, or an older one, a file of this version.
  private func migrate(_ connection: inout Connection) throws(SQLiteFailure) {
    // SQLite waits for nobody to change the kind of its log.
    try locked(LOCK_EX) { () throws(SQLiteFailure) in
      try connection.execute("PRAGMA journal_mode = WAL")
    }
    try connection.transaction { connection throws(SQLiteFailure) in
      // Another process may have been first.
      let found = try connection.row("PRAGMA user_version") { $0.integer(0) } ?? 0
      for migration in Schema.migrations.dropFirst(Int(found)) {
        try connection.execute(migration)
      }
    }
  }

  /// Makes an empty file that only its owner can read.
  private func make() throws(SourceError) {
    guard identity == nil else { return }
    try PrivateFile.makeDirectory(PrivateFile.directory(of: path))
    do throws(SystemFailure) {
      try locked(LOCK_EX) { () throws(SystemFailure) in
        // If it is there by now, a connection of this process may be open. Closing the file here would
        // end that one's locks (https://sqlite.org/howtocorrupt.html, 2.2).
        guard identity == nil else { return }
        _ = try OpenFile(path, O_RDWR | O_CREAT, mode: 0o600)
      }
    } catch {
      throw SourceError(
        .storage, "\(path) cannot be made: \(error.words)",
        remedy: Remedy("see that the directory is yours and the disk has room", .moveStore))
    }
  }

  // MARK: - Moving aside

  /// Gives the file, and what belongs to it, another name, so that nothing in it is lost.
  ///
  /// - Parameters:
  ///   - why: What is wrong with it, after its name.
  ///   - isStillThere: Whether it is still what goes by that name. Another process that found the same
  ///     may have been first.
  /// - Throws: ``SourceError`` with code `storage` if it cannot be.
  func moveAside(_ why: String, if isStillThere: () -> Bool) throws(SourceError) {
    do throws(SystemFailure) {
      try locked(LOCK_EX) { () throws(SystemFailure) in
        guard isStillThere() else { return }
        let file = realPath
        let name = unusedName(beside: file)
        try SystemFailure.check { rename(file, name) }
        for suffix in ["-wal", "-shm", "-journal"] { rename(file + suffix, name + suffix) }
        report(Warning("movedAside", "\(path) \(why); it is kept as \(name)"))
      }
    } catch {
      throw SourceError(
        .storage, "\(path) \(why), and cannot be moved aside: \(error.words)",
        remedy: Remedy("move it away", .moveStore))
    }
  }

  /// Does something with the name: alone to make the file or to move it, together with others to open
  /// it.
  private func locked<Answer: ~Copyable, Failure: Error>(
    _ kind: Int32, _ body: () throws(Failure) -> Answer
  ) throws(Failure) -> Answer {
    guard let directory = try? OpenFile(PrivateFile.directory(of: path), O_RDONLY | O_DIRECTORY)
    else { return try body() }
    // Some network file systems have no locks; there it is as likely to go well as without one.
    _ = try? SystemFailure.check { flock(directory.descriptor, kind) }
    defer { flock(directory.descriptor, LOCK_UN) }
    return try body()
  }

  private func unusedName(beside file: String) -> String {
    var number = 1
    while FileIdentity("\(file).aside-\(number)") != nil { number += 1 }
    return "\(file).aside-\(number)"
  }
}

/// What tells a file from every other, whatever it is called.
struct FileIdentity: Equatable {
  private let device: UInt64
  private let number: UInt64

  /// How many bytes it has.
  let size: Int64

  /// Whether it is a directory.
  let isDirectory: Bool

  /// Whether it is a file of the usual kind.
  let isRegular: Bool

  /// The file at a path; `nil` if there is none.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    number = UInt64(truncatingIfNeeded: status.st_ino)
    size = Int64(status.st_size)
    isDirectory = status.st_mode & S_IFMT == S_IFDIR
    isRegular = status.st_mode & S_IFMT == S_IFREG
  }

  static func == (one: Self, other: Self) -> Bool {
    one.device == other.device && one.number == other.number
  }
}
