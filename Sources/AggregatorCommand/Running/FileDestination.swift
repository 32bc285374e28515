import AggregatorFiles
import AggregatorKit
import Foundation

enum FileDestination: Hashable {
  case standardOutput
  case file(String)
  case directory(String)

  /// Reads `-o`: `-`, a directory, or a file; throws `usage` if standard output is a terminal.
  init(_ path: String?, _ terminal: Terminal) throws(CommandError) {
    guard let path, path != "-" else {
      guard !terminal.isOutput else {
        throw CommandError(
          .usage, "refusing to write binary data to a terminal",
          hint: "add -o FILE, or use a pipe")
      }
      self = .standardOutput
      return
    }
    var isDirectory: ObjCBool = false
    let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
    self =
      path.hasSuffix("/") || isThere && isDirectory.boolValue ? .directory(path) : .file(path)
  }

  /// Replaces a regular file atomically, and writes to others, such as `/dev/null`; returns the
  /// path, `nil` for standard output, and throws `io`, `usage` for a terminal, or
  /// ``Output/ClosedPipe``.
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
      // Even if its directory allows replacing it.
      guard access(path, W_OK) == 0 else {
        throw Self.failure(path, SystemFailure(code: errno).words)
      }
      let target = URL(filePath: path).resolvingSymlinksInPath().path
      try replace(target, by: bytes, mode: status.st_mode & 0o777)
    } else {
      let file: OpenFile
      do throws(SystemFailure) { file = try OpenFile(path, O_WRONLY | O_NOCTTY) } catch {
        throw Self.failure(path, error.words)
      }
      guard isatty(file.descriptor) == 0 else {
        throw CommandError(
          .usage, "refusing to write binary data to a terminal", hint: "use another file")
      }
      try Output(descriptor: file.descriptor, named: path).write(bytes)
    }
  }

  private func replace(_ path: String, by bytes: Data, mode: mode_t?) throws(CommandError) {
    do throws(SystemFailure) {
      // In the same directory, and short: the file's own name may be as long as a name can be.
      let scalars = path.unicodeScalars
      let directory = scalars.lastIndex(of: "/").map { String(scalars[...$0]) } ?? ""
      let new = "\(directory).new-\(UInt64.random(in: .min ... .max))"
      try OpenFile.replace(path, with: Array(bytes), mode: 0o666, via: new, isDurable: false) {
        file throws(SystemFailure) in
        if let mode { try SystemFailure.check { fchmod(file.descriptor, mode) } }
      }
    } catch {
      throw Self.failure(path, error.words)
    }
  }

  private static func failure(_ path: String, _ reason: String) -> CommandError {
    CommandError(.io, "cannot write to \(path): \(reason)")
  }
}
