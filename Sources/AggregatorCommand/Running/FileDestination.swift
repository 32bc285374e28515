import AggregatorKit
import Foundation

/// Where a file goes that a command makes: to standard output, into a file, or into a directory.
enum FileDestination: Hashable {
  case standardOutput
  case file(String)
  case directory(String)

  /// Reads what was typed.
  ///
  /// - Parameters:
  ///   - path: The value of `-o`: `-`, a directory, or a file.
  ///   - terminal: The terminal, which gets no bytes that are no text.
  /// - Throws: ``CommandError`` with code `usage`.
  init(_ path: String?, _ terminal: Terminal) throws(CommandError) {
    guard let path, path != "-" else {
      guard !terminal.isOutput else {
        throw CommandError(
          .usage, "an image is not written to a terminal", hint: "add -o FILE, or a pipe")
      }
      self = .standardOutput
      return
    }
    var isDirectory: ObjCBool = false
    let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
    self =
      path.hasSuffix("/") || isThere && isDirectory.boolValue ? .directory(path) : .file(path)
  }

  /// Writes the file.
  ///
  /// A regular file is replaced as a whole or not at all. What is none, such as a named pipe or
  /// `/dev/null`, is written to.
  ///
  /// - Parameters:
  ///   - bytes: What is in it.
  ///   - name: What it is called in a directory.
  ///   - output: Standard output.
  /// - Returns: The path; `nil` for standard output.
  /// - Throws: ``CommandError`` with code `io`, or `usage` for a terminal; ``Output/ReaderGone``.
  func write(_ bytes: Data, named name: String, _ output: Output) throws -> String? {
    switch self {
    case .standardOutput:
      try output.write(bytes)
      return nil
    case .file(let path):
      try write(bytes, to: path)
      return path
    case .directory(let path):
      let file = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
      try write(bytes, to: file)
      return path == "." ? name : file
    }
  }

  private func write(_ bytes: Data, to path: String) throws {
    var status = stat()
    guard stat(path, &status) == 0 else { return try replace(path, by: bytes, mode: nil) }
    if status.st_mode & S_IFMT == S_IFREG {
      // Its directory may let it be replaced where itself may not be written.
      guard access(path, W_OK) == 0 else { throw Self.failure(path) }
      let target = URL(filePath: path).resolvingSymlinksInPath().path
      try replace(target, by: bytes, mode: status.st_mode & 0o777)
    } else {
      let file = try Self.open(path, O_WRONLY | O_NOCTTY)
      defer { close(file) }
      guard isatty(file) == 0 else {
        throw CommandError(
          .usage, "an image is not written to a terminal", hint: "name another file")
      }
      try Output(descriptor: file, named: path).write(bytes)
    }
  }

  /// Writes a new file beside the path, which then takes its place.
  private func replace(_ path: String, by bytes: Data, mode: mode_t?) throws {
    let new = "\(path).\(UInt64.random(in: .min ... .max))"
    let file = try Self.open(new, O_WRONLY | O_CREAT | O_EXCL, path)
    do {
      defer { close(file) }
      try Output(descriptor: file, named: path).write(bytes)
      if let mode { fchmod(file, mode) }
      guard rename(new, path) == 0 else { throw Self.failure(path) }
    } catch {
      unlink(new)
      throw error
    }
  }

  private static func open(_ path: String, _ flags: Int32, _ name: String? = nil) throws -> Int32 {
    let file = Foundation.open(path, flags | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw failure(name ?? path) }
    return file
  }

  private static func failure(_ path: String) -> CommandError {
    CommandError(.io, "cannot write to \(path): \(String(cString: strerror(errno)))")
  }
}
