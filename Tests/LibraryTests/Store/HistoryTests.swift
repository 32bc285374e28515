import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

/// The history of changes that the store keeps of a source.
@Suite(.timeLimit(.minutes(10)))
struct HistoryTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  /// The changes as text, by pages of `limit`: `a added`, `b changed from 1`, `c removed`, `d as before`.
  private func changes(
    since start: HistoryStart, limit: Int = 100, in other: SQLiteStore? = nil
  ) async throws -> [String]? {
    var texts: [String] = []
    var (start, position) = (start, Int64(0))
    while true {
      let page = try await (other ?? store).changes(
        of: "things", since: start, after: position, limit: limit)
      guard let page else { return nil }
      texts += page.changes.map { change in
        let isListed = change.record.removedUpstreamAt == nil
        let mark = change.before.map { String(decoding: $0, as: UTF8.self) }
          .flatMap { $0.firstMatch(of: /"mark":(\d+)/) }.map { " from \($0.1)" }
        return switch (change.wasListed, isListed) {
        case (false, true): "\(change.id) added"
        case (true, false): "\(change.id) removed"
        case (true, true): "\(change.id) \(mark.map { "changed\($0)" } ?? "as before")"
        case (false, false): "\(change.id) never there"
        }
      }
      guard page.hasMore, let last = page.changes.last else { return texts }
      (start, position) = (.mark(page.start), last.record.position)
    }
  }

  private func mark() async throws -> HistoryMark {
    try #require(try await store.status(of: "things").history).mark
  }

  /// Marks the records as removed that are not among these, in a pass of one batch.
  private func reconcile(_ ids: [String], at seconds: Double, completes: Bool = true) async throws {
    let update = CheckpointUpdate(
      "sync", from: nil, to: nil,
      reconciliation: Reconciliation(
        begins: true, completion: .init(lastPosition: .max, minRecordCount: ids.count)))
    let batch = StoreBatch(
      ids.map { StoreEntry($0) }, update: update, completesSync: completes)
    _ = try await store.save(batch, of: "things", at: .day(seconds))
  }

  @Test(arguments: [1, 2, 100])
  func `knows the records of an earlier time`(limit: Int) async throws {
    try await store.save([StoreEntry("a"), StoreEntry("b"), StoreEntry("c")])
    try await store.save([StoreEntry("b", mark: 1), StoreEntry("d")], at: 10)
    try await store.save([StoreEntry("b", mark: 2)], at: 20)
    let history: [(Double, [String])] = [
      (0, ["b changed from 0", "d added"]), (10, ["b changed from 1"]), (20, []),
    ]
    for (time, expected) in history {
      #expect(try await changes(since: .date(.day(time)), limit: limit) == expected)
    }
    #expect(
      try await changes(since: .date(.day(-1)), limit: limit)
        == ["a added", "b added", "c added", "d added"])
    let early = try await store.changes(
      of: "things", since: .date(.day(-1)), after: 0, limit: limit)
    #expect(early?.knownSince != nil)
  }

  @Test func `a record that was removed and returned is as before, or has changed`() async throws {
    try await store.save([StoreEntry("a"), StoreEntry("b"), StoreEntry("c")])
    let start = try await mark()
    try await reconcile(["a", "c"], at: 10)
    let gone = try await mark()
    #expect(try await changes(since: .mark(start)) == ["b removed"])
    try await store.save([StoreEntry("b")], at: 20)
    #expect(try await changes(since: .mark(start)) == ["b as before"])
    #expect(try await changes(since: .mark(gone)) == ["b added"])
    try await store.save([StoreEntry("b", mark: 1)], at: 30)
    #expect(try await changes(since: .mark(start)) == ["b changed from 0"])
    #expect(try await changes(since: .mark(gone)) == ["b added"])
  }

  @Test func `a record that is new has the time when it was first seen`() async throws {
    try await store.save([StoreEntry("a")])
    try await store.save([StoreEntry("b")], at: 10)
    try await store.save([StoreEntry("a", mark: 1), StoreEntry("b", mark: 1)], at: 20)
    let early = try await store.changes(
      of: "things", since: .date(.day(5)), after: 0, limit: 9)
    let changes = try #require(early).changes
    #expect(changes.map(\.id) == ["a", "b"])
    #expect(changes.map(\.wasListed) == [true, false])
    #expect(changes.map(\.date) == [.day(20), .day(10)])
    let late = try await store.changes(
      of: "things", since: .date(.day(15)), after: 0, limit: 9)
    #expect(late?.changes.map(\.date) == [.day(20), .day(20)])
  }

  @Test func `a record that came and went is not there`() async throws {
    try await store.save([StoreEntry("a")])
    try await store.save([StoreEntry("b")], at: 10)
    try await reconcile(["a"], at: 20)
    #expect(try await changes(since: .date(.day(0))) == ["b never there"])
  }

  @Test func `leaves out deleted records`() async throws {
    try await store.save([StoreEntry("a"), StoreEntry("b")])
    let start = try await mark()
    try await store.save(
      [StoreEntry("a", mark: 1), StoreEntry("b", mark: 1), StoreEntry("c")], at: 1)
    _ = try await store.delete(["a", "c"], of: "things", at: .day(2))
    #expect(try await changes(since: .mark(start)) == ["b changed from 0"])
  }

  @Test func `compares with the completed sync before the last`() async throws {
    try await store.save([StoreEntry("a"), StoreEntry("b")])
    #expect(try await changes(since: .sync) == nil)
    try await reconcile(["a", "b"], at: 1)
    #expect(try await changes(since: .sync) == [])
    try await store.save([StoreEntry("a", mark: 1)], at: 2)
    #expect(try await changes(since: .sync) == ["a changed from 0"])
    // Not complete.
    try await reconcile(["a", "b", "c"], at: 3, completes: false)
    try await reconcile(["a", "b", "c"], at: 4)
    // It has changed back, which the typed view finds out.
    #expect(try await changes(since: .sync) == ["a changed from 0", "c added"])
    try await reconcile(["a", "b", "c"], at: 5)
    #expect(try await changes(since: .sync) == [])
    #expect(try directory.database().texts("SELECT count(*) FROM syncs") == ["2"])
    let page = try await store.changes(of: "things", since: .sync, after: 0, limit: 1)
    #expect(page?.date == .day(4))
  }

  /// Leaves a checkpoint of a sync, with times in seconds since 1970.
  private func leave(_ name: String, _ seconds: Double...) async throws {
    let text = seconds.map { "\(Date.day($0).timeIntervalSince1970)" }.joined(separator: " ")
    let update = CheckpointUpdate(name, from: nil, to: text)
    _ = try await store.save(StoreBatch([], update: update), of: "things", at: .day(seconds[0]))
  }

  @Test func `compares with the end of a sync that may have missed records`() async throws {
    try await store.save([StoreEntry("a"), StoreEntry("b")])
    try await reconcile(["a", "b"], at: 1)
    try await store.save([StoreEntry("a", mark: 1)], at: 2)
    try await leave("incomplete", 3)
    // It is the last sync itself.
    #expect(try await changes(since: .sync) == ["a changed from 0"])
    try await store.save([StoreEntry("b", mark: 1)], at: 4)
    try await reconcile(["a", "b"], at: 5)
    #expect(try await changes(since: .sync) == ["a changed from 1", "b changed from 0"])
    let page = try await store.changes(of: "things", since: .sync, after: 0, limit: 9)
    #expect(page?.date == .day(3) && page?.hasEarlierSync == true)
    try await reconcile(["a", "b"], at: 6)
    #expect(try await changes(since: .sync) == [])
    // Of what was cleared, nothing is known, although its checkpoint is there.
    try await store.clearHistory(of: "things")
    try await store.save([StoreEntry("a", mark: 2)], at: 7)
    #expect(try await changes(since: .sync) == nil)
  }

  @Test func `a first sync adds nothing to what was stored before it`() async throws {
    try await store.save([StoreEntry("a"), StoreEntry("b")])
    try await store.save([StoreEntry("a", mark: 1), StoreEntry("c")], at: 6)
    try await reconcile(["b", "c"], at: 7)
    try await leave("complete", 7, 5.5)
    let end = try await store.changes(of: "things", since: .sync, after: 0, limit: 9)
    #expect(end?.date == .day(7) && end?.hasEarlierSync == false && end?.changes == [])
    try await store.save([StoreEntry("b", mark: 1), StoreEntry("d")], at: 8)
    #expect(try await changes(since: .sync) == ["b changed from 0", "d added"])
  }

  @Test func `does not write if nothing changes`() async throws {
    let entries = (0..<50).map { StoreEntry("\($0)") }
    try await store.save(entries)
    let log = try directory.bytes("store.sqlite-wal")
    try await store.save(entries, at: 5)
    #expect(try directory.bytes("store.sqlite-wal") == log)
    #expect(try await store.status(of: "things").history?.count == 0)
    #expect(try directory.database().texts("SELECT count(*) FROM changes") == ["0"])
  }

  @Test func `keeps a number of changes, and knows since when`() async throws {
    let store = SQLiteStore(
      at: directory.path, history: HistoryLimit(age: .seconds(1000), count: 5))
    try await store.save((0..<3).map { StoreEntry("\($0)") })
    for round in 1...4 {
      try await store.save(
        (0..<3).map { StoreEntry("\($0)", mark: round) }, at: Double(round * 10))
    }
    let history = try #require(try await store.status(of: "things").history)
    #expect(history.count == 5)
    // The seventh of twelve changes was removed last.
    #expect(history.start == .day(30))
    #expect(try directory.database().texts("SELECT count(*) FROM changes") == ["5"])
    let late = try #require(
      try await store.changes(of: "things", since: .date(.day(30)), after: 0, limit: 9))
    #expect(late.knownSince == nil && late.changes.count == 3)
    let early = try #require(
      try await store.changes(of: "things", since: .date(.day(5)), after: 0, limit: 9))
    #expect(early.knownSince == .day(30))
    // The oldest of the changes that are known.
    #expect(try await changes(since: .date(.day(5)), in: store)?.first == "0 changed from 3")
  }

  @Test func `removes old changes, but not the young ones after them`() async throws {
    let store = SQLiteStore(
      at: directory.path, history: HistoryLimit(age: .seconds(100), count: 1000))
    try await store.save([StoreEntry("a"), StoreEntry("b")])
    try await store.save([StoreEntry("a", mark: 1)], at: 10)
    try await store.save([StoreEntry("a", mark: 2)], at: 90)
    #expect(try await store.status(of: "things").history?.count == 2)
    try await store.save([StoreEntry("b", mark: 1)], at: 150)
    let history = try #require(try await store.status(of: "things").history)
    #expect((history.count, history.start) == (2, .day(10)))
    #expect(
      try await changes(since: .date(.day(10)), in: store)
        == ["a changed from 1", "b changed from 0"])
  }

  @Test func `keeps none if it is off, and forgets what it had`() async throws {
    try await store.save([StoreEntry("a")])
    try await store.save([StoreEntry("a", mark: 1)], at: 1)
    let start = try await mark()
    let off = SQLiteStore(at: directory.path, history: .off)
    try await off.save([StoreEntry("a", mark: 2)], at: 2)
    #expect(try await off.status(of: "things").history == nil)
    #expect(try await changes(since: .mark(start)) == nil)
    // It begins again.
    try await store.save([StoreEntry("a", mark: 3)], at: 3)
    let history = try #require(try await store.status(of: "things").history)
    #expect((history.count, history.start) == (1, .day(3)))
    #expect(history.mark.change > start.change)
  }

  @Test func `begins in a file of version 5 with the next change`() async throws {
    try await store.save([StoreEntry("a"), StoreEntry("b")])
    try directory.database().execute(
      "DROP TABLE history; DROP TABLE changes; DROP TABLE syncs; PRAGMA user_version = 5")
    let upgraded = directory.store()
    #expect(try await upgraded.status(of: "things").history == nil)
    #expect(try await changes(since: .date(.day(0)), in: upgraded) == nil)
    try await upgraded.save([StoreEntry("a", mark: 1)], at: 10)
    let page = try #require(
      try await upgraded.changes(of: "things", since: .date(.day(5)), after: 0, limit: 9))
    #expect(page.changes.map(\.id) == ["a"])
    #expect(page.knownSince == .day(10))
    #expect(directory.warnings.isEmpty)
  }

  @Test func `clearing removes it, and no number is used again`() async throws {
    try await store.save([StoreEntry("a")])
    try await store.save([StoreEntry("a", mark: 1)], at: 1)
    try await store.save([StoreEntry("a")], of: "others")
    try await store.save([StoreEntry("a", mark: 1)], of: "others", at: 1)
    let start = try await mark()
    try await store.clearHistory(of: "things")
    #expect(try await store.status(of: "things").history == nil)
    #expect(try await store.ids() == ["a"])
    #expect(try await store.status(of: "others").history?.count == 1)
    try await store.save([StoreEntry("a", mark: 2)], at: 2)
    #expect(try await changes(since: .mark(start)) == ["a changed from 1"])
    try await store.clear("things", forgetsDeleted: false)
    #expect(try await store.status(of: "things").history == nil)
    #expect(try directory.database().texts("SELECT count(*) FROM changes") == ["1"])
  }

  @Test(arguments: [
    ("30d", 30 * 86_400, 100_000), ("5000", 90 * 86_400, 5000), ("5000 12h", 43_200, 5000),
    ("2w 1", 14 * 86_400, 1), ("OFF", 0, 0),
  ])
  func `its limit is an age, a number or both`(text: String, age: Int, count: Int) throws {
    #expect(HistoryLimit(text) == HistoryLimit(age: .seconds(age), count: count))
  }

  @Test(arguments: [
    "", " ", "0", "-1", "3x", "d", "0d", "+3d", "1d 2d", "1 2", "1d 2 3", "1e3", "+5", "٣d",
  ])
  func `refuses an invalid limit`(text: String) { #expect(HistoryLimit(text) == nil) }
}
