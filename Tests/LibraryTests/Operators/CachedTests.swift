import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
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
      of: scope, now: today.now
    ).cachePolicy(policy)
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
    #expect(second.total == first.total)
    #expect(
      (first.provenance.origin, second.provenance.origin) == (.live, calls == 1 ? .cached : .live))
    #expect(second.provenance.endpoint == "https://notes.test/api")
    if calls == 1 { #expect((second.next, second.provenance.fetchedAt) == (first.next, .day())) }
    #expect(second.provenance.reason == nil)
  }

  @Test func `records that were fetched again unchanged are as old as their page`() async throws {
    let records = RecordStore("notes", in: store, text: Note.text)
    func fetch(_ limit: Int) async throws {
      today.turn(by: 600)
      _ = try await cached().page(PageRequest(limit: limit))
    }
    try await fetch(30)
    try await fetch(30)
    #expect(try await records.oldestFetch() == .day(1200))
    let request = PageRequest(limit: 5)
    #expect(try await records.records.page(request).provenance.fetchedAt == .day(1200))
    // A smaller page says nothing of the other records; a larger one has them all.
    try await fetch(4)
    #expect(try await records.oldestFetch() == .day(1200))
    #expect(try await records.records.page(request).provenance.fetchedAt == .day(1200))
    try await fetch(40)
    #expect(try await records.oldestFetch() == .day(2400))
    #expect(try await records.records.page(request).provenance.fetchedAt == .day(2400))
  }

  @Test func `a record that is on no page any more is no newer for pages that overlap`()
    async throws
  {
    let first = Mutex(1)
    let service = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        let start = first.withLock(\.self)
        return .notes(start...(start + request.limit - 1))
      }, skip: { _, _ in nil })
    let records = RecordStore("notes", in: store, text: Note.text)
    let cached = service.cached(in: records, freshFor: .seconds(60), of: "", now: today.now)
    for (start, limit) in [(1, 10), (2, 10), (2, 4)] {
      first.withLock { $0 = start }
      today.turn(by: 600)
      _ = try await cached.page(PageRequest(limit: limit))
    }
    #expect(try await records.oldestFetch() == .day(600))
  }

  @Test func `does not cache a page without a readable row`() async throws {
    var unread = Page<Note>.notes([])
    unread.unreadable = UnreadableRows(count: 4, firstReason: "row 1: id is missing")
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
    let query = try SearchQuery("note 1")
    let requests = [
      PageRequest(limit: 5), PageRequest(after: next, limit: 4),
      PageRequest(matching: query, limit: 4),
      PageRequest(matching: try SearchQuery("note"), limit: 4),
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

  @Test(arguments: [
    SourceError.Code.cancelled, .notFound, .invalidCursor, .invalidRequest, .invalidSettings,
  ])
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
    let refresh = CachePolicy.reload
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
      #expect(page.warnings.map(\.code.description) == ["storage"])
      #expect(page.warnings.first?.message.hasPrefix("\(store.path) is a directory") == true)
      #expect(try await cached().item(4).warnings.map(\.code.description) == ["storage"])
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

  @Test func `returns a fetched record as it is stored`() async throws {
    let upstream = ScriptedSource<Card>(
      page: { _ throws(SourceError) in
        Page([Card(2), Card(1, "new title")], provenance: Provenance(.live))
      },
      item: { id throws(SourceError) in
        LookupResult(Card(id, detail: "long story"), provenance: Provenance(.live))
      })
    let source = upstream.cached(
      in: RecordStore("cards", in: store, text: Card.text), freshFor: .seconds(60),
      now: today.now
    ).cachePolicy(.reload)
    _ = try await source.item(1)
    for _ in 1...2 {
      let page = try await source.page(PageRequest())
      #expect(page.records == [Card(2), Card(1, "new title", detail: "long story")])
      #expect(page.provenance.origin == .live)
    }
  }

  @Test func `a record shown twice is the same`() async throws {
    // The long form lacks what only lists have.
    let upstream = ScriptedSource<Card>(
      page: { _ throws(SourceError) in
        Page([Card(1, detail: "in lists only")], provenance: Provenance(.live))
      },
      item: { id throws(SourceError) in LookupResult(Card(id), provenance: Provenance(.live)) })
    let source = upstream.cached(
      in: RecordStore("cards", in: store, text: Card.text), freshFor: .seconds(60), now: today.now)
    _ = try await source.page(PageRequest())
    let first = try await source.item(1)
    let second = try await source.item(1)
    #expect((first.provenance.origin, second.provenance.origin) == (.live, .cached))
    #expect(first.item == Card(1, detail: "in lists only"))
    #expect(second.item == first.item)
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
    for _ in 1...2 {
      #expect(try await cached.page(PageRequest()).records.first?.detail == "long story")
    }
    #expect(try await cached.item(1).item == Card(1, "new title", detail: "long story"))
    let stored = try await recordStore.records.page(
      PageRequest(matching: try SearchQuery("new story")))
    #expect(stored.records.map(\.id) == [1])
    #expect(upstream.callCount == 2)
  }

  @Test func `counts unreadable rows of cached pages`() async throws {
    let upstream = ScriptedSource<Note>(pages: [
      .success(
        Page(
          [Note(1)], total: 3, provenance: Provenance(.live),
          unreadable: UnreadableRows(count: 2, firstReason: "no title")))
    ])
    let source = upstream.cached(
      in: RecordStore("notes", in: store, text: Note.text), freshFor: .seconds(60), now: today.now)
    for _ in 0..<2 {
      let page = try await source.page(PageRequest())
      #expect(page.unreadable == UnreadableRows(count: 2, firstReason: "no title"))
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
    #expect(page.unreadable == UnreadableRows(count: 2, firstReason: "stored by another version"))
    #expect(page.provenance.reason?.code == .timedOut)
    await #expect(throws: SourceError.self) { try await cached().item(4) }
    service.fail(with: nil)
    #expect(try await cached().page(PageRequest(limit: 4)).records.count == 4)
    #expect(try await cached().page(PageRequest(limit: 4)).provenance.origin == .cached)
    #expect(try await cached().item(4).item == Note(4))
  }

  // MARK: - A service that changes

  /// The changed list: five new notes before the others.
  private static let changed = (101...105).map { Note($0) } + (1...60).map { Note($0) }

  private func cached(_ service: ChangingService, _ policy: CachePolicy = .normal)
    -> some DataSource<Note>
  {
    service.source.cached(
      in: RecordStore("notes", in: store, text: Note.text), freshFor: .seconds(1200),
      now: today.now
    ).cachePolicy(policy)
  }

  @Test(arguments: [
    (at: 610.0, isChanged: false), (1199, false), (1200, true), (1260, true), (1801, true),
  ])
  func `returns one state of a service that changed after its pages were cached`(
    at seconds: Double, isChanged: Bool
  ) async throws {
    let service = ChangingService(1...60)
    let first = try await cached(service).page(PageRequest(limit: 30))
    today.turn(by: 600)
    _ = try await cached(service).page(PageRequest(after: first.next, limit: 30))
    service.set(Self.changed)
    today.turn(by: seconds - 600)
    let walk = await walk(cached(service), limit: 30)
    #expect(walk.ids == (isChanged ? Self.changed.map(\.id) : Array(1...60)))
    #expect(walk.warnings.isEmpty)
  }

  @Test func `asks for the whole list again after one of its pages was found changed`()
    async throws
  {
    let service = ChangingService(1...60)
    let first = try await cached(service).page(PageRequest(limit: 30))
    _ = try await cached(service).page(PageRequest(after: first.next, limit: 30))
    service.set(Self.changed)
    today.turn(by: 60)
    let second = PageRequest(after: first.next, limit: 30)
    let page = try await cached(service, .reload).page(second)
    #expect(page.records.first?.id == 26)
    #expect(page.warnings.map(\.code.description) == ["mixedGenerations"])
    let walk = await walk(cached(service), limit: 30)
    #expect(walk.ids == Self.changed.map(\.id))
    #expect(walk.warnings.isEmpty)
  }

  @Test func `warns an open list whose first page another reader found changed`() async throws {
    let service = ChangingService(1...60)
    let first = try await cached(service).page(PageRequest(limit: 30))
    let second = PageRequest(after: first.next, limit: 30)
    _ = try await cached(service).page(second)
    #expect(try await cached(service).page(second).warnings == [])
    service.set(Self.changed)
    _ = try await cached(service, .reload).page(PageRequest(limit: 30))
    for policy in [CachePolicy.normal, .offline] {
      let page = try await cached(service, policy).page(second)
      #expect(page.warnings.map(\.code.description) == ["mixedGenerations"])
    }
    #expect(await walk(cached(service), limit: 30).warnings.isEmpty)
  }

  @Test func `warns if the total shows that the list has changed since its first page`()
    async throws
  {
    let service = ChangingService(1...60)
    let first = try await cached(service).page(PageRequest(limit: 30))
    service.set(Self.changed)
    let second = PageRequest(after: first.next, limit: 30)
    #expect(
      try await cached(service).page(second).warnings.map(\.code.description) == [
        "mixedGenerations"
      ])
    #expect(await walk(cached(service), limit: 30).ids == Self.changed.map(\.id))
  }

  @Test func `warns if pages of another time stand in for a failing service`() async throws {
    let service = ChangingService(1...60)
    #expect(await walk(cached(service), limit: 30).ids == Array(1...60))
    today.turn(by: 1260)
    service.set(Self.changed)
    let first = try await cached(service).page(PageRequest(limit: 30))
    service.fault.set(.unreachable)
    let second = try await cached(service).page(PageRequest(after: first.next, limit: 30))
    #expect(second.records.first?.id == 31)
    #expect((second.provenance.origin, second.provenance.reason?.code) == (.cached, .unreachable))
    #expect(
      second.warnings == [
        Warning(
          .mixedGenerations,
          "the pages are from different times: records may be missing or repeated")
      ])
    let coverage = try await store.coverage(of: "notes")
    #expect(coverage.gap?.includes(.mixedGenerations) == true && !coverage.isComplete)
    // Old pages alone fit together.
    today.turn(by: 86_400)
    let other = ChangingService(1...9)
    #expect(await walk(cached(other), limit: 3).ids == Array(1...9))
    today.turn(by: 86_400)
    other.fault.set(.unreachable)
    let walk = await walk(cached(other), limit: 3)
    #expect((walk.ids, walk.warnings) == (Array(1...9), []))
  }

  @Test func `a page that is as it was takes nothing from a list that is cached whole`()
    async throws
  {
    let service = ChangingService(1...60)
    #expect(await walk(cached(service), limit: 30).ids == Array(1...60))
    for _ in 0..<3 {
      #expect(try await store.coverage(of: "notes").isComplete)
      today.turn(by: 60)
      _ = try await cached(service, .reload).page(PageRequest(limit: 30))
    }
    #expect(try await store.coverage(of: "notes").isComplete)
    service.set(Self.changed)
    today.turn(by: 60)
    _ = try await cached(service, .reload).page(PageRequest(limit: 30))
    let coverage = try await store.coverage(of: "notes")
    #expect(coverage.gap?.includes(.mixedGenerations) == true && !coverage.isComplete)
  }

  @Test func `prefetches pages of its own generation`() async throws {
    let service = ChangingService(1...60)
    let source = cached(service)
    let request = PageRequest(limit: 10)
    let first = try await source.page(request)
    #expect(source.cursor(skipping: 10, from: request) == first.next)
    let second = try await source.page(request.after(first.next))
    #expect(source.cursor(skipping: 10, from: request.after(first.next)) == second.next)
    var ids: [Int] = []
    for try await step in source.pages(size: 10, ahead: 4) { ids += step.items.map(\.id) }
    #expect(ids == Array(1...60))
    #expect(service.source.callCount == 6)
  }

  @Test func `makes cursors of at most 512 characters`() async throws {
    let long = PageCursor(String(repeating: "x", count: 505))
    let base = ScriptedSource<Note>(pages: [
      .success(.notes(1...3, next: PageCursor(String(repeating: "x", count: 490)))),
      .success(.notes(1...3, next: long)),
    ])
    let source = base.cached(
      in: RecordStore("notes", in: store, text: Note.text), freshFor: .seconds(0), now: today.now)
    #expect(try await source.page(PageRequest()).next != nil)
    #expect(await source.failure()?.code == .malformed)
  }

  @Test func `rejects a cursor that is damaged or of another query`() async throws {
    let service = ChangingService(1...60)
    _ = try await cached(service).page(PageRequest(limit: 20))
    for limit in [20, 5] {
      let next = try #require(await cached(service).page(PageRequest(limit: limit)).next)
      let token = next.description
      for offset in 1...8 {
        var damaged = Array(token)
        damaged[offset] = damaged[offset] == "a" ? "b" : "a"
        let request = PageRequest(after: PageCursor(String(damaged)), limit: limit)
        #expect(await cached(service).failure(of: request)?.code == .invalidCursor)
      }
      let search = PageRequest(matching: try SearchQuery("note"), after: next, limit: limit)
      #expect(await cached(service).failure(of: search)?.code == .invalidCursor)
      #expect(cached(service).cursor(skipping: 3, from: search) == nil)
    }
  }

  private func walk(
    _ source: some DataSource<Note>, limit: Int
  ) async -> (ids: [Int], warnings: [Warning]) {
    var (ids, warnings): ([Int], [Warning]) = ([], [])
    var request: PageRequest? = PageRequest(limit: limit)
    while let asked = request {
      guard let page = try? await source.page(asked) else { return ([], []) }
      ids += page.records.map(\.id)
      warnings += page.warnings
      request = page.next.map { asked.after($0) }
    }
    return (ids, warnings)
  }

  // MARK: - Fewer records than a page has

  @Test func `answers a smaller request from a fresh larger page`() async throws {
    _ = try await cached().page(PageRequest(limit: 20))
    let page = try await cached().page(PageRequest(limit: 5))
    #expect((page.records.map(\.id), page.total) == ([1, 2, 3, 4, 5], 30))
    #expect((page.provenance.origin, service.callCount) == (.cached, 1))
    let rest = try await cached().page(PageRequest(after: page.next, limit: 100))
    #expect(rest.records.map(\.id) == Array(6...20))
    #expect(service.callCount == 1)
    #expect(try await cached().everyID(limit: 7) == Array(1...30))
    #expect(service.callCount == 3)
    #expect(service.requests.map(\.limit) == [20, 7, 7])
  }

  @Test func `asks for a cut page as a whole when it is stale`() async throws {
    _ = try await cached().page(PageRequest(limit: 20))
    let next = try await cached().page(PageRequest(limit: 5)).next
    today.turn(by: 60)
    let page = try await cached().page(PageRequest(after: next, limit: 5))
    #expect((page.records.map(\.id), page.provenance.origin) == ([6, 7, 8, 9, 10], .live))
    #expect(service.requests.map(\.limit) == [20, 20])
    #expect(page.warnings.isEmpty)
    #expect(try await cached().page(PageRequest(limit: 25)).records.count == 25)
    #expect(service.callCount == 3)
  }

  @Test func `predicts the cursors of a cut page, and reports its problems once`() async throws {
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        var page = try await notebook(30).page(request)
        page.unreadable = UnreadableRows(count: 1, firstReason: "torn")
        return page
      }, skip: notebook(30).cursor)
    let source = base.cached(
      in: RecordStore("notes", in: store, text: Note.text), freshFor: .seconds(60), now: today.now)
    _ = try await source.page(PageRequest(limit: 20))
    let first = try await source.page(PageRequest(limit: 5))
    let request = PageRequest(after: first.next, limit: 5)
    let second = try await source.page(request)
    #expect((first.unreadable.count, second.unreadable.count) == (1, 0))
    #expect(source.cursor(skipping: 5, from: request) == second.next)
    let far = try #require(source.cursor(skipping: 17, from: request))
    #expect(try await source.page(request.after(far)).records.map(\.id) == Array(23...27))
    #expect(source.cursor(skipping: .max, from: request) == nil)
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

/// A service whose notes a test replaces.
private final class ChangingService: Sendable {
  let source: ScriptedSource<Note>
  let fault = Fault()
  private let notes: SharedNotes

  init(_ ids: ClosedRange<Int>) {
    let notes = SharedNotes(ids.map { Note($0) })
    self.notes = notes
    source = ScriptedSource(
      page: { [fault] request throws(SourceError) in
        try fault.strike()
        var page = try await notes.source.page(request)
        page.provenance = Provenance(.live, fetchedAt: .day())
        return page
      }, skip: { count, request in notes.source.cursor(skipping: count, from: request) })
  }

  func set(_ notes: [Note]) { self.notes.set(notes) }
}

private final class SharedNotes: Sendable {
  private let notes: Mutex<[Note]>

  init(_ notes: [Note]) { self.notes = Mutex(notes) }

  var source: BundledSource<Note> {
    BundledSource("notes", items: notes.withLock(\.self), fields: Note.fields)
  }

  func set(_ notes: [Note]) { self.notes.withLock { $0 = notes } }
}
