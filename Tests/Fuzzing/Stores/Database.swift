import CAggregatorSQLite

/// A connection to an SQLite file, past everything that the store does for its safety.
struct Database: ~Copyable {
  private let handle: OpaquePointer

  init(_ path: String) throws {
    var opened: OpaquePointer?
    guard sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK, let opened else {
      throw BrokenPromise("\(path) cannot be opened")
    }
    handle = opened
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs statements separated by semicolons; what fails is left out.
  func execute(_ sql: String) { sqlite3_exec(handle, sql, nil, nil, nil) }
}
