package import AggregatorKit
import CAggregatorSQLite

/// A query, a page of its rows at a time, on a thread of its own.
package actor SQLQuery {
  /// The names of the columns, as SQLite gives them; some may be the same.
  package private(set) var columns: [String] = []

  private var query: SQLCursor?
  /// A reader alone cannot make the files that readers share, or tidy them up.
  private var keeper: Connection?
  private let executor = QueueExecutor("store.query")

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  fileprivate init() {}

  fileprivate func begin(
    _ text: String, over views: [SQLView], in file: StoreFile, within time: Duration
  ) throws(SourceError) {
    var path: String?
    if let opened = try file.open(for: .reading) {
      keeper = consume opened
      path = file.path
    }
    let made = try SQLCursor(
      text, over: views, in: path, busyTimeout: file.busyTimeout, within: time)
    columns = made.columns
    query = consume made
  }

  /// The next rows, each with a value for every column; `nil` after the last.
  ///
  /// - Throws: ``SourceError`` with code `badUsage` for what shows only with the data, `timedOut`,
  ///   `cancelled` or `storage`.
  package func page() throws(SourceError) -> [[SQLValue]]? {
    guard !Task.isCancelled else { throw .cancelled }
    return try query?.page()
  }
}

extension SQLiteStore {
  /// Asks in SQL, of a text that may be hostile.
  ///
  /// - Parameters:
  ///   - text: One statement that reads.
  ///   - views: The tables that it sees.
  ///   - time: How long SQLite may work on it, all pages together.
  /// - Returns: The query, compiled.
  /// - Throws: ``SourceError`` with code `badUsage`, `timedOut`, `cancelled`, `storage` or `busy`.
  package func query(
    _ text: String, over views: [SQLView], within time: Duration
  ) async throws(SourceError) -> SQLQuery {
    let query = SQLQuery()
    try await query.begin(text, over: views, in: file, within: time)
    return query
  }

  /// Bounds the memory that SQLite takes for everything in this process.
  ///
  /// - Parameter bytes: The most bytes; what needs more fails.
  package static func boundMemory(to bytes: Int) { sqlite3_hard_heap_limit64(Int64(bytes)) }
}
