import AggregatorFiles
import AggregatorFoundation

/// A file's identity, whatever its name; equal if device and inode are.
struct FileIdentity: Equatable, Sendable {
  private let device: UInt64
  private let number: UInt64

  /// In bytes.
  let size: Int64
  let isDirectory: Bool
  let isRegular: Bool

  /// The time at which the contents were last changed, in seconds since 1970.
  var modified: Int { times.modified.tv_sec }
  private let times: (modified: timespec, changed: timespec)

  /// The file at a path; `nil` if there is none, or it is out of reach.
  init?(_ path: String) {
    guard let found = try? FileIdentity(ifPresent: path) else { return nil }
    self = found
  }

  /// The file at a path; `nil` if there is none.
  init?(ifPresent path: String) throws(SystemFailure) {
    var status = stat()
    do throws(SystemFailure) { try SystemFailure.check { stat(path, &status) } } catch let error
      where error.isMissing
    { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    number = UInt64(truncatingIfNeeded: status.st_ino)
    size = Int64(status.st_size)
    isDirectory = status.st_mode & S_IFMT == S_IFDIR
    isRegular = status.st_mode & S_IFMT == S_IFREG
    #if canImport(Darwin)
      times = (status.st_mtimespec, status.st_ctimespec)
    #else
      times = (status.st_mtim, status.st_ctim)
    #endif
  }

  /// False for an empty file, and if there is none.
  static func hasContents(_ path: String) -> Bool {
    FileIdentity(path).map { $0.size > 0 } ?? false
  }

  static func == (one: Self, other: Self) -> Bool {
    one.device == other.device && one.number == other.number
  }

  /// True for the same file with the same contents, as far as its size and times tell.
  func isUnchanged(since before: FileIdentity) -> Bool {
    self == before && size == before.size
      && times.modified.isEqual(to: before.times.modified)
      // Unlike the other, no program can set it back.
      && times.changed.isEqual(to: before.times.changed)
  }
}

extension timespec {
  fileprivate func isEqual(to other: timespec) -> Bool {
    tv_sec == other.tv_sec && tv_nsec == other.tv_nsec
  }
}

/// A database file to which nobody writes, so that it can be read without locks.
///
/// Before it reads a file in WAL mode, SQLite creates two files beside it and locks them. A command that only
/// reads needs neither while nobody writes: a writer appends to the log first, and changes the times of the file
/// when it copies the log into it. So an answer is sound if there was no log, and the file is the same after
/// reading as before.
struct IdleFile: Sendable {
  private let path: String
  private let identity: FileIdentity

  /// The seconds within which two changes may leave the same time: those of FAT.
  private static let timestampUnit = 2

  /// The file at a path without symbolic links; `nil` if it may be in use, or was changed too recently for its
  /// times to show another change.
  init?(_ path: String) {
    guard let identity = FileIdentity(path), identity.isRegular, !Self.hasLog(path),
      time(nil) - identity.modified > Self.timestampUnit
    else { return nil }
    self.path = path
    self.identity = identity
  }

  /// True if nobody has changed the file, or begun to.
  var isUnchanged: Bool {
    guard !Self.hasLog(path), let found = FileIdentity(path) else { return false }
    return found.isUnchanged(since: identity)
  }

  /// True if there are changes beside the file: an empty log was left behind.
  private static func hasLog(_ path: String) -> Bool {
    ["-wal", "-journal"].contains { FileIdentity.hasContents(path + $0) }
  }
}
