import AggregatorFiles
import AggregatorKit
import Foundation

extension SQLiteStore {
  /// A store for one run: empty at first, and gone with the run.
  ///
  /// A recording must not miss what an earlier run has stored, and a replay must not leave behind what it
  /// made up.
  ///
  /// - Returns: A store in a directory of its own.
  /// - Throws: ``CommandError`` with code `io` if there is no room for one.
  static func temporary() throws(CommandError) -> SQLiteStore {
    let directory = try TemporaryDirectory()
    return SQLiteStore(at: "\(directory.path)/store.sqlite") { _ in
      // Nobody writes there but this run, so there is nothing to report: what counts is that the store
      // holds the directory.
      withExtendedLifetime(directory) {}
    }
  }
}

/// A directory that only this process uses; it is removed when nobody holds it any more.
private final class TemporaryDirectory: Sendable {
  let path: String

  init() throws(CommandError) {
    let parent = FileManager.default.temporaryDirectory.path
    path = "\(parent)/aggregator-\(UInt64.random(in: .min ... .max))"
    do { try PrivateFile.makeDirectory(path) } catch { throw CommandError(error) }
    Interruption.atEnd { [path] in try? FileManager.default.removeItem(atPath: path) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
