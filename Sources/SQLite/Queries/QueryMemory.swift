import CAggregatorSQLiteMemory

/// The memory that SQLite may take for a query: one that needs more fails, and nothing else in the process does.
///
/// On Apple systems, where the system's SQLite may be in use before this library is loaded, nothing is bounded then.
final class QueryMemory {
  /// Enough for sorting and a few large values, in bytes.
  private static let limit: Int64 = 64 << 20

  /// Of an address that does not change.
  private let memory: UnsafeMutablePointer<csqlite_memory>

  init() {
    memory = .allocate(capacity: 1)
    memory.initialize(to: csqlite_memory(left: Self.limit))
  }

  deinit { memory.deallocate() }

  /// Counts what SQLite allocates on this thread until ``end()``; nothing may be awaited in between.
  func begin() { csqlite_memory_use(memory) }

  func end() { csqlite_memory_use(nil) }
}
