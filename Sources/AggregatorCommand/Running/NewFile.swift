import AggregatorFiles
import AggregatorFoundation

/// A file that replaces another once it is complete: until then it has a name of its own in the same directory,
/// and is removed after a failure or a signal.
final class NewFile {
  let path: String
  let descriptor: Int32
  private let target: String
  private let shown: String
  private let cleanUp: Interruption.CleanUp

  /// Fails with code `io`, also if the file that is there may not be written.
  init(replacing path: String) throws(CommandError) {
    shown = path
    var status = stat()
    let isThere = stat(path, &status) == 0
    // Even if its directory allows replacing it.
    guard !isThere || access(path, W_OK) == 0 else { throw Self.failure(path, errno) }
    guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
      throw Self.failure(path, status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL)
    }
    let target = isThere ? URL(filePath: path).resolvingSymlinksInPath().path : path
    // Short: the file's own name may be as long as a name can be.
    let directory = target.unicodeScalars.lastIndex(of: "/").map { String(target[...$0]) } ?? ""
    let new = "\(directory).new-\(UInt64.random(in: .min ... .max))"
    descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    if isThere { fchmod(descriptor, status.st_mode & 0o777) }
    self.path = new
    self.target = target
    cleanUp = Interruption.atEnd { unlink(new) }
  }

  deinit {
    close(descriptor)
    unlink(path)
    cleanUp.cancel()
  }

  var output: Output { Output(descriptor: descriptor, named: shown) }

  /// Gives the file its name; fails with code `io`.
  func finish() throws(CommandError) {
    guard rename(path, target) == 0 else { throw Self.failure(shown, errno) }
  }

  private static func failure(_ path: String, _ code: Int32) -> CommandError {
    CommandError(.io, "cannot write to \(path): \(String(cString: strerror(code)))")
  }
}
