import AggregatorKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CachedPageTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  private func save(
    _ key: String, _ entries: [StoreEntry], total: Int? = nil, of source: String = "things",
    at seconds: Double = 0
  ) async throws {
    let page = PageMetadata(
      next: .place(7), total: total, endpoint: "https://host/path",
      unreadable: UnreadableRows(count: 2, firstReason: "no name"))
    _ = try await store.save(
      StoreBatch(entries, page: (key, page)), of: source, at: .day(seconds))
  }

  @Test func `returns a page as it was saved, in its own order`() async throws {
    try await store.save(["c", "a", "b"].map { StoreEntry($0) })
    try await save("key", ["b", "new", "c"].map { StoreEntry($0) }, total: 9, at: 5)
    let page = try #require(try await store.page("key", of: "things"))
    #expect(page.records.map { $0.position & 0xFF } == [3, 4, 1])
    #expect((page.page.next, page.page.total, page.fetchedAt) == (.place(7), 9, .day(5)))
    #expect((page.page.unreadable, page.page.reason) == (2, "no name"))
    #expect(page.page.endpoint == "https://host/path")
    #expect(try await store.page("other", of: "things") == nil)
    #expect(try await store.page("key", of: "others") == nil)
  }

  @Test(
    arguments: [
      #"{"endpoint":"https://host/path","unreadable":0}"#,
      #"{"generation":"g","next":"ok.c1","rows":20,"total":40,"unreadable":2,"reason":"no name"}"#,
      #"{"endsPartition":true,"unreadable":0}"#, #"{"total":null,"unreadable":0}"#,
      #"{"unreadable":0,"warnings":[{"code":"repeated","message":"again"}]}"#,
      #"{"of":"a later version","unreadable":0}"#, #"{"unreadable":0,"total":4.0}"#,
      #"{"unreadable":0,"next":"not a cursor"}"#, #"{"unreadable":0,"total":"40"}"#,
      #"{"unreadable":"2"}"#, #"{"rows":20}"#, "{}", "[]", "7", "",
    ])
  func `reads a page with and without coders alike`(json: String) {
    let data = Data(json.utf8)
    let decoded = try? JSONDecoder().decode(PageMetadata.self, from: data)
    #expect(PageMetadata(json: data) == decoded)
  }

  @Test func `replaces a page and keeps its records`() async throws {
    try await save("key", ["a", "b"].map { StoreEntry($0) })
    try await save("key", ["b", "c"].map { StoreEntry($0) }, at: 9)
    let page = try #require(try await store.page("key", of: "things"))
    #expect(page.records.map { $0.position & 0xFF } == [2, 3])
    #expect(page.fetchedAt == .day(9))
    #expect(try await store.ids() == ["a", "b", "c"])
    #expect(try await store.status(of: "things").pages == 1)
  }

  @Test func `returns a page's records as they are now, deleted or not`() async throws {
    try await save("key", [StoreEntry("a"), StoreEntry("b")])
    try await store.save([StoreEntry("a", mark: 5)], at: 3)
    _ = try await store.delete(["b"], of: "things", at: .day())
    let page = try #require(try await store.page("key", of: "things"))
    #expect(String(decoding: page.records[0].json, as: UTF8.self).contains("5"))
    #expect((page.records.count, page.records[0].savedAt) == (2, .day(3)))
  }

  @Test func `keeps the newest two thousand pages of a source`() async throws {
    try await save("of others", [], of: "others")
    try await save("page 0", [], at: 0)
    // Saving so many one by one would take too long.
    try directory.database().execute(
      """
      WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 2001)
      INSERT INTO pages (source, key, fetched, positions, page)
      SELECT source, 'page ' || n, fetched + n * 1000, positions, page
      FROM pages JOIN n WHERE key = 'page 0'
      """)
    try await save("page 2002", [], at: 2002)
    #expect(try await store.status(of: "things").pages == 2000)
    for (number, isKept) in [(0, false), (2, false), (3, true), (2002, true)] {
      let page = try await store.page("page \(number)", of: "things")
      #expect((page != nil) == isKept)
    }
    try await save("page 3", [], at: 3000)
    try await save("page 2003", [], at: 3001)
    #expect(try await store.page("page 3", of: "things") != nil)
    #expect(try await store.page("page 4", of: "things") == nil)
    #expect(try await store.page("of others", of: "others") != nil)
  }

  @Test(arguments: [
    "", "{}", "[]", "null", #"{"unreadable":"none"}"#, #"{"next":"","unreadable":0}"#,
  ])
  func `ignores a page that another version wrote`(json: String) async throws {
    try await save("key", [StoreEntry("a")])
    try directory.database().execute("UPDATE pages SET page = '\(json)'")
    #expect(try await store.page("key", of: "things") == nil)
    try await save("key", [StoreEntry("a")])
    #expect(try await store.page("key", of: "things")?.records.count == 1)
  }

  @Test func `rounds dates down to milliseconds`() async throws {
    for fraction in [0, 0.001, 0.0004, 0.0005, 0.0006, 0.9999] {
      try await save("key", [], at: fraction)
      let page = try #require(try await store.page("key", of: "things"))
      let lag = Date.day(fraction).timeIntervalSince(page.fetchedAt)
      #expect((0..<0.0011).contains(lag), "\(fraction)")
    }
  }

  @Test func `moves a checkpoint only from its expected value`() async throws {
    func update(from: String?, to: String) async throws -> Bool {
      try await store.save(
        StoreBatch([], update: CheckpointUpdate("walk", from: from, to: to)), of: "things",
        at: .day()
      ).didMoveCheckpoint
    }
    #expect(try await !update(from: "somewhere", to: "x"))
    #expect(try await store.checkpoint("walk", of: "things") == nil)
    #expect(try await update(from: nil, to: "1"))
    #expect(try await !update(from: nil, to: "x"))
    #expect(try await update(from: "1", to: "2"))
    #expect(try await !update(from: "1", to: "x"))
    #expect(try await update(from: "2", to: "2"))
    #expect(try await store.checkpoint("walk", of: "things") == "2")
    #expect(try await store.checkpoint("another", of: "things") == nil)
    #expect(try await store.checkpoint("walk", of: "others") == nil)
  }

  @Test func `saves the records of a slower process too`() async throws {
    let step = StoreBatch([StoreEntry("a")], update: CheckpointUpdate("walk", from: nil, to: "1"))
    #expect(try await store.save(step, of: "things", at: .day()).didMoveCheckpoint)
    let slower = StoreBatch([StoreEntry("b")], update: CheckpointUpdate("walk", from: nil, to: "0"))
    let changes = try await store.save(slower, of: "things", at: .day())
    #expect((changes.didMoveCheckpoint, changes.added) == (false, [0]))
    #expect(try await store.ids() == ["a", "b"])
  }
}
