import AggregatorKit
import AggregatorSQLite
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StoreDamageTests {
  private let directory: StoreDirectory

  init() throws { directory = try StoreDirectory() }

  private func expectMovedAside(_ bytes: Data, _ why: String, by store: SQLiteStore) async throws {
    #expect(try directory.bytes("store.sqlite.aside-1") == bytes)
    #expect(
      directory.warnings == [
        Warning(
          .movedAside, "\(store.path) \(why); moved to \(store.path).aside-1")
      ])
    try await store.save([StoreEntry("new")])
    #expect(try await store.ids() == ["new"])
    #expect(directory.warnings.count == 1)
    #expect(try directory.bytes("store.sqlite.aside-1") == bytes)
    #expect(try directory.database().isSound())
  }

  @Test(arguments: [2, 15, 16, 100, 4096, 10_000], [true, false])
  func `moves aside a file that is not a database`(size: Int, isRead: Bool) async throws {
    var random = SeededGenerator(UInt64(size))
    let bytes = Data((0..<size).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    try directory.write(bytes)
    let store = directory.store()
    if isRead {
      #expect(try await store.ids().isEmpty)
    } else {
      try await store.save([StoreEntry("new")])
    }
    try await expectMovedAside(bytes, "is not a database", by: store)
  }

  @Test(arguments: ["text of a person\n", String(repeating: "\0", count: 8192)])
  func `moves aside text and zeros`(text: String) async throws {
    try directory.write(text.utf8)
    let store = directory.store()
    #expect(try await store.ids().isEmpty)
    try await expectMovedAside(Data(text.utf8), "is not a database", by: store)
  }

  @Test(arguments: [
    "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)", "PRAGMA user_version = 1",
    "PRAGMA application_id = 77", "PRAGMA application_id = 1634166642",
  ])
  func `refuses the file of another program`(sql: String) async throws {
    try directory.write([])
    try directory.database().execute(sql)
    try await expectRefusal("is not a store of this program")
  }

  private func expectRefusal(_ why: String) async throws {
    let bytes = try directory.bytes()
    let store = directory.store()
    let error = await #expect(throws: SourceError.self) { _ = try await store.ids() }
    #expect(error?.code == .unusableStore)
    #expect(error?.message == "\(store.path) \(why)")
    await #expect(throws: SourceError.self) { try await store.save([StoreEntry("new")]) }
    #expect(try directory.bytes() == bytes)
    #expect(directory.warnings == [])
  }

  @Test func `leaves another program's log and its file unchanged`() async throws {
    try directory.write([])
    let theirs = try directory.database()
    try theirs.execute("PRAGMA journal_mode = WAL; CREATE TABLE theirs (x)")
    // As if that program had been killed: a file, and a log that is not in it yet.
    let files = try ["store.sqlite", "store.sqlite-wal"].map { try directory.bytes($0) }
    try #require(!files[1].isEmpty)
    let killed = try StoreDirectory()
    try killed.write(files[0])
    try files[1].write(to: URL(filePath: killed.path + "-wal"))
    let store = killed.store()
    await #expect(throws: SourceError.self) { try await store.save([StoreEntry("new")]) }
    #expect(try killed.bytes("store.sqlite") == files[0])
    #expect(try killed.bytes("store.sqlite-wal") == files[1])
    #expect(
      try RawDatabase(killed.path).texts("SELECT name FROM sqlite_schema") == ["theirs"])
  }

  @Test func `refuses the file of a newer version`() async throws {
    try await directory.store().save([StoreEntry("a")])
    let database = try directory.database()
    try database.execute("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)")
    try await expectRefusal("was written by a newer version of this program")
    #expect(try RawDatabase(directory.path).texts("SELECT id FROM records") == ["a"])
  }

  @Test func `saves again what went to a file that was moved aside meanwhile`() async throws {
    let store = directory.store()
    try await store.save([StoreEntry("a")])
    let path = directory.path
    let isMoved = Atomic(false)
    // In the transaction, after the file was opened.
    let entry = StoreEntry(id: "b", json: Data(#"{"id":"b"}"#.utf8)) {
      guard !isMoved.exchange(true, ordering: .relaxed) else { return FoldedText("b") }
      rename(path, path + ".moved")
      rename(path + "-wal", path + ".moved-wal")
      return FoldedText("b")
    }
    _ = try await store.save(StoreBatch([entry]), of: "things", at: .now)
    #expect(try await directory.store().ids() == ["b"])
  }

  @Test(arguments: ["number = 8388607", "number = -1", "last = 9223372036854775807", "last = 0"])
  func `moves aside a file with impossible positions`(change: String) async throws {
    try await directory.store().save([StoreEntry("a")])
    try directory.database().execute("UPDATE sources SET \(change)")
    let store = directory.store()
    #expect(try await store.ids().isEmpty)
    #expect(directory.warnings.map(\.code.description) == ["movedAside"])
    try await store.save([StoreEntry("new")])
    #expect(try await store.ids() == ["new"])
  }

  @Test func `damage that is found while reading is an error if the file has to stay`()
    async throws
  {
    try await directory.store().save([StoreEntry("a")])
    try directory.database().execute("UPDATE sources SET number = -1")
    let store = SQLiteStore(at: directory.path, isStrict: true)
    let error = await #expect(throws: SourceError.self) { _ = try await store.ids() }
    #expect(error?.code == .storage)
    #expect(error?.message == "\(directory.path) is damaged")
    #expect(!directory.names.contains { $0.contains("aside") })
  }

  @Test func `survives record counts that make no sense`() async throws {
    let store = directory.store()
    try await store.save([StoreEntry("a")])
    try directory.database().execute(
      "UPDATE sources SET records = -9223372036854775808, removed_upstream = 9223372036854775807")
    #expect(try await store.status(of: "things").hidden == 0)
    try directory.database().execute(
      "UPDATE sources SET records = 9223372036854775807, removed_upstream = -9223372036854775807")
    #expect(try await !store.status(of: "things").isEmpty)
  }

  @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1e300"])
  func `survives counts of a cached page that make no sense`(value: String) async throws {
    let store = directory.store()
    let recordStore = RecordStore<Note>("notes", in: store, text: Note.text)
    let source = notebook(5).cached(in: recordStore, freshFor: .seconds(60), now: { .day() })
    _ = try await source.page(PageRequest(limit: 3))
    try directory.database().execute(
      """
      UPDATE pages SET page = json_set(
        page, '$.unreadable', json('\(value)'), '$.total', json('\(value)'));
      UPDATE records SET json = '{}' WHERE id = '1'
      """)
    let page = try await source.page(PageRequest(limit: 3))
    #expect(page.records.map(\.id) == [1, 2, 3])
    let sequence = source.pages(size: 3, ahead: 4)
    var count = 0
    for try await step in sequence { count += step.items.count }
    #expect(count == 5)
  }

  /// A store of some pages, closed in good order.
  private func whole() async throws -> Data {
    do {
      let store = directory.store()
      for number in 0..<10 {
        try await store.save((0..<40).map { StoreEntry("\(number) \($0)", "text \(number * $0)") })
      }
    }
    try directory.database().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let bytes = try directory.bytes()
    for name in directory.names {
      try FileManager.default.removeItem(atPath: "\(directory.root)/state/\(name)")
    }
    return bytes
  }

  @Test func `recovers from a file truncated to any length`() async throws {
    let bytes = try await whole()
    var moved = 0
    for length in [1, 50, 99, 100, 1000, 4095, 4096, 4097, 8192, 12_288]
      + Array(stride(from: 20_000, to: bytes.count, by: 7777))
    {
      let cut = try StoreDirectory()
      try cut.write(bytes.prefix(length))
      let store = cut.store()
      _ = try await store.ids()
      _ = try await store.ids("text 1")
      try await store.save([StoreEntry("new", "a new text")], at: 1)
      #expect(try await store.ids("new text") == ["new"], "\(length) bytes")
      let aside = cut.names.filter { $0.hasSuffix("aside-1") }
      if let name = aside.first { #expect(try cut.bytes(name) == bytes.prefix(length)) }
      #expect(cut.warnings.count == aside.count)
      moved += aside.count
    }
    #expect(moved >= 10)
  }

  @Test func `recovers when a page of an open file is damaged`() async throws {
    let bytes = try await whole()
    for page in 1..<bytes.count / 4096 {
      let damagedCopy = try StoreDirectory()
      var damaged = bytes
      damaged.replaceSubrange(
        page * 4096..<(page + 1) * 4096, with: Data(repeating: 0xAA, count: 4096))
      try damagedCopy.write(bytes)
      let store = damagedCopy.store()
      #expect(try await store.status(of: "things").records == 400)
      let file = try FileHandle(forWritingTo: URL(filePath: damagedCopy.path))
      try file.write(contentsOf: damaged)
      try file.close()
      // Another process writes, so that open connections read the file again.
      _ = try? await damagedCopy.store().save([StoreEntry("new", "a new text")], at: 1)
      _ = try await store.ids("text 1")
      _ = try await store.ids()
      try await store.save([StoreEntry("last", "the last text")], at: 2)
      #expect(try await store.ids("last text") == ["last"], "page \(page)")
      #expect(damagedCopy.warnings.count <= 1, "page \(page): \(damagedCopy.warnings)")
    }
  }

  @Test func `switches to a new file when another process moves the old one aside`() async throws {
    let (one, other) = (directory.store(), directory.store())
    try await one.save([StoreEntry("a")])
    #expect(try await other.ids() == ["a"])
    for suffix in ["", "-wal", "-shm"] {
      try FileManager.default.moveItem(
        atPath: directory.path + suffix, toPath: "\(directory.path).aside-1\(suffix)")
    }
    #expect(try await other.ids().isEmpty)
    try await other.save([StoreEntry("b")])
    try await one.save([StoreEntry("c")])
    for store in [one, other] { #expect(try await store.ids() == ["b", "c"]) }
    let aside = directory.store(at: directory.path + ".aside-1")
    #expect(try await aside.ids() == ["a"])
    #expect(try directory.database().isSound())
  }

  @Test(arguments: 0..<20)
  func `is moved aside once when many find the damage at the same time`(round: Int) async throws {
    let bytes = Data("this is no database at all, \(round)".utf8)
    try directory.write(bytes)
    let stores = (0..<6).map { _ in directory.store() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, store) in stores.enumerated() {
        group.addTask {
          if number % 2 == 0 { _ = try await store.ids() }
          try await store.save([StoreEntry("\(number)")])
          #expect(try await store.ids().contains("\(number)"))
        }
      }
      try await group.waitForAll()
    }
    #expect(directory.names.filter { $0.contains("aside") } == ["store.sqlite.aside-1"])
    #expect(try directory.bytes("store.sqlite.aside-1") == bytes)
    #expect(directory.warnings.count == 1)
    #expect(try await stores[0].ids().count == 6)
    #expect(try directory.database().isSound())
  }

  @Test func `moves aside the target of a link and keeps the link`() async throws {
    let bytes = Data("this is no database at all".utf8)
    let target = "\(directory.root)/target.sqlite"
    try bytes.write(to: URL(filePath: target))
    try FileManager.default.createDirectory(
      atPath: "\(directory.root)/state", withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: directory.path, withDestinationPath: target)
    let store = directory.store()
    try await store.save([StoreEntry("a")])
    #expect(try Data(contentsOf: URL(filePath: target + ".aside-1")) == bytes)
    #expect(try await directory.store(at: target).ids() == ["a"])
    #expect(try await store.ids() == ["a"])
  }

  /// Damage that SQLite reports by codes that other failures share.
  @Test(arguments: [
    "DROP TABLE seen", "DROP TABLE tombstones", "DROP TABLE pages", "DROP TABLE checkpoints",
    "DROP TABLE history", "DROP TABLE changes", "DROP TABLE syncs",
    "DROP TABLE shared", "DROP TABLE search", "ALTER TABLE records DROP COLUMN first_seen",
    "UPDATE seen SET positions = '[1,'", "PRAGMA user_version = 1", "PRAGMA user_version = 3",
    "UPDATE sources SET last = number << 40", "DELETE FROM sources WHERE name = 'things'",
  ])
  func `recovers from damage of the schema or the contents`(change: String) async throws {
    try await Self.use(directory.store())
    let pending = CheckpointUpdate(
      "sync", from: nil, to: "1", reconciliation: Reconciliation(begins: true))
    _ = try await directory.store().save(
      StoreBatch([StoreEntry("b")], update: pending), of: "things", at: .day(2))
    try directory.database().execute(change)
    for _ in 0..<2 { try await Self.use(directory.store()) }
    #expect(directory.warnings.map(\.code.description).count <= 1)
    #expect(try directory.database().isSound())
  }

  /// Whatever a store is used for.
  private static func use(_ store: SQLiteStore) async throws {
    _ = try? await store.page("key", of: "things")
    _ = try await store.records(
      of: "things", matching: SearchQuery("text 1").words, after: 0, limit: 1000)
    _ = try await store.status(of: "things")
    _ = try await store.delete(["c"], of: "things", at: .day())
    _ = try await store.restore(nil, of: "things")
    try await store.change("key") { ($0 ?? "") == "x" ? "y" : "x" }
    let from = try await store.checkpoint("sync", of: "things")
    for (from, to) in [(from, "2"), ("2", nil)] as [(String?, String?)] {
      let reconciliation = Reconciliation(
        begins: from == nil, completion: to == nil ? .init(lastPosition: 0, minRecordCount: 1) : nil
      )
      let entries = ["a", "b", "c", "new \(UUID())"].map { StoreEntry($0, "text 1 of \(UUID())") }
      let page = PageMetadata(next: nil, total: nil, endpoint: nil)
      let batch = StoreBatch(
        entries, page: ("key", page),
        update: CheckpointUpdate("sync", from: from, to: to, reconciliation: reconciliation))
      _ = try await store.save(batch, of: "things", at: .day(2))
    }
    let slice = try await store.records(
      of: "things", matching: SearchQuery("text 1").words, after: 0, limit: 1000)
    #expect(slice.records.count >= 4)
    #expect(try await store.checkpoint("sync", of: "things") == nil)
  }

  @Test(arguments: 0..<4)
  func `recovers from random damage`(part: Int) async throws {
    let bytes = try await whole()
    for seed in 0..<40 {
      var random = SeededGenerator(UInt64(part * 1000 + seed))
      var damaged = bytes
      // The header, the schema on the first page, or anywhere.
      let range = [0..<100, 0..<4096, 0..<bytes.count][seed % 3]
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let start = Int.random(in: range, using: &random)
        for index in start..<min(start + Int.random(in: 1...16, using: &random), bytes.count) {
          damaged[index] = UInt8.random(in: .min ... .max, using: &random)
        }
      }
      let copy = try StoreDirectory()
      try copy.write(damaged)
      // The first use may find the damage; the next must not.
      _ = try? await Self.use(copy.store())
      do { try await Self.use(copy.store()) } catch let error as SourceError
        where error.code == .unusableStore
      {
        // The mark of a store is damaged: it may be anybody's file, and is left alone.
        #expect(try copy.bytes() == damaged && copy.warnings.isEmpty)
      } catch {
        Issue.record("seed \(part * 1000 + seed): \(error), \(copy.warnings)")
      }
    }
  }

  @Test func `never reuses the name of a file moved aside before`() async throws {
    for number in 1...3 {
      try directory.write("no database, number \(number)".utf8)
      for suffix in ["-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: directory.path + suffix)
      }
      try await directory.store().save([StoreEntry("a")])
    }
    for number in 1...3 {
      #expect(
        try directory.bytes("store.sqlite.aside-\(number)")
          == Data("no database, number \(number)".utf8))
    }
  }
}
