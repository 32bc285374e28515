import Core
import Foundation
import SourceTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct SyncTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore
  private let clock = ManualClock()
  private let today = Today()
  private let waits = Gauge()

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  private func syncing(
    _ base: any DataSource<Note>, by size: Int = 10, isEndless: Bool = false,
    rate: String? = nil
  ) throws -> any Syncing {
    var policy = NotesPlugin(over: base, .liveFirst(freshFor: .seconds(60))).policy
    policy.syncPageSize = .fixed(size)
    policy.isEndless = isEndless
    policy.rate = rate.map { Setting("NOTES_PACE", .rate, default: $0, about: "How often.") }
    let environment = PluginEnvironment(
      settings: Settings(), transport: TrappingTransport(), store: store, clock: clock,
      now: today.now, observer: waitObserver)
    return try NotesPlugin(service: base, policy: policy).syncing(into: store, in: environment)
  }

  /// Counts the waits for a minute and more.
  private var waitObserver: Observer {
    Observer { [waits] event in
      if case .waiting(let time, _) = event, time >= .seconds(60) { waits.add() }
    }
  }

  @discardableResult
  private func sync(
    _ base: any DataSource<Note>, upTo pages: Int? = nil, jobs: Int = 1
  ) async throws -> SyncResult {
    try await syncing(base).sync(upTo: pages, jobs: jobs, waits: false) { _ in }
  }

  /// Notes with these numbers, in pages that can be addressed; the total is told.
  private func service(
    _ ids: some Sequence<Int>, changed: Set<Int> = []
  ) -> ScriptedSource<Note> {
    ScriptedSource(
      over: BundledSource(
        "notes", items: ids.map { Note($0, changed.contains($0) ? "changed \($0)" : nil) },
        fields: Note.fields))
  }

  private func storedIDs() async throws -> [Int] {
    try await store.found(of: "notes").map { json in
      try JSONDecoder().decode(Note.self, from: Data(json.utf8)).id
    }
  }

  // MARK: - What it does

  @Test(arguments: [1, 2, 8])
  func `stores everything in order, and says what it did`(jobs: Int) async throws {
    let base = service(1...95)
    let log = Mutex<[Int]>([])
    let result = try await syncing(base).sync(upTo: nil, jobs: jobs, waits: false) { result in
      log.withLock { $0.append(result.added) }
    }
    #expect((result.added, result.changed, result.same, result.vanished) == (95, 0, 0, 0))
    #expect((result.pages, result.passed, result.total) == (10, 95, 95))
    #expect(result.isComplete && result.doubt == nil && result.failure == nil)
    #expect(log.withLock(\.self) == Array(stride(from: 10, through: 90, by: 10)) + [95])
    #expect(try await storedIDs() == Array(1...95))
    // As the total is known, nothing is guessed beyond it.
    #expect(base.callCount == 10)
  }

  @Test func `writes nothing where nothing changed`() async throws {
    try await sync(service(1...200))
    let database = try directory.database()
    let records = try database.texts("SELECT quote(saved) || json FROM records")
    let index = try database.index()
    today.turn(by: 60)
    let result = try await sync(service(1...200))
    #expect((result.added, result.changed, result.same, result.vanished) == (0, 0, 200, 0))
    #expect(try database.texts("SELECT quote(saved) || json FROM records") == records)
    #expect(try database.index() == index)
    #expect(try database.texts("SELECT count(*) FROM met") == ["0"])
    #expect(try database.texts("SELECT count(*) FROM places") == ["0"])
  }

  @Test func `writes what changed, and only that`() async throws {
    try await sync(service(1...200))
    today.turn(by: 60)
    let result = try await sync(service(1...200, changed: [17, 150]))
    #expect((result.added, result.changed, result.same, result.vanished) == (0, 2, 198, 0))
    let written = try directory.database().texts(
      "SELECT id FROM records WHERE saved = (SELECT max(saved) FROM records)")
    #expect(Set(written) == ["17", "150"])
    #expect(try await store.isIndexTrue())
  }

  // MARK: - Going on

  @Test func `goes on at the very next page`() async throws {
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
  func `keeps what came before a failure`(jobs: Int) async throws {
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
    fault.set(nil)
    let result = try await sync(base, jobs: jobs)
    #expect((result.added, result.earlierPages, result.isComplete) == (45, 5, true))
    #expect(try await storedIDs() == Array(1...95))
  }

  @Test func `begins anew after a week`() async throws {
    let base = service(1...30)
    try await sync(base, upTo: 1)
    today.turn(by: 8 * 86_400)
    let result = try await sync(base)
    #expect((result.same, result.added, result.earlierPages) == (10, 20, 0))
    #expect(base.callCount == 4)
  }

  @Test func `begins anew where its place is no longer valid`() async throws {
    try await sync(service(1...30), upTo: 1)
    let notes = notebook(30)
    let other = ScriptedSource<Note> { request throws(SourceError) in
      guard request.cursor == nil else { throw .because(.invalidCursor) }
      return Page(
        try await notes.page(PageRequest(limit: 30)).records, next: nil,
        provenance: Provenance(.live))
    }
    let result = try await sync(other)
    #expect((result.same, result.added, result.isComplete) == (10, 20, true))
    #expect(result.vanished == 0)
  }

  @Test func `begins anew where what is written down makes no sense`() async throws {
    try await sync(service(1...30), upTo: 1)
    try directory.database().execute("UPDATE places SET value = '{\"c\":7}'")
    #expect(try await sync(service(1...30)).isComplete)
    #expect(try await storedIDs() == Array(1...30))
  }

  @Test func `is led nowhere by a service that repeats itself`() async throws {
    let base = ScriptedSource<Note> { request throws(SourceError) in
      .notes(1...10, next: .place((request.cursor?.place ?? 0) + 1))
    }
    let result = try await sync(base)
    #expect(result.failure?.code == .stalled)
    #expect(base.callCount == 4)
    #expect((result.added, result.same, result.isComplete) == (10, 20, false))
  }

  // MARK: - What vanished

  @Test func `calls vanished what a complete pass did not meet`() async throws {
    try await sync(service(1...30))
    let gone: Set = [3, 14, 30]
    let rest = (1...30).filter { !gone.contains($0) }
    let partial = try await sync(service(rest), upTo: 2)
    #expect((partial.vanished, partial.isComplete) == (0, false))
    #expect(try await storedIDs().count == 30)
    let complete = try await sync(service(rest))
    #expect((complete.vanished, complete.isComplete) == (3, true))
    #expect(try await storedIDs() == rest)
    let status = try await store.status(of: "notes")
    #expect((status.records, status.vanished) == (27, 3))
    #expect(try await store.faults() == [])
  }

  @Test func `takes it back when the record comes again`() async throws {
    try await sync(service(1...30))
    try await sync(service(2...30))
    let result = try await sync(service(1...30))
    #expect((result.added, result.changed, result.same, result.vanished) == (0, 1, 29, 0))
    #expect(try await storedIDs() == Array(1...30))
    #expect(try await store.status(of: "notes").vanished == 0)
  }

  @Test func `leaves what was deleted as it is`() async throws {
    try await sync(service(1...30))
    _ = try await store.delete(["3", "4"], of: "notes", at: .day())
    let result = try await sync(service(4...30))
    #expect(result.vanished == 3)
    let status = try await store.status(of: "notes")
    #expect((status.records, status.hidden, status.vanished) == (26, 1, 3))
    #expect(try await storedIDs() == Array(5...30))
    #expect(try await store.restore(["3", "4"], of: "notes").count == 2)
    #expect(try await storedIDs() == Array(4...30))
  }

  /// What a service may do so that nobody knows what it no longer has.
  enum Doubt: CaseIterable { case badRow, shrinks, sendsLess, sendsNothing, repeatsRow }

  @Test(arguments: Doubt.allCases)
  func `calls nothing vanished that may be there`(doubt: Doubt) async throws {
    try await sync(service(1...30))
    let rest = service(doubt == .sendsNothing ? 0..<0 : 11..<31)
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        var page = try await rest.page(request)
        switch doubt {
        case .badRow where request.cursor == nil:
          page.unreadable = Unreadable(count: 1, firstReason: "row 3: id is missing")
        case .shrinks where request.cursor == nil: page.total = 21
        case .sendsLess: page.total = 40
        // A row came in front of where the walk was: the last of a page comes again, and one is left out.
        case .repeatsRow where request.cursor != nil && page.records.first?.id == 21:
          page.records[0] = Note(20)
        default: break
        }
        return page
      }, skip: { rest.cursor(skipping: $0, from: $1) })
    let result = try await sync(base)
    #expect(result.isComplete && result.vanished == 0)
    #expect(result.doubt != nil)
    #expect(try await storedIDs().count == 30)
  }

  @Test func `calls nothing vanished that came while it walked`() async throws {
    try await sync(service(1...30))
    let notes = service((1...30).filter { $0 != 7 })
    let store = store
    let today = today
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        if request.cursor != nil {
          // Somebody lists what was put in front of where the walk is.
          let json = Data(#"{"id":99,"title":"note 99"}"#.utf8)
          let entry = StoreEntry(id: "99", json: json) { Folded("note 99") }
          _ = try await store.save(StoreBatch([entry]), of: "notes", at: today.now())
        }
        today.turn(by: 1)
        return try await notes.page(request)
      }, skip: { notes.cursor(skipping: $0, from: $1) })
    let result = try await sync(base)
    #expect((result.vanished, result.doubt) == (1, nil))
    #expect(try await storedIDs() == (1...30).filter { $0 != 7 } + [99])
  }

  @Test func `what was kept of lists before does not bring back what vanished`() async throws {
    let all = service(1...5)
    func listed(_ base: any DataSource<Note>) async throws -> [Int] {
      let plugin = NotesPlugin(over: base, .liveFirst(freshFor: .seconds(86_400)))
      let environment = PluginEnvironment(
        settings: Settings(), transport: TrappingTransport(), store: store, clock: clock,
        now: today.now)
      return try await plugin.source(in: environment).page(PageRequest(limit: 5)).records.map(\.id)
    }
    #expect(try await listed(all) == [1, 2, 3, 4, 5])
    let rest = service([1, 2, 4, 5, 6])
    try await sync(rest)
    #expect(try await listed(rest) == [1, 2, 4, 5, 6])
  }

  @Test func `goes on by pages of another size`() async throws {
    let base = service(1...60)
    try await sync(base, upTo: 2)
    let result = try await syncing(base, by: 20).sync(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect((result.added, result.pages, result.earlierPages) == (40, 2, 2))
    #expect(result.isComplete && result.doubt == nil)
  }

  // MARK: - Politeness

  @Test func `waits a while where the service does not say until when`() async throws {
    let notes = notebook(20)
    let calls = Gauge()
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        calls.add()
        if calls.value <= 2 { throw .because(.rateLimited) }
        return try await notes.page(request)
      }, skip: { notes.cursor(skipping: $0, from: $1) })
    let patient = try syncing(base)
    async let result = patient.sync(upTo: nil, jobs: 1, waits: true) { _ in }
    for (number, wait) in [60, 120].enumerated() {
      await waits.reaches(number + 1)
      await clock.sleepers(atLeast: 1)
      #expect(clock.untilNextWake == .seconds(wait))
      clock.advance(by: .seconds(wait))
    }
    #expect(await result.added == 20)
    let impatient = await patient.sync(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(impatient.failure == nil)
  }

  @Test func `ends when no more may be asked for, and says when it may`() async throws {
    let base = service(1...95)
    let bounded = try syncing(base, rate: "3/h")
    let result = await bounded.sync(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect((result.added, result.failure?.code) == (30, .rateLimited))
    #expect(result.failure?.retryAfter == .seconds(3600))
    #expect(base.callCount == 3)
  }

  @Test(arguments: [1, 8])
  func `waits where that is wanted, and never asks more often`(jobs: Int) async throws {
    let base = service(1...95)
    let bounded = try syncing(base, rate: "3/h")
    let (clock, today, waits) = (clock, today, waits)
    let driver = Task {
      for hour in 1... {
        await waits.reaches(hour)
        await clock.sleepers(atLeast: 1)
        guard !Task.isCancelled else { return }
        #expect(base.callCount <= hour * 3)
        clock.advance(by: .seconds(3600))
        today.turn(by: 3600)
      }
    }
    let all = await bounded.sync(upTo: nil, jobs: jobs, waits: true) { _ in }
    driver.cancel()
    await driver.value
    #expect((all.added, all.isComplete) == (95, true))
    // Of several at a time a later page may get the last turn; it is asked for again in its own.
    #expect(jobs == 1 ? base.callCount == 10 : base.callCount >= 10)
  }

  @Test func `never has more in flight than it was told`() async throws {
    let gate = Gate()
    let notes = notebook(1000)
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        if request.cursor != nil { try await gate.pass() }
        return try await notes.page(request)
      }, skip: { notes.cursor(skipping: $0, from: $1) })
    async let result = sync(base, jobs: 8)
    await gate.holds(8)
    #expect(base.callCount == 9)
    gate.open()
    #expect(try await result.added == 1000)
    #expect(base.mostInFlight == 8)
    #expect(try await storedIDs() == Array(1...1000))
  }

  @Test func `eight at a time take an eighth of the time`() async throws {
    let latency = Duration.milliseconds(20)
    func time(jobs: Int) async throws -> Duration {
      let clock = ManualClock()
      let notes = notebook(2000)
      let base = ScriptedSource<Note>(
        page: { request throws(SourceError) in
          do { try await clock.sleep(for: latency) } catch { throw .cancelled }
          return try await notes.page(request)
        }, skip: { notes.cursor(skipping: $0, from: $1) })
      let syncing = try syncing(base)
      async let result = syncing.sync(upTo: nil, jobs: jobs, waits: false) { _ in }
      var ended = 0
      while ended < 200 {
        // Every page that could be asked for by now is; then it is a while later.
        let asked = ended == 0 ? 1 : min(jobs, 200 - ended)
        await clock.sleepers(atLeast: asked)
        clock.advance(by: latency)
        ended += asked
        await base.ends(atLeast: ended)
      }
      #expect(await result.same + result.added == 2000)
      return clock.now.offset
    }
    let one = try await time(jobs: 1)
    #expect(one == latency * 200)
    let eight = try await time(jobs: 8)
    #expect(eight == latency * 26)
  }

  // MARK: - Collections without an end

  @Test func `goes on where the intake ended, and the intake behind it`() async throws {
    let base = service(1...1000)
    let plugin = NotesPlugin(over: base, .localFirst, upstream: 10)
    let environment = PluginEnvironment(
      settings: Settings(), transport: TrappingTransport(), store: store, clock: clock,
      now: today.now)
    let intake = try #require(try plugin.intake(in: environment))
    _ = await intake.take(20) { _ in }
    let endless = try syncing(base, isEndless: true)
    let result = await endless.sync(upTo: 3, jobs: 2, waits: false) { _ in }
    #expect((result.added, result.pages, result.isComplete) == (30, 3, false))
    _ = await intake.take(10) { _ in }
    #expect(try await storedIDs() == Array(1...60))
    #expect(base.callCount <= 7)
  }

  @Test func `calls nothing vanished where there is no end`() async throws {
    let endless = try syncing(service(1...30), isEndless: true)
    let result = await endless.sync(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect((result.added, result.isComplete, result.doubt) == (30, true, nil))
    let again = await endless.sync(upTo: 5, jobs: 1, waits: false) { _ in }
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
