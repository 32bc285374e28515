import AggregatorFiles
import AggregatorKit

/// The private directory of one run of a tap, with its configuration, which goes with the run.
///
/// It is locked as long as the run lasts: what a killed process left behind is removed before the next run.
final class TapFiles: Sendable {
  let path: String
  private let lock: OpenFile

  /// - Parameter parent: The directory of all runs, which is created if it is missing.
  /// - Throws: ``SourceError`` with code `storage`.
  init(in parent: String) throws(SourceError) {
    try PrivateFile.makeDirectory(parent)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] {
      let abandoned = "\(parent)/\(name)"
      guard let directory = try? OpenFile(directory: abandoned),
        (try? directory.lock(.exclusive, within: .zero)) == true
      else { continue }
      try? FileManager.default.removeItem(atPath: abandoned)
    }
    while true {
      let path = "\(parent)/\(String(UInt64.random(in: .min ... .max), radix: 36))"
      try PrivateFile.makeDirectory(path)
      do throws(SystemFailure) {
        let lock = try OpenFile(directory: path)
        // Another process may have taken it for an abandoned one.
        _ = try? lock.lock(.exclusive, within: .seconds(1))
        guard access(path, F_OK) == 0 else { continue }
        self.path = path
        self.lock = lock
        return
      } catch {
        guard error.isMissing else { throw SourceError(unwritable: path, error) }
      }
    }
  }

  /// Writes a file that only its owner may read, and returns its path.
  func write(_ text: String, as name: String) throws(SourceError) -> String {
    let path = "\(path)/\(name)"
    try PrivateFile(path: path).write(Array(text.utf8))
    return path
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
