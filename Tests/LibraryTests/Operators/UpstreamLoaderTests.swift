import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct IntakeTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  private func upstreamLoader(
    _ base: any DataSource<Note>, by size: Int = 10, _ cachePolicy: CachePolicy = .normal
  ) throws -> UpstreamLoader<Note> {
    let plugin = NotesPlugin(over: base, .localFirst, upstream: size)
    let environment = PluginEnvironment(
      settings: SourceSettings(), transport: TrappingTransport(), store: store,
      clock: ManualClock(),
      now: { .day() })
    return try #require(try plugin.upstreamLoader(in: environment, cachePolicy: cachePolicy))
  }

  @Test func `fetches whole pages until it has enough new records`() async throws {
    let service = Service(100)
    var progress: [Int] = []
    let result = try await upstreamLoader(service).take(25) { progress.append($0) }
    #expect((result.added, result.pages) == (30, 3))
    #expect(progress == [10, 20, 30])
    #expect(result.end == nil && result.failure == nil)
    #expect(result.provenance?.endpoint == "https://notes.test/api")
    #expect(try await store.status(of: "notes").records == 30)
    _ = try await upstreamLoader(service).take(1) { _ in }
    #expect(Set(service.requests).count == 4)
  }

  @Test func `ends with the service and sends no more requests`() async throws {
    let service = Service(25)
    let result = try await upstreamLoader(service).take(100) { _ in }
    #expect((result.added, result.end) == (25, .exhausted))
    let again = try await upstreamLoader(service).take(100) { _ in }
    #expect((again.added, again.pages, again.end) == (0, 0, .exhausted))
    #expect(service.callCount == 3)
  }

  @Test(arguments: [SourceError.Code.timedOut, .cancelled, .rateLimited])
  func `keeps fetched records when the service fails`(code: SourceError.Code) async throws {
    let base = ScriptedSource<Note>(pages: [
      .success(.notes(1...10, next: .place(1))), .failure(.because(code)),
    ])
    let result = try await upstreamLoader(base).take(100) { _ in }
    #expect((result.added, result.failure?.code, result.end) == (10, code, nil))
    #expect(try await store.found(of: "notes").count == 10)
  }

  @Test func `does not advance if no row can be read`() async throws {
    var unread = Page<Note>.notes([], next: .place(2))
    unread.unreadable = UnreadableRows(count: 10, firstReason: "row 1: id is missing")
    let base = ScriptedSource<Note>(pages: [
      .success(.notes(1...10, next: .place(1))), .success(unread),
      .success(.notes(11...20, next: .place(2))),
    ])
    let result = try await upstreamLoader(base).take(100) { _ in }
    #expect((result.added, result.failure?.code) == (10, .malformed))
    #expect(result.failure?.message == "none of 10 rows could be read (row 1: id is missing)")
    _ = try await upstreamLoader(base).take(10) { _ in }
    #expect(base.requests[1] == base.requests[2])
    #expect(try await store.found(of: "notes").count == 20)
  }

  @Test func `skips a page whose only row cannot be read`() async throws {
    var unread = Page<Note>.notes([], next: .place(1))
    unread.unreadable = UnreadableRows(count: 1, firstReason: "row 1: id is missing")
    let base = ScriptedSource<Note>(pages: [.success(unread), .success(.notes([2]))])
    let result = try await upstreamLoader(base, by: 1).take(1) { _ in }
    #expect((result.added, result.unreadable.count, result.failure == nil) == (1, 1, true))
  }

  @Test func `gives up after ten pages in a row without new records`() async throws {
    let base = ScriptedSource<Note> { _ throws(SourceError) in .notes(1...10, next: .place(1)) }
    let result = try await upstreamLoader(base).take(100) { _ in }
    #expect((result.added, result.pages, result.end) == (10, 11, .nothingNew(pages: 10)))
  }

  @Test func `fails if the page cannot be cached, and fetches it again`() async throws {
    let service = Service(100)
    _ = try await upstreamLoader(service).take(10) { _ in }
    let database = try directory.database()
    try database.execute(
      """
      CREATE TRIGGER refuse BEFORE INSERT ON records
      BEGIN SELECT raise(ABORT, 'refused by a test'); END
      """)
    let result = try await upstreamLoader(service).take(10) { _ in }
    #expect((result.added, result.failure?.code) == (0, .storage))
    try database.execute("DROP TRIGGER refuse")
    #expect(try await upstreamLoader(service).take(10) { _ in }.added == 10)
    #expect(service.requests[1] == service.requests[2])
    #expect(try await store.found(of: "notes").count == 20)
  }

  @Test func `sends nothing in offline mode, and is nil without a store`() async throws {
    let service = Service(100)
    let result = try await upstreamLoader(service, .offline).take(10) { _ in }
    #expect((result.failure?.code, service.callCount) == (.offline, 0))
    let plugin = NotesPlugin(over: service, .localFirst)
    let environment = PluginEnvironment(settings: SourceSettings(), transport: TrappingTransport())
    #expect(try plugin.upstreamLoader(in: environment) == nil)
  }

  // MARK: - Reading ahead

  /// Notes in pages whose cursors are predictable; all pages but the first wait for the gate.
  private func service(
    _ ids: some Sequence<Int>, heldBy gate: Gate? = nil, failingAfter last: Int? = nil
  ) -> ScriptedSource<Note> {
    let notes = BundledSource("notes", items: ids.map { Note($0) }, fields: Note.fields)
    return ScriptedSource(
      page: { request throws(SourceError) in
        if request.cursor != nil, let gate { try await gate.pass() }
        let page = try await notes.page(request)
        if let last, let first = page.records.first, first.id > last { throw .because(.timedOut) }
        return page
      },
      skip: { count, request in notes.cursor(skipping: count, from: request) })
  }

  /// Stores notes of another collection.
  private func know(_ ids: ClosedRange<Int>) async {
    let recordStore = RecordStore<Note>("notes", in: store, text: Note.text)
    let other = UpstreamLoader(
      base: service(ids), recordStore: recordStore, size: 8, collection: "other", now: { .day() })
    #expect(await other.take(ids.count) { _ in }.added == ids.count)
  }

  private func storedIDs() async throws -> [Int] {
    try await store.found(of: "notes").map { json in
      try JSONDecoder().decode(Note.self, from: Data(json.utf8)).id
    }
  }

  @Test func `fetches several pages at once and stores them in order`() async throws {
    let gate = Gate()
    let base = service(1...200, heldBy: gate)
    async let result = try upstreamLoader(base).take(100, jobs: 4) { _ in }
    await gate.holds(4)
    gate.open()
    #expect(try await (result.added, result.pages, result.failure) == (100, 10, nil))
    #expect(base.mostInFlight == 4)
    #expect(try await storedIDs() == Array(1...100))
  }

  @Test(arguments: [1, 2, 8])
  func `requests no page that may not be needed`(jobs: Int) async throws {
    let base = service(1...200)
    let result = try await upstreamLoader(base).take(25, jobs: jobs) { _ in }
    #expect((result.added, result.pages, base.callCount) == (30, 3, 3))
    _ = try await upstreamLoader(base).take(20, jobs: jobs) { _ in }
    #expect(Set(base.requests).count == 5 && base.callCount == 5)
    #expect(try await storedIDs() == Array(1...50))
  }

  @Test(arguments: [1, 4])
  func `goes on for records that are known already`(jobs: Int) async throws {
    await know(1...25)
    let result = try await upstreamLoader(service(1...200)).take(40, jobs: jobs) { _ in }
    #expect((result.added, result.pages) == (45, 7))
    #expect(try await storedIDs() == Array(1...70))
  }

  @Test func `keeps the pages before a failure and goes on there`() async throws {
    let result = try await upstreamLoader(service(1...200, failingAfter: 40))
      .take(100, jobs: 4) { _ in }
    #expect((result.added, result.failure?.code) == (40, .timedOut))
    #expect(try await storedIDs() == Array(1...40))
    _ = try await upstreamLoader(service(1...200)).take(60, jobs: 4) { _ in }
    #expect(try await storedIDs() == Array(1...100))
  }

  @Test func `keeps stored pages when cancelled, and resumes after them`() async throws {
    let base = service(1...200, heldBy: Gate())
    let upstreamLoader = try upstreamLoader(base)
    let isStored = Counter()
    let task = Task { await upstreamLoader.take(100, jobs: 4) { _ in isStored.add() } }
    await isStored.reaches(1)
    task.cancel()
    let result = await task.value
    #expect((result.added, result.failure?.code) == (10, .cancelled))
    #expect(try await storedIDs() == Array(1...10))
    _ = try await self.upstreamLoader(service(1...200)).take(20, jobs: 4) { _ in }
    #expect(try await storedIDs() == Array(1...30))
  }

  @Test func `stops after ten pages without new records, fetched at once`() async throws {
    await know(1...200)
    let base = service(1...200)
    let result = try await upstreamLoader(base).take(200, jobs: 4) { _ in }
    #expect((result.added, result.end) == (0, .nothingNew(pages: 10)))
  }

  @Test func `two at the same time skip nothing and store no record twice`() async throws {
    let stores = [store, directory.store()]
    let base = service(1...300)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for store in stores {
        let plugin = NotesPlugin(over: base, .localFirst, upstream: 10)
        let environment = PluginEnvironment(
          settings: SourceSettings(), transport: TrappingTransport(), store: store,
          clock: ManualClock(),
          now: { .day() })
        let upstreamLoader = try #require(try plugin.upstreamLoader(in: environment))
        group.addTask {
          let result = await upstreamLoader.take(80, jobs: 4) { _ in }
          #expect(result.added >= 80 && result.failure == nil)
        }
      }
      try await group.waitForAll()
    }
    let ids = try await storedIDs()
    #expect(ids.count >= 160 && Set(ids) == Set(1...ids.count))
  }
}
