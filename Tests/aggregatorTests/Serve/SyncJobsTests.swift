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

  @Test func `the last one is told in words`() {
    func words(_ state: SyncJob.State, at seconds: Int, _ message: String? = nil) -> String {
      let start = Duration.seconds(86_400)
      var job = SyncJob(
        id: "1", worker: "w", startedAt: Timestamp(start),
        updatedAt: Timestamp(start + .seconds(3)), state: state,
        result: ["records": 20, "added": 2, "changed": 0, "removedUpstream": 1])
      job.failure = message.map { SyncJob.Failure(code: "rejected", message: $0) }
      return job.words(at: start + .seconds(seconds))
    }
    let start = "the last sync by a server began 1970-01-02T00:00:00Z and "
    let counts = ": 20 records, 2 added, 1 removed"
    #expect(words(.running, at: 4) == "\(start)is running\(counts)")
    #expect(
      words(.running, at: 60).hasSuffix("took 3 s\(counts); the server that ran the sync has ended")
    )
    #expect(words(.done, at: 60) == "\(start)took 3 s\(counts)")
    #expect(words(.failed, at: 60, "refused") == "\(start)took 3 s\(counts); refused")
  }

  @Test func `any of them stops it`() async throws {
    let (held, a, b) = (Held(), server(), server())
    #expect(await !b.cancel("held"))
    await a.start(held.source, pages: nil)
    #expect(await b.cancel("held"))
    #expect(await state(b, is: .cancelled) == .cancelled)
    #expect(await state(a, is: .cancelled) == .cancelled)
    #expect(await !a.cancel("held"))
    // The next one begins.
    held.isReleased.withLock { $0 = true }
    await b.start(held.source, pages: nil)
    #expect(await state(a, is: .done) == .done)
  }

  @Test func `who leaves does not stop it, and who comes later follows it`() async throws {
    let (held, a, b) = (Held(), server(), server())
    await a.start(held.source, pages: nil)
    for await event in a.events(of: "held") {
      #expect(event.name == "progress")
      break
    }
    let others = [a, b].map { server in
      Task {
        var names: [String?] = []
        for await event in server.events(of: "held") { names.append(event.name) }
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
    for await event in b.events(of: "other") { Issue.record("\(event)") }
  }

  @Test func `a sync of this server is not interrupted, however long it takes`() async throws {
    let (held, a) = (Held(), server())
    await a.start(held.source, pages: nil)
    let states = Task {
      var names: [String?] = []
      for await event in a.events(of: "held") { names.append(event.name) }
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
    for await event in a.events(of: "held") {
      #expect(event.name == "error")
      #expect(JSONText(Data(event.data.utf8)).flatMap { JSON($0)["hint"] } == error["hint"])
    }
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
