import AggregatorFoundation

/// A file's identity, whatever its name; equal if device and inode are.
package struct FileIdentity: Equatable, Sendable {
  private let device: UInt64
  private let number: UInt64

  /// In bytes.
  package let size: Int64
  package let isDirectory: Bool
  package let isRegular: Bool

  /// The time at which the contents were last changed, in seconds since 1970.
  package var modified: Int { times.modified.tv_sec }
  /// The time at which the file was last changed in any way, which no program can set, in seconds since 1970.
  package var changed: Int { times.changed.tv_sec }
  private let times: (modified: timespec, changed: timespec)

  /// A text that other contents do not have, as far as the size and the times tell.
  package var version: String {
    let (modified, changed) = (times.modified, times.changed)
    return [
      Int(truncatingIfNeeded: number), Int(size), modified.tv_sec, modified.tv_nsec,
      changed.tv_sec, changed.tv_nsec,
    ].map(\.description).joined(separator: ".")
  }

  /// The file at a path; `nil` if there is none, or it is out of reach.
  package init?(_ path: String) {
    guard let found = try? FileIdentity(ifPresent: path) else { return nil }
    self = found
  }

  /// The file at a path; `nil` if there is none.
  package init?(ifPresent path: String) throws(SystemFailure) {
    var status = stat()
    do throws(SystemFailure) { try SystemFailure.check { stat(path, &status) } } catch let error
      where error.isMissing
    { return nil }
    self.init(status)
  }

  /// An open file, whatever its path leads to now.
  package init(of file: borrowing OpenFile) throws(SystemFailure) {
    var status = stat()
    try SystemFailure.check { fstat(file.descriptor, &status) }
    self.init(status)
  }

  private init(_ status: stat) {
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

  /// The size and the time of change of the program's file, which another version of it has not; `nil` if it
  /// is out of reach.
  package static let program: String? = {
    #if canImport(Darwin)
      let path = Bundle.main.executablePath ?? ""
    #else
      let path = "/proc/self/exe"
    #endif
    return FileIdentity(path).map { file in
      "\(file.size) \(file.times.modified.tv_sec) \(file.times.modified.tv_nsec)"
    }
  }()

  /// False for an empty file, and if there is none.
  package static func hasContents(_ path: String) -> Bool {
    FileIdentity(path).map { $0.size > 0 } ?? false
  }

  package static func == (one: Self, other: Self) -> Bool {
    one.device == other.device && one.number == other.number
  }

  /// True for the same file with the same contents, as far as its size and times tell.
  package func isUnchanged(since before: FileIdentity) -> Bool {
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
