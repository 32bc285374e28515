package import AggregatorCore
import AggregatorFiles
import AggregatorFoundation
import CAggregatorSQLite
import Synchronization

/// The store's file: opens, creates and migrates it, and moves it aside if it is damaged.
package struct StoreFile: Sendable {
  /// An absolute path.
  package let path: String

  /// The longest wait for a lock.
  package let busyTimeout: Duration

  /// True if a damaged file is an error, and so is a missing directory above its own, as for a file that somebody named;
  /// otherwise the file is moved aside, and all directories are made.
  var isStrict = false

  /// Receives a warning when a file is moved aside.
  let report: @Sendable (Warning) -> Void

  /// Shared by the copies of this value.
  let contention = Contention()

  package enum Purpose: String { case reading, writing }

  /// The memory of a lock that was not free in time, so that one call waits for it once, not in each of
  /// its steps.
  final class Contention: Sendable {
    let isKnown = Atomic(false)
  }

  /// Opens the file, and creates it for writing; `nil` for reading if there is no file.
  ///
  /// - Parameter mayBeUnlocked: True if the caller checks ``Connection/isOutdated`` after each read.
  /// - Throws: ``SourceError`` with code `storage` or `busy`, or `unusableStore` for a file of a newer version or
  ///   another program.
  package func open(
    for purpose: Purpose, mayBeUnlocked: Bool = false
  ) throws(SourceError) -> Connection? {
    if mayBeUnlocked, let connection = unlocked() { return connection }
    // Repeated if other processes create, move or delete the file at the same time, but not for ever.
    for _ in 0..<5 {
      if purpose == .writing { try create() }
      guard let found = try identity() else {
        if purpose == .reading { return nil }
        continue
      }
      guard !found.isDirectory else {
        throw SourceError(
          .storage, "\(path) is a directory", remedy: Remedy("move it away", .moveStore))
      }
      let fault: Fault
      do throws(SQLiteFailure) {
        // Opened while it is renamed, the file could get the log of its successor.
        switch try locked(.shared, orThrow: SQLiteFailure(SQLITE_BUSY, on: nil), opened) {
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
          guard !connection.isReadOnly else {
            fault = .older
            break
          }
          try migrate(&connection)
          return connection
        case .unusable(let found): fault = found
        }
      } catch {
        guard try identity() == found else { continue }
        // Its own statements are sound, so a mistake in one is damage of the schema.
        guard error.isDamage || error.primary == SQLITE_ERROR else { throw error.error(of: path) }
        fault = .damage(error.primary == SQLITE_NOTADB ? "is not a database" : "is damaged")
      }
      guard fault.isDamage else { throw fault.error(of: path) }
      try moveAside(fault.words, if: { (try? identity()) == found })
    }
    throw SourceError(.busy, "\(path) is being replaced", remedy: "try again in a moment")
  }

  /// The reason a file cannot be used.
  private struct Fault {
    /// They follow the name of the file.
    let words: String
    var code = SourceError.Code.unusableStore
    var remedy = Remedy("move it away, or choose another store", .moveStore)
    var isDamage = false

    func error(of path: String) -> SourceError {
      SourceError(code, "\(path) \(words)", remedy: remedy)
    }

    /// Without what is in it the service can still answer.
    static func damage(_ words: String) -> Fault {
      Fault(words: words, code: .storage, isDamage: true)
    }
    static let foreign = Fault(words: "is not a store of this program")
    static let newer = Fault(
      words: "was written by a newer version of this program",
      remedy: Remedy("upgrade this program, or choose another store", .moveStore))
    static let older = Fault(
      words: "was written by an older version and is read-only", code: .storage,
      remedy: Remedy("make it writable to upgrade it", .moveStore))
  }

  /// `nil` if there is no file; an error if it cannot be known whether there is one.
  private func identity() throws(SourceError) -> FileIdentity? {
    do throws(SystemFailure) { return try FileIdentity(ifPresent: path) } catch {
      throw .inaccessible(path, error.words)
    }
  }

  private var busy: SourceError { SQLiteFailure(SQLITE_BUSY, on: nil).error(of: path) }

  /// The path without symbolic links; SQLite's auxiliary files are next to it.
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
    case unusable(Fault)
  }

  private func opened() throws(SQLiteFailure) -> Opened {
    do throws(SQLiteFailure) {
      return try classified(Connection(path, busyTimeout: busyTimeout))
    } catch let error where error.primary == SQLITE_CANTOPEN || error.primary == SQLITE_READONLY {
      // In a read-only directory the files that readers share cannot be created. Without a log, and so
      // without a writer, they are not needed.
      guard !hasLog else { throw error }
      return try classified(Connection(unchanging: path, busyTimeout: busyTimeout))
    }
  }

  /// A connection without locks; `nil` unless the file is a store of this version that no process has open.
  private func unlocked() -> Connection? {
    guard let idle = IdleFile(realPath) else { return nil }
    do throws(SQLiteFailure) {
      // Anything else is opened again with locks, to be upgraded, moved aside or reported.
      guard
        case .ours(var connection) = try classified(
          Connection(unchanging: path, busyTimeout: busyTimeout)),
        idle.isUnchanged
      else { return nil }
      try Self.settle(connection)
      connection.idleFile = idle
      return connection
    } catch {
      return nil
    }
  }

  /// True if there are changes that are not in the file itself yet.
  private var hasLog: Bool { FileIdentity.hasContents(realPath + "-wal") }

  private func classified(_ connection: consuming Connection) throws(SQLiteFailure) -> Opened {
    var connection = connection
    // In one snapshot, or a file that another process is creating would look foreign.
    let (tables, mark, version, page) = try connection.snapshot {
      connection throws(SQLiteFailure) in
      // Reading the schema fails if the file lacks whole pages.
      let tables = try connection.row("SELECT count(*) FROM sqlite_schema") { $0.integer(0) }
      let mark = try connection.row("PRAGMA application_id") { $0.integer(0) }
      let version = try connection.row("PRAGMA user_version") { $0.integer(0) }
      let page = try connection.row("PRAGMA page_size") { $0.integer(0) }
      return (tables ?? 0, mark ?? 0, version ?? 0, page ?? 1)
    }
    // SQLite reads zeros for the missing part of a cut last page.
    // The log is checked first: it disappears only when all of it is in the file.
    if !hasLog, let size = FileIdentity(path)?.size, !size.isMultiple(of: page) {
      return .unusable(.damage("is damaged"))
    }
    if tables == 0, mark == 0, version == 0 { return .empty(connection) }
    guard mark == SQLiteSchema.applicationID, version > 0 else { return .unusable(.foreign) }
    guard version <= SQLiteSchema.version else { return .unusable(.newer) }
    return version == SQLiteSchema.version ? .ours(connection) : .older(connection)
  }

  /// Configures a connection to a file that is a store.
  private static func settle(_ connection: borrowing Connection) throws(SQLiteFailure) {
    // The last connection moves the log into the file when it is closed.
    csqlite_switch(connection.database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    // A log that starts anew keeps its size, up to that at which the ``Checkpointer`` stops its growth. A transaction of many
    // records changes a thousand pages of the index of IDs in turn, which would be written and read again and again if
    // they did not fit into memory until its end.
    try connection.execute(
      """
      PRAGMA synchronous = NORMAL;
      PRAGMA cache_size = -4096;
      PRAGMA cache_spill = -8192;
      PRAGMA temp_store = MEMORY;
      PRAGMA journal_size_limit = 67108864;
      """)
  }

  /// Upgrades an empty or older file to this version.
  private func migrate(_ connection: inout Connection) throws(SQLiteFailure) {
    // SQLite does not wait for locks when it changes the journal mode.
    try locked(.exclusive, orThrow: SQLiteFailure(SQLITE_BUSY, on: nil)) {
      () throws(SQLiteFailure) in
      // With SQLite's 4096 the log has twice as many pages, in about as many bytes. A file keeps the size that it has.
      try connection.execute("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL")
    }
    try connection.transaction { connection throws(SQLiteFailure) in
      // Another process may have been first.
      let found = try connection.row("PRAGMA user_version") { $0.integer(0) } ?? 0
      try connection.addRefolding()
      for migration in SQLiteSchema.migrations.dropFirst(Int(found)) {
        try connection.execute(migration)
      }
    }
  }

  /// Creates an empty file with mode 0600.
  private func create() throws(SourceError) {
    guard try identity() == nil else { return }
    let directory = PrivateFile.directory(of: path)
    let parent = PrivateFile.directory(of: directory)
    // A path that somebody named may be mistyped.
    guard !isStrict || access(parent, F_OK) == 0 || errno != ENOENT else {
      throw SourceError(
        .storage, "cannot create \(path): there is no directory \(parent)",
        remedy: Remedy("create it, or choose another store", .moveStore))
    }
    try PrivateFile.makeDirectory(directory)
    try locked(.exclusive, orThrow: busy) { () throws(SourceError) in
      // If it exists by now, this process may have a connection, and closing the file here would drop
      // that connection's locks (https://sqlite.org/howtocorrupt.html, 2.2).
      guard try identity() == nil else { return }
      do throws(SystemFailure) { _ = try OpenFile(path, O_RDWR | O_CREAT, mode: 0o600) } catch {
        throw SourceError(
          .storage, "cannot create \(path): \(error.words)",
          remedy: Remedy("check the directory's permissions and the free disk space", .moveStore))
      }
    }
  }

  // MARK: - Moving aside

  /// The paths of the damaged files that were moved aside, in the order of their names.
  var movedFiles: [String] {
    let beginning = "\(realPath).aside-"
    let directory = PrivateFile.directory(of: beginning)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.map { directory == "/" ? "/\($0)" : "\(directory)/\($0)" }.sorted()
      .filter { $0.hasPrefix(beginning) && Int($0.dropFirst(beginning.count)) != nil }
  }

  /// Renames a damaged file and its auxiliary files, so that nothing in them is lost, and keeps the deletions that
  /// can still be read in a new one: records can be fetched again, but nobody else knows what was deleted.
  ///
  /// `why` is worded to follow the file's name; `isStillThere` is false if another process moved it.
  ///
  /// - Throws: ``SourceError`` with code `busy`, or `storage`, also if a damaged file has to stay where it is.
  func moveAside(_ why: String, if isStillThere: () -> Bool) throws(SourceError) {
    guard !isStrict else { throw Fault.damage(why).error(of: path) }
    let moved = try locked(.exclusive, orThrow: busy) { () throws(SourceError) -> String? in
      guard isStillThere() else { return nil }
      let file = realPath
      var number = 1
      while FileIdentity("\(file).aside-\(number)") != nil { number += 1 }
      let name = "\(file).aside-\(number)"
      do throws(SystemFailure) { try SystemFailure.check { rename(file, name) } } catch {
        throw SourceError(
          .storage, "\(path) \(why) and cannot be moved aside: \(error.words)",
          remedy: Remedy("move it away", .moveStore))
      }
      for suffix in ["-wal", "-shm", "-journal"] { rename(file + suffix, name + suffix) }
      return name
    }
    guard let moved else { return }
    let kept = (try? keepDeletions(of: moved)) ?? 0
    let deletions = kept == 0 ? "" : "; \(kept) deletion\(kept == 1 ? "" : "s") kept"
    report(Warning(.movedAside, "\(path) \(why); moved to \(moved)\(deletions)"))
  }

  /// Copies the deletions of a file that was moved aside, as far as they can be read, and returns their number.
  private func keepDeletions(of moved: String) throws -> Int {
    // A file without a log is opened without creating one.
    var damaged =
      FileIdentity.hasContents(moved + "-wal")
      ? try Connection(moved, busyTimeout: busyTimeout, flags: SQLITE_OPEN_READONLY)
      : try Connection(unchanging: moved, busyTimeout: busyTimeout)
    // Otherwise SQLite refuses a file that lacks its last pages; nothing is written to this one.
    csqlite_switch(damaged.database, SQLITE_DBCONFIG_DEFENSIVE, 0)
    try damaged.execute("PRAGMA writable_schema = ON")
    var deletions: [(source: String, id: String, time: Int64)] = []
    // Rows before the damage are kept.
    _ = try? damaged.rows(
      """
      SELECT s.name, t.id, t.deleted FROM tombstones t JOIN sources s ON s.number = t.source
      """
    ) { row in
      guard let source = row.text(0), let id = row.text(1) else { return }
      deletions.append((source, id, row.integer(2)))
    }
    guard !deletions.isEmpty, var connection = try open(for: .writing) else { return 0 }
    try connection.transaction { connection throws(SQLiteFailure) in
      for deletion in deletions {
        let number = try connection.numbered(deletion.source)
        try connection.run(
          "INSERT OR IGNORE INTO tombstones (source, id, deleted) VALUES (?1, ?2, ?3)", number,
          deletion.id, deletion.time)
      }
    }
    return deletions.count
  }

  /// Runs `body` with the directory locked: exclusively to create or move the file, shared to open it.
  ///
  /// Throws `timeout` if the lock is not free within ``busyTimeout``, or the task is cancelled.
  private func locked<Answer: ~Copyable, Failure: Error>(
    _ kind: OpenFile.LockKind, orThrow timeout: @autoclosure () -> Failure,
    _ body: () throws(Failure) -> Answer
  ) throws(Failure) -> Answer {
    guard let directory = try? OpenFile(directory: PrivateFile.directory(of: path)) else {
      return try body()
    }
    let limit = contention.isKnown.load(ordering: .relaxed) ? .zero : busyTimeout
    // Some network file systems have no locks; there it continues without one.
    let isLocked = (try? directory.lock(kind, within: limit)) ?? true
    contention.isKnown.store(!isLocked && !Task.isCancelled, ordering: .relaxed)
    guard isLocked else { throw timeout() }
    defer { directory.unlock() }
    return try body()
  }
}
