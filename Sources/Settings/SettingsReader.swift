import AggregatorCore
import AggregatorFiles
import Foundation

/// A settings file, read whole.
package struct SettingsText: Sendable {
  /// The path as people know it; places are named with it.
  package let path: String
  /// The absolute path without symbolic links, by which files are told apart.
  package let realPath: String
  /// What is in it.
  package let bytes: [UInt8]
  /// Whether other users of this machine may read or write it.
  package let isOpenToOthers: Bool

  /// A text.
  ///
  /// - Parameters:
  ///   - path: The path as people know it.
  ///   - realPath: The absolute path without symbolic links; `path` by default.
  ///   - bytes: What is in it.
  ///   - isOpenToOthers: Whether other users of this machine may read or write it.
  package init(
    _ path: String, realPath: String? = nil, bytes: [UInt8], isOpenToOthers: Bool = false
  ) {
    self.path = path
    self.realPath = realPath ?? path
    self.bytes = bytes
    self.isOpenToOthers = isOpenToOthers
  }
}

/// What comes of reading a settings file.
package enum SettingsReading: Sendable {
  /// The file.
  case text(SettingsText)
  /// There is no such file.
  case missing
  /// There is something, but it cannot or must not be read.
  case refused(XcconfigFault)
}

/// Reads settings files from the disk.
package struct SettingsReader: Sendable {
  /// The largest file that is read, in bytes.
  package static let largestFile = 65_536

  private let workingDirectory: String
  private let directory: String?

  /// A reader.
  ///
  /// - Parameters:
  ///   - workingDirectory: What relative paths start from; absolute.
  ///   - directory: The one directory of the working directory to read from, `Configuration` or
  ///     `.`: files outside are refused, wherever a symbolic link or `..` leads. `nil` reads all.
  package init(in workingDirectory: String, confinedTo directory: String? = nil) {
    self.workingDirectory = workingDirectory
    self.directory = directory
  }

  /// Reads a file.
  ///
  /// Only regular files are read: a named pipe would hang the program.
  ///
  /// - Parameter path: A path, absolute or relative to the working directory.
  /// - Returns: The file, or why there is none.
  package func callAsFunction(_ path: String) -> SettingsReading {
    guard !path.utf8.contains(0) else { return .missing }
    do throws(SystemFailure) {
      let absolute = path.hasPrefix("/") ? path : "\(workingDirectory)/\(path)"
      let file = try OpenFile(absolute, O_RDONLY | O_NONBLOCK | O_NOCTTY)
      let realPath = Self.realPath(of: absolute) ?? absolute
      // Byte by byte: to Swift, canonically equivalent names of different directories are equal.
      if let confinement, !realPath.utf8.starts(with: confinement.utf8) {
        return .refused(.outside(confinement))
      }
      return try read(file, shownAs: path, realPath: realPath)
    } catch {
      return error.isMissing
        ? .missing : .refused(XcconfigFault("cannot be read: \(error.words)", code: .storage))
    }
  }

  private func read(
    _ file: borrowing OpenFile, shownAs path: String, realPath: String
  ) throws(SystemFailure) -> SettingsReading {
    let mode = try file.mode()
    guard mode & S_IFMT == S_IFREG else {
      return .refused(XcconfigFault("cannot be read: not a regular file", code: .storage))
    }
    let bytes = try file.contents(atMost: Self.largestFile + 1)
    guard bytes.count <= Self.largestFile else {
      return .refused(XcconfigFault("is larger than \(Self.largestFile / 1024) KiB"))
    }
    return .text(
      SettingsText(path, realPath: realPath, bytes: bytes, isOpenToOthers: mode & 0o077 != 0))
  }

  /// The path that every file's real path must begin with.
  ///
  /// Most files do not exist, so it is not found out before one does.
  private var confinement: String? {
    directory.map { directory in
      let real = Self.realPath(of: workingDirectory) ?? workingDirectory
      let root = real.utf8.last == UInt8(ascii: "/") ? real : real + "/"
      return directory == "." ? root : "\(root)\(directory)/"
    }
  }

  /// The absolute path without symbolic links.
  private static func realPath(of path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }
}

extension XcconfigFault {
  fileprivate static func outside(_ directory: String) -> XcconfigFault {
    XcconfigFault(
      "lies outside \(directory), so it is not read",
      remedy: Remedy("copy it there", .nameSettingsFile))
  }
}
