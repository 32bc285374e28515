package import AggregatorKit
import CAggregatorSQLite

/// A running query, read one page of rows at a time on a thread of its own.
package actor SQLQuery: SQLResult {
  package private(set) var columns: [String] = []

  /// Those larger than 1 MB.
  package private(set) var tooLarge: [String: Int] = [:]

  package private(set) var sources: [String] = []

  /// The tables of attached files.
  private(set) var attachedTables: [SQLTable] = []

  private var cursor: SQLCursor?
  /// A read-only connection cannot create or remove SQLite's `-shm` and `-wal` files; this one can.
  private var keeper: Connection?
  private let executor = QueueExecutor("store.query")

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  fileprivate init() {}

  fileprivate func begin(
    _ text: String, over views: [SQLView], and attached: [SQLAttachment], in file: StoreFile,
    within time: Duration
  ) throws(SourceError) {
    let start = ContinuousClock.now
    var path: String?
    if let opened = try file.open(for: .reading) {
      keeper = consume opened
      path = file.path
    }
    let made = try SQLCursor(
      text, over: views, and: attached, in: path, busyTimeout: file.busyTimeout,
      within: time - (ContinuousClock.now - start))
    columns = made.columns
    tooLarge = made.tooLarge
    sources = made.sources
    attachedTables = made.attached
    cursor = consume made
  }

  package func page(within time: Duration) throws(SourceError) -> [[SQLValue]]? {
    guard !Task.isCancelled else { throw .cancelled }
    return try cursor?.page(within: time)
  }
}

extension SQLiteStore {
  /// Compiles one `SELECT`, which may be hostile; throws `invalidRequest`, `timedOut`, `cancelled`,
  /// `storage` or `busy`.
  package func query(
    _ text: String, over views: [SQLView], and attached: [SQLAttachment] = [],
    within time: Duration
  ) async throws(SourceError) -> SQLQuery {
    let query = SQLQuery()
    try await query.begin(text, over: views, and: attached, in: file, within: time)
    return query
  }

  /// Limits the memory that SQLite may use in this process; operations that need more fail.
  package static func boundMemory(to bytes: Int) { sqlite3_hard_heap_limit64(Int64(bytes)) }
}
