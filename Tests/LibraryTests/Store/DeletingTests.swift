import AggregatorKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DeletingTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  @Test func `hides deleted records until they are restored`() async throws {
    try await store.save(["a", "b", "c"].map { StoreEntry($0) })
    #expect(try await store.delete(["b"], of: "things", at: .day()) == ["b"])
    #expect(try await store.ids() == ["a", "c"])
    #expect(try await store.ids("text") == ["a", "c"])
    #expect(try await store.ids("t") == ["a", "c"])
    #expect(try await store.records(of: "things", matching: [], after: 0, limit: 1).total == 2)
    #expect(try await store.record("b", of: "things") != nil)
    #expect(try await store.restore(["b"], of: "things") == ["b"])
    #expect(try await store.ids() == ["a", "b", "c"])
  }

  @Test func `hides records that the service sends again, changed or not`() async throws {
    try await store.save([StoreEntry("a"), StoreEntry("b")])
    _ = try await store.delete(["a"], of: "things", at: .day())
    try await store.save([StoreEntry("a"), StoreEntry("b")])
    try await store.save([StoreEntry("a", "another text")])
    #expect(try await store.ids() == ["b"])
    #expect(try await store.ids("another").isEmpty)
    _ = try await store.restore(nil, of: "things")
    #expect(try await store.ids("another") == ["a"])
  }

  @Test func `deleting and restoring are idempotent`() async throws {
    #expect(try await store.delete(["a", "b", "a"], of: "things", at: .day()) == ["a", "b"])
    #expect(try await store.delete(["b", "c"], of: "things", at: .day()) == ["c"])
    #expect(try await store.restore(["c", "d", "c"], of: "things") == ["c"])
    #expect(try await store.restore(["c"], of: "things").isEmpty)
    #expect(try await store.restore(nil, of: "things").sorted() == ["a", "b"])
    #expect(try await store.restore(nil, of: "things").isEmpty)
    #expect(try await store.delete([], of: "things", at: .day()).isEmpty)
  }

  @Test func `deletes and restores by typed IDs`() async throws {
    let notes = RecordStore<Note>("notes", in: store, text: Note.text)
    #expect(try await notes.delete([2, 1, 2], at: .day()) == [2, 1])
    #expect(try await !notes.delete(1, at: .day()))
    #expect(try await notes.delete(3))
    #expect(try await notes.deleted(among: [4, 3, 1]) == [3, 1])
    #expect(try await store.deleted(among: ["1", "2", "3"], of: "notes") == ["1", "2", "3"])
    #expect(try await notes.restore([5, 2, 2]) == [2])
    #expect(try await notes.restore(3))
    #expect(try await !notes.restore(3))
    _ = try await store.delete(["no number"], of: "notes", at: .day())
    #expect(try await notes.restoreAll() == [1])
    #expect(try await store.restore(nil, of: "notes").isEmpty)
    #expect(try await notes.delete([]).isEmpty)
  }

  @Test func `typed IDs are compared byte by byte`() async throws {
    struct Word: SourceRecord { let id: String }
    let words = RecordStore<Word>("words", in: store) { FoldedText($0.id) }
    let (composed, decomposed) = ("é", "e\u{301}")
    #expect(try await words.delete(composed))
    #expect(try await words.deleted(among: [decomposed, composed]).map(\.utf8.count) == [2])
    #expect(try await words.restore([decomposed]).isEmpty)
  }

  @Test func `deletes IDs that were never stored`() async throws {
    #expect(try await store.delete(["later"], of: "things", at: .day()) == ["later"])
    try await store.save([StoreEntry("later"), StoreEntry("now")])
    #expect(try await store.ids() == ["now"])
    let status = try await store.status(of: "things")
    #expect((status.records, status.hidden, status.deleted) == (1, 1, 1))
  }

  @Test func `keeps the deletions of sources apart`() async throws {
    _ = try await store.delete(["a"], of: "things", at: .day())
    #expect(try await store.deleted(among: ["a", "b"], of: "things") == ["a"])
    #expect(try await store.deleted(among: ["a", "b"], of: "others").isEmpty)
    #expect(try await store.deleted(among: [], of: "things").isEmpty)
    #expect(try await store.restore(nil, of: "others").isEmpty)
    #expect(try await store.deleted(among: ["a"], of: "things") == ["a"])
  }

  @Test(arguments: [
    "", "a\0b", "a\"b", "\\", "'; --", "[1]", "null", "1", "한국", "👩‍👩‍👧", "\u{202E}", "a\nb", "%",
  ])
  func `accepts any text as an ID`(id: String) async throws {
    let others = ["a", "b", "1.0", "\u{FFFD}", "a b", "0"]
    try await store.save((others + [id]).map { StoreEntry($0) })
    #expect(try await store.delete([id], of: "things", at: .day()) == [id])
    #expect(try await store.deleted(among: others + [id], of: "things") == [RecordKey(id)])
    #expect(try await store.ids() == others)
    #expect(try await store.restore([id], of: "things") == [id])
    #expect(try await store.ids().count == others.count + 1)
  }

  @Test func `finds the deleted ones of a thousand IDs`() async throws {
    let odd = ["", "a\0b", "a\0c", "\0", "\"", "\\u0000", "null", "1", "1.0", "é", "\u{2028}", "👩‍👩‍👧"]
    let ids = (0..<1000).map { "id \($0)" } + odd
    let deleted = Set(ids.indices.filter { $0.isMultiple(of: 3) }.map { ids[$0] })
    _ = try await store.delete(deleted.sorted(), of: "things", at: .day())
    _ = try await store.delete(ids, of: "others", at: .day())
    let keys = Set(deleted.map { RecordKey($0) })
    #expect(try await store.deleted(among: ids, of: "things") == keys)
    #expect(try await store.deleted(among: ids + ids, of: "things") == keys)
    #expect(try await store.deleted(among: ["a\0b", "a"], of: "others") == ["a\0b"])
  }

  @Test func `accepts ten thousand IDs`() async throws {
    let ids = (0..<10_000).map { "id \($0)" }
    #expect(try await store.delete(ids, of: "things", at: .day()).count == 10_000)
    #expect(try await store.deleted(among: ids + ["other"], of: "things").count == 10_000)
    #expect(try await store.restore(ids, of: "things").count == 10_000)
  }
}
