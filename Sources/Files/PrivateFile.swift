package import AggregatorCore
import Foundation

/// A small file that only its owner may read, replaced as a whole or not at all.
package struct PrivateFile: Sendable {
  /// The absolute path; where it is a symbolic link, what it leads to is replaced.
  package let path: String

  /// A file, which need not exist.
  ///
  /// - Parameter path: The absolute path.
  package init(path: String) { self.path = path }

  /// Replaces the file's contents.
  ///
  /// The new contents are on the disk, in a file of their own beside it, before they take the old
  /// ones' place: a full disk, a crash or a missing permission leaves the old file as it was.
  /// Another process that does the same waits, so neither loses what the other wrote. Missing
  /// directories are made with mode 0700; the file has mode 0600.
  ///
  /// - Parameters:
  ///   - limit: The most bytes that the old contents may have.
  ///   - edit: Gives the new contents for the old; nothing is written if it throws.
  /// - Throws: ``SourceError`` with code `storage` or `malformed`, and what `edit` throws.
  package func replace(
    atMost limit: Int, _ edit: ([UInt8]) throws(SourceError) -> [UInt8]
  ) throws(SourceError) {
    let target = try target()
    let directory = try openDirectory(of: target)
    // Some network file systems have no locks; there the last of two writers wins, as without one.
    _ = try? SystemFailure.check { flock(directory.descriptor, LOCK_EX) }
    try write(
      try edit(try contents(atMost: limit, irregular: .storage) ?? []), to: target, in: directory)
  }

  /// Replaces the file's contents, whatever they were, as ``replace(_:)`` does.
  ///
  /// - Parameter bytes: The new contents.
  /// - Throws: ``SourceError`` with code `storage`.
  package func write(_ bytes: [UInt8]) throws(SourceError) {
    let target = try target()
    try write(bytes, to: target, in: openDirectory(of: target))
  }

  /// Reads the file.
  ///
  /// Only a regular file is read: a named pipe would hang the program.
  ///
  /// - Parameter limit: The most bytes that it may have.
  /// - Returns: Its contents; `nil` if there is no such file.
  /// - Throws: ``SourceError`` with code `malformed` if it is larger or not a regular file, and
  ///   `storage` if the system refuses it.
  package func contents(atMost limit: Int) throws(SourceError) -> [UInt8]? {
    try contents(atMost: limit, irregular: .malformed)
  }

  private func contents(
    atMost limit: Int, irregular code: SourceError.Code
  ) throws(SourceError) -> [UInt8]? {
    let bytes: [UInt8]?
    do throws(SystemFailure) {
      let file = try OpenFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
      let isRegular = try file.mode() & S_IFMT == S_IFREG
      bytes = isRegular ? try file.contents(atMost: limit + 1) : nil
    } catch {
      if error.isMissing { return nil }
      throw SourceError(
        .storage, "\(path) cannot be read: \(error.words)", remedy: "see that it is yours")
    }
    guard let bytes else { throw SourceError(code, "\(path) is not a regular file") }
    guard bytes.count <= limit else {
      throw SourceError(.malformed, "\(path) is larger than \(limit) bytes")
    }
    return bytes
  }

  private func write(
    _ bytes: [UInt8], to target: String, in directory: borrowing OpenFile
  ) throws(SourceError) {
    do throws(SystemFailure) {
      try write(bytes, to: target)
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
      try Self.make(directory)
      return try OpenFile(directory, O_RDONLY | O_DIRECTORY)
    } catch {
      throw unwritable(error)
    }
  }

  /// Makes a directory, and those above it that are missing, with mode 0700.
  ///
  /// One that is there stays as it is.
  ///
  /// - Parameter path: The absolute path.
  /// - Throws: ``SourceError`` with code `storage`.
  package static func makeDirectory(_ path: String) throws(SourceError) {
    do throws(SystemFailure) { try make(path) } catch {
      throw PrivateFile(path: path).unwritable(error)
    }
  }

  private static func make(_ path: String) throws(SystemFailure) {
    do throws(SystemFailure) { try makeOne(path) } catch let error
      where error.code == ENOENT && path != "/"
    {
      try make(directory(of: path))
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

  package static func directory(of path: String) -> String {
    let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    return parent.isEmpty ? "/" : String(parent)
  }
}
