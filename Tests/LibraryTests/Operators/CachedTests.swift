import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CachedTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore
  private let today = Today()
  private let service = Service(30)

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  private func cached(
    _ policy: CachePolicy = .normal, of scope: String = "", in store: SQLiteStore? = nil
  ) -> some DataSource<Note> {
    service.cached(
      in: RecordStore("notes", in: store ?? self.store, text: Note.text), freshFor: .seconds(60),
      of: scope, policy, now: today.now)
  }

  @Test(arguments: [(0, 1), (59.9, 1), (60, 2), (61, 2), (-1, 2), (-0.001, 2)])
  func `answers without a call while the answer is fresh`(
    seconds: Double, calls: Int
  ) async throws {
    let request = PageRequest(limit: 4)
    let first = try await cached().page(request)
    today.turn(by: seconds)
    let second = try await cached().page(request)
    #expect(service.callCount == calls)
    #expect(second.records == first.records)
    #expect((second.next, second.total) == (first.next, first.total))
    #expect(
      (first.provenance.origin, second.provenance.origin) == (.live, calls == 1 ? .cached : .live))
    #expect(second.provenance.endpoint == "https://notes.test/api")
    if calls == 1 { #expect(second.provenance.fetchedAt == .day()) }
    #expect(second.provenance.reason == nil)
  }

  @Test func `does not cache a page without a readable row`() async throws {
    var unread = Page<Note>.notes([])
    unread.unreadable = Unreadable(count: 4, firstReason: "row 1: id is missing")
    let base = ScriptedSource<Note>(pages: [
      .success(.notes(1...4)), .success(unread), .failure(.because(.timedOut)),
    ])
    let source = base.cached(
      in: RecordStore("notes", in: store, text: Note.text), freshFor: .seconds(60), now: today.now)
    _ = try await source.page(PageRequest())
    today.turn(by: 61)
    #expect(try await source.page(PageRequest()).unreadable.count == 4)
    let third = try await source.page(PageRequest())
    #expect(third.records.map(\.id) == [1, 2, 3, 4])
    #expect(third.provenance.reason?.code == .timedOut)
  }

  @Test func `is fresh immediately, at any fraction of a second`() async throws {
    today.turn(by: 0.0006)
    for _ in 0..<2 { _ = try await cached().page(PageRequest()) }
    #expect(service.callCount == 1)
  }

  @Test func `answers only the same request`() async throws {
    let next = try await cached().page(PageRequest(limit: 4)).next
    let query = try Query("note 1")
    let requests = [
      PageRequest(limit: 5), PageRequest(after: next, limit: 4),
      PageRequest(matching: query, limit: 4), PageRequest(matching: try Query("note"), limit: 4),
    ]
    for (number, request) in requests.enumerated() {
      let live = try await cached().page(request)
      #expect(service.callCount == number + 2)
      #expect(try await cached().page(request).records == live.records)
      #expect(service.callCount == number + 2)
    }
    _ = try await cached(of: "elsewhere").page(PageRequest(limit: 4))
    #expect(service.callCount == 6)
    _ = try await cached().item(4)
    #expect(service.callCount == 7)
  }

  @Test func `answers in another process too`() async throws {
    let first = try await cached().everyID(limit: 7)
    let next = cached(in: directory.store())
    #expect(try await next.everyID(limit: 7) == first)
    #expect(service.callCount == 5)
  }

  @Test(arguments: [
    SourceError.Code.offline, .unreachable, .timedOut, .missingKey, .serverError, .malformed,
    .circuitOpen, .rateLimited,
  ])
  func `returns a stale answer with the reason when the call fails`(
    code: SourceError.Code
  ) async throws {
    _ = try await cached().page(PageRequest(limit: 4))
    _ = try await cached().item(4)
    today.turn(by: 86_400)
    service.fail(with: code)
    let page = try await cached().page(PageRequest(limit: 4))
    #expect(page.records.map(\.id) == [1, 2, 3, 4])
    #expect((page.provenance.origin, page.provenance.fetchedAt) == (.cached, .day()))
    #expect(page.provenance.reason?.code == code)
    let found = try await cached().item(4)
    #expect((found.provenance.origin, found.provenance.reason?.code) == (.cached, code))
    #expect(await cached().failure(of: PageRequest(limit: 5))?.code == code)
  }

  @Test(arguments: [SourceError.Code.cancelled, .notFound, .invalidCursor, .badUsage, .badSettings])
  func `passes on errors that are answers`(code: SourceError.Code) async throws {
    _ = try await cached().page(PageRequest())
    _ = try await cached().item(4)
    today.turn(by: 61)
    service.fail(with: code)
    #expect(await cached().failure()?.code == code)
    let error = await #expect(throws: SourceError.self) { try await cached().item(4) }
    #expect(error?.code == code)
  }

  @Test func `refreshes a fresh answer on request, and caches the new one`()
    async throws
  {
    let refresh = CachePolicy.refresh
    for _ in 0..<2 { _ = try await cached(refresh).page(PageRequest()) }
    #expect(service.callCount == 2)
    _ = try await cached().page(PageRequest())
    #expect(service.callCount == 2)
    service.fail(with: .timedOut)
    #expect(try await cached(refresh).page(PageRequest()).provenance.reason?.code == .timedOut)
  }

  @Test func `returns fresh but no stale answers without fallback`() async throws {
    let strict = CachePolicy.noFallback
    _ = try await cached(strict).page(PageRequest())
    _ = try await cached(strict).item(4)
    service.fail(with: .timedOut)
    #expect(await cached(strict).failure() == nil)
    today.turn(by: 60)
    #expect(await cached(strict).failure()?.code == .timedOut)
    await #expect(throws: SourceError.self) { try await cached(strict).item(4) }
  }

  @Test func `returns the answer with a warning if it cannot be cached`() async throws {
    try FileManager.default.createDirectory(
      atPath: directory.path, withIntermediateDirectories: true)
    for _ in 0..<2 {
      let page = try await cached().page(PageRequest(limit: 4))
      #expect((page.records.count, page.provenance.origin) == (4, .live))
      #expect(page.warnings.map(\.code) == ["storage"])
      #expect(page.warnings.first?.message.hasPrefix("\(store.path) is a directory") == true)
      #expect(try await cached().item(4).warnings.map(\.code) == ["storage"])
    }
    #expect(service.callCount == 4)
  }

  @Test func `caches a record, and requests it again when it is stale`() async throws {
    for _ in 0..<2 { #expect(try await cached().item(4).item == Note(4)) }
    #expect(service.callCount == 1)
    today.turn(by: 60)
    #expect(try await cached().item(4).provenance.origin == .live)
    #expect(service.callCount == 2)
    for _ in 0..<2 {
      let error = await #expect(throws: SourceError.self) { try await cached().item(99) }
      #expect(error?.code == .notFound)
    }
    #expect(service.callCount == 4)
  }

  @Test func `keeps a record's details when a list is fetched after it`() async throws {
    let recordStore = RecordStore("cards", in: store, text: Card.text)
    let upstream = ScriptedSource<Card>(
      page: { _ throws(SourceError) in
        Page([Card(1, "new title"), Card(2)], provenance: Provenance(.live))
      },
      item: { id throws(SourceError) in
        LookupResult(Card(id, detail: "long story"), provenance: Provenance(.live))
      })
    let cached = upstream.cached(in: recordStore, freshFor: .seconds(60), now: today.now)
    _ = try await cached.item(1)
    #expect(try await cached.page(PageRequest()).records.first?.detail == nil)
    #expect(try await cached.page(PageRequest()).records.first?.detail == "long story")
    #expect(try await cached.item(1).item == Card(1, "new title", detail: "long story"))
    let stored = try await recordStore.records.page(PageRequest(matching: try Query("new story")))
    #expect(stored.records.map(\.id) == [1])
    #expect(upstream.callCount == 2)
  }

  @Test func `counts unreadable rows of cached pages`() async throws {
    let upstream = ScriptedSource<Note>(pages: [
      .success(
        Page(
          [Note(1)], total: 3, provenance: Provenance(.live),
          unreadable: Unreadable(count: 2, firstReason: "no title")))
    ])
    let source = upstream.cached(
      in: RecordStore("notes", in: store, text: Note.text), freshFor: .seconds(60), now: today.now)
    for _ in 0..<2 {
      let page = try await source.page(PageRequest())
      #expect(page.unreadable == Unreadable(count: 2, firstReason: "no title"))
      #expect(page.total == 3)
    }
  }

  @Test func `requests again what another version cached in another format`() async throws {
    _ = try await cached().page(PageRequest(limit: 4))
    _ = try await cached().item(4)
    try directory.database().execute("UPDATE records SET json = '{}' WHERE id IN ('2', '4')")
    service.fail(with: .timedOut)
    let page = try await cached().page(PageRequest(limit: 4))
    #expect(page.records.map(\.id) == [1, 3])
    #expect(page.unreadable == Unreadable(count: 2, firstReason: "stored by another version"))
    #expect(page.provenance.reason?.code == .timedOut)
    await #expect(throws: SourceError.self) { try await cached().item(4) }
    service.fail(with: nil)
    #expect(try await cached().page(PageRequest(limit: 4)).records.count == 4)
    #expect(try await cached().page(PageRequest(limit: 4)).provenance.origin == .cached)
    #expect(try await cached().item(4).item == Note(4))
  }

  @Test func `describes itself, and allows cursors to be predicted`() {
    #expect("\(cached())" == "service\n  .cached(in: notes, freshFor: 60 s)")
    let ahead = notebook(9).cached(
      in: RecordStore("notes", in: store, text: Note.text), freshFor: .seconds(1))
    #expect(
      ahead.cursor(skipping: 3, from: PageRequest())
        == notebook(9).cursor(skipping: 3, from: PageRequest()))
  }
}
