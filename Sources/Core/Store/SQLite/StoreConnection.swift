import Foundation

/// A connection to the store's file, opened when it is first needed, and its own thread.
actor StoreConnection {
  private let file: StoreFile
  private let purpose: StoreFile.Purpose
  private let executor: QueueExecutor
  private var connection: Connection?
  /// The file that the connection is to, whatever it is called by now.
  private var identity: FileIdentity?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(to file: StoreFile, for purpose: StoreFile.Purpose) {
    self.file = file
    self.purpose = purpose
    executor = QueueExecutor("store.\(purpose)")
  }

  /// Does something with the store.
  ///
  /// A file that turns out to be damaged is moved aside, and it is done once more, with a new one.
  ///
  /// - Parameter body: What to do. It leaves nothing half done if it throws.
  /// - Returns: What `body` returns; `nil` if there is no file to read.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func perform<Answer: Sendable>(
    _ body: @Sendable (inout Connection) throws(SQLiteFailure) -> Answer
  ) throws(SourceError) -> Answer? {
    // The file may be gone, or have been moved aside by another process.
    if file.identity != identity { connection = nil }
    for attempt in 0... {
      if connection == nil {
        connection = try file.open(for: purpose)
        identity = file.identity
      }
      guard var open = connection.take() else { return nil }
      do throws(SQLiteFailure) {
        let answer = try body(&open)
        connection = consume open
        return answer
      } catch {
        guard error.isDamage, attempt == 0 else {
          connection = consume open
          throw error.error(of: file.path)
        }
        _ = consume open
        try file.moveAside("is damaged")
      }
    }
    return nil  // not reached: the range has no end
  }
}
