import AggregatorCore
import AggregatorStore
import CAggregatorSQLite

/// A running query, read one page of rows at a time on a thread of its own.
actor SQLiteQuery: SQLResult {
  var columns: [String] { cursor?.columns ?? [] }
  var tooLarge: [String: Int] { cursor?.tooLarge ?? [:] }
  var sources: [String] { cursor?.sources ?? [] }
  var attachedTables: [SQLTable] { cursor?.attached ?? [] }
  let cancellation: (@Sendable () -> Void)? = nil

  private var cursor: SQLiteCursor?
  /// A read-only connection cannot create or remove SQLite's `-shm` and `-wal` files; this one can.
  private var keeper: Connection?
  private let executor = QueueExecutor("store.query")

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func begin(
    _ statement: SQLStatement, over views: [SQLView], and attached: [SQLAttachment],
    in file: StoreFile,
    within time: Duration
  ) throws(SourceError) {
    let start = ContinuousClock.now
    var path: String?
    if let opened = try file.open(for: .reading) {
      keeper = consume opened
      path = file.path
    }
    cursor = try SQLiteCursor(
      statement, over: views, and: attached, in: path, busyTimeout: file.busyTimeout,
      within: time - (ContinuousClock.now - start))
  }

  func page(within time: Duration) throws(SourceError) -> [[SQLValue]]? {
    guard !Task.isCancelled else { throw .cancelled }
    return try cursor?.page(within: time)
  }
}
