import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SavingTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  @Test(arguments: [1, 2, 3, 1000])
  func `keeps the order in which records were first seen`(limit: Int) async throws {
    try await store.save([StoreEntry("c"), StoreEntry("a")])
    try await store.save([StoreEntry("b"), StoreEntry("c", mark: 1), StoreEntry("0")], at: 1)
    #expect(try await store.ids(limit: limit) == ["c", "a", "b", "0"])
  }

  @Test func `counts new, changed and unchanged records`() async throws {
    #expect(try await store.save([StoreEntry("a"), StoreEntry("b")]).added == [0, 1])
    let changes = try await store.save([
      StoreEntry("b", mark: 1), StoreEntry("c"), StoreEntry("a"), StoreEntry("d"),
    ])
    #expect(changes.added == [1, 3])
    #expect((changes.changed, changes.unchanged) == (1, 1))
  }

  @Test func `keeps sources apart`() async throws {
    try await store.save([StoreEntry("a", "one"), StoreEntry("b", "two")])
    try await store.save([StoreEntry("a", "two")], of: "others")
    try await store.save([StoreEntry("c", "two")])
    #expect(try await store.ids() == ["a", "b", "c"])
    #expect(try await store.ids(of: "others") == ["a"])
    #expect(try await store.ids("two") == ["b", "c"])
    #expect(try await store.ids("tw") == ["b", "c"])
    #expect(try await store.ids("two", of: "others") == ["a"])
    #expect(try await store.ids("one", of: "others").isEmpty)
    #expect(try await store.ids(of: "nobody's").isEmpty)
    let others = try await store.records(of: "others", matching: [], after: 0, limit: 9)
    let foreign = try #require(others.records.first).position
    for words in [[], [FoldedText("two")], [FoldedText("t")]] {
      let after = try await store.records(of: "things", matching: words, after: foreign, limit: 9)
      #expect(after.records.isEmpty)
    }
  }

  @Test func `does not write unchanged records`() async throws {
    let entries = (0..<50).map { StoreEntry("\($0)") }
    try await store.save(entries)
    let database = try directory.database()
    let version = try database.texts("PRAGMA data_version")
    let log = try directory.bytes("store.sqlite-wal")
    #expect(try await store.save(entries, at: 5).unchanged == 50)
    #expect(try database.texts("PRAGMA data_version") == version)
    #expect(try directory.bytes("store.sqlite-wal") == log)
    #expect(try await store.record("7", of: "things")?.savedAt == .day())
  }

  @Test func `writes only the records that changed, and the index only for new texts`() async throws
  {
    try await store.save((0..<9).map { StoreEntry("\($0)") })
    let database = try directory.database()
    try database.execute(
      """
      CREATE TABLE written (id);
      CREATE TRIGGER wrote AFTER UPDATE ON records BEGIN INSERT INTO written VALUES (new.id); END;
      """)
    let index = try database.index()
    try await store.save((0..<9).map { StoreEntry("\($0)", mark: $0 == 4 ? 1 : 0) }, at: 1)
    #expect(try database.texts("SELECT id FROM written") == ["4"])
    #expect(try database.index() == index)
    try await store.save([StoreEntry("5", "another text")], at: 2)
    #expect(try database.texts("SELECT DISTINCT id FROM written") == ["4", "5"])
    #expect(try database.index() != index)
    #expect(try await store.record("4", of: "things")?.savedAt == .day(1))
  }

  @Test func `computes the text of new and changed records only`() async throws {
    let asked = Counter()
    func entry(_ id: String, _ mark: Int) -> StoreEntry {
      StoreEntry(id: id, json: Data("\(mark)".utf8)) {
        asked.add()
        return FoldedText("text")
      }
    }
    try await store.save([entry("a", 0), entry("b", 0)])
    #expect(asked.value == 2)
    try await store.save([entry("a", 0), entry("b", 0)])
    #expect(asked.value == 2)
    try await store.save([entry("a", 0), entry("b", 1)])
    #expect(asked.value == 3)
  }

  @Test func `merges a changed record over its stored form`() async throws {
    try await store.save([StoreEntry(id: "a", json: Data("long".utf8)) { FoldedText("long") }])
    let short = StoreEntry(id: "a", json: Data("short".utf8)) {
      FoldedText("short")
    } mergedWithStored: { known in
      (Data("short+".utf8) + known, FoldedText("short long"))
    }
    #expect(try await store.save([short]).changed == 1)
    #expect(try await store.found("long") == ["short+long"])
    #expect(try await store.found("short") == ["short+long"])
  }

  @Test func `does not write a record that is unchanged after merging`() async throws {
    try await store.save([StoreEntry(id: "a", json: Data("long".utf8)) { FoldedText("long") }])
    let short = StoreEntry(id: "a", json: Data("short".utf8)) {
      FoldedText("short")
    } mergedWithStored: { known in
      (known, FoldedText("long"))
    }
    #expect(try await store.save([short], at: 1).unchanged == 1)
    #expect(try await store.record("a", of: "things")?.savedAt == .day())
  }

  @Test(arguments: [false, true])
  func `takes the later of two that have one id`(isKnown: Bool) async throws {
    if isKnown { try await store.save([StoreEntry("a", "the very first")]) }
    let changes = try await store.save([
      StoreEntry("z"), StoreEntry("a", "first words", mark: 1), StoreEntry("b"),
      StoreEntry("a", "second words", mark: 2), StoreEntry("b"),
    ])
    #expect(changes.added == (isKnown ? [0, 2] : [0, 1, 2]))
    #expect(try await store.ids() == (isKnown ? ["a", "z", "b"] : ["z", "a", "b"]))
    #expect(try await store.ids("first").isEmpty)
    #expect(try await store.ids("second words") == ["a"])
    #expect(try await store.ids("text of b") == ["b"])
    #expect(try await store.status(of: "things").records == 3)
    #expect(try directory.database().isSound())
  }

  @Test func `saves a page, its records and a checkpoint atomically`() async throws {
    try await store.save([StoreEntry("old")])
    let database = try directory.database()
    try database.execute(
      """
      CREATE TRIGGER refuse BEFORE INSERT ON records WHEN new.id = 'bad'
      BEGIN SELECT raise(ABORT, 'refused by a test'); END
      """)
    let batch = StoreBatch(
      [StoreEntry("good"), StoreEntry("old", "new text"), StoreEntry("bad")],
      page: ("key", PageMetadata(next: nil, total: nil, endpoint: nil)),
      update: CheckpointUpdate("walk", from: nil, to: "there"))
    let error = await #expect(throws: SourceError.self) {
      try await store.save(batch, of: "things", at: .day(1))
    }
    #expect(error?.code == .storage)
    #expect(error?.message == "cannot use \(store.path): refused by a test")
    #expect(try await store.ids() == ["old"])
    #expect(try await store.ids("new text").isEmpty)
    #expect(try await store.page("key", of: "things") == nil)
    #expect(try await store.checkpoint("walk", of: "things") == nil)
    try database.execute("DROP TRIGGER refuse")
    let changes = try await store.save(batch, of: "things", at: .day(1))
    #expect((changes.added, changes.changed, changes.didMoveCheckpoint) == ([0, 2], 1, true))
    #expect(try await store.page("key", of: "things")?.records.count == 3)
    #expect(try await store.checkpoint("walk", of: "things") == "there")
    #expect(try database.isSound())
  }

  @Test func `saves nothing if the checkpoint cannot be moved`() async throws {
    try await store.save([])
    try directory.database().execute(
      """
      CREATE TRIGGER refuse BEFORE INSERT ON checkpoints
      BEGIN SELECT raise(ABORT, 'refused by a test'); END
      """)
    let batch = StoreBatch(
      [StoreEntry("a")], update: CheckpointUpdate("walk", from: nil, to: "there"))
    await #expect(throws: SourceError.self) {
      try await store.save(batch, of: "things", at: .day())
    }
    #expect(try await store.ids().isEmpty)
  }

  @Test func `saves empty and long texts, and IDs with zero bytes`() async throws {
    let long = String(repeating: "long ", count: 100_000)
    try await store.save([
      StoreEntry("", ""), StoreEntry("a\0b", "one"), StoreEntry("a", "two"),
      StoreEntry("'; DROP TABLE records; --", long), StoreEntry("한국", "한국어"),
    ])
    #expect(try await store.ids() == ["", "a\0b", "a", "'; DROP TABLE records; --", "한국"])
    #expect(try await store.record("a\0b", of: "things")?.position != nil)
    #expect(try await store.ids("long") == ["'; DROP TABLE records; --"])
    #expect(try directory.database().isSound())
  }

  @Test func `counts records, deletions and pages`() async throws {
    #expect(try await store.status(of: "things") == StoreStatus())
    _ = try await store.save(
      StoreBatch(
        (0..<5).map { StoreEntry("\($0)") },
        page: ("key", PageMetadata(next: nil, total: nil, endpoint: nil))),
      of: "things", at: .day(3))
    _ = try await store.delete(["1", "unknown"], of: "things", at: .day(4))
    let status = try await store.status(of: "things")
    #expect((status.records, status.hidden, status.deleted) == (4, 1, 2))
    #expect((status.pages, status.fetchedAt) == (1, .day(3)))
    #expect(!status.isEmpty)
    #expect(try await store.status(of: "others") == StoreStatus())
  }

  @Test func `clears a source and never reuses its positions`() async throws {
    try await store.save((0..<5).map { StoreEntry("\($0)") })
    try await store.save([StoreEntry("kept", "text of others")], of: "others")
    let old = try await store.records(of: "things", matching: [], after: 0, limit: 2)
    let batch = StoreBatch(
      [], page: ("key", PageMetadata(next: nil, total: nil, endpoint: nil)),
      update: CheckpointUpdate("walk", from: nil, to: "there"))
    _ = try await store.save(batch, of: "things", at: .day())
    _ = try await store.delete(["2"], of: "things", at: .day())
    var status = StoreStatus()
    status.deleted = 1
    status.lastPosition = try await store.status(of: "things").lastPosition
    try await store.clear("things", forgetsDeleted: false)
    #expect(try await store.status(of: "things") == status)
    #expect(try await store.ids("text").isEmpty)
    #expect(try await store.page("key", of: "things") == nil)
    #expect(try await store.checkpoint("walk", of: "things") == nil)
    #expect(try await store.ids("text", of: "others") == ["kept"])
    try await store.save((0..<5).map { StoreEntry("\($0)") })
    let new = try await store.records(of: "things", matching: [], after: 0, limit: 9)
    #expect(new.records.count == 4)
    #expect(try #require(new.records.first).position > #require(old.records.last).position + 3)
    #expect(try directory.database().isSound())
  }

  @Test func `clears deletions if requested`() async throws {
    try await store.save([StoreEntry("a")])
    _ = try await store.delete(["a", "b"], of: "things", at: .day())
    try await store.clear("things", forgetsDeleted: true)
    #expect(try await store.deleted(among: ["a", "b"], of: "things").isEmpty)
    try await store.save([StoreEntry("a")])
    #expect(try await store.ids() == ["a"])
  }

  @Test func `returns the space of cleared records to the disk`() async throws {
    for number in 0..<20 {
      try await store.save(
        (0..<50).map { StoreEntry("\(number) \($0)", String(repeating: "\($0) ", count: 500)) })
    }
    try await store.clear("things", forgetsDeleted: false)
    let size = try directory.bytes().count + directory.bytes("store.sqlite-wal").count
    #expect(size < 200_000)
  }
}
