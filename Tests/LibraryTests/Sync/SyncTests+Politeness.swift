import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// How often, and how much at a time, a sync asks.
extension SyncTests {
  @Test func `waits a while where the service does not say until when`() async throws {
    let notes = notebook(20)
    let calls = Counter()
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        calls.add()
        if calls.value <= 2 { throw .because(.rateLimited) }
        return try await notes.page(request)
      }, skip: { notes.cursor(skipping: $0, from: $1) })
    let patient = try syncing(base)
    async let result = patient.run(upTo: nil, jobs: 1, waits: true) { _ in }
    for (number, wait) in [60, 120].enumerated() {
      await waits.reaches(number + 1)
      await clock.sleepers(atLeast: 1)
      #expect(clock.untilNextWake == .seconds(wait))
      clock.advance(by: .seconds(wait))
    }
    #expect(await result.added == 20)
    let impatient = await patient.run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(impatient.failure == nil)
  }

  @Test func `ends when no more may be asked for, and says when it may`() async throws {
    let base = service(1...95)
    let bounded = try syncing(base, rate: "3/h")
    let result = await bounded.run(upTo: nil, jobs: 1, waits: false) { _ in }
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
    let all = await bounded.run(upTo: nil, jobs: jobs, waits: true) { _ in }
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
      async let result = syncing.run(upTo: nil, jobs: jobs, waits: false) { _ in }
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
}
