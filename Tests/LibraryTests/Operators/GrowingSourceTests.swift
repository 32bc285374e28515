import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct AccumulatingTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  private func growing(
    _ base: some DataSource<Note>, by size: Int = 10, _ growth: LoadMorePolicy = .atEnd,
    in store: SQLiteStore? = nil
  ) -> some DataSource<Note> {
    base.growing(
      in: RecordStore("notes", in: store ?? self.store, text: Note.text), by: size,
      now: { .day() }
    ).cachePolicy(CachePolicy(growth: growth))
  }

  @Test(arguments: [1, 3, 7, 10, 50])
  func `grows during pagination, and answers from the store afterwards`(limit: Int) async throws {
    let service = Service(30)
    #expect(try await growing(service).everyID(limit: limit) == Array(1...30))
    #expect(service.requests.map(\.limit) == [10, 10, 10])
    #expect(try await growing(service, in: directory.store()).everyID(limit: 4) == Array(1...30))
    #expect(service.callCount == 3)
  }

  @Test func `marks each page as live or cached`() async throws {
    let service = Service(30)
    let source = growing(service)
    let live = try await source.page(PageRequest(limit: 4))
    #expect((live.provenance.origin, live.provenance.fetchedAt) == (.live, .day()))
    #expect(live.provenance.endpoint == "https://notes.test/api")
    let stored = try await source.page(PageRequest(after: live.next, limit: 4))
    #expect((stored.provenance.origin, stored.provenance.endpoint) == (.cached, nil))
    #expect(stored.records.map(\.id) == [5, 6, 7, 8])
    #expect((live.total, stored.total) == (nil, nil))
    let again = try await source.page(PageRequest(limit: 4))
    #expect((again.provenance.origin, service.callCount) == (.cached, 1))
  }

  @Test func `continues at the service's next page, in another process too`() async throws {
    let service = Service(100)
    _ = try await growing(service).page(PageRequest(limit: 15))
    #expect(service.callCount == 2)
    let next = growing(service, in: directory.store())
    #expect(try await next.everyID(limit: 15).count == 100)
    #expect(service.callCount == 10)
    #expect(Set(service.requests).count == 10)
  }

  @Test func `remembers that the service reached its end`() async throws {
    let service = Service(10)
    let page = try await growing(service).page(PageRequest(limit: 10))
    #expect(page.next == nil)
    #expect(try await growing(service).everyID(limit: 3).count == 10)
    let beyond = try CursorSeal("notes.stored", for: nil).close(["p": Int64.max])
    #expect(try await growing(service).page(PageRequest(after: beyond)).records.isEmpty)
    #expect(service.callCount == 1)
  }

  @Test func `sends no request without growth`() async throws {
    let service = Service(30)
    let failure = await growing(service, .never).failure()
    #expect((failure?.code, failure?.message) == (.nothingCached, "no cached notes"))
    _ = try await growing(service).page(PageRequest(limit: 3))
    let page = try await growing(service, .never).page(PageRequest(limit: 30))
    #expect((page.records.count, page.next, page.total) == (10, nil, 10))
    #expect(service.callCount == 1)
  }

  @Test func `can send requests only while the store is empty`() async throws {
    let service = Service(30)
    #expect(try await growing(service, .whenEmpty).everyID(limit: 4) == Array(1...10))
    #expect(try await growing(service, .whenEmpty).everyID(limit: 3) == Array(1...10))
    #expect(service.callCount == 1)
    _ = try await store.delete((1...10).map(\.description), of: "notes", at: .day())
    #expect(try await growing(service, .whenEmpty).everyID(limit: 3).isEmpty)
    #expect(service.callCount == 1)
  }

  @Test func `a refresh asks the service for new records, which come last`() async throws {
    let base = ScriptedSource<Note>(pages: [
      .success(.notes(1...3, next: .place(1))), .success(.notes(4...6, next: .place(2))),
      .failure(.because(.unreachable)), .failure(.because(.unreachable)),
    ])
    let source = base.growing(
      in: RecordStore("notes", in: store, text: Note.text), by: 3, now: { .day() })
    _ = try await source.page(PageRequest(limit: 3))
    let page = try await source.page(PageRequest(limit: 2, cachePolicy: .reload))
    #expect(page.records.map(\.id) == [1, 2] && page.provenance.reason == nil)
    #expect(try await store.status(of: "notes").records == 6)
    #expect(base.requests.map(\.cursor) == [nil, .place(1)])
    // A later page of the same refresh asks for nothing.
    let next = try await source.page(
      PageRequest(after: page.next, limit: 2, cachePolicy: .reload))
    #expect(next.records.map(\.id) == [3, 4] && base.callCount == 2)
    let offline = try await source.page(PageRequest(limit: 2, cachePolicy: .reload))
    #expect(offline.records.map(\.id) == [1, 2])
    #expect(offline.provenance.reason?.code == .unreachable)
    let failure = await source.failure(of: PageRequest(limit: 2, cachePolicy: .liveOnly))
    #expect(failure?.code == .unreachable)
  }

  @Test func `returns cached records when the service fails midway`() async throws {
    let base = ScriptedSource<Note>(pages: [
      .success(.notes(1...3, next: .place(1))), .failure(.because(.serverError)),
      .failure(.because(.timedOut)), .success(.notes(4...9)),
    ])
    let source = growing(base)
    let short = try await source.page(PageRequest(limit: 5))
    #expect(short.records.map(\.id) == [1, 2, 3])
    #expect((short.provenance.origin, short.provenance.reason?.code) == (.live, .serverError))
    #expect(await source.failure(of: PageRequest(after: short.next, limit: 5))?.code == .timedOut)
    let rest = try await source.page(PageRequest(after: short.next, limit: 9))
    #expect(rest.records.map(\.id) == Array(4...9))
    #expect(base.requests.map(\.cursor) == [nil, .place(1), .place(1), .place(1)])
  }

  @Test func `is cancelled midway`() async throws {
    let base = ScriptedSource<Note>(pages: [
      .success(.notes(1...3, next: .place(1))), .failure(.because(.cancelled)),
    ])
    #expect(await growing(base).failure(of: PageRequest(limit: 5))?.code == .cancelled)
    #expect(try await store.status(of: "notes").records == 3)
  }

  @Test func `fails if the store is empty and the service fails`() async {
    let base = ScriptedSource<Note>(pages: [.failure(.because(.unreachable))])
    #expect(await growing(base).failure()?.code == .unreachable)
  }

  @Test func `returns an empty page with the reason if all records are deleted`() async throws {
    _ = try await growing(Service(30)).page(PageRequest(limit: 10))
    _ = try await store.delete((1...10).map(\.description), of: "notes", at: .day())
    let base = ScriptedSource<Note>(pages: [.failure(.because(.unreachable))])
    let page = try await growing(base).page(PageRequest())
    #expect((page.records.count, page.next) == (0, nil))
    #expect((page.provenance.origin, page.provenance.reason?.code) == (.cached, .unreachable))
  }

  @Test func `fills a page although many new records are deleted`() async throws {
    _ = try await store.delete((1...25).map(\.description), of: "notes", at: .day())
    let service = Service(60)
    let page = try await growing(service).page(PageRequest(limit: 7))
    #expect(page.records.map(\.id) == Array(26...32))
    #expect(service.callCount == 4)
    #expect(try await growing(service).everyID(limit: 7) == Array(26...60))
  }

  @Test func `gives up after ten pages without new records`() async throws {
    let base = ScriptedSource<Note> { request throws(SourceError) in
      .notes(1...3, next: .place((request.cursor?.place ?? 0) + 1))
    }
    let page = try await growing(base).page(PageRequest(limit: 5))
    #expect(page.records.map(\.id) == [1, 2, 3])
    #expect(base.callCount == 11)
    #expect(page.warnings.map(\.code.description) == ["stopped"])
    let next = try await growing(base).page(PageRequest(after: page.next, limit: 5))
    #expect(
      (next.records.count, next.next, next.warnings.map(\.code.description)) == (
        0, nil, ["stopped"]
      ))
    #expect(base.callCount == 21)
    #expect(base.requests.last?.cursor == .place(20))
  }

  @Test func `limits the wait for pages with few new records`() async throws {
    // Every tenth page has one that is new.
    let base = ScriptedSource<Note> { request throws(SourceError) in
      let place = request.cursor?.place ?? 0
      return .notes([1, place / 10 + 1], next: .place(place + 1))
    }
    let page = try await growing(base).page(PageRequest(limit: 4))
    #expect(page.records.map(\.id) == [1, 2, 3, 4])
    #expect((base.callCount, page.warnings.count) == (31, 0))
  }

  @Test func `counts unreadable rows`() async throws {
    let bad = UnreadableRows(count: 2, firstReason: "no title")
    let base = ScriptedSource<Note>(pages: [
      .success(
        Page([Note(1)], next: .place(1), provenance: Provenance(.live), unreadable: bad)),
      .success(Page([Note(2)], provenance: Provenance(.live), unreadable: bad)),
    ])
    let page = try await growing(base).page(PageRequest())
    #expect(page.unreadable == UnreadableRows(count: 4, firstReason: "no title"))
  }

  @Test func `starts over if the service rejects its checkpoint`() async throws {
    _ = try await growing(Service(10), by: 5).page(PageRequest(limit: 5))
    let base = ScriptedSource<Note> { request throws(SourceError) in
      switch request.cursor {
      case nil: return .notes(3...7, next: .place(1))
      case .place(1): return .notes(8...12)
      default: throw .because(.invalidCursor)
      }
    }
    #expect(try await growing(base).everyID(limit: 5) == Array(1...12))
    #expect(base.requests.map { $0.cursor?.place } == [nil, nil, 1])
  }

  @Test func `fails if even the first cursor is invalid`() async {
    let base = ScriptedSource<Note>(pages: [.failure(.because(.invalidCursor))])
    #expect(await growing(base).failure()?.code == .invalidCursor)
    #expect(base.callCount == 1)
  }

  @Test func `searches cached records without a request`() async throws {
    let service = Service(30)
    let query = try SearchQuery("note 1")
    let empty = await growing(service, .never).failure(of: PageRequest(matching: query))
    #expect(empty?.message == "no cached notes match \"note 1\"")
    #expect((empty?.code, service.callCount) == (.nothingCached, 0))
    _ = try await growing(service).page(PageRequest(limit: 20))
    let page = try await growing(service).page(PageRequest(matching: query, limit: 4))
    #expect(page.records.map(\.id) == [1, 10, 11, 12])
    #expect((page.total, page.provenance.origin) == (11, .cached))
    #expect(page.warnings == [Warning(.cachedOnly, "searched only cached notes: 20")])
    let rest = try await growing(service)
      .page(PageRequest(matching: query, after: page.next, limit: 20))
    #expect((rest.records.count, rest.next, rest.warnings.count) == (7, nil, 0))
    let none = try await growing(service).page(PageRequest(matching: try SearchQuery("nothing")))
    #expect((none.records.count, none.total, none.warnings.count) == (0, 0, 1))
    #expect(service.callCount == 2)
  }

  @Test(arguments: [LoadMorePolicy.atEnd, .whenEmpty])
  func `fetches a page for the first search, whose hits it finds by ID`(
    growth: LoadMorePolicy
  ) async throws {
    let service = Service(30)
    let source = growing(service, growth)
    let page = try await source.page(PageRequest(matching: try SearchQuery("note 7")))
    #expect(page.records.map(\.id) == [7])
    #expect(try await source.item(7).item == Note(7))
    #expect(
      try await source.page(PageRequest(matching: try SearchQuery("note 11"))).records.isEmpty)
    #expect(service.callCount == 1)
  }

  @Test func `throws the failure of the service for the first search`() async throws {
    let service = Service(30)
    service.fail(with: .timedOut)
    let request = PageRequest(matching: try SearchQuery("note 7"))
    #expect(await growing(service).failure(of: request)?.code == .timedOut)
  }

  @Test func `finds cached records by ID, and sends no request for others`() async throws {
    let service = Service(30)
    let empty = await #expect(throws: SourceError.self) { try await growing(service).item(4) }
    #expect(empty?.code == .nothingCached)
    _ = try await growing(service).page(PageRequest(limit: 10))
    let found = try await growing(service).item(4)
    #expect((found.item, found.provenance.origin) == (Note(4), .cached))
    #expect(found.provenance.fetchedAt == .day())
    let error = await #expect(throws: SourceError.self) { try await growing(service).item(11) }
    #expect(error?.code == .notFound)
    #expect(service.callCount == 1)
  }

  @Test(arguments: ["notes", "notes.bundled", "others.stored"])
  func `rejects the cursors of other sources`(name: String) async throws {
    let cursor = try CursorSeal(name, for: nil).close(["p": 1])
    let failure = await growing(Service(3)).failure(of: PageRequest(after: cursor))
    #expect(failure?.code == .invalidCursor)
  }

  @Test func `loses and repeats no user when two processes grow it`()
    async throws
  {
    let service = Service(300)
    let walks = await withTaskGroup(of: Result<[Int], SourceError>.self) { group in
      for limit in [7, 10, 13] {
        let source = growing(service, in: directory.store())
        group.addTask {
          await Result { () async throws(SourceError) in try await source.everyID(limit: limit) }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for walk in walks { #expect(try walk.get() == Array(1...300)) }
    #expect(try await store.status(of: "notes").records == 300)
  }

  @Test func `detects progress made by another process`() async throws {
    // Each page is saved by a faster process before it arrives here.
    let faster = directory.store()
    let base = ScriptedSource<Note> { request throws(SourceError) in
      let place = request.cursor?.place ?? 0
      if place < 15 {
        let json = Data(#"{"id":\#(place + 1),"title":"note \#(place + 1)"}"#.utf8)
        let move = CheckpointUpdate(
          "upstream", from: request.cursor?.description, to: "place-\(place + 1)")
        _ = try await faster.save(
          StoreBatch([StoreEntry(id: "\(place + 1)", json: json) { FoldedText("") }], update: move),
          of: "notes", at: .day())
      }
      return .notes([place + 1], next: .place(place + 1))
    }
    let page = try await growing(base, by: 1).page(PageRequest(limit: 20))
    #expect(page.records.map(\.id).starts(with: 1...20))
    #expect(page.warnings.isEmpty)
  }

  @Test func `ends at a forged position beyond all records`() async throws {
    let base = ScriptedSource<Note> { request throws(SourceError) in
      let place = request.cursor?.place ?? 0
      return .notes(place * 2..<place * 2 + 2, next: .place(place + 1))
    }
    let cursor = try CursorSeal("notes.stored", for: nil).close(["p": Int64.max])
    let page = try await growing(base, by: 2).page(PageRequest(after: cursor, limit: 2))
    #expect(
      (page.records.count, page.next, page.warnings.map(\.code.description)) == (
        0, nil, ["stopped"]
      ))
    #expect(base.callCount == 10)
  }

  @Test func `fails if the store fails`() async throws {
    try FileManager.default.createDirectory(
      atPath: directory.path, withIntermediateDirectories: true)
    let service = Service(3)
    #expect(await growing(service).failure()?.code == .storage)
    await #expect(throws: SourceError.self) { try await growing(service).item(1) }
    #expect(service.callCount == 0)
  }

  @Test func `describes itself`() {
    #expect(
      "\(growing(Service(1), .whenEmpty))"
        == "service\n  .growing(in: notes)")
  }
}
