import AggregatorFiles
package import AggregatorKit
package import AggregatorTerminal

package enum FileDestination: Hashable {
  case standardOutput
  case file(String)
  case directory(String)

  /// Reads `-o`: `-`, a directory, or a file; throws `usage` if standard output is a terminal.
  package init(_ path: String?, _ terminal: Terminal) throws(CommandError) {
    guard let path, path != "-" else {
      guard !terminal.isOutput else {
        throw CommandError(
          .usage, "refusing to write binary data to a terminal",
          hint: "add -o FILE, or use a pipe")
      }
      self = .standardOutput
      return
    }
    self =
      path.hasSuffix("/") || OpenFile.isDirectory(path) == true ? .directory(path) : .file(path)
  }

  /// Replaces a regular file atomically, and writes to others, such as `/dev/null`; returns the
  /// path, `nil` for standard output, and throws `io`, `usage` for a terminal, or
  /// ``Output/ClosedPipe``.
  package func write(
    _ bytes: Data, named name: String, in context: CommandContext
  ) throws -> String? {
    switch self {
    case .standardOutput:
      try context.output.write(bytes)
      return nil
    case .file(let path):
      try write(bytes, to: path, in: context)
      return path
    case .directory(let path):
      let file = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
      try write(bytes, to: file, in: context)
      return path == "." ? name : file
    }
  }

  private func write(_ bytes: Data, to path: String, in context: CommandContext) throws {
    var status = stat()
    guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      return try write(bytes, toDevice: path)
    }
    let file = try NewFile(replacing: path, in: context)
    try file.output.write(bytes)
    try file.finish()
  }

  private func write(_ bytes: Data, toDevice path: String) throws {
    let file: OpenFile
    do throws(SystemFailure) { file = try OpenFile(path, O_WRONLY | O_NOCTTY) } catch {
      throw CommandError(.io, "cannot write to \(path): \(error.words)")
    }
    guard isatty(file.descriptor) == 0 else {
      throw CommandError(
        .usage, "refusing to write binary data to a terminal", hint: "use another file")
    }
    try Output(descriptor: file.descriptor, named: path).write(bytes)
  }
}
