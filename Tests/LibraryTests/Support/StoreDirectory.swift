import AggregatorKit
import CAggregatorSQLite
import Foundation
import Synchronization

/// A directory of its own for one test's stores; it goes away with the test.
final class StoreDirectory: Sendable {
  /// Without symbolic links.
  let root: String

  private let log = Mutex<[Warning]>([])

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    root = url.resolvingSymlinksInPath().path
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  /// The path of the store's file.
  var path: String { "\(root)/state/store.sqlite" }

  /// The warnings of the stores.
  var warnings: [Warning] { log.withLock { $0 } }

  /// The names of the store's file and the files beside it.
  var names: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/state").sorted()) ?? []
  }

  /// A store; two of them stand for two processes.
  func store(at path: String? = nil, busyTimeout: Duration = .seconds(5)) -> SQLiteStore {
    SQLiteStore(
      at: path ?? self.path, busyTimeout: busyTimeout, pollInterval: .milliseconds(20)
    ) { [self] warning in
      log.withLock { $0.append(warning) }
    }
  }

  /// A connection past the store, to look at its file or to spoil it.
  func database() throws -> RawDatabase { try RawDatabase(path) }

  /// Writes a file at the store's path.
  func write(_ bytes: some Sequence<UInt8>) throws {
    try FileManager.default.createDirectory(
      atPath: "\(root)/state", withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(filePath: path))
  }

  /// The bytes of a file beside the store's.
  func bytes(_ name: String = "store.sqlite") throws -> Data {
    try Data(contentsOf: URL(filePath: "\(root)/state/\(name)"))
  }

  /// Sets the time, from now, at which the store's file was last changed.
  ///
  /// One long ago lets it be read without locks, and one to come keeps it from that for the rest of the test.
  func setModified(in seconds: Double) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: seconds)], ofItemAtPath: path)
  }

  func mode(of path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }
}

/// A connection to an SQLite file, without anything that the store does for its safety.
final class RawDatabase {
  private struct Failure: Error {
    let words: String
  }

  private let handle: OpaquePointer

  init(_ path: String) throws {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
    guard code == SQLITE_OK, let opened else { throw Failure(words: "cannot open \(path)") }
    handle = opened
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs statements separated by semicolons.
  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
  }

  /// The first column of all rows, as texts.
  func texts(_ sql: String, column: Int32 = 0) throws -> [String] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
      throw failure(sql)
    }
    defer { sqlite3_finalize(statement) }
    var texts: [String] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        texts.append(sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "null")
      case SQLITE_DONE: return texts
      default: throw failure(sql)
      }
    }
  }

  /// True if the tables and the search index are intact.
  func isSound() throws -> Bool {
    do {
      try execute("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
    } catch { return false }
    return try texts("PRAGMA integrity_check") == ["ok"]
  }

  /// All that the search index is made of.
  func index() throws -> [String] {
    try texts("SELECT id || ' ' || hex(block) FROM search_data ORDER BY id")
      + texts("SELECT id || ' ' || hex(sz) FROM search_docsize ORDER BY id")
  }

  private func failure(_ sql: String) -> Failure {
    Failure(words: "\(String(cString: sqlite3_errmsg(handle))): \(sql)")
  }
}

extension StoreEntry {
  /// A record that has a text and something that queries do not look into.
  init(_ id: String, _ text: String? = nil, mark: Int = 0) {
    let text = text ?? "text of \(id)"
    self.init(
      id: id,
      json: Data(
        #"{"id":\#(JSON.string(id).text),"mark":\#(mark),"text":\#(JSON.string(text).text)}"#.utf8)
    ) { FoldedText(text) }
  }
}

extension Date {
  /// Seconds after a day of the tests' calendar.
  static func day(_ seconds: Double = 0) -> Date {
    Date(timeIntervalSince1970: 1_700_000_000 + seconds)
  }
}

extension SourceStore {
  /// Saves records of `things`.
  @discardableResult
  func save(
    _ entries: [StoreEntry], of source: String = "things", at seconds: Double = 0
  ) async throws(SourceError) -> StoreChanges {
    try await save(StoreBatch(entries), of: source, at: .day(seconds))
  }

  /// The JSON of every record that matches, by pages of `limit`.
  func found(
    _ query: String? = nil, of source: String = "things", limit: Int = 1000
  ) async throws -> [String] {
    var texts: [String] = []
    var position: Int64 = 0
    while true {
      let slice = try await records(
        of: source, matching: query.map { try SearchQuery($0).words } ?? [], after: position,
        limit: limit)
      texts += slice.records.map { String(decoding: $0.json, as: UTF8.self) }
      guard slice.hasMore, let last = slice.records.last else { return texts }
      position = last.position
    }
  }

  /// The ids of every record that matches, by pages of `limit`.
  func ids(
    _ query: String? = nil, of source: String = "things", limit: Int = 1000
  ) async throws -> [String] {
    try await found(query, of: source, limit: limit).map { json in
      try JSONDecoder().decode(Identified.self, from: Data(json.utf8)).id
    }
  }
}

private struct Identified: Decodable {
  let id: String
}
