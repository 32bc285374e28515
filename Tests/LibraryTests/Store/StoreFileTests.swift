import AggregatorKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StoreFileTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  @Test func `creates nothing to read`() async throws {
    #expect(try await store.ids("text").isEmpty)
    #expect(try await store.record("a", of: "things") == nil)
    #expect(try await store.page("key", of: "things") == nil)
    #expect(try await store.checkpoint("walk", of: "things") == nil)
    #expect(try await store.deleted(among: ["a"], of: "things").isEmpty)
    #expect(try await store.status(of: "things").isEmpty)
    #expect(!FileManager.default.fileExists(atPath: "\(directory.root)/state"))
    #expect(directory.warnings.isEmpty)
  }

  @Test func `creates a file and directories for their owner alone`() async throws {
    let path = "\(directory.root)/new/state/store.sqlite"
    let store = directory.store(at: path)
    try await store.save([StoreEntry("a")])
    for file in [path, path + "-wal", path + "-shm"] {
      #expect(try directory.mode(of: file) == 0o600, "\(file)")
    }
    for parent in ["new", "new/state"] {
      #expect(try directory.mode(of: "\(directory.root)/\(parent)") == 0o700)
    }
    #expect(try await store.ids() == ["a"])
  }

  @Test func `writes a WAL file that the next process reads`() async throws {
    try await store.save([StoreEntry("a")])
    let database = try directory.database()
    #expect(try database.texts("PRAGMA journal_mode") == ["wal"])
    #expect(try database.texts("PRAGMA user_version") == ["7"])
    #expect(try await directory.store().ids() == ["a"])
  }

  @Test func `uses an empty file as a new one`() async throws {
    try directory.write([])
    #expect(try await store.ids().isEmpty)
    try await store.save([StoreEntry("a")])
    #expect(try await store.ids() == ["a"])
    #expect(directory.warnings.isEmpty)
  }

  @Test func `finds IDs by their beginning, in the order of their bytes`() async throws {
    #expect(try await store.ids(of: "things", startingWith: "", limit: 3) == [])
    let ids = ["b", "ab", "é", "a", "aé", "A", "ac", "a%"]
    try await store.save(ids.map { StoreEntry($0) })
    _ = try await store.delete(["ac"], of: "things", at: .now)
    func found(_ prefix: String, _ limit: Int = 10) async throws -> [String] {
      try await store.ids(of: "things", startingWith: prefix, limit: limit)
    }
    #expect(try await found("a") == ["a", "a%", "ab", "aé"])
    // All that there are begin with what the first ones and the last one have in common.
    #expect(try await found("a", 2) == ["a", "aé"])
    #expect(try await found("a", 3) == ["a", "a%", "aé"])
    #expect(try await found("a%") == ["a%"])
    #expect(try await found("é") == ["é"])
    #expect(try await found("", 1) == ["é"])
    #expect(try await found("x") == [])
    #expect(try await store.ids(of: "others", startingWith: "a", limit: 3) == [])
  }

  @Test func `sees a file that another process creates later`() async throws {
    #expect(try await store.ids().isEmpty)
    try await directory.store().save([StoreEntry("a")])
    #expect(try await store.ids() == ["a"])
  }

  @Test func `starts over when its file is deleted`() async throws {
    try await store.save([StoreEntry("a")])
    #expect(try await store.ids() == ["a"])
    for name in directory.names {
      try FileManager.default.removeItem(atPath: "\(directory.root)/state/\(name)")
    }
    #expect(try await store.ids().isEmpty)
    try await store.save([StoreEntry("b")])
    #expect(try await store.ids() == ["b"])
    #expect(try await directory.store().ids() == ["b"])
    #expect(try directory.database().isSound())
  }

  @Test func `starts over when its directory is moved away`() async throws {
    try await store.save([StoreEntry("a")])
    try FileManager.default.moveItem(
      atPath: "\(directory.root)/state", toPath: "\(directory.root)/old")
    try await store.save([StoreEntry("b")])
    #expect(try await store.ids() == ["b"])
    #expect(try await directory.store(at: "\(directory.root)/old/store.sqlite").ids() == ["a"])
  }

  @Test func `rejects a directory instead of the file`() async throws {
    try FileManager.default.createDirectory(
      atPath: directory.path, withIntermediateDirectories: true)
    for _ in 0..<2 {
      let reading = await #expect(throws: SourceError.self) { try await store.ids() }
      let writing = await #expect(throws: SourceError.self) {
        try await store.save([StoreEntry("a")])
      }
      for error in [reading, writing] {
        #expect(error?.code == .storage)
        #expect(error?.message == "\(directory.path) is a directory")
      }
    }
    #expect(directory.names == ["store.sqlite"])
  }

  @Test func `follows a link, even to a file that does not exist yet`() async throws {
    let target = "\(directory.root)/target.sqlite"
    try FileManager.default.createDirectory(
      atPath: "\(directory.root)/state", withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: directory.path, withDestinationPath: target)
    #expect(try await store.ids().isEmpty)
    try await store.save([StoreEntry("a")])
    #expect(try await store.ids() == ["a"])
    #expect(try await directory.store(at: target).ids() == ["a"])
    #expect(try directory.mode(of: target) == 0o600)
  }

  @Test func `refuses a link into a missing directory`() async throws {
    try FileManager.default.createDirectory(
      atPath: "\(directory.root)/state", withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: directory.path, withDestinationPath: "\(directory.root)/no/where/store.sqlite")
    #expect(try await store.ids().isEmpty)
    let error = await #expect(throws: SourceError.self) { try await store.save([StoreEntry("a")]) }
    #expect(error?.code == .storage)
    #expect(error?.message == "cannot create \(directory.path): No such file or directory")
  }

  @Test func `refuses a file where a directory should be`() async throws {
    let store = directory.store(at: "\(directory.root)/file/store.sqlite")
    try Data("text".utf8).write(to: URL(filePath: "\(directory.root)/file"))
    #expect(try await store.ids().isEmpty)
    let error = await #expect(throws: SourceError.self) { try await store.save([StoreEntry("a")]) }
    #expect(error?.code == .storage)
    #expect(try Data(contentsOf: URL(filePath: "\(directory.root)/file")) == Data("text".utf8))
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self")))
  func `creates nothing below /proc`() async throws {
    let store = directory.store(at: "/proc/aggregator/store.sqlite")
    let error = await #expect(throws: SourceError.self) { try await store.save([StoreEntry("a")]) }
    #expect(error?.code == .storage)
  }

  /// Permissions do not apply to root.
  @Test(.disabled(if: geteuid() == 0, "root may write everywhere"), arguments: [true, false])
  func `reads a file that it may not write`(isDirectory: Bool) async throws {
    try await store.save([StoreEntry("a")])
    try directory.database().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let locked = isDirectory ? "\(directory.root)/state" : directory.path
    try FileManager.default.setAttributes(
      [.posixPermissions: isDirectory ? 0o500 : 0o400], ofItemAtPath: locked)
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: locked)
    }
    let reader = directory.store()
    #expect(try await reader.ids("text") == ["a"])
    if !isDirectory {
      let error = await #expect(throws: SourceError.self) {
        try await reader.save([StoreEntry("b")])
      }
      #expect(error?.code == .storage)
    }
  }

  @Test(.disabled(if: geteuid() == 0, "root may write everywhere"))
  func `refuses an older file that it cannot upgrade`() async throws {
    try await directory.store().save([StoreEntry("a")])
    try directory.database().execute(Self.downgradeTo3 + "PRAGMA wal_checkpoint(TRUNCATE)")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o400], ofItemAtPath: directory.path)
    let error = await #expect(throws: SourceError.self) { try await store.ids() }
    #expect(error?.code == .storage)
    #expect(
      error?.message == "\(directory.path) was written by an older version and is read-only")
    #expect(directory.names.contains("store.sqlite") && directory.warnings.isEmpty)
  }

  @Test func `upgrades a file of the first version and keeps its contents`() async throws {
    try await directory.store().save([StoreEntry("a"), StoreEntry("b")])
    _ = try await directory.store().delete(["b"], of: "things", at: .day())
    let database = try directory.database()
    try database.execute(Self.downgradeTo3)
    try database.execute(
      """
      DROP TABLE met; DROP INDEX records_vanished; ALTER TABLE records DROP COLUMN vanished;
      ALTER TABLE sources DROP COLUMN vanished; ALTER TABLE sources DROP COLUMN walked;
      DELETE FROM search_config WHERE k = 'automerge'; PRAGMA user_version = 1
      """)
    let store = directory.store()
    #expect(try await store.ids() == ["a"])
    #expect(try database.texts("PRAGMA user_version") == ["7"])
    try await store.save([StoreEntry("c")])
    #expect(try await store.ids() == ["a", "c"])
    #expect(try await store.status(of: "things").deleted == 1)
    #expect(try database.texts("SELECT v FROM search_config WHERE k = 'automerge'") == ["8"])
    #expect(directory.warnings.isEmpty)
  }

  /// Undoes the migrations from version 4 on.
  private static let downgradeTo3 = """
    DROP TABLE history; DROP TABLE changes; DROP TABLE syncs;
    ALTER TABLE checkpoints RENAME TO places;
    ALTER TABLE seen RENAME TO met;
    ALTER TABLE met RENAME COLUMN reconciliation TO census;
    DROP INDEX seen_by_reconciliation;
    CREATE INDEX met_by_census ON met (source, census);
    ALTER TABLE records RENAME COLUMN removed_upstream TO vanished;
    DROP INDEX records_removed_upstream;
    CREATE INDEX records_vanished ON records (position) WHERE vanished IS NOT NULL;
    ALTER TABLE sources RENAME COLUMN removed_upstream TO vanished;
    ALTER TABLE sources RENAME COLUMN last_fetched TO walked;
    PRAGMA user_version = 3;
    """

  @Test func `upgrades a file of version 4, and folds its texts by the rules of today`()
    async throws
  {
    let texts = ["a": "Søren O’Brien", "b": "Łódź, D.C.", "c": "Spider-Man", "d": "plain"]
    try await store.save(texts.sorted { $0.key < $1.key }.map { StoreEntry($0, $1) })
    _ = try await store.delete(["c"], of: "things", at: .day())
    let database = try directory.database()
    let (folded, index) = (try database.texts("SELECT folded FROM records"), try schema())
    // As version 4 folded them.
    for (id, text) in texts {
      let old = text.lowercased().replacing("ó", with: "o").replacing("ź", with: "z")
      try database.execute("UPDATE records SET folded = '\(old)' WHERE id = '\(id)'")
    }
    try database.execute(
      """
      INSERT INTO search (search) VALUES ('rebuild'); PRAGMA user_version = 4;
      DROP TABLE history; DROP TABLE changes; DROP TABLE syncs;
      """)

    let upgraded = directory.store()
    #expect(try await upgraded.ids("sorensen") == [])
    #expect(try await upgraded.ids("soren obrien") == ["a"])
    #expect(try await upgraded.ids("lodz dc") == ["b"])
    #expect(try await upgraded.ids("plain") == ["d"])
    _ = try await upgraded.restore(["c"], of: "things")
    #expect(try await upgraded.ids("spiderman") == ["c"])
    #expect(try database.texts("SELECT folded FROM records") == folded)
    #expect(try database.texts("PRAGMA user_version") == ["7"])
    #expect(try schema() == index)
    #expect(try database.isSound())
    #expect(directory.warnings.isEmpty)
  }

  @Test func `upgrades a file of version 6, and keeps its checkpoints`() async throws {
    let first = CheckpointUpdate("at", from: nil, to: "1")
    _ = try await store.save(
      StoreBatch([StoreEntry("a")], update: first), of: "things", at: .day())
    let database = try directory.database()
    let latest = try schema()
    try database.execute(
      """
      DROP TABLE checkpoints;
      CREATE TABLE checkpoints (
        source INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (source, name)
      ) STRICT, WITHOUT ROWID;
      INSERT INTO checkpoints VALUES (1, 'at', '1'), (1, 'other', '2');
      PRAGMA user_version = 6;
      """)
    let upgraded = directory.store()
    #expect(try await upgraded.checkpoint("at", of: "things") == "1")
    let next = StoreBatch(
      [StoreEntry("b")], update: CheckpointUpdate("at", from: "1", to: "3"))
    #expect(try await upgraded.save(next, of: "things", at: .day(2)).didMoveCheckpoint)
    let state = try await upgraded.state(of: "things", checkpoints: ["at", "other"])
    #expect(state.checkpoints == ["at": "3", "other": "2"])
    #expect(try schema() == latest)
    #expect(try database.isSound())
    #expect(directory.warnings.isEmpty)
  }

  private func schema() throws -> [String] {
    try directory.database().texts(
      "SELECT coalesce(sql, name) FROM sqlite_schema WHERE name NOT LIKE 'search%' ORDER BY name")
  }

  /// Saves a batch as a step of a reconciliation.
  private func reconcile(
    _ ids: [String], from: String?, to: String?, with store: SQLiteStore
  ) async throws -> StoreChanges {
    let isLast = to == nil
    let reconciliation = Reconciliation(
      begins: from == nil, completion: isLast ? .init(lastPosition: .max, minRecordCount: 2) : nil)
    let update = CheckpointUpdate("sync", from: from, to: to, reconciliation: reconciliation)
    let batch = StoreBatch(ids.map { StoreEntry($0) }, update: update)
    return try await store.save(batch, of: "things", at: .day(isLast ? 3 : 2))
  }

  @Test func `upgrades a file of version 3, and a pass resumes and finds removed records`()
    async throws
  {
    try await store.save(["a", "b", "c"].map { StoreEntry($0) })
    #expect(try await reconcile(["b", "c"], from: nil, to: nil, with: store).removedUpstream == 1)
    _ = try await reconcile(["b"], from: nil, to: "1", with: store)
    let latest = try schema()
    var status = try await store.status(of: "things")
    status.history = nil
    let database = try directory.database()
    try database.execute(Self.downgradeTo3)
    #expect(try database.texts("SELECT id FROM records WHERE vanished IS NOT NULL") == ["a"])
    #expect(try database.texts("SELECT value FROM places") == ["1"])

    let upgraded = directory.store()
    #expect(try await upgraded.ids() == ["b", "c"])
    #expect(try await upgraded.status(of: "things") == status)
    #expect(try await upgraded.record("a", of: "things")?.removedUpstreamAt == .day(3))
    #expect(try await upgraded.checkpoint("sync", of: "things") == "1")
    let changes = try await reconcile(["a"], from: "1", to: nil, with: upgraded)
    #expect((changes.changed, changes.removedUpstream) == (1, 1))
    #expect(try await upgraded.ids() == ["a", "b"])
    #expect(try database.texts("PRAGMA user_version") == ["7"])
    #expect(try schema() == latest)
    #expect(directory.warnings.isEmpty)
    #expect(try database.isSound())
  }
}
