import AggregatorFoundation

/// A system call that failed.
package struct SystemFailure: Error {
  /// The error number, as in `errno`.
  package let code: Int32

  package init(code: Int32) { self.code = code }

  /// `true` if the file does not exist.
  package var isMissing: Bool { code == ENOENT || code == ENOTDIR }

  /// The system's message: `Permission denied`.
  package var words: String { String(cString: strerror(code)) }

  /// Makes a system call, retrying after `EINTR`; -1 means failure.
  @discardableResult
  package static func check<Answer: SignedInteger>(_ call: () -> Answer) throws(SystemFailure)
    -> Answer
  {
    while true {
      let answer = call()
      if answer != -1 { return answer }
      let code = errno
      if code != EINTR { throw SystemFailure(code: code) }
    }
  }
}

/// The reason why a file was not read whole.
package enum FileReadFailure: Error {
  case system(SystemFailure)
  /// A directory, a named pipe, a device.
  case notRegular
  /// It has more bytes than the caller allows.
  case tooLarge
}

/// An open file, closed at the end of its lifetime.
package struct OpenFile: ~Copyable {
  package let descriptor: Int32

  /// Opens a file with the flags of `open(2)`; child processes never inherit it.
  package init(_ path: String, _ flags: Int32, mode: UInt32 = 0) throws(SystemFailure) {
    descriptor = try SystemFailure.check { open(path, flags | O_CLOEXEC, mode_t(mode)) }
  }

  /// Closes a descriptor of the caller's at the end.
  package init(owning descriptor: Int32) { self.descriptor = descriptor }

  /// Opens a file for reading, without waiting for the writer of a named pipe.
  ///
  /// Without `followingLink` a symbolic link is the failure `ELOOP`.
  package init(reading path: String, followingLink: Bool = true) throws(SystemFailure) {
    let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY
    try self.init(path, followingLink ? flags : flags | O_NOFOLLOW)
  }

  package init(directory path: String) throws(SystemFailure) {
    try self.init(path, O_RDONLY | O_DIRECTORY)
  }

  deinit { close(descriptor) }

  /// True if other users of this machine may read, write or run it.
  package borrowing func isOpenToOthers() throws(SystemFailure) -> Bool {
    try status().st_mode & 0o077 != 0
  }

  package borrowing func size() throws(SystemFailure) -> Int { Int(try status().st_size) }

  /// The number of its names: 0 if it was removed.
  package borrowing func linkCount() throws(SystemFailure) -> Int { Int(try status().st_nlink) }

  private borrowing func status() throws(SystemFailure) -> stat {
    var status = stat()
    try SystemFailure.check { fstat(descriptor, &status) }
    return status
  }

  /// True for a directory and for a link to one, false for any other file; `nil` if there is no such file.
  package static func isDirectory(_ path: String) -> Bool? {
    status(of: path).map { $0.st_mode & S_IFMT == S_IFDIR }
  }

  /// The number of bytes of a file; `nil` if there is no such file.
  package static func size(of path: String) -> Int? { status(of: path).map { Int($0.st_size) } }

  /// True if both paths lead to one file, by whatever names and links.
  package static func isSame(_ path: String, _ other: String) -> Bool {
    guard let one = status(of: path), let other = status(of: other) else { return false }
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino
  }

  private static func status(of path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }

  // MARK: - Reading

  /// Reads a whole regular file of at most `limit` bytes; anything else is refused.
  package borrowing func contents(atMost limit: Int) throws(FileReadFailure) -> [UInt8] {
    let status: stat
    do throws(SystemFailure) { status = try self.status() } catch { throw .system(error) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
    guard Int(status.st_size) <= limit else { throw .tooLarge }
    let bytes: [UInt8]
    // It may have grown since.
    do throws(SystemFailure) { bytes = try prefix(limit + 1) } catch { throw .system(error) }
    guard bytes.count <= limit else { throw .tooLarge }
    return bytes
  }

  package static func contents(
    of path: String, atMost limit: Int, followingLink: Bool = true
  ) throws(FileReadFailure) -> [UInt8] {
    let file: OpenFile
    do throws(SystemFailure) {
      file = try OpenFile(reading: path, followingLink: followingLink)
    } catch { throw .system(error) }
    return try file.contents(atMost: limit)
  }

  /// Reads at most `limit` bytes.
  package borrowing func prefix(_ limit: Int) throws(SystemFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while bytes.count < limit {
      let wanted = min(chunk.count, limit - bytes.count)
      let count = try SystemFailure.check { read(descriptor, &chunk, wanted) }
      if count == 0 { break }
      bytes += chunk.prefix(count)
    }
    return bytes
  }

  /// Waits until a pipe or a device can be read without waiting, or has ended; files always can.
  ///
  /// Returns false after the time, or sooner if a signal came.
  package borrowing func waitForInput(within limit: Duration) -> Bool {
    let milliseconds = min(limit, .seconds(86_400)) / .milliseconds(1)
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return AggregatorFoundation.poll(&poll, 1, Int32(milliseconds.rounded(.up))) > 0
  }

  // MARK: - Writing

  /// Replaces a file atomically.
  ///
  /// The bytes are written to a temporary file in the same directory, which is then renamed. If any step
  /// fails, the temporary file is deleted and the old file is unchanged.
  ///
  /// A symbolic link is itself replaced; only its owner may read the file; `temporaryPath` must not exist.
  /// A process that is killed leaves the temporary file behind; see ``removeAbandoned(_:)``.
  /// With `isDurable` the bytes are on the disk before renaming; a caller that also wants the new name
  /// to survive a crash synchronizes the directory. `prepare` may change times or permissions.
  package static func replace(
    _ path: String, with bytes: [UInt8], via temporaryPath: String? = nil,
    isDurable: Bool = true,
    prepare: (borrowing OpenFile) throws(SystemFailure) -> Void = { _ throws(SystemFailure) in }
  ) throws(SystemFailure) {
    let new = temporaryPath ?? "\(path).\(UInt64.random(in: .min ... .max))\(temporaryEnding)"
    let file = try OpenFile(new, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    do throws(SystemFailure) {
      try file.write(bytes)
      try prepare(file)
      if isDurable { try file.synchronize() }
      try SystemFailure.check { rename(new, path) }
    } catch {
      unlink(new)
      throw error
    }
  }

  private static let temporaryEnding = ".new"

  /// Removes the temporary files of a file that killed processes left behind.
  ///
  /// The caller must be the only one who replaces the file.
  static func removeAbandoned(_ path: String) {
    let directory = PrivateFile.directory(of: path)
    let prefix = path.dropFirst(directory == "/" ? 1 : directory.utf8.count + 1) + "."
    for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    where name.hasPrefix(prefix) && name.hasSuffix(temporaryEnding) {
      let digits = name.dropFirst(prefix.count).dropLast(temporaryEnding.count)
      if !digits.isEmpty, digits.allSatisfy({ ("0"..."9").contains($0) }) {
        unlink("\(directory)/\(name)")
      }
    }
  }

  /// Removes this user's files or directories whose names are a beginning and a number, and whose process has ended.
  package static func removeAbandoned(in directory: String, beginning: String, _ kind: UInt32) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    where name.hasPrefix(beginning)
      && name.dropFirst(beginning.count).wholeMatch(of: /[0-9]{1,20}/) != nil
    {
      let path = "\(directory)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0, UInt32(status.st_mode & S_IFMT) == kind,
        status.st_uid == geteuid(), let file = try? OpenFile(reading: path, followingLink: false),
        (try? file.lock(.exclusive, within: .zero)) == true
      else { continue }
      try? FileManager.default.removeItem(atPath: path)
      file.unlock()
    }
  }

  private borrowing func write(_ bytes: [UInt8]) throws(SystemFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = try SystemFailure.check {
        rest.withUnsafeBytes { AggregatorFoundation.write(descriptor, $0.baseAddress, $0.count) }
      }
      rest = rest.dropFirst(count)
    }
  }

  /// Waits until the file, or the names in a directory, are on the disk.
  package borrowing func synchronize() throws(SystemFailure) {
    try SystemFailure.check { fsync(descriptor) }
  }

  // MARK: - Locking

  /// The kind of an advisory lock between processes (`flock(2)`).
  package enum LockKind { case shared, exclusive }

  /// Locks the file, waiting up to `limit` and blocking the thread; returns false on timeout, and if the
  /// task is cancelled while it waits.
  ///
  /// Released by ``unlock()`` or when the file is closed. ``FileLock`` waits without blocking a thread.
  ///
  /// - Throws: ``SystemFailure``; some network file systems have no locks.
  package borrowing func lock(
    _ kind: LockKind, within limit: Duration
  ) throws(SystemFailure) -> Bool {
    let operation = kind == .shared ? LOCK_SH : LOCK_EX
    let end = ContinuousClock.now + limit
    var pause: UInt32 = 500
    while true {
      do throws(SystemFailure) {
        try SystemFailure.check { flock(descriptor, operation | LOCK_NB) }
        return true
      } catch let error where error.code == EWOULDBLOCK {
        guard ContinuousClock.now < end, !Task.isCancelled else { return false }
        usleep(pause)
        pause = min(pause * 2, 20_000)
      }
    }
  }

  package borrowing func unlock() { flock(descriptor, LOCK_UN) }
}
