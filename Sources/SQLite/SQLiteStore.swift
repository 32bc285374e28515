public import AggregatorCore
public import AggregatorStore
import CAggregatorSQLite
import Foundation

/// The store in one SQLite file (https://sqlite.org), shared by any number of processes.
///
/// It is opened when it is first needed, and made when something is first saved. A file that is damaged,
/// or is none of ours, or was written by a later version of this program, is moved aside, never deleted.
public final class SQLiteStore: Store {
  /// Where the file is, or will be.
  public let path: String

  package let file: StoreFile
  private let writer: StoreConnection
  private let reader: StoreConnection

  /// A store.
  ///
  /// - Parameters:
  ///   - path: The absolute path of its file. Missing directories are made, for their owner alone.
  ///   - patience: How long to wait for other processes that keep the file locked; 5 s by default.
  ///   - report: Who is told that a file was moved aside.
  public init(
    at path: String, busyTimeout: Duration = .seconds(5),
    report: @escaping @Sendable (Warning) -> Void = { _ in }
  ) {
    self.path = path
    file = StoreFile(path: path, busyTimeout: busyTimeout, report: report)
    writer = StoreConnection(to: file, for: .writing)
    // Readers never wait for a writer if they have a connection of their own.
    reader = StoreConnection(to: file, for: .reading)
  }

  /// Reads all of it at one moment, unless the task is cancelled; `nil` if there is no file.
  func read<Answer: Sendable>(
    _ body: @Sendable (inout Connection) throws(SQLiteFailure) -> Answer
  ) async throws(SourceError) -> Answer? {
    guard !Task.isCancelled else { throw .cancelled }
    return try await reader.perform { connection throws(SQLiteFailure) in
      try connection.snapshot(body)
    }
  }

  /// Writes all of it or nothing.
  func write<Answer: Sendable>(
    _ body: @Sendable (inout Connection) throws(SQLiteFailure) -> Answer
  ) async throws(SourceError) -> Answer {
    let answer = try await writer.perform { connection throws(SQLiteFailure) in
      try connection.transaction(body)
    }
    guard let answer else {
      throw SourceError(
        .storage, "\(path) cannot be made", remedy: Remedy("choose another directory", .moveStore))
    }
    return answer
  }

  /// Gives the room of what was deleted back to the disk, if nobody else is at work on the file.
  func compact() async throws(SourceError) {
    _ = try await writer.perform { connection throws(SQLiteFailure) in
      // What is not needed may fail: another process reads, or the disk has no room for a copy. The
      // copy is a file: in memory it could be of any size.
      try? connection.execute(
        "PRAGMA temp_store = FILE; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
      try connection.execute("PRAGMA temp_store = MEMORY")
    }
  }
}

extension Connection {
  /// The number of a source; `nil` if nothing of it was ever saved.
  ///
  /// - Throws: ``SQLiteFailure``, also for numbers that only damage explains: positions are reckoned from
  ///   them.
  package mutating func number(of source: String) throws(SQLiteFailure) -> Int64? {
    let found = try row(
      """
      SELECT number, number BETWEEN 1 AND ?2 AND last >> ?3 = number
      FROM sources WHERE name = ?1
      """, source, Schema.mostSources, Schema.positionBits
    ) { (number: $0.integer(0), isSound: $0.integer(1) != 0) }
    guard let found else { return nil }
    guard found.isSound else { throw SQLiteFailure(SQLITE_CORRUPT, on: nil) }
    return found.number
  }

  /// The number of a source, which it gets if it has none.
  mutating func numbered(_ source: String) throws(SQLiteFailure) -> Int64 {
    if let number = try number(of: source) { return number }
    try run(
      """
      INSERT INTO sources (number, name, last, records)
      SELECT n, ?1, n << ?2, 0 FROM (SELECT coalesce(max(number), 0) + 1 AS n FROM sources)
      """, source, Schema.positionBits)
    return try number(of: source) ?? 0
  }
}

/// The positions that a source's records can have.
struct PositionRange {
  /// Before the first.
  let start: Int64
  /// The last.
  let end: Int64

  init(of source: Int64) {
    start = source << Schema.positionBits
    end = start | (1 << Schema.positionBits - 1)
  }
}

extension Sequence<String> {
  /// A JSON array, for SQLite's `json_each`.
  var jsonArray: String { JSON.array(map(JSON.string)).text }
}

extension [Int64] {
  /// These numbers as a JSON array.
  var jsonArray: String { "[\(map(String.init).joined(separator: ","))]" }
}
