import AggregatorCore
import Foundation

/// A connection to the store's file, opened when it is first needed, and its own thread.
actor StoreConnection {
  private let file: StoreFile
  private let purpose: StoreFile.Purpose
  private let executor: QueueExecutor
  private var connection: Connection?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(to file: StoreFile, for purpose: StoreFile.Purpose) {
    self.file = file
    self.purpose = purpose
    executor = QueueExecutor("store.\(purpose.rawValue)")
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
  ) throws(SourceError) -> Answer? { try perform(body, onceMore: true) }

  private func perform<Answer: Sendable>(
    _ body: @Sendable (inout Connection) throws(SQLiteFailure) -> Answer, onceMore: Bool
  ) throws(SourceError) -> Answer? {
    guard var open = try take() else { return nil }
    do throws(SQLiteFailure) {
      let answer = try body(&open)
      connection = consume open
      return answer
    } catch {
      let hasMoved = open.hasMoved
      guard onceMore, error.isDamage || hasMoved else {
        connection = consume open
        throw error.error(of: file.path)
      }
      // It is closed only after that, so that closing it leaves it as it is.
      if error.isDamage { try file.moveAside("is damaged", if: { !open.hasMoved }) }
      _ = consume open
    }
    return try perform(body, onceMore: false)
  }

  /// The connection, for as long as it is needed; `nil` if there is no file to read.
  private func take() throws(SourceError) -> Connection? {
    if let open = connection.take() {
      // The file may be gone, or have been moved aside by another process.
      if !open.hasMoved { return open }
    }
    return try file.open(for: purpose)
  }
}
