import AggregatorFiles
import AggregatorFoundation
package import AggregatorKit
import AggregatorSQLite
import AggregatorSavedQueries
package import AggregatorTerminal
import DeclaredSource

/// A file that replaces another once it is complete: until then it has a name of its own in the same directory,
/// and is removed after a failure or a signal; after `kill -9`, by the next run that writes there.
package final class NewFile {
  private let new: LockedFile
  private let target: String
  private let shown: String
  private let mayReplace: Bool
  private let cleanUp: Interruption.CleanUp

  /// The verb of the message about the finished file: `Saved`, or `Replaced` if it takes the place of another.
  package let verb: String

  /// Fails with code `io`, also if the file that is there may not be written, and with `usage` if it is one in which
  /// the program keeps data.
  ///
  /// - Parameter mayReplace: False to fail with code `io` if there is a file, also one that another program writes meanwhile.
  package init(
    replacing path: String, in context: CommandContext, mayReplace: Bool = true
  ) throws(CommandError) {
    (shown, self.mayReplace) = (path, mayReplace)
    if !mayReplace { try Self.refuse(path) }
    var status = stat()
    let isThere = stat(path, &status) == 0
    // Even if its directory allows replacing it.
    guard !isThere || access(path, W_OK) == 0 else { throw Self.failure(path, errno) }
    guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
      guard status.st_mode & S_IFMT != S_IFDIR else { throw Self.failure(path, EISDIR) }
      throw CommandError(.io, "cannot write to \(path): not a regular file")
    }
    if isThere { try context.refuseOwnFile(path) }
    let target = isThere ? URL(filePath: path).resolvingSymlinksInPath().path : path
    let directory = target.unicodeScalars.lastIndex(of: "/").map { String(target[...$0]) } ?? ""
    OpenFile.removeAbandoned(
      in: directory.isEmpty ? "." : directory, beginning: ".new-", UInt32(S_IFREG))
    do throws(SystemFailure) { new = try LockedFile(in: directory) } catch {
      throw Self.failure(path, error.code)
    }
    verb = isThere ? "Replaced" : "Saved"
    if isThere { fchmod(new.file.descriptor, status.st_mode & 0o777) }
    self.target = target
    cleanUp = Interruption.atEnd { [path = new.path] in unlink(path) }
  }

  deinit {
    unlink(path)
    cleanUp.cancel()
  }

  package var path: String { new.path }

  package var output: Output { Output(descriptor: new.file.descriptor, named: shown) }

  /// The message about the finished file: `Saved list.csv`.
  package var summary: String { "\(verb) \(shown)" }

  /// Fails with code `io` if there is a file, or a link to none.
  package static func refuse(_ path: String) throws(CommandError) {
    var status = stat()
    guard lstat(path, &status) != 0 else { throw existing(path) }
  }

  private static func existing(_ path: String) -> CommandError {
    CommandError(
      .io, "cannot write to \(path): \(String(cString: strerror(EEXIST)))",
      hint: .words("name another file, or leave out \(Option.noClobber.spelling)"))
  }

  /// Gives the file its name; fails with code `io`.
  package func finish() throws(CommandError) {
    if !mayReplace {
      // Where there are no hard links, only the time of two calls is between these.
      guard link(path, target) != 0 else { return }
      try Self.refuse(shown)
    }
    guard rename(path, target) == 0 else { throw Self.failure(shown, errno) }
  }

  private static func failure(_ path: String, _ code: Int32) -> CommandError {
    let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    return CommandError(
      .io, "cannot write to \(path): \(String(cString: strerror(code)))",
      hint: code == ENOENT && !directory.isEmpty && access(directory, F_OK) != 0
        ? "create the directory: mkdir -p \(directory.typedPath)" : nil)
  }
}

/// A new file, locked as long as its process lives.
private struct LockedFile: ~Copyable {
  let path: String
  let file: OpenFile

  init(in directory: String) throws(SystemFailure) {
    while true {
      // Short: the target's name may be as long as a name can be.
      let path = "\(directory).new-\(UInt64.random(in: .min ... .max))"
      let file = try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
      // Where there are no locks, it stays after `kill -9`.
      _ = try? file.lock(.exclusive, within: .zero)
      // Before it was locked, another process may have taken it for abandoned.
      guard access(path, F_OK) == 0 else { continue }
      self.path = path
      self.file = file
      return
    }
  }
}

extension CommandContext {
  /// Fails with code `usage` if a file is the store or its log, a settings file, that of saved queries, or the manifest of
  /// a source, whatever its name here: what is written would replace it.
  fileprivate func refuseOwnFile(_ path: String) throws(CommandError) {
    let settings = try settings()
    var own = settingsLoader().paths(configFile: invocation.text(.config)).map {
      (path: $0, what: "a settings file")
    }
    own += (try storeLocation(settings)?.files ?? []).map { ($0, "the store") }
    if let folder = catalog.manifests {
      own += folder.names.map { (folder.file(of: $0), "the manifest of \($0)") }
    }
    own += catalog.savedQueries.file.map { [($0.path, "the file of saved queries")] } ?? []
    guard
      let found = own.first(where: { OpenFile.isSame(path, $0.path) })?.what
        ?? (SQLiteStore.isStore(path) ? "a store" : nil)
    else { return }
    throw CommandError(
      .usage, "\"\(path)\" is \(found) of this program", hint: "name another file")
  }
}

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

  /// Replaces a regular file atomically, and writes to others, such as `/dev/null`; returns the path, `nil` for
  /// standard output, and throws `io`, `usage` for a terminal, or ``Output/ClosedPipe``.
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
