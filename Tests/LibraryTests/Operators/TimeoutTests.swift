import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct TimeoutTests {
  let clock = ManualClock()
  let gate = Gate()

  @Test func `returns an answer that arrives in time`() async throws {
    let source = ScriptedSource(over: notebook(3), held: gate).timeout(.seconds(15), clock: clock)
    async let page = source.page(PageRequest())
    await gate.holds(1)
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(15) - .nanoseconds(1))
    gate.open()
    #expect(try await page.records.count == 3)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `cancels a call that takes longer, and the calls underneath`() async {
    let base = ScriptedSource(over: notebook(3), held: gate)
    let source = base.timeout(.seconds(15), clock: clock)
    async let failure = source.failure()
    await gate.holds(1)
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(15))
    let error = await failure
    #expect(error?.code == .timedOut)
    #expect(error?.message == "no answer within 15 s")
    #expect(base.cancellations == 1)
    #expect(base.inFlight == 0)
  }

  /// The part of a call that is not what it was asked for.
  @Test func `a restarted deadline leaves the whole time, and then ends the call`() async {
    let source = ScriptedSource<Note> { [clock, gate] request throws(SourceError) in
      clock.advance(by: .seconds(10))
      Deadline.current?.restart()
      try await gate.pass()
      return paged(request, count: 1)
    }.timeout(.seconds(15), clock: clock)
    async let failure = source.failure()
    await gate.holds(1)
    clock.advance(by: .seconds(14))
    await clock.sleepers(atLeast: 1)
    #expect(gate.count == 1, "24 s have passed")
    clock.advance(by: .seconds(1))
    #expect(await failure?.code == .timedOut)
  }

  @Test func `also ends a call for a record`() async {
    let source = ScriptedSource(over: notebook(3), held: gate).timeout(.seconds(15), clock: clock)
    let call = Task { try await source.item(1) }
    await gate.holds(1)
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(15))
    let error = await #expect(throws: SourceError.self) { try await call.value }
    #expect(error?.code == .timedOut)
  }

  @Test func `passes a failure on`() async {
    let base = ScriptedSource<Note>(pages: [.failure(.because(.rejected))])
    #expect(await base.timeout(.seconds(15), clock: clock).failure()?.code == .rejected)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `is cancelled, not timed out, when the caller is cancelled`() async {
    let base = ScriptedSource(over: notebook(3), held: gate)
    let source = base.timeout(.seconds(15), clock: clock)
    let call = Task { await source.failure() }
    await gate.holds(1)
    await clock.sleepers(atLeast: 1)
    call.cancel()
    #expect(await call.value?.code == .cancelled)
    #expect(base.cancellations == 1)
    #expect(clock.sleeperCount == 0)
  }

  @Test(arguments: [(Duration.seconds(5), Duration.seconds(9)), (.seconds(9), .seconds(5))])
  func `ends at the nearer of two deadlines`(inner: Duration, outer: Duration) async {
    let source = ScriptedSource(over: notebook(3), held: gate)
      .timeout(inner, clock: clock).timeout(outer, clock: clock)
    async let failure = source.failure()
    await gate.holds(1)
    await clock.sleepers(atLeast: 2)
    clock.advance(by: .seconds(5))
    #expect(await failure?.message == "no answer within 5 s")
  }

  @Test(arguments: [(Duration.seconds(5), Duration.seconds(9)), (.seconds(9), .seconds(5))])
  func `passes the nearer deadline to all sources underneath`(
    inner: Duration, outer: Duration
  ) async throws {
    let base = ScriptedSource<Note>(page: { [clock] _ throws(SourceError) in
      #expect(Deadline.current?.remaining() == .seconds(5))
      #expect(Deadline.leavesRoom(for: .seconds(5) - .nanoseconds(1)))
      #expect(!Deadline.leavesRoom(for: .seconds(5)))
      #expect(!Deadline.hasPassed)
      clock.advance(by: .seconds(4))
      #expect(Deadline.current?.remaining() == .seconds(1))
      return .notes(1...1)
    })
    let source = base.timeout(inner, clock: clock).timeout(outer, clock: clock)
    #expect(try await source.page(PageRequest()).records.count == 1)
    #expect(Deadline.current?.remaining() == nil)
    #expect(Deadline.leavesRoom(for: .seconds(1_000_000)))
  }
}
