import AggregatorKit
import Foundation
import Testing

@Suite struct InMemoryStoreTests {
  private let store = InMemoryStore()

  @Test func `drops the oldest page beyond 2000`() async throws {
    for number in 0..<2003 {
      let page = PageMetadata(next: nil, total: number, endpoint: nil)
      // The first are the newest.
      let date = Date.day(number < 3 ? 9999 : Double(number))
      _ = try await store.save(
        StoreBatch([], page: ("\(number)", page)), of: "things", at: date)
    }
    #expect(try await store.status(of: "things").pages == 2000)
    let keys = Set(try await store.pageKeys(of: "things", startingWith: ""))
    #expect(keys.isSuperset(of: ["0", "1", "2", "6", "2002"]))
    #expect(keys.isDisjoint(with: ["3", "4", "5"]))
  }

  @Test func `caches a source for an app`() async throws {
    let records = RecordStore<Note>("notes", in: store, text: Note.text)
    let source = notebook(5).cached(in: records, freshFor: .seconds(60))
      .cachePolicy(.noFallback)
    #expect(try await source.page(PageRequest(limit: 3)).provenance.origin == .bundled)
    let again = try await source.page(PageRequest(limit: 3))
    #expect(again.records == [Note(1), Note(2), Note(3)])
    #expect(again.provenance.origin == .cached)
    #expect(try await store.status(of: "notes").records == 3)
  }
}
