import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// The effects of a service's `Retry-After`.
@Suite(.timeLimit(.minutes(10)))
struct RetryAfterTests {
  private let clock = ManualClock()
  private let wall: WallClock
  private let texts = Texts()
  private let service: ScriptedSource<Note>
  private let failing = Failing()

  /// The failure of the service; initially none.
  private final class Failing: Sendable {
    let error = Mutex<SourceError?>(nil)

    func set(_ error: SourceError?) { self.error.withLock { $0 = error } }
  }

  init() {
    wall = WallClock(clock)
    service = ScriptedSource { [failing] _ throws(SourceError) in
      if let error = failing.error.withLock(\.self) { throw error }
      return .notes(1...3)
    } item: { id throws(SourceError) in
      LookupResult(Note(id), provenance: Provenance(.live))
    }
  }

  private var sharedState: SharedState { texts.sharedState { [wall] in wall.now } }

  /// The service as a new process uses it.
  private func process(_ rate: Rate? = nil, maxWait: Int = 15) -> any DataSource<Note> {
    let source: any DataSource<Note> =
      if let rate {
        service.rateLimited(by: rate, clock: clock, sharing: sharedState)
      } else {
        service.respectingRetryAfter(clock: clock, sharing: sharedState)
      }
    return source.timeout(.seconds(maxWait), clock: clock)
  }

  /// Lets one call fail, and the service be well again.
  private func fail(_ source: some DataSource<Note>, retryAfter: Duration?) async {
    failing.set(.because(.rateLimited, retryAfter: retryAfter))
    #expect(await source.failure()?.message == "a test says rateLimited")
    failing.set(nil)
  }

  @Test(arguments: [nil, Rate("1/s"), Rate("5/s 200/h")])
  func `blocks calls until then, in every process`(rate: Rate?) async throws {
    await fail(process(rate), retryAfter: .seconds(60))
    clock.advance(by: .seconds(17))
    for request in [PageRequest(), PageRequest(matching: try SearchQuery("note"))] {
      let failure = await process(rate).failure(of: request)
      #expect(failure?.code == .rateLimited)
      #expect(failure?.retryAfter == .seconds(43))
      #expect(failure?.description == "rate limited by the service (retry in 43 s)")
    }
    let record = process(rate)
    await #expect(throws: SourceError.self) { try await record.item(1) }
    #expect(service.callCount == 1)
    clock.advance(by: .seconds(43) - .milliseconds(1))
    async let early = process(rate, maxWait: 1).failure()
    await clock.sleepers(atLeast: 2)
    #expect(service.callCount == 1)
    clock.advance(by: .milliseconds(1))
    #expect(await early == nil)
    #expect(service.callCount == 2)
  }

  @Test func `also blocks calls within one process`() async throws {
    let source = service.respectingRetryAfter(clock: clock).timeout(.seconds(15), clock: clock)
    await fail(source, retryAfter: .seconds(60))
    #expect(await source.failure()?.retryAfter == .seconds(60))
    clock.advance(by: .seconds(60))
    #expect(await source.failure() == nil)
  }

  @Test func `waits if the deadline allows it`() async throws {
    let journal = Journal()
    await fail(process(), retryAfter: .seconds(10))
    let next = process().observed(by: journal.observer, as: "notes")
    async let failure = next.failure()
    await clock.sleepers(atLeast: 2)
    #expect(clock.untilNextWake == .seconds(10))
    clock.advance(by: .seconds(10))
    #expect(await failure == nil)
    #expect(journal.events.contains("waiting 10.0 seconds: rate limited by the service"))
  }

  @Test func `does not wait for a pause that is longer than the longest one`() async throws {
    await fail(process(), retryAfter: .seconds(10))
    let next = process()
    let refused = await Deadline.$longestPause.withValue(.seconds(2)) { await next.failure() }
    #expect(refused?.retryAfter == .seconds(10))
    clock.advance(by: .seconds(9))
    async let failure = Deadline.$longestPause.withValue(.seconds(2)) { await next.failure() }
    await clock.sleepers(atLeast: 2)
    clock.advance(by: .seconds(1))
    #expect(await failure == nil)
  }

  @Test func `tells the age of a pause of a call that is refused, and none of one that waits`()
    async throws
  {
    await sharedState.pauseCalls(of: Caller(), for: .seconds(20), after: "GET /notes")
    clock.advance(by: .seconds(4))
    let refused = await process(maxWait: 10).failure()
    #expect(refused?.message == "rate limited by the service 4 s ago, after GET /notes")
    #expect(await sharedState.refusal(of: Caller())?.message == refused?.message)
    let journal = Journal()
    let next = process(maxWait: 30).observed(by: journal.observer, as: "notes")
    async let failure = next.failure()
    await clock.sleepers(atLeast: 2)
    clock.advance(by: .seconds(16))
    #expect(await failure == nil)
    #expect(
      journal.events.contains("waiting 16.0 seconds: rate limited by the service, after GET /notes")
    )
    #expect(await sharedState.refusal(of: Caller()) == nil)
  }

  @Test func `blocks calls that already have a reservation`() async throws {
    let rate = Rate(1, per: .seconds(1))
    let (one, other) = (process(rate, maxWait: 30), process(rate, maxWait: 30))
    failing.set(.because(.rateLimited, retryAfter: .seconds(60)))
    _ = await one.failure()
    clock.advance(by: .seconds(60))
    // One second after this call the next one has its turn; before that the service has had enough.
    let gate = Gate()
    let held = ScriptedSource<Note> { _ throws(SourceError) in
      try await gate.pass()
      throw .because(.rateLimited, retryAfter: .seconds(20))
    }
    let slow = held.rateLimited(
      by: rate, clock: clock, sharing: sharedState)
    async let first = slow.failure()
    await gate.holds(1)
    async let second = other.failure()
    await clock.sleepers(atLeast: 2)
    #expect(clock.untilNextWake == .seconds(1))
    gate.open()
    #expect(await first?.retryAfter == .seconds(20))
    failing.set(nil)
    clock.advance(by: .seconds(1))
    await clock.sleepers(atLeast: 2)
    #expect(clock.untilNextWake == .seconds(19))
    #expect(service.callCount == 1)
    clock.advance(by: .seconds(19))
    #expect(await second == nil)
  }

  @Test func `ignores its own retry time`() async throws {
    let rate = Rate(1, per: .seconds(3600))
    let source = process(rate).respectingRetryAfter(clock: clock, sharing: sharedState)
    #expect(await source.failure() == nil)
    for _ in 0..<2 {
      #expect(await source.failure()?.message == "local rate limit 1/h reached")
    }
    #expect(try await source.item(1).item.id == 1)
  }

  @Test(arguments: [SourceError.Code.serverError, .timedOut, .rejected])
  func `handles only rate-limit errors`(code: SourceError.Code) async throws {
    let source = process()
    failing.set(.because(code, retryAfter: .seconds(60)))
    #expect(await source.failure()?.code == code)
    #expect(await source.failure()?.code == code)
    #expect(texts.writes == 0)
  }

  @Test(arguments: [nil, Duration.zero, .seconds(-9)])
  func `does not block calls if the service names no wait`(wait: Duration?) async throws {
    await fail(process(), retryAfter: wait)
    #expect(await process().failure() == nil)
    #expect(texts.writes == 0)
  }

  @Test(arguments: [Duration.seconds(86_401), .seconds(1 << 40), .seconds(Int64.max)])
  func `is limited to a day`(wait: Duration) async throws {
    await fail(process(), retryAfter: wait)
    #expect(await process().failure()?.retryAfter == .seconds(86_400))
  }

  @Test func `is limited to the configured maximum`() async throws {
    let source = process()
    let gate = Gate()
    let held = ScriptedSource<Note> { _ throws(SourceError) in
      try await gate.pass()
      throw .because(.rateLimited, retryAfter: .seconds(20))
    }
    let slow = held.respectingRetryAfter(
      clock: clock, sharing: sharedState)
    async let late = slow.failure()
    await gate.holds(1)
    await fail(source, retryAfter: .seconds(60))
    gate.open()
    #expect(await late?.retryAfter == .seconds(20))
    #expect(await source.failure()?.retryAfter == .seconds(60))
  }

  @Test func `is not extended when the system clock is set back`() async throws {
    await fail(process(), retryAfter: .seconds(60))
    wall.put(forward: -7200)
    #expect(await process().failure()?.retryAfter == .seconds(60))
    clock.advance(by: .seconds(60))
    wall.put(forward: 7200)
    #expect(await process().failure() == nil)
  }

  @Test(arguments: [Texts.Fault.busy, .full])
  func `is in memory when the store fails`(fault: Texts.Fault) async throws {
    let source = process()
    texts.fail(fault)
    await fail(source, retryAfter: .seconds(60))
    #expect(await source.failure()?.retryAfter == .seconds(60))
    clock.advance(by: .seconds(60))
    #expect(await source.failure() == nil)
  }

  @Test func `is retried at the time that the service names`() async throws {
    let source = service.respectingRetryAfter(
      clock: clock, sharing: sharedState
    )
    .retry(clock: clock).timeout(.seconds(90), clock: clock)
    failing.set(.because(.rateLimited, retryAfter: .seconds(60)))
    async let failure = source.failure()
    await service.ends(atLeast: 1)
    await clock.sleepers(atLeast: 2)
    failing.set(nil)
    clock.advance(by: .seconds(60))
    #expect(await failure == nil)
    #expect(service.callCount == 2)
  }

  @Test func `a call that a person insists on is made once during a pause, and an answer ends it`()
    async throws
  {
    await fail(process(), retryAfter: .seconds(60))
    var policy = CachePolicy.reload
    let request = { PageRequest(cachePolicy: policy) }
    #expect(await process().failure(of: request())?.message == "rate limited by the service")
    policy.overridesPauses = true
    failing.set(.because(.rateLimited, retryAfter: .seconds(3600)))
    let source = process()
    let count = service.callCount
    #expect(await source.failure(of: request())?.message == "a test says rateLimited")
    failing.set(nil)
    for _ in 0..<2 { #expect(await source.failure(of: request())?.retryAfter == .seconds(3600)) }
    #expect(service.callCount == count + 1)
    #expect(await process().failure()?.code == .rateLimited)
    #expect(await process().failure(of: request()) == nil)
    #expect(await process().failure() == nil)
  }
}
