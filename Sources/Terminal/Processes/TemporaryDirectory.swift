import AggregatorFiles
import AggregatorFoundation
import AggregatorKit
import Synchronization

/// A directory that is removed at the end of the run; after `kill -9`, by the next run that needs one.
package final class TemporaryDirectory: Sendable {
  package let path: String

  /// Locked as long as its process lives.
  private let directory: OpenFile
  private let removal: Interruption.CleanUp

  package init() throws(CommandError) {
    let parent = FileManager.default.temporaryDirectory.path
    OpenFile.removeAbandoned(in: parent, beginning: "aggregator-", UInt32(S_IFDIR))
    let path = "\(parent)/aggregator-\(UInt64.random(in: .min ... .max))"
    // It gets its name only when it is locked: before, it would look abandoned.
    let unlocked = "\(path).new"
    do { try PrivateFile.makeDirectory(unlocked) } catch { throw CommandError(error) }
    do throws(SystemFailure) {
      directory = try OpenFile(directory: unlocked)
      // Where there are no locks, it stays after `kill -9`.
      _ = try? directory.lock(.exclusive, within: .zero)
      try SystemFailure.check { rename(unlocked, path) }
    } catch {
      throw CommandError(SourceError(unwritable: path, error))
    }
    self.path = path
    removal = Interruption.atEnd { Self.remove(path) }
  }

  deinit {
    // In this order, so that the end of the program waits for it.
    Self.remove(path)
    removal.cancel()
  }

  /// One at a time: a removal fails halfway if another one is faster.
  private static let removing = Mutex(())

  private static func remove(_ path: String) {
    removing.withLock { _ in try? FileManager.default.removeItem(atPath: path) }
  }
}
