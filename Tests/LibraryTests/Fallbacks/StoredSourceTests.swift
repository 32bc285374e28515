import AggregatorKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StoredSourceTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  private var source: some DataSource<Note> {
    RecordStore("notes", in: store, text: Note.text).records
  }

  private func keep(_ ids: some Sequence<Int>, at seconds: Double = 0) async throws {
    let entries = ids.map { id in
      StoreEntry(
        id: "\(id)", json: Data(#"{"id":\#(id),"title":"note \#(id)"}"#.utf8)
      ) { FoldedText("note \(id)") }
    }
    try await store.save(entries, of: "notes", at: seconds)
  }

  @Test(arguments: [1, 2, 3, 7, 100])
  func `returns every record once, in the order of first sight`(limit: Int) async throws {
    try await keep([5, 3])
    try await keep([9, 5, 1])
    #expect(try await source.everyID(limit: limit) == [5, 3, 9, 1])
    #expect(try await source.everyID(matching: try SearchQuery("NÖTE 9"), limit: limit) == [9])
  }

  @Test func `is marked as cached, with its time and total`() async throws {
    try await keep([1, 2], at: 9)
    try await keep([3], at: 5)
    let page = try await source.page(PageRequest(limit: 2))
    #expect((page.provenance.origin, page.provenance.fetchedAt) == (.cached, .day(9)))
    #expect(page.total == 3)
    #expect(try await source.page(PageRequest()).provenance.fetchedAt == .day(5))
    let found = try await source.item(3)
    #expect((found.item, found.provenance.fetchedAt) == (Note(3), .day(5)))
  }

  @Test func `fails if nothing is cached or nothing matches`() async throws {
    let empty = await source.failure()
    #expect((empty?.code, empty?.message) == (.nothingCached, "no cached notes"))
    try await keep([1])
    let failure = await source.failure(of: PageRequest(matching: try SearchQuery("nothing")))
    #expect(failure?.code == .nothingCached)
    #expect(failure?.message == "no cached notes match \"nothing\"")
    let error = await #expect(throws: SourceError.self) { try await source.item(7) }
    #expect(error?.message == "notes record \"7\" not found")
  }

  @Test func `in the place of a service, no match is an answer if nothing else may have one`()
    async throws
  {
    let notes = RecordStore<Note>("notes", in: store, text: Note.text)
    let request = PageRequest(matching: try SearchQuery("nothing"))
    let last = notes.recordsInPlaceOfService(areLast: true)
    #expect(await last.failure(of: request)?.code == .nothingCached)
    try await keep([1, 2], at: 9)
    let page = try await last.page(request)
    #expect(page.records.isEmpty && page.next == nil && page.total == nil)
    #expect((page.provenance.origin, page.provenance.fetchedAt) == (.cached, .day(9)))
    #expect(
      page.warnings
        == [Warning(.partlyCached, "limited to cached records: 2, possibly not all")])
    // Of a source that has no others, a sync was not complete.
    let only = try await notes.onlyRecords.page(request)
    #expect(only.records.isEmpty && only.warnings.map(\.code) == [.incomplete])
    let first = notes.recordsInPlaceOfService(areLast: false)
    #expect(await first.failure(of: request)?.code == .nothingCached)
  }

  @Test func `ends with an empty page if the remaining records were deleted`() async throws {
    try await keep(1...4)
    let next = try await source.page(PageRequest(limit: 2)).next
    _ = try await store.delete(["3", "4"], of: "notes", at: .day())
    let page = try await source.page(PageRequest(after: next, limit: 2))
    #expect((page.records.count, page.next) == (0, nil))
  }

  @Test func `continues with records saved meanwhile, without repetition`() async throws {
    try await keep(1...4)
    let next = try await source.page(PageRequest(limit: 3)).next
    try await keep([0, 2, 5])
    let rest = try await source.page(PageRequest(after: next, limit: 9))
    #expect(rest.records.map(\.id) == [4, 0, 5])
  }

  @Test(arguments: [Int64.min, -1, .max])
  func `treats a forged position as a position of this source`(position: Int64) async throws {
    try await keep(1...3)
    try await store.save([StoreEntry("x")], of: "others")
    let cursor = try CursorSeal("notes.stored", for: nil).close(["p": position])
    let page = try await source.page(PageRequest(after: cursor))
    #expect(page.records.map(\.id) == (position < 0 ? [1, 2, 3] : []))
  }

  @Test func `rejects the cursors of other sources`() async throws {
    try await keep(1...30)
    let query = try SearchQuery("note")
    let cursors = [
      try await source.page(PageRequest(matching: query, limit: 2)).next,
      try await notebook(30).page(PageRequest(limit: 2)).next,
      try CursorSeal("notes.stored", for: nil).close("text"),
    ]
    for cursor in cursors {
      #expect(await source.failure(of: PageRequest(after: cursor))?.code == .invalidCursor)
    }
  }

  @Test func `drops unreadable records and counts them`() async throws {
    try await keep(1...3)
    try directory.database().execute("UPDATE records SET json = '[]' WHERE id = '2'")
    let page = try await source.page(PageRequest())
    #expect(page.records.map(\.id) == [1, 3])
    #expect(page.unreadable == UnreadableRows(count: 1, firstReason: "stored by another version"))
    await #expect(throws: SourceError.self) { try await source.item(2) }
    #expect("\(source)" == "notes.stored")
  }
}
