import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StoreInspectionTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore

  init() async throws {
    directory = try StoreDirectory()
    store = directory.store()
    let source = notebook(5).cached(
      in: RecordStore("notes", in: store, text: Note.text), freshFor: .seconds(60), now: { .day() })
    _ = try await source.page(PageRequest(limit: 3))
  }

  @Test func `finds no inconsistency in a sound or missing store`() async throws {
    #expect(try await store.inconsistencies() == [])
    #expect(try await store.isIndexSound())
    #expect(try await StoreDirectory().store().inconsistencies() == [])
  }

  @Test(arguments: [
    ("DELETE FROM pages; UPDATE sources SET records = 9", "the records of notes are miscounted"),
    ("UPDATE pages SET key = 'k', positions = '[1, 2]'", "the page k lacks records"),
    ("UPDATE records SET json = '{' WHERE id = '2'", "the record 2 is not JSON"),
  ])
  func `finds an inconsistency`(change: String, inconsistency: String) async throws {
    try directory.database().execute(change)
    #expect(try await store.inconsistencies() == [inconsistency])
  }

  @Test func `finds a damaged search index`() async throws {
    try directory.database().execute("UPDATE records SET folded = 'other' WHERE id = '2'")
    #expect(try await !store.isIndexSound())
    #expect(directory.warnings.isEmpty)
  }
}
