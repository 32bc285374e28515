import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

/// The complete chain with a store, while the service works and while it fails.
@Suite(.timeLimit(.minutes(10)))
struct StoreChainTests {
  private let directory: StoreDirectory
  private let today = Today()
  private let service = Service(30)

  init() throws { directory = try StoreDirectory() }

  /// The source as a new process builds it.
  private func source(
    _ readOrder: ReadOrder = .liveFirst(freshFor: .seconds(60)),
    _ cachePolicy: CachePolicy = .normal,
    settings: [String: String] = [:],
    setUp: @escaping @Sendable (PluginEnvironment) throws(SourceError) -> Void = { _ in }
  ) throws(SourceError) -> any DataSource<Note> {
    var plugin = NotesPlugin(
      over: service, readOrder, upstream: readOrder == .localFirst ? 10 : nil)
    plugin.setUp = setUp
    return try plugin.source(
      in: PluginEnvironment(
        settings: SourceSettings(settings), transport: TrappingTransport(),
        store: directory.store(),
        clock: ManualClock(), now: today.now)
    ).cachePolicy(cachePolicy)
  }

  // MARK: - Live first

  @Test func `returns the same listing, with its age, when the service is down`() async throws {
    let live = try await source().everyID(limit: 7)
    today.turn(by: 3600)
    service.fail(with: .unreachable)
    #expect(try await source().everyID(limit: 7) == live)
    let page = try await source().page(PageRequest(limit: 7))
    #expect((page.provenance.origin, page.provenance.fetchedAt) == (.cached, .day()))
    #expect(page.provenance.reason?.code == .unreachable)
    // A new page size is answered from the records of other sizes.
    let other = try await source().page(PageRequest(limit: 12))
    #expect((other.records.count, other.provenance.origin) == (12, .cached))
    #expect(other.provenance.reason?.code == .unreachable)
    #expect(try await source().everyID(limit: 12) == live)
  }

  @Test func `deleted records are in no number of cached ones`() async throws {
    _ = try await source().page(PageRequest(limit: 10))
    _ = try await directory.store().delete(["2"], of: "notes", at: .day())
    service.fail(with: .unreachable)
    let some = try await source().page(PageRequest(limit: 12))
    #expect((some.records.count, some.total) == (9, 29))
    #expect(some.warnings.map(\.message).contains("limited to cached records: 9 of 29"))
    service.fail(with: nil)
    #expect(try await source().everyID(limit: 10).count == 29)
    service.fail(with: .unreachable)
    let all = try await source().page(PageRequest(limit: 12))
    #expect((all.records.count, all.total) == (12, 29))
  }

  @Test func `searches cached records for a new query`() async throws {
    _ = try await source().everyID(limit: 10)
    service.fail(with: .timedOut)
    let page = try await source().page(PageRequest(matching: try SearchQuery("note 2"), limit: 5))
    #expect(page.records.map(\.id) == [2, 20, 21, 22, 23])
    #expect((page.provenance.origin, page.provenance.reason?.code) == (.cached, .timedOut))
    let all = try await source().everyID(matching: try SearchQuery("note 2"), limit: 5)
    #expect(all == [2] + Array(20...29) + [12])
    // A query without cached matches may have matches in the bundle.
    let bundled = try await source().page(PageRequest(matching: try SearchQuery("bundled")))
    #expect(bundled.records == [Note(900, "bundled")])
    #expect((bundled.provenance.origin, bundled.provenance.reason?.code) == (.bundled, .timedOut))
  }

  @Test func `in the place of the service, a search and the end of a list say what is not cached`()
    async throws
  {
    let page = try await source().page(PageRequest(limit: 10))
    _ = try await source().page(PageRequest(after: page.next, limit: 10))
    service.fail(with: .rateLimited)
    let words = "limited to cached records: 20 of 30"
    let part = Warning(.partlyCached, words)
    let query = try SearchQuery("note")
    let first = try await source().page(PageRequest(matching: query, limit: 4))
    #expect((first.total, first.warnings, first.next == nil) == (nil, [part], false))
    let end = try await source().page(
      PageRequest(matching: query, after: first.next, limit: 20))
    #expect((end.records.count, end.total, end.warnings) == (16, nil, [part]))
    // No page of this size is cached.
    let start = try await source().page(PageRequest(limit: 12))
    #expect((start.records.count, start.total) == (12, 30))
    #expect(start.warnings == [Warning(.cachedOnly, words)])
    let rest = try await source().page(PageRequest(after: start.next, limit: 12))
    #expect((rest.records.count, rest.warnings, rest.next == nil) == (8, [part], true))
  }

  @Test func `where the cached pages end, a list goes on with the records of an interrupted sync`()
    async throws
  {
    let first = try await source().page(PageRequest(limit: 10))
    _ = try await RecordStore<Note>("notes", in: directory.store(), text: Note.text)
      .save((11...25).map { Note($0) }, at: .day())
    service.fail(with: .unreachable)
    let words = "limited to cached records: 25 of 30"
    let offline = try source(.liveFirst(freshFor: .seconds(60)), .offline)
    let second = try await offline.page(PageRequest(after: first.next, limit: 10))
    #expect(second.records.map(\.id) == Array(11...20) && second.total == 30)
    #expect(second.warnings == [Warning(.cachedOnly, words)])
    #expect(second.provenance.origin == .cached)
    let third = try await offline.page(PageRequest(after: second.next, limit: 10))
    #expect(third.records.map(\.id) == Array(21...25) && third.next == nil)
    #expect(third.warnings == [Warning(.partlyCached, words)])
    // A list of the service is not continued by others.
    let error = await #expect(throws: SourceError.self) {
      try await source().page(PageRequest(after: first.next, limit: 10))
    }
    #expect(error?.code == .unreachable)
    // In the place of the service's, the first page says so, too.
    today.turn(by: 3600)
    let again = try await source().page(PageRequest(limit: 10))
    #expect((again.records, again.total) == (first.records, 30))
    #expect(again.warnings == [Warning(.cachedOnly, words)])
    #expect(try await offline.everyID(limit: 10) == Array(1...25))
  }

  @Test func `a search finds stored records that its scan of the service does not reach`()
    async throws
  {
    let plugin = NotesPlugin(
      service: service,
      policy: Policy(largestPage: 50, upstreamPageSize: .fixed(10), localSearchBound: 20))
    let environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: TrappingTransport(), store: directory.store(),
      clock: ManualClock(), now: today.now)
    let source = try plugin.source(in: environment)
    let request = PageRequest(matching: try SearchQuery("note 25"), limit: 5)
    let none = try await source.page(request)
    #expect(none.records.isEmpty)
    #expect(none.warnings.map(\.message) == ["searched only the first 20 records"])
    // As a sync does that is interrupted.
    let recordStore = plugin.recordStore(in: directory.store())
    _ = try await recordStore.save([Note(25)], at: .day())
    let found = try await source.page(request)
    #expect(found.records == [Note(25)] && found.next == nil && found.total == nil)
    #expect(found.warnings == [Warning(.partlyCached, "limited to cached records: 21 of 30")])
    #expect(found.provenance.origin == .cached)
    #expect(found.provenance.reason?.message == "searched only the first 20 records")
    // Who asks the service alone can go on there.
    let scanned = try await source.cachePolicy(.reload).page(request)
    #expect(scanned.records.isEmpty && scanned.next != nil)
    #expect(scanned.warnings == none.warnings)
    // Beside matches it says that there are others.
    let some = try await source.page(PageRequest(matching: try SearchQuery("note 2"), limit: 50))
    #expect(!some.records.isEmpty && !some.records.contains(Note(25)))
    #expect(
      some.warnings.map(\.message)
        == ["searched only the first 20 records; an offline search finds cached ones that match"])
    let offline = source.cachePolicy(.offline)
    let cached = try await offline.page(request)
    #expect(cached.records == found.records && cached.next == nil && cached.total == nil)
    #expect(cached.warnings == found.warnings)
    let absent = try await offline.page(PageRequest(matching: try SearchQuery("absent"), limit: 5))
    #expect(absent.records.isEmpty && absent.next == nil)
    #expect(
      absent.warnings == [Warning(.partlyCached, "limited to cached records: 21 of 30")])
  }

  @Test func `finds a cached record when the service is down`() async throws {
    _ = try await source().page(PageRequest(limit: 7))
    service.fail(with: .serverError)
    let found = try await source().item(4)
    #expect((found.item, found.provenance.origin) == (Note(4), .cached))
    #expect((found.provenance.fetchedAt, found.provenance.reason?.code) == (.day(), .serverError))
    let error = await #expect(throws: SourceError.self) { try await source().item(44) }
    #expect(error?.code == .serverError)
  }

  @Test(arguments: [CachePolicy.normal, .reload])
  func `falls back to bundled data while nothing is cached`(
    cachePolicy: CachePolicy
  ) async throws {
    service.fail(with: .unreachable)
    let page = try await source(cachePolicy: cachePolicy).page(PageRequest())
    #expect(page.records == [Note(900, "bundled")])
    #expect((page.provenance.origin, page.provenance.reason?.code) == (.bundled, .unreachable))
    #expect(try await source().item(900).provenance.reason?.code == .unreachable)
    #expect(try await directory.store().found(of: "notes").isEmpty)
  }

  private func source(cachePolicy: CachePolicy) throws(SourceError) -> any DataSource<Note> {
    try source(.liveFirst(freshFor: .seconds(60)), cachePolicy)
  }

  @Test func `sends nothing in offline mode`() async throws {
    let bundled = try await source(cachePolicy: .offline).page(PageRequest())
    #expect((bundled.provenance.origin, bundled.provenance.reason?.code) == (.bundled, .offline))
    _ = try await source().page(PageRequest(limit: 7))
    let calls = service.callCount
    let fresh = try await source(cachePolicy: .offline).page(PageRequest(limit: 7))
    #expect((fresh.records.count, fresh.provenance.reason?.code) == (7, nil))
    today.turn(by: 3600)
    let old = try await source(cachePolicy: .offline).page(PageRequest(limit: 7))
    #expect((old.provenance.origin, old.provenance.reason?.code) == (.cached, .offline))
    #expect(try await source(cachePolicy: .offline).item(4).provenance.reason?.code == .offline)
    #expect(service.callCount == calls)
  }

  @Test func `answers from the store with the reason if the key is missing`() async throws {
    _ = try await source().page(PageRequest(limit: 7))
    today.turn(by: 3600)
    let page = try await source { _ throws(SourceError) in throw .because(.missingKey) }
      .page(PageRequest(limit: 5))
    #expect(page.records.map(\.id) == Array(1...5))
    #expect((page.provenance.origin, page.provenance.reason?.code) == (.cached, .missingKey))
  }

  @Test func `ignores a fresh answer only to refresh`() async throws {
    for _ in 0..<2 { _ = try await source().page(PageRequest()) }
    #expect(service.callCount == 1)
    #expect(try await source(cachePolicy: .reload).page(PageRequest()).provenance.origin == .live)
    #expect(service.callCount == 2)
    service.fail(with: .timedOut)
    let page = try await source(cachePolicy: .reload).page(PageRequest())
    #expect((page.provenance.origin, page.provenance.reason?.code) == (.cached, .timedOut))
  }

  @Test func `uses no stale answer when fallbacks are off`() async throws {
    _ = try await source().page(PageRequest(limit: 7))
    service.fail(with: .timedOut)
    let fresh = try await source(cachePolicy: .noFallback).page(PageRequest(limit: 7))
    #expect(fresh.provenance.origin == .cached)
    today.turn(by: 60)
    let strict = try source(cachePolicy: .noFallback)
    #expect(await strict.failure(of: PageRequest(limit: 7))?.code == .timedOut)
    #expect(await strict.failure()?.code == .timedOut)
  }

  @Test func `keeps the answers of different URLs apart`() async throws {
    _ = try await source().page(PageRequest(limit: 7))
    _ = try await source(settings: ["NOTES_URL": "https://other.test/api"])
      .page(PageRequest(limit: 7))
    #expect(service.callCount == 2)
  }

  @Test func `hides deleted records of every origin until they are restored`() async throws {
    let store = directory.store()
    _ = try await store.delete(["3", "900"], of: "notes", at: .day())
    #expect(try await source().everyID(limit: 5).contains(3) == false)
    #expect(try await source().everyID(limit: 5).contains(3) == false)
    service.fail(with: .unreachable)
    #expect(try await source().everyID(limit: 11).contains(3) == false)
    let bundled = try await source().page(PageRequest(matching: try SearchQuery("bundled")))
    #expect((bundled.records.count, bundled.hidden) == (0, 1))
    let error = await #expect(throws: SourceError.self) { try await source().item(3) }
    #expect(error?.message == "record \"3\" is deleted")
    _ = try await store.restore(nil, of: "notes")
    #expect(try await source().everyID(limit: 5) == Array(1...30))
  }

  @Test func `writes no bundled record into the store`() async throws {
    service.fail(with: .unreachable)
    _ = try await source().page(PageRequest())
    _ = try await source(.localFirst).page(PageRequest())
    #expect(try await directory.store().found(of: "notes").isEmpty)
  }

  @Test func `a listing keeps its origin when the service recovers`() async throws {
    _ = try await source().everyID(limit: 10)
    today.turn(by: 3600)
    service.fail(with: .unreachable)
    let first = try await source().page(PageRequest(limit: 12))
    service.fail(with: nil)
    let calls = service.callCount
    let second = try await source().page(PageRequest(after: first.next, limit: 12))
    #expect(second.records.map(\.id) == Array(13...24))
    #expect((second.provenance.origin, second.provenance.reason?.code) == (.cached, .unreachable))
    #expect(service.callCount == calls)
  }

  // MARK: - Local first

  @Test func `grows a collection, and answers from it when the service is down`() async throws {
    let first = try await source(.localFirst).page(PageRequest(limit: 10))
    #expect(first.provenance.origin == .live)
    service.fail(with: .unreachable)
    let stored = try await source(.localFirst).page(PageRequest(limit: 10))
    #expect(stored.records == first.records)
    #expect((stored.provenance.origin, stored.provenance.reason?.code) == (.cached, nil))
    let more = PageRequest(after: stored.next, limit: 10)
    #expect(await (try source(.localFirst)).failure(of: more)?.code == .unreachable)
    service.fail(with: nil)
    #expect(try await source(.localFirst).page(more).records.map(\.id) == Array(11...20))
  }

  @Test func `uses bundled records only while the store is empty`() async throws {
    service.fail(with: .unreachable)
    let bundled = try await source(.localFirst).page(PageRequest())
    #expect(bundled.records == [Note(900, "bundled")])
    #expect(
      (bundled.provenance.origin, bundled.provenance.reason?.code) == (.bundled, .unreachable))
    service.fail(with: nil)
    _ = try await source(.localFirst).page(PageRequest(limit: 3))
    service.fail(with: .unreachable)
    _ = try await directory.store().delete((1...10).map(\.description), of: "notes", at: .day())
    for cachePolicy in [CachePolicy.normal, .offline] {
      let page = try await source(.localFirst, cachePolicy).page(PageRequest())
      #expect((page.records.count, page.provenance.origin) == (0, .cached))
    }
  }

  @Test func `loads nothing in offline mode or without growth`() async throws {
    let empty = try await source(.localFirst, .offline).page(PageRequest())
    #expect((empty.provenance.origin, empty.provenance.reason?.code) == (.bundled, .nothingCached))
    _ = try await source(.localFirst).page(PageRequest(limit: 3))
    for cachePolicy in [
      CachePolicy.offline, CachePolicy(growth: .never), CachePolicy(growth: .whenEmpty),
    ] {
      #expect(try await source(.localFirst, cachePolicy).everyID(limit: 4) == Array(1...10))
    }
    #expect(service.callCount == 1)
  }

  @Test func `searches the collection without a request`() async throws {
    _ = try await source(.localFirst).page(PageRequest(limit: 20))
    let page = try await source(.localFirst).page(PageRequest(matching: try SearchQuery("note 1")))
    #expect(page.records.map(\.id) == [1] + Array(10...19))
    #expect(page.warnings.map(\.code.description) == ["cachedOnly"])
    #expect(service.callCount == 2)
  }

  // MARK: - As a whole

  @Test func `describes itself in the order of its operators`() throws {
    #expect(
      "\(try source())" == """
        service
          .noticingEmptyFields()
          .respectingRetryAfter()
          .retry(1)
          .timeout(15 s)
          .coalesced()
          .onlineOnly()
          .cached(in: notes, freshFor: 60 s)
          .lookingUpSynced(in: notes)
          .synced(in: notes)
          .comparingSearches(with: notes)
          .fallback(to: notes.stored.searchedInPlaceOfService())
          .fallback(to: notes.bundled)
          .hidingDeleted(in: notes)
          .warningOfDoubts(in: notes)
          .observed()
        """)
    #expect(
      "\(try source(.localFirst))" == """
        service
          .noticingEmptyFields()
          .respectingRetryAfter()
          .retry(1)
          .timeout(15 s)
          .coalesced()
          .onlineOnly()
          .growing(in: notes)
          .fallback(to: notes.bundled)
          .hidingDeleted(in: notes)
          .warningOfDoubts(in: notes)
          .observed()
        """)
  }
}
