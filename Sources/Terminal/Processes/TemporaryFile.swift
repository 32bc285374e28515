import AggregatorFiles
import AggregatorFoundation

/// A file without a name, which goes with its last user.
package final class TemporaryFile: Sendable {
  private let file: OpenFile

  package var descriptor: Int32 { file.descriptor }

  /// Fails with code `io`.
  package init() throws(CommandError) {
    let directory = FileManager.default.temporaryDirectory.path
    var path = Array("\(directory)/aggregator-XXXXXX".utf8CString)
    let descriptor = mkstemp(&path)
    guard descriptor >= 0 else {
      throw CommandError(
        .io, "cannot create a file in \"\(directory)\": \(String(cString: strerror(errno)))")
    }
    unlink(path)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    file = OpenFile(owning: descriptor)
  }

  package var output: Output { Output(descriptor: descriptor, named: "a temporary file") }

  package func rewind() { lseek(descriptor, 0, SEEK_SET) }

  /// All of it, from the beginning.
  package var bytes: [UInt8] {
    rewind()
    return (try? file.contents(atMost: .max - 1)) ?? []
  }
}
