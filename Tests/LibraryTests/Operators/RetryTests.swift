import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RetryTests {
  let clock = ManualClock()
  let journal = Journal()

  /// Retries at the longest wait that the jitter can choose, or another part of it.
  private func retried(
    _ base: some DataSource<Note>, _ policy: RetryPolicy = .standard, bits: UInt64 = .max
  ) -> some DataSource<Note> {
    base.retry(policy, clock: clock, random: { bits }).observed(by: journal.observer, as: "notes")
  }

  private func failing(_ code: SourceError.Code, times: Int) -> ScriptedSource<Note> {
    ScriptedSource(
      pages: Array(repeating: .failure(.because(code)), count: times) + [.success(.notes(1...3))])
  }

  @Test(arguments: [SourceError.Code.timedOut, .connectionLost, .rateLimited, .serverError])
  func `retries a transient failure`(code: SourceError.Code) async throws {
    let base = failing(code, times: 1)
    async let page = retried(base).page(PageRequest())
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(500))
    #expect(try await page.records.map(\.id) == [1, 2, 3])
    #expect(base.callCount == 2)
  }

  @Test(arguments: [
    SourceError.Code.unreachable, .offline, .rejected, .notFound, .invalidCursor, .invalidKey,
    .missingKey, .malformed, .tooLarge, .circuitOpen, .cancelled, .invalidRequest, .storage,
  ])
  func `does not retry a permanent failure`(code: SourceError.Code) async {
    let base = failing(code, times: 1)
    #expect(await retried(base).failure()?.code == code)
    #expect(base.callCount == 1)
  }

  @Test func `fails with the last failure after all attempts`() async {
    let base = ScriptedSource<Note>(pages: [
      .failure(.because(.timedOut)), .failure(.because(.serverError)),
      .failure(.because(.connectionLost)), .success(.notes(1...3)),
    ])
    let source = retried(base)
    async let failure = source.failure()
    for _ in 0..<2 {
      await clock.sleepers(atLeast: 1)
      clock.advance(by: .seconds(1))
    }
    #expect(await failure?.code == .connectionLost)
    #expect(base.callCount == 3)
  }

  @Test func `reports the failure that opened a circuit, not the circuit`() async {
    let base = ScriptedSource<Note>(pages: [
      .failure(.because(.timedOut)), .failure(.because(.circuitOpen)),
    ])
    async let failure = retried(base).failure()
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(500))
    #expect(await failure?.code == .timedOut)
    #expect(base.callCount == 2)
  }

  @Test func `makes one attempt if one is allowed`() async {
    let policy = RetryPolicy(attempts: 1, firstWait: .seconds(1), maxWait: .seconds(1))
    let base = failing(.timedOut, times: 1)
    #expect(await retried(base, policy).failure()?.code == .timedOut)
    #expect(base.callCount == 1)
  }

  @Test func `doubles the bound of its waits up to the longest`() async throws {
    let policy = RetryPolicy(attempts: 7, firstWait: .seconds(1), maxWait: .seconds(10))
    let source = retried(failing(.timedOut, times: 6), policy)
    async let page = source.page(PageRequest())
    for _ in 0..<6 {
      await clock.sleepers(atLeast: 1)
      clock.advance(by: .seconds(10))
    }
    _ = try await page
    let seconds = journal.waits.map { ($0 / .seconds(1)).rounded() }
    #expect(seconds == [1, 2, 4, 8, 10, 10])
  }

  @Test func `never exceeds the longest wait, not even at first`() async throws {
    let policy = RetryPolicy(attempts: 2, firstWait: .seconds(60), maxWait: .seconds(10))
    async let page = retried(failing(.timedOut, times: 1), policy).page(PageRequest())
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(60))
    _ = try await page
    #expect(try #require(journal.waits.first) <= .seconds(10))
  }

  @Test(arguments: [
    (UInt64.min, Duration.zero), (UInt64.max / 4, .milliseconds(125)),
    (UInt64.max / 2, .milliseconds(250)), (UInt64.max, .milliseconds(500)),
  ])
  func `spreads its waits over the whole range`(bits: UInt64, wait: Duration) async throws {
    let source = retried(failing(.timedOut, times: 1), bits: bits)
    async let page = source.page(PageRequest())
    if wait > .zero {
      await clock.sleepers(atLeast: 1)
      clock.advance(by: .milliseconds(500))
    }
    _ = try await page
    let waited = try #require(journal.waits.first)
    #expect(waited <= wait && waited >= wait - .microseconds(1))
    #expect(waited < .milliseconds(500))
  }

  @Test func `waits at least as long as the service requires`() async throws {
    let base = ScriptedSource<Note>(pages: [
      .failure(.because(.rateLimited, retryAfter: .seconds(7))), .success(.notes(1...3)),
    ])
    let source = retried(base).timeout(.seconds(15), clock: clock)
    async let page = source.page(PageRequest())
    await clock.sleepers(atLeast: 2)
    #expect(clock.untilNextWake == .seconds(7))
    clock.advance(by: .seconds(7))
    #expect(try await page.records.count == 3)
  }

  @Test(arguments: [Duration.seconds(15), .seconds(16), .seconds(3600)])
  func `fails immediately if the deadline is too near`(retryAfter: Duration) async {
    let base = ScriptedSource<Note>(pages: [
      .failure(.because(.rateLimited, retryAfter: retryAfter)), .success(.notes(1...3)),
    ])
    let failure = await retried(base).timeout(.seconds(15), clock: clock).failure()
    #expect(failure?.code == .rateLimited)
    #expect(failure?.retryAfter == retryAfter)
    #expect(base.callCount == 1)
    #expect(clock.now.offset == .zero)
  }

  @Test(arguments: [(Duration.seconds(2), 2), (.seconds(3), 1)])
  func `fails immediately if the required pause is longer than the longest one`(
    retryAfter: Duration, calls: Int
  ) async {
    let base = ScriptedSource<Note>(pages: [
      .failure(.because(.rateLimited, retryAfter: retryAfter)), .success(.notes(1...3)),
    ])
    let source = retried(base)
    async let failure = Deadline.$longestPause.withValue(.seconds(2)) { await source.failure() }
    if calls > 1 {
      await clock.sleepers(atLeast: 1)
      clock.advance(by: retryAfter)
    }
    let code = await failure?.code
    #expect(code == (calls > 1 ? nil : SourceError.Code.rateLimited))
    #expect(base.callCount == calls)
  }

  @Test func `ends its wait when it is cancelled`() async {
    let base = failing(.timedOut, times: 1)
    let source = retried(base)
    let call = Task { await source.failure() }
    await clock.sleepers(atLeast: 1)
    call.cancel()
    #expect(await call.value?.code == .cancelled)
    #expect(base.callCount == 1)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `also retries requests for records`() async throws {
    let calls = Counter()
    let base = ScriptedSource<Note>(
      page: { _ throws(SourceError) in throw .because(.invalidRequest) },
      item: { id throws(SourceError) in
        calls.add()
        guard calls.value > 1 else { throw .because(.serverError) }
        return LookupResult(Note(id), provenance: Provenance(.live))
      })
    async let found = retried(base, bits: 0).item(7)
    #expect(try await found.item.id == 7)
    #expect(base.ids == [7, 7])
  }

  @Test func `reports the reason for a wait`() async {
    let source = retried(failing(.timedOut, times: 1), bits: 0)
    #expect(await source.failure() == nil)
    #expect(
      journal.events == [
        "asked list", "waiting 0.0 seconds: a test says timedOut", "retrying timedOut",
        "answered list live 3",
      ])
  }
}
