import Foundation

/// A small file that only its owner may read, replaced as a whole or not at all.
struct PrivateFile {
  /// The absolute path; where it is a symbolic link, what it leads to is replaced.
  let path: String

  /// Replaces the file's contents.
  ///
  /// The new contents are on the disk, in a file of their own beside it, before they take the old
  /// ones' place: a full disk, a crash or a missing permission leaves the old file as it was.
  /// Another process that does the same waits, so neither loses what the other wrote. Missing
  /// directories are made with mode 0700; the file has mode 0600.
  ///
  /// - Parameter edit: Gives the new contents for the old; nothing is written if it throws.
  /// - Throws: ``SourceError`` with code `storage`, and what `edit` throws.
  func replace(
    _ edit: ([UInt8]) throws(SourceError) -> [UInt8]
  ) throws(SourceError) {
    let target = try target()
    let directory = try openDirectory(of: target)
    // Some network file systems have no locks; there the last of two writers wins, as without one.
    _ = try? SystemFailure.check { flock(directory.descriptor, LOCK_EX) }
    let edited = try edit(try contents(of: target))
    do throws(SystemFailure) {
      try write(edited, to: target)
      try SystemFailure.check { fsync(directory.descriptor) }
    } catch {
      throw unwritable(error)
    }
  }

  private func unwritable(_ failure: SystemFailure) -> SourceError {
    SourceError(
      .storage, "\(path) cannot be written: \(failure.words)",
      remedy: "see that the disk has room and that the directory is yours")
  }

  private func contents(of target: String) throws(SourceError) -> [UInt8] {
    switch SettingsReader(in: "/")(target) {
    case .text(let text): return text.bytes
    case .missing: return []
    case .refused(let fault):
      throw SourceError(fault.code, "\(path): \(fault.what)", remedy: fault.remedy)
    }
  }

  private func write(_ bytes: [UInt8], to target: String) throws(SystemFailure) {
    let new = "\(target).\(UInt64.random(in: .min ... .max))"
    do throws(SystemFailure) {
      let file = try OpenFile(new, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
      try file.writeThrough(bytes)
      try SystemFailure.check { rename(new, target) }
    } catch {
      unlink(new)
      throw error
    }
  }

  /// Where the path leads, even if nothing is there yet.
  private func target() throws(SourceError) -> String {
    var target = path
    for _ in 0..<32 {
      guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: target) else {
        return target
      }
      target = link.hasPrefix("/") ? link : "\(Self.directory(of: target))/\(link)"
    }
    throw unwritable(SystemFailure(code: ELOOP))
  }

  private func openDirectory(of target: String) throws(SourceError) -> OpenFile {
    let directory = Self.directory(of: target)
    do throws(SystemFailure) {
      try Self.makeDirectory(directory)
      return try OpenFile(directory, O_RDONLY | O_DIRECTORY)
    } catch {
      throw unwritable(error)
    }
  }

  /// Makes a directory with mode 0700, and those above it, where there are none.
  static func makeDirectory(_ path: String) throws(SystemFailure) {
    do throws(SystemFailure) { try makeOne(path) } catch let error
      where error.code == ENOENT && path != "/"
    {
      try makeDirectory(directory(of: path))
      // Once more and not for ever: below a link to nowhere, or in /proc, it stays impossible.
      try makeOne(path)
    }
  }

  private static func makeOne(_ path: String) throws(SystemFailure) {
    do throws(SystemFailure) {
      try SystemFailure.check { mkdir(path, 0o700) }
    } catch let error where error.code == EEXIST {
      // It is there, or something else is, which opening it will tell.
    }
  }

  /// The directory that a file is in.
  static func directory(of path: String) -> String {
    let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    return parent.isEmpty ? "/" : String(parent)
  }
}
