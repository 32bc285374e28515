import CSQLite
import Foundation

/// Where the store lies, and how its file is opened, made and, where it is no good, moved aside.
struct StoreFile: Sendable {
  /// The absolute path.
  let path: String

  /// Who is told that a file was moved aside.
  let report: @Sendable (Warning) -> Void

  /// What a file is, apart from its name; `nil` if there is none.
  var identity: FileIdentity? { FileIdentity(path) }

  /// What a connection is for.
  enum Purpose { case reading, writing }

  /// Opens the file.
  ///
  /// - Parameter purpose: For writing, the file is made where there is none.
  /// - Returns: A connection; `nil` for reading where there is no file.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func open(for purpose: Purpose) throws(SourceError) -> Connection? {
    // Twice at most: a file that was moved aside makes room for a new one.
    for _ in 0..<2 {
      guard purpose == .writing || identity != nil else { return nil }
      if purpose == .writing { try make() }
      guard identity?.isDirectory != true else {
        throw SourceError(
          .storage, "\(path) is a directory", remedy: "move it away, or set AGGREGATOR_HOME")
      }
      let fault: String
      do throws(SQLiteFailure) {
        switch try opened() {
        case .ours(let connection): return connection
        case .empty where purpose == .reading: return nil
        case .empty(var connection):
          try Self.migrate(&connection, to: Schema.version)
          return connection
        case .older(var connection):
          guard !connection.isReadOnly else { return connection }
          try Self.migrate(&connection, to: Schema.version)
          return connection
        case .foreign: fault = "is no store of this program"
        case .newer: fault = "was written by a later version of this program"
        }
      } catch {
        guard error.isDamage else { throw error.error(of: path) }
        fault = error.primary == SQLITE_NOTADB ? "is no database" : "is damaged"
      }
      try moveAside(fault)
    }
    throw SourceError(.busy, "\(path) is being replaced", remedy: "try again in a moment")
  }

  // MARK: - Opening

  private enum Opened: ~Copyable {
    case ours(Connection)
    case older(Connection)
    case empty(Connection)
    case foreign
    case newer
  }

  private func opened() throws(SQLiteFailure) -> Opened {
    do throws(SQLiteFailure) {
      return try Self.classified(Connection(path))
    } catch let error where error.primary == SQLITE_CANTOPEN || error.primary == SQLITE_READONLY {
      // In a directory that nobody may write to, the files that readers share cannot be made. Without
      // a log, and so without a writer, nobody needs them.
      guard FileIdentity(path + "-wal").map({ $0.size == 0 }) ?? true,
        let name = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed)
      else { throw error }
      return try Self.classified(
        Connection(
          "file:\(name)?immutable=1", flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI))
    }
  }

  private static func classified(
    _ connection: consuming Connection
  ) throws(SQLiteFailure) -> Opened {
    var connection = connection
    // Reading the tables' names finds a file that is too short.
    let tables = try connection.row("SELECT count(*) FROM sqlite_schema") { $0.integer(0) } ?? 0
    let mark = try connection.row("PRAGMA application_id") { $0.integer(0) } ?? 0
    let version = try connection.row("PRAGMA user_version") { $0.integer(0) } ?? 0
    if tables == 0, mark == 0, version == 0 { return .empty(connection) }
    guard mark == Schema.applicationID, version > 0 else { return .foreign }
    guard version <= Schema.version else { return .newer }
    try connection.execute(
      """
      PRAGMA synchronous = NORMAL;
      PRAGMA cache_size = -4096;
      PRAGMA temp_store = MEMORY;
      PRAGMA journal_size_limit = 16777216;
      """)
    return version == Schema.version ? .ours(connection) : .older(connection)
  }

  /// Makes an empty file, an older one or none a file of ours.
  private static func migrate(
    _ connection: inout Connection, to version: Int64
  ) throws(SQLiteFailure) {
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
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
      _ = try OpenFile(path, O_RDWR | O_CREAT, mode: 0o600)
    } catch {
      throw SourceError(
        .storage, "\(path) cannot be made: \(error.words)",
        remedy: "see that the directory is yours and the disk has room, or set AGGREGATOR_HOME")
    }
  }

  // MARK: - Moving aside

  /// Gives the file, and what belongs to it, another name, so that nothing in it is lost.
  ///
  /// - Parameter why: What is wrong with it, after its name.
  /// - Throws: ``SourceError`` with code `storage` if it cannot be.
  func moveAside(_ why: String) throws(SourceError) {
    let found = identity
    do throws(SystemFailure) {
      let lock = try OpenFile(path + ".lock", O_RDWR | O_CREAT, mode: 0o600)
      try SystemFailure.check { flock(lock.descriptor, LOCK_EX) }
      // Another process that found the same may have been first.
      guard let found, identity == found else { return }
      let name = unusedName()
      try SystemFailure.check { rename(path, name) }
      for suffix in ["-wal", "-shm"] { rename(path + suffix, name + suffix) }
      report(Warning("movedAside", "\(path) \(why); it is kept as \(name)"))
    } catch {
      throw SourceError(
        .storage, "\(path) \(why), and cannot be moved aside: \(error.words)",
        remedy: "move it away, or set AGGREGATOR_HOME")
    }
  }

  private func unusedName() -> String {
    for number in 1... {
      let name = "\(path).aside-\(number)"
      if FileIdentity(name) == nil { return name }
    }
    return path  // not reached: the range has no end
  }
}

/// What tells a file from every other, whatever it is called.
struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let number: UInt64

  /// How many bytes it has.
  let size: Int64

  /// Whether it is a directory.
  let isDirectory: Bool

  /// The file at a path; `nil` if there is none.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    number = UInt64(truncatingIfNeeded: status.st_ino)
    size = Int64(status.st_size)
    isDirectory = status.st_mode & S_IFMT == S_IFDIR
  }

  static func == (one: Self, other: Self) -> Bool {
    one.device == other.device && one.number == other.number
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(device)
    hasher.combine(number)
  }
}
