import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

/// The order of local searches: ID, title, its beginning, words of it, beginnings of these, parts of them, others.
@Suite(.timeLimit(.minutes(10)))
struct RankedSearchTests {
  private static let titles = [
    "a spider web", "spiderling", "spider", "the spider", "Spider-Man", "SPIDER", "x",
    "spider web", "man spider",
  ]
  private static let notes = titles.enumerated().map { Note($0 + 1, $1) }
  private static let text: @Sendable (Note) -> FoldedText = {
    Note.fields.searchableText(of: $0)
  }

  private func source(_ tier: String, in directory: StoreDirectory) async throws
    -> any DataSource<Note>
  {
    let bundled = BundledSource("notes", items: Self.notes, fields: Note.fields)
    switch tier {
    case "bundled": return bundled
    case "scanned":
      return bundled.withoutSearch.searchingLocally(
        upTo: 1000, by: 1000, as: "notes", text: Self.text)
    default:
      let recordStore = RecordStore<Note>("notes", in: directory.store(), text: Self.text)
      _ = try await recordStore.store.save(
        StoreBatch(
          Self.notes.map { note in
            StoreEntry(id: "\(note.id)", json: try JSONEncoder().encode(note)) { Self.text(note) }
          }), of: "notes", at: Date(timeIntervalSince1970: 0))
      return recordStore.records
    }
  }

  @Test(
    arguments: ["bundled", "scanned", "stored"],
    [
      ("spider", [3, 6, 2, 5, 8, 1, 4, 9]), ("SPIDER man", [9, 5]), ("spiderman", [5]),
      ("spider web", [8, 1]), ("web", [1, 8]), ("x", [7]), ("an", [5, 9]),
    ] as [(String, [Int])])
  func `the closest matches come first, whatever the page size`(
    tier: String, search: (query: String, ids: [Int])
  ) async throws {
    let directory = try StoreDirectory()
    let source = try await source(tier, in: directory)
    let query = try SearchQuery(search.query)
    let expected = search.ids
    for limit in [1, 2, 3, 7, 100] {
      #expect(try await source.everyID(matching: query, limit: limit) == expected, "\(limit)")
    }
    #expect(try await source.page(PageRequest(matching: query, limit: 2)).total == expected.count)
  }

  @Test(
    arguments: ["bundled", "scanned", "stored"],
    [
      ("sp", [2, 3, 5, 6, 8, 1, 4, 9]), ("A", [1, 5, 9]),
      ("x", [7]), ("in", [2]), ("an", [5, 9]),
    ])
  func `one or two letters are ranked, too`(
    tier: String, search: (query: String, ids: [Int])
  ) async throws {
    let directory = try StoreDirectory()
    let source = try await source(tier, in: directory)
    let query = try SearchQuery(search.query)
    for limit in [1, 2, 3, 7, 100] {
      #expect(try await source.everyID(matching: query, limit: limit) == search.ids, "\(limit)")
    }
  }

  @Test(
    arguments: [
      ("Tiny mirror\nwith a lamp\n", .other), ("Lamp\n", .name), ("Lamp, brass\n", .beginning),
      ("lamp", .name), ("Small lamp", .word), ("(lamp)", .word), ("Floorlamp", .title),
      ("Lampshade", .beginning), ("Small lampshades", .wordBeginning),
      ("Floorlamp and lamp", .word),
      ("a lampé", .wordBeginning), ("", .other),
    ] as [(String, SearchRank)])
  func `a title is closer than other texts, and words are closer than parts of words`(
    text: String, rank: SearchRank
  ) throws {
    let search = RankedSearch(try SearchQuery("Lamp"), for: Note.self)
    #expect(search.rank("1", FoldedText(text)) == rank)
  }

  @Test func `the word of a query that is the farthest decides`() throws {
    let search = RankedSearch(try SearchQuery("lamp sma"), for: Note.self)
    #expect(search.rank("1", FoldedText("Small lamp\n")) == .wordBeginning)
    #expect(search.rank("1", FoldedText("Lamp\nsmall\n")) == .other)
    #expect(search.rank("1", FoldedText("Lamp sma")) == .name)
    #expect(search.rank("1", FoldedText("lamp sma!")) == .beginning)
    #expect(search.rank("1", FoldedText("lamp small")) == .beginning)
  }

  /// More matches than are counted, so that what begins with the name is looked for.
  @Test(arguments: [1, 999, 1000, 1001, 1002, 1200], ["spider web", "spider"])
  func `of very many matches, what begins with the name comes first`(
    place: Int, query: String
  ) async throws {
    let directory = try StoreDirectory()
    let recordStore = RecordStore<Note>("notes", in: directory.store(), text: Self.text)
    let notes = (1...1200).map { Note($0, $0 == place ? "Spider web" : "the spider web \($0)") }
    // Its first word is that of the name.
    let all = [Note(0, query == "spider" ? "another spider" : "spider and web")] + notes
    _ = try await recordStore.store.save(
      StoreBatch(
        all.map { note in
          StoreEntry(id: "\(note.id)", json: try JSONEncoder().encode(note)) { Self.text(note) }
        }), of: "notes", at: Date(timeIntervalSince1970: 0))
    let page = try await recordStore.records.page(
      PageRequest(matching: SearchQuery(query), limit: 3))
    let others = [0, 1, 2, 3].filter { $0 != place }.prefix(2)
    #expect(page.records.map(\.id) == [place] + others)
    #expect(page.total == nil)
  }

  @Test func `an ID comes before names, if the record matches`() throws {
    let search = RankedSearch(try SearchQuery("12"), for: Note.self)
    #expect(search.id == "12")
    #expect(search.rank("12", FoldedText("a 12")) == .id)
    #expect(search.rank("1", FoldedText("12")) == .name)
    #expect(search.rank("1", FoldedText("a 12")) == .word)
  }

  @Test func `a deleted record and one removed upstream are left out of every rank`() async throws {
    let directory = try StoreDirectory()
    let source = try await source("stored", in: directory)
    _ = try await directory.store().delete(["3", "2", "1"], of: "notes", at: Date())
    #expect(try await source.everyID(matching: SearchQuery("spider"), limit: 2) == [6, 5, 8, 4, 9])
  }

  /// Titles of the first 1000 are compared; behind them, only those that begin with the query come earlier.
  @Test func `pages of very many matches have each once, the closest of the first ones first`()
    async throws
  {
    let directory = try StoreDirectory()
    let recordStore = RecordStore<Note>("notes", in: directory.store(), text: Self.text)
    let notes = (1...1300).map { number in
      let title =
        switch number {
        case 700, 1200: "cobwebs"
        case 900, 1100: "the web"
        case 950, 1150: "webs"
        case 1250: "web site"
        default: "\(number)"
        }
      return (Note(number, title), "\(title)\nweb\n")
    }
    _ = try await recordStore.store.save(
      StoreBatch(
        notes.map { note, text in
          StoreEntry(id: "\(note.id)", json: try JSONEncoder().encode(note)) { FoldedText(text) }
        }), of: "notes", at: Date(timeIntervalSince1970: 0))
    let close = [950, 1150, 1250, 900, 700]
    let expected = close + (1...1300).filter { !close.contains($0) }
    for limit in [2, 333, 1000] {
      let found = try await recordStore.records.everyID(
        matching: SearchQuery("web"), limit: limit)
      #expect(found == expected, "\(limit)")
    }
  }

  @Test func `a deletion between two pages of very many matches hides no other`() async throws {
    let directory = try StoreDirectory()
    let store = directory.store()
    let recordStore = RecordStore<Note>("notes", in: store, text: Self.text)
    _ = try await store.save(
      StoreBatch(
        (1...1300).map { number in
          // The one behind the first 1000 has a closer rank than these, if it were among them.
          let text = number == 1001 ? "a web\n" : "\(number)\nweb\n"
          return StoreEntry(
            id: "\(number)", json: try JSONEncoder().encode(Note(number, text))
          ) { FoldedText(text) }
        }), of: "notes", at: Date(timeIntervalSince1970: 0))
    let query = try SearchQuery("web")
    var found: [Int] = []
    var next: PageCursor?
    repeat {
      let page = try await recordStore.records.page(
        PageRequest(matching: query, after: next, limit: 400))
      if next == nil { _ = try await store.delete(["7"], of: "notes", at: Date()) }
      found += page.records.map(\.id)
      next = page.next
    } while next != nil
    #expect(found == Array(1...1300))
  }

  @Test func `a cursor of an earlier version goes on in its order`() async throws {
    let directory = try StoreDirectory()
    let source = try await source("stored", in: directory)
    let query = try SearchQuery("spider")
    let first = try await source.page(PageRequest(limit: 4))
    let position = try CursorSeal("notes.stored", for: nil).open(
      first.next, as: [String: Int64].self)
    let old = try CursorSeal("notes.stored", for: query).close(position)
    let rest = try await source.page(PageRequest(matching: query, after: old, limit: 9))
    #expect(rest.records.map(\.id) == [5, 6, 8, 9])
  }
}

extension BundledSource {
  /// A source that lists its records on one page, as a service without search does.
  fileprivate var withoutSearch: some DataSource<Item> { Unsearchable(base: self) }
}

private struct Unsearchable<Base: DataSource>: DataSource {
  let base: Base

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    try await base.page(PageRequest(after: request.cursor, limit: request.limit))
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    try await base.item(id, cachePolicy: cachePolicy)
  }
}
