package import AggregatorCore
import AggregatorFiles
package import AggregatorStore
import CAggregatorSQLite
import Synchronization

extension SQLiteStore: DatabaseStore {
  package func facts() async throws(SourceError) -> StoreFacts {
    let sizes = ["", "-wal"].compactMap { OpenFile.size(of: path + $0) }
    var facts = StoreFacts(location: path, bytes: sizes.isEmpty ? nil : sizes.reduce(0, +))
    facts.movedFiles = file.movedFiles
    return facts
  }

  /// The first problems that SQLite finds in the structure of the file, which may be none; `nil` if the time is not enough.
  package func problems(within time: Duration) async throws(SourceError) -> [String]? {
    let problems = try await read { connection throws(SQLiteFailure) -> [String]? in
      let timer = InterruptingTimer(of: connection, after: time)
      defer { timer.stop() }
      do throws(SQLiteFailure) {
        return try connection.rows("PRAGMA quick_check(3)") { $0.text(0) ?? "" }
          .filter { $0 != "ok" }
      } catch {
        guard timer.hasFired else { throw error }
        return nil
      }
    }
    return problems ?? []
  }

  package var databaseName: String { "SQLite" }

  package var joinsOtherTables: Bool { true }

  package func columns(of view: SQLView) -> [String] { view.columns }

  package func query(
    _ statement: SQLStatement, over views: [SQLView], and attached: [SQLAttachment],
    within time: Duration
  ) async throws(SourceError) -> any SQLResult {
    let query = SQLiteQuery()
    try await query.begin(statement, over: views, and: attached, in: file, within: time)
    return query
  }
}

/// Interrupts what a connection does after a time.
private final class InterruptingTimer: Sendable {
  /// The address of the connection; `nil` once it may be closed.
  private let state: Mutex<(address: UInt?, hasFired: Bool)>

  var hasFired: Bool { state.withLock(\.hasFired) }

  init(of connection: borrowing Connection, after time: Duration) {
    state = Mutex((UInt(bitPattern: connection.database), false))
    Task { [weak self] in
      try? await Task.sleep(for: time)
      self?.fire()
    }
  }

  private func fire() {
    state.withLock { state in
      guard let database = state.address.flatMap({ OpaquePointer(bitPattern: $0) }) else { return }
      sqlite3_interrupt(database)
      state.hasFired = true
    }
  }

  func stop() { state.withLock { $0.address = nil } }
}
