import AggregatorKit
import AggregatorObservation
import AggregatorSQLite
import AggregatorSourceTesting
import AggregatorStore
import Foundation
import Testing

/// Lists that follow a store: no request is sent, and nothing moves that has not changed.
@MainActor @Suite(.timeLimit(.minutes(10)))
struct PagedListFollowingTests {
  private let directory: StoreDirectory
  private let clock = ManualClock()
  private let stores: [any SourceStore]

  /// The first two are the one of this process, the third is that of another.
  init() throws {
    directory = try StoreDirectory()
    let own = SQLiteStore(at: directory.path, clock: clock)
    stores = [own, own, SQLiteStore(at: directory.path, clock: clock)]
  }

  /// Lets the stores look for changes of other processes.
  private func poll(listeners: Int = 1) async {
    await clock.sleepers(atLeast: listeners)
    clock.advance(by: .milliseconds(500))
  }

  private func records(in store: any SourceStore) -> RecordStore<Note> {
    RecordStore("notes", in: store, text: Note.text)
  }

  private func save(_ ids: ClosedRange<Int>, title: String = "note", in store: any SourceStore)
    async throws
  {
    let notes = ids.map { Note($0, "\(title) \($0)") }
    _ = try await records(in: store).save(notes, at: Date(timeIntervalSince1970: 0))
  }

  private func list(
    in store: any SourceStore, matching query: SearchQuery? = nil, pageSize: Int = 5
  ) async -> PagedList<Note> {
    let records = records(in: store)
    let list = PagedList(
      records.records, matching: query, pageSize: pageSize, following: records)
    await list.load()
    return list
  }

  @Test(arguments: [1, 2])
  func `a deletion and its undoing elsewhere show in every open list`(other: Int) async throws {
    try await save(1...10, in: stores[0])
    let list = await list(in: stores[0])
    let elsewhere = await self.list(in: stores[other])
    try await elsewhere.delete(3)
    if other == 2 { await poll(listeners: 2) }
    await until { list.ids == [1, 2, 4, 5] }
    #expect(list.total == 9)
    // What one list has removed, the other brings back, in its place in both.
    try await list.undoDelete(3)
    if other == 2 { await poll(listeners: 2) }
    await until { elsewhere.ids == Array(1...5) }
    #expect(list.ids == Array(1...5) && list.total == 10)
    #expect(!list.isOutdated && !elsewhere.isOutdated)
    await list.loadMore()
    #expect(list.ids == Array(1...10))
  }

  @Test(arguments: [0, 2])
  func `a changed record is replaced, and a new one makes the list outdated`(
    other: Int
  ) async throws {
    try await save(1...4, in: stores[0])
    let list = await list(in: stores[0])
    #expect(!list.hasMore)
    try await save(2...2, title: "changed", in: stores[other])
    if other == 2 { await poll() }
    await until { list.records[1].title == "changed 2" }
    #expect(!list.isOutdated)
    try await save(5...5, in: stores[other])
    if other == 2 { await poll() }
    await until { list.isOutdated }
    #expect(list.ids == Array(1...4))
    await list.refresh()
    #expect(list.ids == Array(1...5) && !list.isOutdated)
  }

  @Test func `a restored record moves those behind it, and each change stays with its record`()
    async throws
  {
    try await save(1...6, in: stores[0])
    let list = await list(in: stores[0], pageSize: 10)
    let records = records(in: stores[0])
    _ = try await records.delete([2, 3])
    await until { list.ids == [1, 4, 5, 6] }
    // One change for the list, or two: what counts is the end.
    _ = try await records.restore([2, 3])
    try await save(5...5, title: "changed", in: stores[0])
    await until { list.ids == Array(1...6) && list.records[4].title == "changed 5" }
    #expect(list.records.map(\.title)[..<4] == ["note 1", "note 2", "note 3", "note 4"])
    #expect(list.records[5].title == "note 6" && list.total == 6)
  }

  /// A refresh would not show them.
  @Test func `new records of an endless list come as one scrolls, and leave it up to date`()
    async throws
  {
    let records = records(in: stores[0])
    let service = ScriptedSource<Note> { request in
      let first = request.cursor?.place ?? 1
      return .notes(first...(first + 4), next: .place(first + 5))
    }
    let list = PagedList(service.growing(in: records, by: 5), pageSize: 5, following: records)
    await list.load()
    #expect(list.ids == Array(1...5) && list.hasMore)
    try await save(100...100, in: stores[0])
    try await save(1...1, title: "changed", in: stores[0])
    await until { list.records[0].title == "changed 1" }
    #expect(!list.isOutdated)
    await list.loadMore()
    #expect(list.ids == Array(1...5) + [100] && list.hasMore && !list.isOutdated)
  }

  @Test func `a new record that does not match is nothing to tell of`() async throws {
    try await save(1...2, in: stores[0])
    let list = await list(in: stores[0], matching: try SearchQuery("note"))
    #expect(list.ids == [1, 2])
    try await save(3...3, title: "other", in: stores[0])
    try await save(1...1, title: "new note", in: stores[0])
    await until { list.records[0].title == "new note 1" }
    #expect(!list.isOutdated)
  }

  @Test func `follows a store without a file, and one in memory`() async throws {
    for store in [stores[0], InMemoryStore()] as [any SourceStore] {
      let list = await list(in: store)
      #expect(list.records.isEmpty)
      try await save(1...3, in: store)
      await until { list.isOutdated }
      await list.refresh()
      #expect(list.ids == [1, 2, 3])
      _ = try await records(in: store).delete(2)
      await until { list.ids == [1, 3] }
      _ = try await records(in: store).restore(2)
      await until { list.ids == [1, 2, 3] }
    }
  }

  /// As with the sample data of an app whose service cannot be reached.
  @Test(arguments: [true, false])
  func `what is deleted and restored without being stored does so in every list`(
    isFile: Bool
  ) async throws {
    let records = records(in: isFile ? stores[0] : InMemoryStore())
    let samples = notebook(10).hidingDeleted(in: records)
    let list = PagedList(samples, pageSize: 20, following: records)
    let elsewhere = PagedList(samples, pageSize: 20, following: records)
    await list.load()
    await elsewhere.load()
    try await list.delete(3)
    await until { elsewhere.ids == [1, 2] + Array(4...10) }
    try await list.delete(5)
    await until { elsewhere.ids == [1, 2, 4] + Array(6...10) }
    try await elsewhere.undoDelete(5)
    await until { list.ids == [1, 2] + Array(4...10) }
    #expect(list.lastDeleted == nil)
    try await list.undoDelete(3)
    await until { elsewhere.ids == Array(1...10) }
    #expect(list.ids == Array(1...10) && !list.isOutdated && !elsewhere.isOutdated)
    // A list that was loaded meanwhile never had what is restored.
    try await list.delete(7)
    let later = PagedList(samples, pageSize: 20, following: records)
    await later.load()
    #expect(later.ids == Array(1...6) + [8, 9, 10])
    try await list.undoDelete(7)
    await until { later.isOutdated }
  }

  @Test func `what cannot be told apart makes the list outdated, without a request`() async throws {
    try await save(1...10, in: stores[0])
    let list = await list(in: stores[0], pageSize: 20)
    try await stores[0].clear("notes", forgetsDeleted: true)
    await until { list.isOutdated }
    #expect(list.ids == Array(1...10))
  }

  @Test func `the page that a list itself stores is no news`() async throws {
    let records = records(in: stores[0])
    let source = notebook(30).cached(in: records, freshFor: .seconds(60))
    let list = PagedList(source, pageSize: 30, following: records)
    await list.load()
    #expect(list.records.count == 30 && !list.hasMore)
    _ = try await records.delete(30)
    await until { list.records.count == 29 }
    #expect(!list.isOutdated)
  }

  @Test(arguments: [1, 2])
  func `what is restored elsewhere is no longer to be undone`(other: Int) async throws {
    try await save(1...10, in: stores[0])
    let list = await list(in: stores[0])
    let elsewhere = await self.list(in: stores[other])
    try await list.delete(3)
    if other == 2 { await poll(listeners: 2) }
    await until { elsewhere.ids == [1, 2, 4, 5] }
    #expect(list.lastDeleted?.id == 3 && elsewhere.lastDeleted == nil)
    // Another record leaves it as it is.
    try await save(2...2, title: "changed", in: stores[other])
    if other == 2 { await poll(listeners: 2) }
    await until { list.records[1].title == "changed 2" }
    #expect(list.lastDeleted?.id == 3)
    try await elsewhere.undoDelete(3)
    if other == 2 { await poll(listeners: 2) }
    await until { list.lastDeleted == nil }
    #expect(list.ids == Array(1...5))
  }

  /// A refresh runs on the main actor when its page has arrived, so that it must not search all removed records for each record.
  @Test func `a refresh after many deletions takes time in proportion to the records`()
    async throws
  {
    let count = 4000
    let records = RecordStore(
      "counted", in: InMemoryStore(), text: { (_: CountedRecord) in FoldedText("") })
    _ = try await records.save(
      (1...count).map { CountedRecord($0) }, at: Date(timeIntervalSince1970: 0))
    let list = PagedList(records.records, pageSize: count, following: records)
    await list.load()
    _ = try await records.delete((1...count / 2).map { CountedRecord.ID($0) })
    await until { list.records.count == count / 2 }
    let start = CountedRecord.ID.described.value
    await list.refresh()
    #expect(list.records.count == count / 2 && !list.isOutdated)
    #expect(CountedRecord.ID.described.value - start < 40 * count)
    let restored = CountedRecord.ID.described.value
    _ = try await records.restore((1...count / 2).map { CountedRecord.ID($0) })
    await until { list.records.count == count }
    #expect(list.records.map(\.id.number) == Array(1...count))
    #expect(CountedRecord.ID.described.value - restored < 40 * count)
  }

  @Test func `deletions of any number are no change once they were taken over`() async throws {
    let records = records(in: stores[0])
    try await save(1...5200, in: stores[0])
    let list = await list(in: stores[0], pageSize: 100)
    _ = try await records.delete(Array(1...5100))
    await until { list.records.isEmpty || list.isOutdated }
    await list.refresh()
    #expect(list.ids == Array(5101...5200))
    // Every later change is read with what is deleted.
    try await save(5200...5200, title: "changed", in: stores[0])
    await until { list.records.last?.title == "changed 5200" || list.isOutdated }
    #expect(!list.isOutdated)
  }

  @Test func `a refresh after more changes than can be told leaves nothing to show`() async throws {
    let records = records(in: InMemoryStore())
    let gate = Gate()
    let source = ScriptedSource<Note> { request throws(SourceError) in
      if request.cachePolicy.refreshes { try await gate.pass() }
      return try await records.records.page(request)
    }
    try await save(1...5200, in: records.store)
    let list = PagedList(source, pageSize: 100, following: records)
    await list.load()
    let witness = await self.list(in: records.store)
    _ = try await records.delete(Array(1...5100))
    // The change is told while the page is on its way that has it.
    let refreshing = Task { await list.refresh() }
    await gate.holds(1)
    await until { witness.isOutdated }
    gate.open()
    await refreshing.value
    #expect(list.ids == Array(5101...5200) && !list.isOutdated)
    try await save(5200...5200, title: "changed", in: records.store)
    await until { list.records.last?.title == "changed 5200" }
    #expect(!list.isOutdated)
    // Then it is one that no page has.
    _ = try await records.restore(Array(1...5100))
    await until { list.isOutdated }
  }

  @Test func `a released list no longer follows`() async throws {
    try await save(1...3, in: stores[0])
    weak var list: PagedList<Note>?
    do {
      let released = await self.list(in: stores[0])
      list = released
    }
    try await save(4...4, in: stores[0])
    #expect(list == nil)
  }
}

/// A record whose ID counts how often it is made a key.
private struct CountedRecord: SourceRecord {
  struct ID: RecordID, Codable {
    static let described = Counter()

    let number: Int

    init(_ number: Int) { self.number = number }

    init?(_ description: String) {
      guard let number = Int(description) else { return nil }
      self.number = number
    }

    var description: String {
      Self.described.add()
      return "\(number)"
    }
  }

  let id: ID

  init(_ number: Int) { id = ID(number) }
}
