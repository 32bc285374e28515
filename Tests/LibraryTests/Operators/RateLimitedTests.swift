import AggregatorCore
import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RateLimitedTests {
  let clock = ManualClock()
  let journal = Journal()
  let base = ScriptedSource(over: notebook(100))

  private func limited(_ rate: String) throws -> some DataSource<Note> {
    base.rateLimited(by: try #require(Rate(rate)), clock: clock)
      .observed(by: journal.observer, as: "notes")
  }

  private func search(_ word: String) throws -> PageRequest {
    PageRequest(matching: try SearchQuery(word))
  }

  @Test func `waits for its reservation`() async throws {
    let source = try limited("1/s")
    _ = try await source.page(PageRequest())
    async let second = source.page(PageRequest())
    await clock.sleepers(atLeast: 1)
    #expect(base.callCount == 1)
    #expect(clock.untilNextWake == .seconds(1))
    clock.advance(by: .seconds(1))
    _ = try await second
    #expect(base.callCount == 2)
    #expect(journal.waits == [.seconds(1)])
    #expect(journal.events.contains("waiting 1.0 seconds: rate limit 1/s"))
  }

  @Test func `counts a call from when its request leaves`() async throws {
    let slow = ScriptedSource<Note> { [clock] _ throws(SourceError) in
      // For so long it connects.
      clock.advance(by: .milliseconds(50))
      Departure.current?.note()
      clock.advance(by: .milliseconds(200))
      return .notes(1...1)
    } item: { id throws(SourceError) in
      LookupResult(Note(id), provenance: Provenance(.live))
    }
    let source = slow.rateLimited(by: Rate(1, per: .seconds(1)), clock: clock)
    _ = try await source.page(PageRequest())
    async let second = source.page(PageRequest())
    await clock.sleepers(atLeast: 1)
    #expect(clock.now.offset == .milliseconds(250))
    #expect(clock.untilNextWake == .milliseconds(800))
    clock.advance(by: .milliseconds(800))
    _ = try await second
    // A call that has waited and one that has not are moved alike.
    async let third = source.page(PageRequest())
    await clock.sleepers(atLeast: 1)
    #expect(clock.untilNextWake == .milliseconds(800))
    clock.advance(by: .milliseconds(800))
    _ = try await third
    #expect(slow.callCount == 3)
  }

  @Test func `waits longer if the call before was made late`() async throws {
    let source = try limited("1/s")
    _ = try await source.page(PageRequest())
    async let second = source.page(PageRequest())
    await clock.sleepers(atLeast: 1)
    async let third = source.page(PageRequest())
    await clock.sleepers(atLeast: 2)
    clock.advance(by: .milliseconds(1050))
    _ = try await second
    clock.advance(by: .milliseconds(950))
    await clock.sleepers(atLeast: 1)
    #expect((base.callCount, clock.untilNextWake) == (2, .milliseconds(50)))
    clock.advance(by: .milliseconds(50))
    _ = try await third
    #expect(base.callCount == 3)
  }

  @Test func `counts lists, searches and records apart`() async throws {
    let source = try limited("1/h")
    _ = try await source.page(PageRequest())
    _ = try await source.page(try search("note"))
    _ = try await source.item(7)
    #expect(base.callCount == 3)
    #expect(journal.waits.isEmpty)
    for request in [PageRequest(limit: 3), try search("1")] {
      let failure = await source.timeout(.seconds(9), clock: clock).failure(of: request)
      #expect(failure?.code == .rateLimited)
    }
  }

  @Test func `applies two bounds at once`() async throws {
    let source = try limited("2/s 3/m")
    let calls = Task { [base] in
      for _ in 0..<4 { _ = try await source.page(PageRequest()) }
      return base.callCount
    }
    await clock.sleepers(atLeast: 1)
    #expect((base.callCount, clock.untilNextWake) == (2, .seconds(1)))
    clock.advance(by: .seconds(1))
    await base.calls(atLeast: 3)
    await clock.sleepers(atLeast: 1)
    #expect((base.callCount, clock.untilNextWake) == (3, .seconds(59)))
    clock.advance(by: .seconds(59))
    #expect(try await calls.value == 4)
  }

  @Test func `serves callers in the order of arrival`() async throws {
    let source = try limited("1/s")
    _ = try await source.page(PageRequest(limit: 1))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...9 {
        group.addTask { _ = try await source.page(PageRequest(limit: number + 1)) }
        await clock.sleepers(atLeast: number)
      }
      for number in 1...9 {
        clock.advance(by: .seconds(1))
        await base.calls(atLeast: number + 1)
        #expect(base.callCount == number + 1)
      }
      try await group.waitForAll()
    }
    #expect(base.requests.map(\.limit) == Array(1...10))
  }

  @Test func `fails immediately if the deadline comes first, without a reservation`() async throws {
    let limited = try limited("1/m")
    let source = limited.timeout(.seconds(20), clock: clock)
    _ = try await source.page(PageRequest())
    clock.advance(by: .seconds(15))
    for _ in 0..<3 {
      let failure = await source.failure()
      #expect(failure?.code == .rateLimited)
      #expect(failure?.retryAfter == .seconds(45))
      #expect(failure?.message == "local rate limit 1/m reached")
      #expect(failure?.remedy == "retry in 45 s")
    }
    #expect(base.callCount == 1)
    clock.advance(by: .seconds(45))
    #expect(await source.failure() == nil)
  }

  @Test func `returns a reservation when its caller is cancelled`() async throws {
    let source = try limited("1/s")
    _ = try await source.page(PageRequest())
    let leaving = Task { await source.failure() }
    await clock.sleepers(atLeast: 1)
    leaving.cancel()
    #expect(await leaving.value?.code == .cancelled)
    #expect(base.callCount == 1)
    async let next = source.page(PageRequest())
    await clock.sleepers(atLeast: 1)
    #expect(clock.untilNextWake == .seconds(1))
    clock.advance(by: .seconds(1))
    _ = try await next
  }

  @Test func `makes no reservation for a cancelled caller`() async throws {
    let source = try limited("1/h")
    let left = Gate()
    let leaving = Task {
      try? await left.pass()
      return await source.failure()
    }
    leaving.cancel()
    #expect(await leaving.value?.code == .cancelled)
    #expect(await source.failure() == nil)
    #expect(base.callCount == 1)
    #expect(journal.waits.isEmpty)
  }

  @Test func `counts failed calls`() async throws {
    let failing = ScriptedSource<Note>(pages: [.failure(.because(.rejected))])
    let source = failing.rateLimited(by: Rate(1, per: .seconds(60)), clock: clock)
    #expect(await source.failure()?.code == .rejected)
    let failure = await source.timeout(.seconds(1), clock: clock).failure()
    #expect(failure?.code == .rateLimited)
  }

  @Test func `rejects a wait of a day`() async throws {
    let source = try limited("1/24h")
    _ = try await source.page(PageRequest())
    #expect(await source.failure()?.retryAfter == .seconds(86_400))
  }
}
