import CAggregatorSQLite
import Dispatch
import Synchronization

/// Copies the write-ahead log into the file (https://sqlite.org/wal.html#ckpt) on a thread of its own.
///
/// By its own rule SQLite copies at the end of a transaction, and the writer waits for the disk. Here the
/// writer goes on meanwhile, and copies only what it has added: once nothing is left to copy, the next
/// transaction starts the log anew.
package final class Checkpointer: Sendable {
  /// The step of a checkpoint: copying beside the writer, and then what is left, by the writer.
  private enum Step { case idle, copying, copied }

  /// A class, because a queued copy must not keep the checkpointer, whose end waits for the queue.
  private final class State: Sendable {
    let step = Mutex(Step.idle)
  }

  /// The number of pages of the log from which on it is copied: pages that are written again and again, such
  /// as those of an index, reach the file less often than by SQLite's default of 1000.
  package static let standardThreshold = 4000

  /// A copy of fewer pages is left to the writer.
  private static let remainder = 400
  private static let maxPasses = 4

  private let file: StoreFile
  private let threshold: Int

  private let state = State()
  private let queue = DispatchQueue(label: "store.checkpointing")

  init(of file: StoreFile, threshold: Int) {
    self.file = file
    self.threshold = threshold
  }

  /// Whoever closes the store last can then remove its log.
  deinit { wait() }

  /// Waits for a copy that has begun.
  func wait() { queue.sync {} }

  /// Copies the log if it has become long; called after each transaction.
  func transactionDidEnd(of writer: borrowing Connection) {
    guard writer.logLength >= threshold else { return }
    // The writer waits, so that the log stays bounded on a slow disk.
    if writer.logLength >= 2 * threshold { wait() }
    switch advance() {
    case .copying: queue.async { [file, state] in Self.copy(file, state) }
    case .idle: _ = writer.copyLog()
    case .copied, nil: break
    }
  }

  /// Returns the step that begins, `nil` if a copy has not ended.
  private func advance() -> Step? {
    state.step.withLock { step in
      switch step {
      case .idle: step = .copying
      case .copied: step = .idle
      case .copying: return nil
      }
      return step
    }
  }

  /// Copies what the log has, and then what the writer has added meanwhile.
  ///
  /// Failures are no loss: the log keeps what is not copied, and its length ends this after the next transaction.
  private static func copy(_ file: StoreFile, _ state: State) {
    defer { state.step.withLock { $0 = .copied } }
    // Opened anew, because the file may have been moved or replaced.
    guard let opened = try? file.open(for: .reading) else { return }
    var copied = 0
    for _ in 0..<maxPasses {
      guard let pass = opened.copyLog() else { return }
      // Otherwise the writer would wait for the disk to write all of it.
      csqlite_sync(opened.database)
      // A reader may need the rest of the log.
      guard pass.copied == pass.length, pass.length - copied > remainder else { return }
      copied = pass.copied
    }
  }
}

extension Connection {
  /// Copies pages of the log into the file, but none that a reader needs, and waits for nobody.
  ///
  /// Returns the pages of the log, and how many of them are in the file now; `nil` after a failure, or if another
  /// connection copies.
  fileprivate borrowing func copyLog() -> (length: Int, copied: Int)? {
    var (length, copied): (Int32, Int32) = (0, 0)
    let code = sqlite3_wal_checkpoint_v2(
      database, "main", SQLITE_CHECKPOINT_PASSIVE, &length, &copied)
    return code == SQLITE_OK ? (Int(length), Int(copied)) : nil
  }
}

/// The number of pages in the log of a connection after its last transaction.
final class LogLength: Sendable {
  let pages = Atomic<Int>(0)

  /// Counts the log of a database from now on, in place of SQLite's own rule for checkpoints.
  ///
  /// The caller keeps this value for as long as the database is open.
  func count(_ database: OpaquePointer) {
    sqlite3_wal_hook(
      database,
      { log, _, _, pages in
        if let log {
          Unmanaged<LogLength>.fromOpaque(log).takeUnretainedValue().pages
            .store(Int(pages), ordering: .relaxed)
        }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}
