package import AggregatorCore
import AggregatorFoundation

/// A small file that only its owner may read, replaced atomically.
package struct PrivateFile: Sendable {
  /// The absolute path; if it is a symbolic link, its target is replaced.
  package let path: String

  /// The longest wait for another process that replaces a file of the same directory.
  private static let maxWait = Duration.seconds(10)

  package init(path: String) { self.path = path }

  /// Replaces the file's contents by a function of the old contents.
  ///
  /// The new contents are on the disk before they replace the old ones: a full disk, a crash or a missing
  /// permission leaves the old file unchanged. Concurrent edits, also by other processes, happen one
  /// after the other. Missing directories are created with mode 0700; the file has mode 0600.
  ///
  /// Nothing is written if `edit` throws, or if the old contents exceed `limit` bytes.
  ///
  /// - Throws: ``SourceError`` with code `storage`, `malformed` if the old contents are too large, or
  ///   `busy`; the errors of `edit`.
  package func replace(
    atMost limit: Int, _ edit: ([UInt8]) throws(SourceError) -> [UInt8]
  ) throws(SourceError) {
    let target = try target()
    let directory = try openDirectory(of: target)
    // Some network file systems have no locks; there the last of two writers wins.
    let isLocked = try? directory.lock(.exclusive, within: Self.maxWait)
    guard isLocked ?? true else {
      if Task.isCancelled { throw .cancelled }
      throw SourceError(.busy, "\(path) is locked by another process", remedy: "try again")
    }
    if isLocked != nil { OpenFile.removeAbandoned(target) }
    try write(
      try edit(try contents(atMost: limit, irregular: .storage) ?? []), to: target, in: directory)
  }

  /// Replaces the file's contents as ``replace(atMost:_:)`` does, without reading them.
  package func write(_ bytes: [UInt8]) throws(SourceError) {
    let target = try target()
    try write(bytes, to: target, in: openDirectory(of: target))
  }

  /// The file's contents; `nil` if it does not exist.
  ///
  /// - Throws: ``SourceError`` with code `malformed` if it has more than `limit` bytes, `code` if it is not a
  ///   regular file, and `storage` if the system refuses to read it.
  package func contents(
    atMost limit: Int, irregular code: SourceError.Code = .malformed
  ) throws(SourceError) -> [UInt8]? {
    do throws(FileReadFailure) { return try OpenFile.contents(of: path, atMost: limit) } catch {
      switch error {
      case .system(let failure) where failure.isMissing: return nil
      case .system(let failure):
        throw SourceError(
          .storage, "cannot read \(path): \(failure.words)", remedy: "check its permissions")
      case .notRegular: throw SourceError(code, "\(path) is not a regular file")
      case .tooLarge: throw SourceError(.malformed, "\(path) is larger than \(limit) bytes")
      }
    }
  }

  private func write(
    _ bytes: [UInt8], to target: String, in directory: borrowing OpenFile
  ) throws(SourceError) {
    do throws(SystemFailure) {
      try OpenFile.replace(target, with: bytes)
      try directory.synchronize()
    } catch {
      throw SourceError(unwritable: path, error)
    }
  }

  /// The end of the chain of symbolic links, even if nothing exists there yet.
  private func target() throws(SourceError) -> String {
    var target = path
    for _ in 0..<32 {
      guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: target) else {
        return target
      }
      target = link.hasPrefix("/") ? link : "\(Self.directory(of: target))/\(link)"
    }
    throw SourceError(unwritable: path, SystemFailure(code: ELOOP))
  }

  private func openDirectory(of target: String) throws(SourceError) -> OpenFile {
    let directory = Self.directory(of: target)
    do throws(SystemFailure) {
      try Self.make(directory)
      return try OpenFile(directory: directory)
    } catch {
      throw SourceError(unwritable: path, error)
    }
  }

  // MARK: - Directories

  /// Creates a directory and its missing parents with mode 0700; existing ones are unchanged.
  package static func makeDirectory(_ path: String) throws(SourceError) {
    do throws(SystemFailure) { try make(path) } catch {
      throw SourceError(unwritable: path, error)
    }
  }

  private static func make(_ path: String) throws(SystemFailure) {
    do throws(SystemFailure) { try makeOne(path) } catch let error
      where error.code == ENOENT && path != "/"
    {
      try make(directory(of: path))
      // Not more often: below a dangling link, or in /proc, it stays impossible.
      try makeOne(path)
    }
  }

  private static func makeOne(_ path: String) throws(SystemFailure) {
    do throws(SystemFailure) {
      try SystemFailure.check { mkdir(path, 0o700) }
    } catch let error where error.code == EEXIST {
      // If it is not a directory, opening it fails.
    }
  }

  /// The path of the directory that holds the file.
  package static func directory(of path: String) -> String {
    let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    return parent.isEmpty ? "/" : String(parent)
  }
}

extension SourceError {
  /// A file or directory that cannot be written.
  package init(unwritable path: String, _ failure: SystemFailure) {
    self.init(
      .storage, "cannot write \(path): \(failure.words)",
      remedy: failure.isMissing
        ? "choose a directory that you can create"
        : "check the free disk space and the directory's permissions")
  }
}
