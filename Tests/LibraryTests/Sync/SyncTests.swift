import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// Records removed upstream, and rate limits, have files of their own.
@Suite(.timeLimit(.minutes(10)))
struct SyncTests {
  let directory: StoreDirectory
  let store: SQLiteStore
  let clock = ManualClock()
  let today = Today()
  let waits = Counter()
  let waitReasons = Reasons()

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  func syncing(
    _ base: any DataSource<Note>, by size: Int = 10, isEndless: Bool = false,
    rate: String? = nil, depth: Int? = nil, into other: SQLiteStore? = nil
  ) throws -> Sync<Note> {
    let store = other ?? store
    var policy = NotesPlugin(over: base, .liveFirst(freshFor: .seconds(60))).policy
    policy.syncPageSize = .fixed(size)
    policy.isEndless = isEndless
    policy.depthLimit = depth
    policy.rate = rate.map { Setting("NOTES_PACE", .rate, default: $0, about: "How often.") }
    let environment = PluginEnvironment(
      settings: SourceSettings(), transport: TrappingTransport(), store: store, clock: clock,
      now: today.now, observer: waitObserver)
    return try NotesPlugin(service: base, policy: policy).sync(into: store, in: environment)
  }

  /// Counts the waits for a minute and more.
  var waitObserver: Observer {
    Observer { [waits, waitReasons] event in
      guard case .waiting(let time, let reason) = event, time >= .seconds(60) else { return }
      waitReasons.add(reason)
      waits.add()
    }
  }

  final class Reasons: Sendable {
    private let reasons = Mutex<[String]>([])
    var all: [String] { reasons.withLock(\.self) }
    func add(_ reason: String) { reasons.withLock { $0.append(reason) } }
  }

  @discardableResult
  func sync(
    _ base: any DataSource<Note>, upTo pages: Int? = nil, jobs: Int = 1
  ) async throws -> SyncResult {
    try await syncing(base).run(upTo: pages, jobs: jobs, waits: false) { _ in }
  }

  /// Notes with these numbers, in pages whose cursors are predictable; the total is known.
  func service(
    _ ids: some Sequence<Int>, changed: Set<Int> = []
  ) -> ScriptedSource<Note> {
    ScriptedSource(
      over: BundledSource(
        "notes", items: ids.map { Note($0, changed.contains($0) ? "changed \($0)" : nil) },
        fields: Note.fields))
  }

  func storedIDs() async throws -> [Int] {
    try await store.found(of: "notes").map { json in
      try JSONDecoder().decode(Note.self, from: Data(json.utf8)).id
    }
  }

  // MARK: - Storing

  @Test(arguments: [1, 2, 8])
  func `stores all records in order and reports progress`(jobs: Int) async throws {
    let base = service(1...95)
    let log = Mutex<[Int]>([])
    let result = try await syncing(base).run(upTo: nil, jobs: jobs, waits: false) { result in
      log.withLock { $0.append(result.added) }
    }
    #expect(
      (result.added, result.changed, result.unchanged, result.removedUpstream) == (95, 0, 0, 0))
    #expect((result.pages, result.passed, result.total) == (10, 95, 95))
    #expect(result.isComplete && result.inconclusiveReason == nil && result.failure == nil)
    // Pages that arrive together are stored together.
    let steps = log.withLock(\.self)
    #expect(steps == steps.sorted() && steps.last == 95)
    #expect(steps.allSatisfy { $0 % 10 == 0 || $0 == 95 })
    if jobs == 1 { #expect(steps.count == 10) }
    #expect(try await storedIDs() == Array(1...95))
    // No cursor is computed beyond the known total.
    #expect(base.callCount == 10)
  }

  @Test(arguments: [1, 8])
  func `gives records that were cached before the place that the service gives them`(
    jobs: Int
  ) async throws {
    let early = [90, 5, 300, 7]
    let entries = try early.map { id in
      StoreEntry(id: "\(id)", json: try CanonicalJSON.bytes(of: Note(id))) { Note.text(Note(id)) }
    }
    _ = try await store.save(StoreBatch(entries), of: "notes", at: today.now())
    let stopped = try await sync(service(1...95), upTo: 2, jobs: jobs)
    #expect(!stopped.isComplete && stopped.added == 18)
    #expect(try await storedIDs() == [90, 300] + Array(1...20))
    let result = try await sync(service(1...95), jobs: jobs)
    #expect(result.isComplete && (result.added, result.unchanged) == (74, 1))
    #expect(try await storedIDs() == Array(1...95))
    #expect(try await store.status(of: "notes").removedUpstream == 1)
    #expect(try directory.database().isSound())
    #expect(try await store.inconsistencies() == [])

    // A later sync moves nothing.
    _ = try await store.save(StoreBatch([entries[2]]), of: "notes", at: today.now())
    #expect(try await sync(service(Array(1...97) + [300])).isComplete)
    #expect(try await storedIDs() == [300] + Array(1...97))
  }

  @Test func `stores pages in one transaction that arrive together`() async throws {
    // The scheduler decides whether they do: sooner or later it happens.
    var most = 0
    repeat {
      let store = try StoreDirectory().store()
      let batches = Mutex<[Int]>([])
      let result = try await syncing(service(1...200), into: store)
        .run(upTo: nil, jobs: 8, waits: false) { result in
          batches.withLock { $0.append(result.pages) }
        }
      #expect(result.isComplete && result.added == 200)
      let ends = batches.withLock(\.self)
      most = zip(ends, [0] + ends).map { $0 - $1 }.max() ?? 0
      #expect(try await store.found(of: "notes").count == 200)
    } while most < 2
  }

  @Test func `writes nothing if nothing changed`() async throws {
    try await sync(service(1...200))
    let database = try directory.database()
    let records = try database.texts("SELECT quote(saved) || json FROM records")
    let index = try database.index()
    today.turn(by: 60)
    let result = try await sync(service(1...200))
    #expect(
      (result.added, result.changed, result.unchanged, result.removedUpstream) == (0, 0, 200, 0))
    #expect(try database.texts("SELECT quote(saved) || json FROM records") == records)
    #expect(try database.index() == index)
    #expect(try database.texts("SELECT count(*) FROM seen") == ["0"])
    #expect(try database.texts("SELECT name FROM checkpoints") == ["complete"])
  }

  @Test func `writes only changed records`() async throws {
    try await sync(service(1...200))
    today.turn(by: 60)
    let result = try await sync(service(1...200, changed: [17, 150]))
    #expect(
      (result.added, result.changed, result.unchanged, result.removedUpstream) == (0, 2, 198, 0))
    let written = try directory.database().texts(
      "SELECT id FROM records WHERE saved = (SELECT max(saved) FROM records)")
    #expect(Set(written) == ["17", "150"])
    #expect(try await store.isIndexSound())
  }

  /// Texts for searches are made ahead only until all records are there.
  @Test(arguments: [1, 8])
  func `what is new or changed after a complete sync is found by its text`(
    jobs: Int
  ) async throws {
    try await sync(service(1...50), jobs: jobs)
    let result = try await sync(service(1...60, changed: [17, 55]), jobs: jobs)
    #expect((result.added, result.changed, result.isComplete) == (10, 1, true))
    #expect(try await store.found("changed 17", of: "notes").count == 1)
    #expect(try await store.found("changed 55", of: "notes").count == 1)
    #expect(try await store.found("changed", of: "notes").count == 2)
    #expect(try await store.isIndexSound())
  }

  @Test(arguments: [true, false])
  func `the first page tells, on request, that a list without a total changed meanwhile`(
    readsAgain: Bool
  ) async throws {
    var sync = try syncing(ShiftingSource(base: service(1...25)))
    sync.readsFirstPageAgain = readsAgain
    let result = await sync.run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(result.isComplete != readsAgain)
    #expect((result.inconclusiveReason?.contains("changed meanwhile") ?? false) == readsAgain)
    #expect(result.removedUpstream == 0 && result.added == 25)
    var steady = try syncing(service(1...25), into: StoreDirectory().store())
    steady.readsFirstPageAgain = readsAgain
    #expect(await steady.run(upTo: nil, jobs: 1, waits: false) { _ in }.isComplete)
  }

  @Test func `a list that ends before its total keeps it, and the age of its last reading`()
    async throws
  {
    let base = service(1...30)
    let short = ScriptedSource<Note>(page: { request throws(SourceError) in
      var page = try await base.page(request)
      page.total = 60
      return page
    })
    let records = RecordStore("notes", in: store, text: Note.text)
    for seconds in [0.0, 600] {
      today.turn(by: seconds)
      #expect(try await sync(short).shortfall?.includes(.sentFewer) == true)
      let coverage = try await store.coverage(of: "notes")
      #expect((coverage.cached, coverage.total, coverage.isComplete) == (30, 60, false))
      #expect(try await records.oldestFetch() == .day(seconds))
      let list = try await records.records.page(PageRequest(limit: 5))
      #expect(list.provenance.fetchedAt == .day(seconds))
      // An answer has no total that the service has been seen not to send.
      let page = try await records.recordsInPlaceOfService(areLast: true)
        .page(PageRequest(limit: 10))
      #expect(page.total == nil)
      #expect(page.warnings.map(\.message) == ["limited to cached records: 30 of 60"])
    }
    // Records that are not sent any more are as old as before.
    today.turn(by: 600)
    try await sync(service(1...40))
    today.turn(by: 600)
    try await sync(short)
    let oldest = try #require(try await records.oldestFetch())
    #expect(oldest < .day(1800))
    try await sync(service(1...40))
    #expect(try await store.coverage(of: "notes").isComplete)
    #expect(try await store.checkpoint(Coverage.totalCheckpoint, of: "notes") == nil)
  }

  /// A service without a total that has other records on its first page each time.
  private struct ShiftingSource: DataSource {
    let base: any DataSource<Note>
    let firstPages = Counter()

    func page(_ request: PageRequest) async throws(SourceError) -> Page<Note> {
      var page = try await base.page(request)
      page.total = nil
      if request.cursor == nil {
        firstPages.add()
        page.records = page.records.map { Note($0.id + (firstPages.value - 1) * 100) }
      }
      return page
    }

    func item(
      _ id: Int, cachePolicy: CachePolicy
    ) async throws(SourceError) -> LookupResult<Note> {
      try await base.item(id, cachePolicy: cachePolicy)
    }
  }

  // MARK: - Resuming

  @Test(
    arguments: ["$.p", "$.r"],
    ["9223372036854775807", "9223372036854775806", "-1", "-9223372036854775808", "1e300"])
  func `starts over if a stored count makes no sense`(count: String, value: String) async throws {
    let base = service(1...95)
    try await sync(base, upTo: 4)
    try directory.database().execute(
      "UPDATE checkpoints SET value = json_set(value, '\(count)', json('\(value)'))")
    for jobs in [1, 4] {
      let result = try await sync(base, upTo: 2, jobs: jobs)
      #expect(result.failure == nil && result.pages == 2)
    }
    let result = try await sync(base, jobs: 4)
    #expect(result.isComplete && result.passed == 95)
  }

  @Test func `resumes at the next page`() async throws {
    let base = service(1...95)
    let first = try await sync(base, upTo: 4)
    #expect((first.added, first.pages, first.isComplete) == (40, 4, false))
    let second = try await sync(base)
    #expect((second.added, second.pages, second.earlierPages) == (55, 6, 4))
    #expect(second.isComplete && second.passed == 95)
    #expect(base.callCount == 10)
    #expect(Set(base.requests).count == 10)
    #expect(try await storedIDs() == Array(1...95))
  }

  @Test(arguments: [1, 4])
  func `records that moved before the place of an interruption make a sync incomplete`(
    jobs: Int
  ) async throws {
    try await sync(service(1...95), upTo: 4)
    today.turn(by: 60)
    // Two fewer before that place, and two more at the end: the total tells nothing.
    let ids = (1...97).filter { $0 != 3 && $0 != 23 }
    let moved = try await sync(service(ids), jobs: jobs)
    #expect(moved.failure == nil && !moved.isComplete && moved.removedUpstream == 0)
    #expect(moved.inconclusiveReason == "the list changed during the sync")
    let whole = try await sync(service(ids), jobs: jobs)
    #expect(whole.isComplete && whole.removedUpstream == 2)
    #expect(try await Set(storedIDs()) == Set(ids))
  }

  @Test func `a pass that resumes later reads its last page again, and no other`() async throws {
    let base = service(1...95)
    try await sync(base, upTo: 4)
    today.turn(by: 60)
    // Another order within the page moves nothing.
    let result = try await sync(
      ReorderingSource(base: base, cursor: base.requests.last?.cursor))
    #expect(result.isComplete && result.pages == 6 && result.earlierPages == 4)
    #expect(base.callCount == 11 && Set(base.requests).count == 10)
  }

  /// Has one of the pages of its base in the reverse order.
  private struct ReorderingSource: DataSource {
    let base: ScriptedSource<Note>
    let cursor: PageCursor?

    func page(_ request: PageRequest) async throws(SourceError) -> Page<Note> {
      var page = try await base.page(request)
      if request.cursor == cursor { page.records.reverse() }
      return page
    }

    func item(
      _ id: Int, cachePolicy: CachePolicy
    ) async throws(SourceError) -> LookupResult<Note> {
      try await base.item(id, cachePolicy: cachePolicy)
    }

    func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
      base.cursor(skipping: count, from: request)
    }
  }

  @Test func `a list and its records are as old as the first page of an interrupted sync`()
    async throws
  {
    let base = service(1...95)
    let records = RecordStore("notes", in: store, text: Note.text)
    var whole = records
    whole.listsAreWhole = true
    for (first, again) in [(Date.day(), Date.day(3600)), (Date.day(3600), Date.day(7200))] {
      try await sync(base, upTo: 4)
      today.turn(by: 3600)
      #expect(try await sync(base).isComplete)
      #expect(try await records.records.page(PageRequest()).provenance.fetchedAt == first)
      #expect(try await whole.records.item(7).provenance.fetchedAt == first)
      // A list may not have all of a record, so that it is as old as its last change.
      #expect(try await records.records.item(7).provenance.fetchedAt == .day())
      let last = try await records.lastSync()
      #expect(last.full == again && last.begun == first)
      #expect(last.words(at: again)?.hasPrefix("just now, begun ") == true)
    }
    #expect(try await sync(base).isComplete)
    #expect(try await records.lastSync().words(at: today.now()) == "just now")
  }

  @Test func `a lookup of what a complete sync has not stored says that no service was asked`()
    async throws
  {
    let records = RecordStore("notes", in: store, text: Note.text)
    #expect(try await sync(service(1...95)).isComplete)
    today.turn(by: 3600)
    let source = ScriptedSource<Note>(
      page: { _ throws(SourceError) in throw .because(.unreachable) },
      item: { _ throws(SourceError) in throw .because(.unsupported) }
    ).lookingUpSynced(in: records, now: today.now)
    #expect(try await source.item(95).item.id == 95)
    let error = await #expect(throws: SourceError.self) { try await source.item(96) }
    #expect(error?.code == .notFound)
    #expect(
      error?.message == "notes record \"96\" not found among the 95 records cached 60 min ago; "
        + "the service was not asked")
    let offline = ScriptedSource<Note>(
      page: { _ throws(SourceError) in throw .because(.unreachable) },
      item: { _ throws(SourceError) in throw .because(.offline) }
    ).lookingUpSynced(in: records, now: today.now)
    // A stored one is left to the store that stands in for the service.
    for (id, code) in [(95, SourceError.Code.offline), (96, .notFound)] {
      let error = await #expect(throws: SourceError.self) { try await offline.item(id) }
      #expect(error?.code == code)
    }
    // A lookup that looks through as many records as a sync has stored proves nothing: there may be others.
    for (capacity, remedy) in [
      (0, Remedy("notes sync", .command)), (95, Remedy("notes sync", .command)),
      (96, Remedy.refresh),
    ] {
      let scanning = ScriptedSource<Note>(
        page: { _ throws(SourceError) in throw .because(.unreachable) },
        item: { _ throws(SourceError) in throw .because(.unsupported) }
      ).lookingUpSynced(in: records, scanning: capacity, now: today.now)
      let error = await #expect(throws: SourceError.self) { try await scanning.item(96) }
      #expect(error?.remedy == remedy, "\(capacity)")
    }
  }

  @Test func `a record is no older than its last change, nor newer than the sync that missed it`()
    async throws
  {
    let plugin = NotesPlugin(over: service(1...1), .liveFirst(freshFor: .seconds(60)))
    let records = plugin.recordStore(in: store)
    try await sync(service(1...30))
    today.turn(by: 3600)
    _ = try await records.save([Note(1, "changed")], at: .day(1800))
    _ = try await sync(service(2...30))
    // A sync that is not complete says nothing of those that it has not come to.
    today.turn(by: 3600)
    try await sync(service(2...30), upTo: 1)
    let ages = [(1, Date.day(1800)), (7, .day(3600)), (30, .day(3600))]
    for (id, date) in ages {
      #expect(try await records.records.item(id).provenance.fetchedAt == date, "\(id)")
    }
    _ = try await records.save([Note(30, "changed")], at: .day(9000))
    #expect(try await records.records.item(30).provenance.fetchedAt == .day(9000))
  }

  @Test(arguments: [1, 4])
  func `keeps the pages before a failure`(jobs: Int) async throws {
    let notes = notebook(95)
    let fault = Fault()
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        let page = try await notes.page(request)
        if page.records.first?.id == 51 { try fault.strike() }
        return page
      }, skip: { notes.cursor(skipping: $0, from: $1) })
    fault.set(.serverError)
    let failed = try await sync(base, jobs: jobs)
    #expect((failed.added, failed.failure?.code) == (50, .serverError))
    // Until a sync ends without any; one that was stopped says nothing of the service.
    #expect(try await store.syncFailure(of: "notes") == failed.failure?.message)
    fault.set(.cancelled)
    // What was read before counts, also if no further page comes.
    let stopped = try await sync(base, jobs: jobs)
    #expect((stopped.failure?.code, stopped.pages, stopped.passed) == (.cancelled, 0, 50))
    #expect(try await store.syncFailure(of: "notes") == failed.failure?.message)
    fault.set(nil)
    let result = try await sync(base, jobs: jobs)
    #expect((result.added, result.earlierPages, result.isComplete) == (45, 5, true))
    #expect(try await store.syncFailure(of: "notes") == nil)
    #expect(try await storedIDs() == Array(1...95))
  }

  @Test func `a sync that fetches nothing has no time of a fetch`() async throws {
    let notes = notebook(5)
    let fault = Fault()
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        try fault.strike()
        return try await notes.page(request)
      }, skip: { notes.cursor(skipping: $0, from: $1) })
    fault.set(.unreachable)
    #expect(try await sync(base).failure?.code == .unreachable)
    #expect(try await store.syncFailure(of: "notes") != nil)
    #expect(try await store.status(of: "notes").fetchedAt == nil)
    fault.set(nil)
    let begun = today.now()
    #expect(try await sync(base).isComplete)
    #expect(try await store.status(of: "notes").fetchedAt == begun)
    today.turn(by: 60)
    fault.set(.unreachable)
    #expect(try await sync(base).failure?.code == .unreachable)
    #expect(try await store.status(of: "notes").fetchedAt == begun)
  }

  @Test func `starts over after a week`() async throws {
    let base = service(1...30)
    try await sync(base, upTo: 1)
    today.turn(by: 8 * 86_400)
    let result = try await sync(base)
    #expect((result.unchanged, result.added, result.earlierPages) == (10, 20, 0))
    #expect(base.callCount == 4)
  }

  @Test func `starts over if its cursor is no longer valid`() async throws {
    try await sync(service(1...30), upTo: 1)
    let notes = notebook(30)
    let other = ScriptedSource<Note> { request throws(SourceError) in
      guard request.cursor == nil else { throw .because(.invalidCursor) }
      return Page(
        try await notes.page(PageRequest(limit: 30)).records, next: nil,
        provenance: Provenance(.live))
    }
    let result = try await sync(other)
    #expect((result.unchanged, result.added, result.isComplete) == (10, 20, true))
    #expect(result.removedUpstream == 0)
  }

  @Test func `starts over if its checkpoint makes no sense`() async throws {
    try await sync(service(1...30), upTo: 1)
    try directory.database().execute("UPDATE checkpoints SET value = '{\"c\":7}'")
    #expect(try await sync(service(1...30)).isComplete)
    #expect(try await storedIDs() == Array(1...30))
  }

  @Test(arguments: [false, true])
  func `counts a record on two pages once`(isProved: Bool) async throws {
    let base = ScriptedSource<Note> { request throws(SourceError) in
      let place = request.cursor?.place ?? 0
      var page = Page<Note>.notes(
        (place * 8 + 1)...(place * 8 + 10), next: place < 4 ? .place(place + 1) : nil)
      if !isProved { page.warnings = [.unproved] }
      return page
    }
    let first = try await sync(base)
    #expect((first.added, first.changed, first.unchanged) == (42, 0, 0))
    let second = try await sync(base)
    #expect((second.added, second.changed, second.unchanged) == (0, 0, 42))
    #expect((second.repeated, second.passed, second.isComplete) == (8, 42, false))
    #expect(second.shortfall?.includes(.repeated) == isProved)
    // A part of it was counted by an earlier run.
    try await sync(base, upTo: 2)
    let resumed = try await sync(base)
    #expect((resumed.earlierPages, resumed.repeated, resumed.passed) == (2, 8, 42))
    #expect(try directory.database().texts("SELECT count(*) FROM seen") == ["0"])
    #expect(try await storedIDs() == Array(1...42))
  }

  @Test func `stops at a service that repeats itself`() async throws {
    let base = ScriptedSource<Note> { request throws(SourceError) in
      .notes(1...10, next: .place((request.cursor?.place ?? 0) + 1))
    }
    let result = try await sync(base)
    #expect(result.failure?.code == .noProgress)
    #expect(base.callCount == 4)
    #expect((result.added, result.unchanged, result.isComplete) == (10, 0, false))
    #expect((result.pages, result.passed) == (3, 10))
    // Further on it would find the same.
    let next = try await sync(base)
    #expect((next.earlierPages, next.unchanged, next.pages) == (0, 10, 3))
    #expect(base.requests.filter { $0.cursor == nil }.count == 2)
    let coverage = try await store.coverage(of: "notes")
    let words = "pagination stopped: 3 consecutive pages had no new records"
    #expect(coverage.shortfall == Shortfall(.noProgress, words) && coverage.gap?.isFinal == true)
    #expect(!coverage.isComplete)
    #expect(try await sync(service(1...30)).isComplete)
    #expect(try await store.coverage(of: "notes").gap == nil)
  }

  @Test func `knows how many records the last complete sync had, also after an interruption`()
    async throws
  {
    #expect(try await sync(service(1...30), upTo: 2).expected == nil)
    #expect(try await sync(service(1...30)).expected == nil)
    #expect(try await sync(service(1...45), upTo: 4).expected == 30)
    #expect(try await sync(service(1...45)).expected == 30)
    #expect(try await sync(service(1...45)).expected == 45)
  }

  // MARK: - Endless sources

  @Test func `continues where the upstream loader stopped, and vice versa`() async throws {
    let base = service(1...1000)
    let plugin = NotesPlugin(over: base, .localFirst, upstream: 10)
    let environment = PluginEnvironment(
      settings: SourceSettings(), transport: TrappingTransport(), store: store, clock: clock,
      now: today.now)
    let upstreamLoader = try #require(try plugin.upstreamLoader(in: environment))
    _ = await upstreamLoader.take(20) { _ in }
    let endless = try syncing(base, isEndless: true)
    let result = await endless.run(upTo: 3, jobs: 2, waits: false) { _ in }
    #expect((result.added, result.pages, result.isComplete) == (30, 3, false))
    _ = await upstreamLoader.take(10) { _ in }
    #expect(try await storedIDs() == Array(1...60))
    #expect(base.callCount <= 7)
  }

  @Test func `reports nothing as removed upstream for an endless source`() async throws {
    let endless = try syncing(service(1...30), isEndless: true)
    let result = await endless.run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect((result.added, result.isComplete, result.inconclusiveReason) == (30, true, nil))
    let again = await endless.run(upTo: 5, jobs: 1, waits: false) { _ in }
    #expect((again.pages, again.isComplete) == (0, true))
  }

  @Test func `does not fall back`() async throws {
    let base = Service(30)
    base.fail(with: .unreachable)
    let result = try await sync(base)
    #expect((result.added, result.failure?.code) == (0, .unreachable))
    #expect(try await store.status(of: "notes").isEmpty)
  }
}
