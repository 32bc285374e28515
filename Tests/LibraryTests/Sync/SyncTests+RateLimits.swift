import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// Rate limits and the number of pages in flight.
extension SyncTests {
  @Test func `backs off if a rate-limited service sends no Retry-After`() async throws {
    let notes = notebook(20)
    let calls = Counter()
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        calls.add()
        if calls.value <= 2 { throw .because(.rateLimited) }
        return try await notes.page(request)
      }, skip: { notes.cursor(skipping: $0, from: $1) })
    let sync = try syncing(base)
    async let result = sync.run(upTo: nil, jobs: 1, waits: true) { _ in }
    for (number, wait) in [60, 120].enumerated() {
      await waits.reaches(number + 1)
      await clock.sleepers(atLeast: 1)
      #expect(clock.untilNextWake == .seconds(wait))
      clock.advance(by: .seconds(wait))
    }
    #expect(await result.added == 20)
    let unwaiting = await sync.run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(unwaiting.failure == nil)
  }

  @Test func `asks a service that goes on refusing less and less often, and ends after an hour`()
    async throws
  {
    let notes = notebook(20)
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        guard request.cursor == nil else {
          throw .because(.rateLimited, retryAfter: .seconds(90))
        }
        return try await notes.page(request)
      }, skip: { notes.cursor(skipping: $0, from: $1) })
    async let result = try syncing(base).run(upTo: nil, jobs: 1, waits: true) { _ in }
    for (number, wait) in [90, 180, 360, 720, 900, 900, 900].enumerated() {
      await waits.reaches(number + 1)
      await clock.sleepers(atLeast: 1)
      #expect(clock.untilNextWake == .seconds(wait))
      today.turn(by: Double(wait))
      clock.advance(by: .seconds(wait))
    }
    let ended = try await result
    #expect((ended.added, ended.failure?.code) == (10, .rateLimited))
    #expect(ended.failure?.retryAfter == .seconds(90))
    #expect(base.callCount == 9)
    #expect(
      waitReasons.all.prefix(3) == [
        "a test says rateLimited", "a test says rateLimited, 2 times in a row (asked for 90 s)",
        "a test says rateLimited, 3 times in a row (asked for 90 s)",
      ])
  }

  @Test func `shows what earlier runs have read before it waits`() async throws {
    let base = service(1...95)
    #expect(try await sync(base, upTo: 2).added == 20)
    let refused = ScriptedSource<Note>(
      page: { _ throws(SourceError) in throw .because(.rateLimited, retryAfter: .seconds(90)) },
      skip: { base.cursor(skipping: $0, from: $1) })
    let seen = Mutex<[Int]>([])
    let result = try await syncing(refused).run(upTo: nil, jobs: 1, waits: false) { result in
      seen.withLock { $0.append(result.passed) }
    }
    #expect(result.failure?.code == .rateLimited)
    #expect(seen.withLock(\.self) == [20])
  }

  @Test func `ends at the rate limit with the time to retry`() async throws {
    let base = service(1...95)
    let bounded = try syncing(base, rate: "3/h")
    let result = await bounded.run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect((result.added, result.failure?.code) == (30, .rateLimited))
    #expect(result.failure?.retryAfter == .milliseconds(3_600_100))
    #expect(base.callCount == 3)
  }

  @Test(arguments: [1, 8])
  func `waits for the rate limit if requested, and never exceeds it`(jobs: Int) async throws {
    let base = service(1...95)
    let bounded = try syncing(base, rate: "3/h")
    let (clock, today, waits) = (clock, today, waits)
    let driver = Task {
      for hour in 1... {
        await waits.reaches(hour)
        await clock.sleepers(atLeast: 1)
        guard !Task.isCancelled else { return }
        #expect(base.callCount <= hour * 3)
        clock.advance(by: .seconds(3601))
        today.turn(by: 3601)
      }
    }
    let all = await bounded.run(upTo: nil, jobs: jobs, waits: true) { _ in }
    driver.cancel()
    await driver.value
    #expect((all.added, all.isComplete) == (95, true))
    // With several jobs a later page may get the last call of a period, and is fetched again in order.
    #expect(jobs == 1 ? base.callCount == 10 : base.callCount >= 10)
  }

  @Test func `never has more pages in flight than jobs`() async throws {
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

  @Test func `eight jobs take an eighth of the time`() async throws {
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
      async let result = syncing.run(upTo: nil, jobs: jobs, waits: false) { _ in }
      var ended = 0
      while ended < 200 {
        // Wait until all pages that can be in flight are, then let them arrive.
        let inFlight = ended == 0 ? 1 : min(jobs, 200 - ended)
        await clock.sleepers(atLeast: inFlight)
        clock.advance(by: latency)
        ended += inFlight
        await base.ends(atLeast: ended)
      }
      #expect(await result.unchanged + result.added == 2000)
      return clock.now.offset
    }
    let one = try await time(jobs: 1)
    #expect(one == latency * 200)
    let eight = try await time(jobs: 8)
    #expect(eight == latency * 26)
  }
}
