import AggregatorKit
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorAPI
@testable import AggregatorProgramTesting
@testable import AggregatorSync

/// The syncs of servers, two of which share a store.
@Suite(.timeLimit(.minutes(10))) struct SyncJobsTests {
  /// A source whose sync ends when it is told to, or is cancelled.
  private final class Held: Sendable {
    let isReleased = Mutex(false)
    let count = Mutex(0)

    var source: MadeUpSource {
      var source = MadeUpSource(name: "held")
      source.syncing = { [self] progress in
        count.withLock { $0 += 1 }
        var result = SyncResult()
        progress(result)
        while !isReleased.withLock(\.self) {
          guard !Task.isCancelled else {
            result.failure = .cancelled
            return result
          }
          await Task.yield()
        }
        return result
      }
      return source
    }
  }

  private let clock = ManualClock()
  private let store = InMemoryStore()

  private var now: @Sendable () -> Date {
    { [clock] in Date(timeIntervalSince1970: clock.now.offset / .seconds(1)) }
  }

  private func server() -> SyncJobs {
    SyncJobs(
      in: PluginEnvironment(
        settings: SourceSettings([:]), transport: LongTimeoutTransport(), store: store,
        clock: clock,
        now: now))
  }

  /// The state of the job, once it is one of `states`; each look lets the time go on if `isPassing`.
  private func state(
    _ server: SyncJobs, is states: SyncJob.State..., isPassing: Bool = true
  ) async -> SyncJob.State? {
    while true {
      let (jobs, time) = await server.all()
      if let state = jobs["held"]?.state(at: time), states.contains(state) { return state }
      if isPassing { clock.advance(by: .milliseconds(200)) }
      await Task.yield()
    }
  }

  @Test func `servers that share a store run one sync of a source`() async throws {
    let (held, a, b) = (Held(), server(), server())
    await a.start(held.source, pages: nil)
    await b.start(held.source, pages: nil)
    await a.start(held.source, pages: nil)
    #expect(await state(b, is: .running) == .running)
    held.isReleased.withLock { $0 = true }
    #expect(await state(a, is: .done) == .done)
    #expect(await state(b, is: .done) == .done)
    #expect(held.count.withLock(\.self) == 1)
  }

  @Test func `a job expects as many records as the last complete sync of any program had`()
    async throws
  {
    var source = MadeUpSource(name: "held")
    source.syncing = { progress in
      var result = SyncResult()
      result.expected = 20_000
      progress(result)
      return result
    }
    let server = server()
    await server.start(source, pages: nil)
    #expect(await state(server, is: .done) == .done)
    #expect(await server.all().jobs["held"]?.expected == 20_000)
  }

  @Test func `a sync that has not come to its end says so, and why`() {
    func served(_ state: SyncJob.State, at seconds: Int, _ result: JSON? = nil) -> [String?] {
      let start = Duration.seconds(86_400)
      var job = SyncJob(
        id: "1", worker: "w", startedAt: Timestamp(start),
        updatedAt: Timestamp(start + .seconds(3)), state: state,
        result: result ?? ["records": 20, "added": 2, "changed": 0, "removedUpstream": 1])
      job.failure = SyncJob.Failure(code: "rejected", message: "refused")
      let sync = job.served(at: start + .seconds(seconds))
      #expect(sync.startedAt.iso8601 == "1970-01-02T00:00:00Z")
      #expect(sync.counts == (result == nil ? [20, 2, 0, 1] : [0, 0, 0, 0]))
      return [sync.outcome.rawValue, sync.duration?.text, sync.reason]
    }
    #expect(served(.running, at: 4) == ["running", nil, nil])
    #expect(
      served(.running, at: 60) == ["interrupted", "3 s", "the server that ran the sync has ended"])
    #expect(served(.done, at: 60) == ["incomplete", "3 s", nil])
    #expect(served(.done, at: 60, ["complete": true]) == ["complete", "3 s", nil])
    let warnings: JSON = [
      ["code": "schemaChanged", "message": "new"],
      ["code": "incomplete", "message": "1 is missing"],
    ]
    #expect(
      served(.done, at: 60, ["warnings": warnings]) == ["incomplete", "3 s", "1 is missing"])
    // Whatever its kind, as long as records may be missing for it.
    let repeated: JSON = [["code": "repeated", "message": "twice"]]
    #expect(served(.done, at: 60, ["warnings": repeated]) == ["incomplete", "3 s", "twice"])
    // That nothing shows the end of the list is no failure, also of one before another.
    let unproved: JSON = [["code": "unproved", "message": "maybe more"]]
    #expect(served(.done, at: 60, ["warnings": unproved]) == ["ended", "3 s", "maybe more"])
    let job = SyncJob(
      id: "1", worker: "w", startedAt: Timestamp(.zero), updatedAt: Timestamp(.zero), state: .done,
      result: ["records": 20, "pages": 1, "warnings": unproved])
    #expect(job.asEarlier.map { $0.served(at: .zero).outcome } == [.ended])
    #expect(job.asEarlier.first?.result["pages"] == nil)
    #expect(served(.failed, at: 60) == ["failed", "3 s", "refused"])
    #expect(served(.cancelled, at: 60) == ["stopped", "3 s", "the sync was stopped"])
  }

  @Test func `the time until a retry is what is left of it`() async {
    var source = MadeUpSource(name: "held")
    source.syncing = { _ in
      var result = SyncResult()
      result.failure = SourceError(
        .circuitOpen, "no network; paused", remedy: "retry in 25 s", retryAfter: .seconds(25))
      return result
    }
    let a = server()
    await a.start(source, pages: nil)
    #expect(await state(a, is: .failed, isPassing: false) == .failed)
    func hint() async -> JSON? {
      let (jobs, time) = await a.all()
      let error = jobs["held"]?.object(of: "held", at: time)["error"]
      #expect(error?["message"] == "no network; paused")
      return error?["hint"]
    }
    #expect(await hint() == "try again in 25 s")
    clock.advance(by: .seconds(20))
    #expect(await hint() == "try again in 5 s")
    clock.advance(by: .seconds(6))
    #expect(await hint() == .some(.null))
  }

  @Test func `the last ten are kept, the latest first`() async {
    let (held, a) = (Held(), server())
    let api = API(sources: [held.source], syncs: a, now: now)
    #expect(await api.lastSyncs(of: held.source).isEmpty)
    var job: SyncJob?
    for number in 0..<12 {
      let time = Timestamp(.seconds(number))
      var next = SyncJob(
        id: "\(number)", worker: "w", startedAt: time, updatedAt: time, state: .cancelled)
      next.earlier = job?.asEarlier
      job = next
    }
    let shared = SharedState(of: "serve", in: store, now: now).shared("syncs", [String: SyncJob]())
    await shared.update { [job] jobs in jobs["held"] = job }
    #expect(await api.lastSyncs(of: held.source).count == 10)
    held.isReleased.withLock { $0 = true }
    await a.start(held.source, pages: nil)
    #expect(await state(a, is: .done) == .done)
    let syncs = await api.lastSyncs(of: held.source)
    #expect(syncs.map(\.outcome) == [.incomplete] + Array(repeating: .stopped, count: 9))
    #expect(syncs[1].startedAt.timeIntervalSince1970 == 11)
  }

  @Test func `any of them stops it`() async throws {
    let (held, a, b) = (Held(), server(), server())
    #expect(await !b.cancel(held.source))
    await a.start(held.source, pages: nil)
    #expect(await b.cancel(held.source))
    #expect(await state(b, is: .cancelled) == .cancelled)
    #expect(await state(a, is: .cancelled) == .cancelled)
    #expect(await !a.cancel(held.source))
    // The next one begins.
    held.isReleased.withLock { $0 = true }
    await b.start(held.source, pages: nil)
    #expect(await state(a, is: .done) == .done)
  }

  @Test(arguments: [true, false])
  func `no sync of a source begins beside its removal, or after it`(isRemoved: Bool) async throws {
    let (held, a, b) = (Held(), server(), server())
    let source = held.source
    // As "Sync all" does with the sources that it has found before.
    let served = Mutex<API?>(nil)
    let isFirst = Mutex(true)
    let adding = SourceAdding(
      Removing {
        guard
          isFirst.withLock({ isFirst in
            defer { isFirst = false }
            return isFirst
          })
        else { throw Problem.unknownPath }
        // A second click, which is refused, does not allow them either.
        let api = served.withLock(\.self)
        await #expect(throws: Problem.self) { try await api?.remove(source) }
        await a.start(source, pages: nil)
        guard isRemoved else { throw SourceError(.storage, "the disk is full") }
      })
    var api = API(sources: [source], adding: adding, syncs: a, now: now)
    api.changes = { _ in [SourceChange("held", nil)] }
    served.withLock { [api] in $0 = api }
    await a.start(source, pages: nil)
    // One that is running stays, and the source with it.
    await #expect(throws: Problem.self) { try await api.remove(source) }
    held.isReleased.withLock { $0 = true }
    // As it is saved.
    #expect(await state(b, is: .done) == .done)
    let last = await b.all().jobs["held"]?.id
    var failure: (any Error)?
    do { try await api.remove(source) } catch { failure = error }
    #expect((failure == nil) == isRemoved, "\(String(describing: failure))")
    #expect(await b.all().jobs["held"]?.id == last)
    if isRemoved {
      await a.start(source, pages: nil)
      #expect(await b.all().jobs["held"]?.id == last)
      // Another source of its name, which is added later, syncs.
      api.changes = { _ in [SourceChange("held", source)] }
      api.refresh()
    }
    while held.count.withLock(\.self) < 2 {
      await a.start(source, pages: nil)
      await Task.yield()
    }
    #expect(await state(a, is: .done) == .done)
  }

  @Test func `who leaves does not stop it, and who comes later follows it`() async throws {
    let (held, a, b) = (Held(), server(), server())
    await a.start(held.source, pages: nil)
    for await event in a.events(of: held.source) {
      #expect(event.name == "progress")
      break
    }
    let others = [a, b].map { server in
      Task {
        var names: [String?] = []
        for await event in server.events(of: held.source) { names.append(event.name) }
        return names
      }
    }
    #expect(await state(a, is: .running) == .running)
    held.isReleased.withLock { $0 = true }
    #expect(await state(b, is: .done) == .done)
    let passing = Task {
      while !Task.isCancelled {
        clock.advance(by: .milliseconds(200))
        await Task.yield()
      }
    }
    for other in others { #expect(await other.value.last == "done") }
    passing.cancel()
    for await event in b.events(of: MadeUpSource(name: "other")) { Issue.record("\(event)") }
  }

  @Test func `a sync of this server is not interrupted, however long it takes`() async throws {
    let (held, a) = (Held(), server())
    await a.start(held.source, pages: nil)
    let states = Task {
      var names: [String?] = []
      for await event in a.events(of: held.source) { names.append(event.name) }
      return names
    }
    // Nothing is saved meanwhile: the clock goes on at once.
    clock.advance(by: SyncJobs.lease * 3)
    #expect(await state(a, is: .running, .interrupted, isPassing: false) == .running)
    held.isReleased.withLock { $0 = true }
    let passing = Task {
      while !Task.isCancelled {
        clock.advance(by: .milliseconds(200))
        await Task.yield()
      }
    }
    #expect(await states.value.last == "done")
    passing.cancel()
  }

  @Test func `a sync that ends leaves the one that has taken its place`() async throws {
    final class Token: Sendable {}
    let (first, second, a) = (Held(), Held(), server())
    /// Starts the first one; the token is gone once nothing of the sync is left.
    func startFirst(_ token: Token) async {
      var source = first.source
      let syncing = source.syncing
      source.syncing = { progress in
        defer { withExtendedLifetime(token) {} }
        return await syncing(progress)
      }
      await a.start(source, pages: nil)
    }
    var token: Token? = Token()
    weak let isLeft = token
    if let token { await startFirst(token) }
    token = nil
    let shared = SharedState(of: "serve", in: store, now: now).shared("syncs", [String: SyncJob]())
    await shared.update { jobs in jobs["held"] = nil }
    await a.start(second.source, pages: nil)
    first.isReleased.withLock { $0 = true }
    while isLeft != nil { await Task.yield() }
    #expect(await state(a, is: .running, .done, isPassing: false) == .running)
    #expect(await a.cancel(second.source))
    #expect(await state(a, is: .cancelled, .done) == .cancelled)
  }

  /// A server that has noticed these changes of its sources.
  private func api(
    _ sources: [any ServedSource], _ syncs: SyncJobs, after changes: [SourceChange]
  ) -> API {
    var api = API(sources: sources, syncs: syncs, now: now)
    api.changes = { _ in changes }
    api.refresh()
    return api
  }

  @Test func `a server that notices a source leaves the syncs of the others`() async {
    let (held, a, b) = (Held(), server(), server())
    var source = held.source
    source.scope = "x"
    await a.start(source, pages: nil)
    let late = api([], b, after: [SourceChange("held", source)])
    #expect(await late.lastSyncs(of: source).map(\.outcome) == [.running])
    held.isReleased.withLock { $0 = true }
    // As it is saved.
    #expect(await state(b, is: .cancelled, .done) == .done)
    #expect(await late.lastSyncs(of: source).map(\.outcome) == [.incomplete])
    _ = api([], b, after: [SourceChange("held", source)])
    #expect(await late.lastSyncs(of: source).count == 1)
  }

  @Test func `a server ends its sync of a source that another program has removed`() async {
    let (held, a, b) = (Held(), server(), server())
    let source = held.source
    await a.start(source, pages: nil)
    _ = api([source], a, after: [SourceChange("held", nil)])
    // As it is saved.
    #expect(await state(b, is: .cancelled, .done) == .cancelled)
    held.isReleased.withLock { $0 = true }
    // As "Sync all" does with the sources that it has found before.
    await a.start(source, pages: nil)
    #expect(held.count.withLock(\.self) == 1)
    #expect(await b.all().jobs["held"]?.state == .cancelled)
    _ = api([], a, after: [SourceChange("held", source)])
    await a.start(source, pages: nil)
    #expect(await state(a, is: .done) == .done)
  }

  @Test func `another source of its name has none of the syncs of a removed one`() async throws {
    let (first, second, a, b) = (Held(), Held(), server(), server())
    var (old, new) = (first.source, second.source)
    (old.scope, new.scope) = ("x", "y")
    await a.start(old, pages: nil)
    // The server that does not run it, and has not noticed the time between.
    let other = api([old], b, after: [SourceChange("held", new)])
    #expect(await other.lastSyncs(of: new).isEmpty)
    #expect(await !b.cancel(new))
    #expect(await b.refuse(new), "nothing keeps it from being removed")
    b.allow("held")
    await b.start(new, pages: nil)
    #expect(await other.lastSyncs(of: new).map(\.outcome) == [.running])
    // The one that runs it: its sync ends, and not that of the other source.
    _ = api([old], a, after: [SourceChange("held", new)])
    second.isReleased.withLock { $0 = true }
    #expect(await state(b, is: .cancelled, .done) == .done)
    #expect(await other.lastSyncs(of: new).count == 1)
    #expect(await other.lastSyncs(of: old).isEmpty)
  }

  @Test func `a source that is replaced while it is removed syncs`() async throws {
    let (held, a) = (Held(), server())
    var (old, new) = (held.source, held.source)
    (old.scope, new.scope) = ("x", "y")
    held.isReleased.withLock { $0 = true }
    var api = API(sources: [old], adding: SourceAdding(Removing {}), syncs: a, now: now)
    api.changes = { [new] _ in [SourceChange("held", new)] }
    try await api.remove(old)
    await a.start(new, pages: nil)
    try #require(await a.all().jobs["held"] != nil)
    #expect(await state(a, is: .done) == .done)
  }

  @Test func `a job that an older version has saved is one of any source of its name`() throws {
    let text = """
      {"id":"1","worker":"w","startedAt":0,"updatedAt":0,"state":"done","result":{},"isCancelled":false}
      """
    let job = try JSONDecoder().decode(SyncJob.self, from: Data(text.utf8))
    var source = MadeUpSource(name: "held")
    #expect(["held": job][source]?.id == "1")
    source.scope = "x"
    #expect(["held": job][source]?.id == "1")
  }

  @Test func `a sync knows how many records the last complete one had`() async throws {
    var source = MadeUpSource(name: "held")
    let a = server()
    func expected(after result: SyncResult) async throws -> JSON? {
      source.syncing = { _ in result }
      await a.start(source, pages: nil)
      _ = await state(a, is: .done, .failed)
      let (jobs, time) = await a.all()
      return jobs["held"]?.object(of: "held", at: time)["expected"]
    }
    var whole = SyncResult()
    whole.passed = 7
    whole.isComplete = true
    var failed = SyncResult()
    failed.failure = SourceError(.unreachable, "no network")
    #expect(try await expected(after: whole) == JSON.null)
    #expect(try await expected(after: failed) == JSON.integer(7))
    #expect(try await expected(after: failed) == JSON.integer(7))
  }

  @Test func `a sync says what it waits for, as the command line does`() async throws {
    let held = Held()
    var source = held.source
    let syncing = source.syncing
    source.syncing = { progress in
      Observer.current(.waiting(.seconds(12), reason: "rate limit 1/s"))
      return await syncing(progress)
    }
    let a = server()
    func words() async -> JSON? {
      let (jobs, time) = await a.all()
      return jobs["held"]?.object(of: "held", at: time)["waiting"]
    }
    await a.start(source, pages: nil)
    while held.count.withLock(\.self) == 0 { await Task.yield() }
    #expect(await words() == "rate limit 1/s: waiting 12 s")
    let (jobs, time) = await a.all()
    #expect(jobs["held"]?.object(of: "held", at: time)["waitingUntil"]?.string != nil)
    clock.advance(by: .seconds(9))
    #expect(await words() == "rate limit 1/s: waiting 3 s")
    clock.advance(by: .milliseconds(3500))
    #expect(await words() == "rate limit 1/s")
    clock.advance(by: .seconds(1))
    #expect(await words() == JSON.null)
    held.isReleased.withLock { $0 = true }
    #expect(await state(a, is: .done) == .done)
    #expect(await words() == JSON.null)
  }

  @Test func `a sync that failed says what helps`() async throws {
    var source = MadeUpSource(name: "held")
    source.syncing = { _ in
      var result = SyncResult()
      result.failure = SourceError(
        .invalidKey, "the key is wrong", remedy: "get another one at https://keys.invalid/new")
      return result
    }
    let a = server()
    await a.start(source, pages: nil)
    #expect(await state(a, is: .failed) == .failed)
    let (jobs, time) = await a.all()
    let error = try #require(jobs["held"]?.object(of: "held", at: time)["error"])
    #expect(error["message"] == "the key is wrong")
    #expect(error["hint"] == "get another one at https://keys.invalid/new")
    for await event in a.events(of: source) {
      #expect(event.name == "error")
      #expect(JSONText(Data(event.data.utf8)).flatMap { JSON($0)["hint"] } == error["hint"])
    }
  }

  @Test func `a sync of a process of this machine is interrupted soon after its end`() throws {
    func state(_ worker: String, after silence: Int) -> SyncJob.State {
      SyncJob(
        id: "1", worker: worker, startedAt: Timestamp(.zero), updatedAt: Timestamp(.zero)
      ).state(at: .seconds(silence))
    }
    let host = try #require(SyncWorker.name.split(separator: ":").first)
    // No system has a process of this number.
    let ended = "\(host):\(Int32.max)"
    #expect(state(ended, after: 3) == .running && state(ended, after: 4) == .interrupted)
    for worker in [SyncWorker.name, "elsewhere:\(Int32.max)", "\(host):x", "\(host):-1", "w"] {
      #expect(state(worker, after: 19) == .running, "\(worker)")
      #expect(state(worker, after: 21) == .interrupted, "\(worker)")
    }
    let job = SyncJob(
      id: "1", worker: ended, startedAt: Timestamp(.zero), updatedAt: Timestamp(.zero))
    #expect(
      job.object(of: "held", at: .seconds(4))["error"]?["hint"]
        == "start the sync again to resume it")
  }

  @Test func `a server that ends interrupts its syncs, as does one that is killed`() async {
    let (held, a, b) = (Held(), server(), server())
    await a.start(held.source, pages: nil)
    await a.stop()
    #expect(await state(b, is: .running, .interrupted) == .interrupted)
    // As a process that was killed leaves it.
    let time = clock.now.offset
    let shared = SharedState(of: "serve", in: store, now: now).shared("syncs", [String: SyncJob]())
    await shared.update { jobs in
      jobs["held"] = SyncJob(
        id: "x", worker: "elsewhere:1", startedAt: Timestamp(time), updatedAt: Timestamp(time))
    }
    #expect(await state(b, is: .running, .interrupted, isPassing: false) == .running)
    #expect(await state(b, is: .interrupted) == .interrupted)
    #expect(clock.now.offset - time > SyncJobs.lease)
    held.isReleased.withLock { $0 = true }
    await b.start(held.source, pages: nil)
    #expect(await state(a, is: .done) == .done)
  }
}

/// Removes sources, and does something beside that.
private struct Removing: SourceManagement {
  let beside: @Sendable () async throws -> Void

  init(beside: @escaping @Sendable () async throws -> Void) { self.beside = beside }

  func isFree(_ name: String) -> Bool { false }
  func mayChange(_ name: String) -> Bool { true }
  func leftovers(of name: String) async throws -> SourceAdding.Leftovers {
    .init(data: nil, keys: [])
  }
  func verifyKeys(_ values: [String: String]) async throws -> String? { nil }
  func saveKeys(_ values: [String: String]) async throws -> String { throw Problem.unknownPath }
  func proposal(toEdit name: String) throws -> ProposedSource { throw Problem.unknownPath }

  func proposal(
    for name: String, at url: String, given hints: [String: String],
    signedBy key: SourceAdding.Key?, isReplacing: Bool
  ) async throws -> ProposedSource { throw Problem.unknownPath }

  func remove(_ name: String, withData: Bool, keys: [String]) async throws -> ProposedSource? {
    try await beside()
    return nil
  }
}
