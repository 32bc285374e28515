import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HidingDeletedTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  private func hiding(_ base: some DataSource<Note>) -> some DataSource<Note> {
    base.hidingDeleted(in: RecordStore("notes", in: store, text: Note.text))
  }

  private func delete(_ ids: some Sequence<Int>) async throws {
    _ = try await store.delete(ids.map(\.description), of: "notes", at: .day())
  }

  @Test func `hides deleted records and counts them`() async throws {
    try await delete([2, 3, 9, 77])
    let page = try await hiding(notebook(10)).page(PageRequest(limit: 5))
    #expect(page.records.map(\.id) == [1, 4, 5])
    #expect(page.hidden == 2 && page.isShortened)
    #expect(
      try await !hiding(notebook(10)).page(PageRequest(after: page.next, limit: 1)).isShortened)
    #expect(try await hiding(notebook(10)).everyID(limit: 5) == [1, 4, 5, 6, 7, 8, 10])
  }

  @Test func `adds to the number of records hidden before`() async throws {
    try await delete([2])
    let base = ScriptedSource<Note>(pages: [.success(.notes(1...3, hidden: 4))])
    #expect(try await hiding(base).page(PageRequest()).hidden == 5)
  }

  @Test func `leaves deleted records out of the total`() async throws {
    let recordStore = RecordStore("notes", in: store, text: Note.text)
    let service = Service(30)
    let source = service.cached(in: recordStore, freshFor: .seconds(60)).hidingDeleted(
      in: recordStore)
    let stored = recordStore.records.hidingDeleted(in: recordStore)
    _ = try await source.page(PageRequest(limit: 20))
    try await delete([2, 19, 77])
    let first = try await source.page(PageRequest(limit: 20))
    let second = try await source.page(PageRequest(after: first.next, limit: 20))
    #expect((first.records.count, first.total) == (18, 28))
    #expect((second.records.count, second.total) == (10, 28))
    #expect(try await stored.page(PageRequest(limit: 20)).total == 28)
  }

  @Test func `leaves deleted records out of a search's total, or gives none`() async throws {
    let recordStore = RecordStore("notes", in: store, text: Note.text)
    let source = Service(30).cached(in: recordStore, freshFor: .seconds(60)).hidingDeleted(
      in: recordStore)
    for limit in [20, 5] { _ = try await source.page(PageRequest(limit: limit)) }
    try await delete([12, 3])
    func total(_ text: String, limit: Int) async throws -> Int? {
      try await source.page(PageRequest(matching: try SearchQuery(text), limit: limit)).total
    }
    // "note 1" has 1, 10 to 19 and 21; "note 2" has 2, 12 and 20 to 29.
    #expect(try await total("note 1", limit: 20) == 11)
    #expect(try await total("note 2", limit: 20) == 11)
    #expect(try await total("note", limit: 20) == 28)
    // Later pages may have deleted records too.
    #expect(try await total("note 1", limit: 2) == nil)
  }

  @Test func `leaves deleted records out of the total of a search that their texts decide`()
    async throws
  {
    let recordStore = RecordStore("notes", in: store, text: Note.text)
    let source = Service(30).cached(in: recordStore, freshFor: .seconds(60)).hidingDeleted(
      in: recordStore, searchingLocally: true)
    _ = try await source.page(PageRequest(limit: 20))
    try await delete([12, 3])
    func total(_ text: String) async throws -> Int? {
      try await source.page(PageRequest(matching: try SearchQuery(text), limit: 2)).total
    }
    #expect(try await total("note 1") == 11)
    #expect(try await total("note") == 28)
    // Whether a record matches that is not cached is not known.
    try await delete([77])
    #expect(try await total("note 1") == nil)
  }

  @Test func `leaves deleted records out of the total of bundled data, or gives none`()
    async throws
  {
    try await delete([2, 4])
    #expect(try await hiding(notebook(30)).page(PageRequest(limit: 20)).total == 28)
    #expect(try await hiding(notebook(30)).page(PageRequest(limit: 3)).total == nil)
    #expect(try await hiding(notebook(3)).page(PageRequest()).total == 2)
  }

  @Test func `hides nothing and creates no store if nothing was deleted`() async throws {
    let page = try await hiding(notebook(3)).page(PageRequest())
    #expect((page.records.count, page.hidden, page.warnings.count) == (3, 0, 0))
    #expect(directory.names.isEmpty)
  }

  @Test func `continues past seventeen pages of deleted records`() async throws {
    try await delete(11...180)
    var ids: [Int] = []
    for try await note in hiding(notebook(190)).items(size: 10) { ids.append(note.id) }
    #expect(ids == Array(1...10) + Array(181...190))
  }

  @Test func `reports a deleted record as not found without a request`() async throws {
    try await delete([4])
    let base = ScriptedSource(over: notebook(5))
    let error = await #expect(throws: SourceError.self) { try await hiding(base).item(4) }
    #expect(error?.code == .notFound)
    #expect(error?.message == "record \"4\" is deleted")
    #expect(base.callCount == 0)
    #expect(try await hiding(base).item(5).item == Note(5))
    _ = try await store.restore(["4"], of: "notes")
    #expect(try await hiding(base).item(4).item == Note(4))
  }

  @Test func `returns all records with a warning if the store fails`() async throws {
    try FileManager.default.createDirectory(
      atPath: directory.path, withIntermediateDirectories: true)
    let page = try await hiding(notebook(3)).page(PageRequest())
    #expect((page.records.count, page.warnings.map(\.code.description)) == (3, ["unusableStore"]))
    let found = try await hiding(notebook(3)).item(2)
    #expect((found.item, found.warnings.map(\.code.description)) == (Note(2), ["unusableStore"]))
  }

  @Test func `passes failures on, and allows cursors to be predicted`() async throws {
    let broken = ScriptedSource<Note>(pages: [.failure(.because(.timedOut))])
    #expect(await hiding(broken).failure()?.code == .timedOut)
    let error = await #expect(throws: SourceError.self) { try await hiding(notebook(3)).item(9) }
    #expect(error?.message == "notes record \"9\" not found")
    #expect(
      hiding(notebook(9)).cursor(skipping: 3, from: PageRequest())
        == notebook(9).cursor(skipping: 3, from: PageRequest()))
    #expect("\(hiding(notebook(3)))" == "notes.bundled\n  .hidingDeleted(in: notes)")
  }
}
