import AggregatorFiles
import AggregatorFoundation

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
