import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CoalescedTests {
  private let gate = Gate()
  private let base: ScriptedSource<Note>

  init() { base = ScriptedSource(over: notebook(3), held: gate) }

  /// Starts a call and waits until it has joined the flight: its `page` was entered before the next
  /// task of this actor runs.
  @MainActor
  private func callers(
    _ count: Int, of source: some DataSource<Note>, requesting request: PageRequest = PageRequest()
  ) async -> [Task<SourceError?, Never>] {
    let entered = Counter()
    let calls = (0..<count).map { _ in
      Task { @MainActor in
        entered.add()
        return await source.failure(of: request)
      }
    }
    await entered.reaches(count)
    await gate.holds(1)
    return calls
  }

  @Test func `makes one call for many callers`() async {
    let source = base.coalesced()
    let calls = await callers(50, of: source)
    gate.open()
    for call in calls { #expect(await call.value == nil) }
    #expect(base.callCount == 1)
  }

  @Test func `makes one call for all callers with the same cache policy`() async {
    let source = base.coalesced()
    let calls =
      await callers(2, of: source)
      + callers(2, of: source, requesting: PageRequest(cachePolicy: .reload))
    await gate.holds(2)
    gate.open()
    for call in calls { #expect(await call.value == nil) }
    #expect(base.callCount == 2)
  }

  @Test func `shares calls for one record, and none between different requests`() async throws {
    let source = base.coalesced()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for id in [1, 2, 1, 2] { group.addTask { _ = try await source.item(id) } }
      for limit in [5, 6] {
        group.addTask { _ = try await source.page(PageRequest(limit: limit)) }
        group.addTask {
          _ = try await source.page(PageRequest(matching: try SearchQuery("note"), limit: limit))
        }
      }
      await gate.holds(6)
      gate.open()
      try await group.waitForAll()
    }
    #expect(Set(base.ids) == [1, 2])
    #expect(Set(base.requests).count == 4)
  }

  @Test func `a cancelled caller returns at once, and the others get the answer`() async {
    let source = base.coalesced()
    let calls = await callers(5, of: source)
    calls[0].cancel()
    #expect(await calls[0].value?.code == .cancelled)
    #expect(base.inFlight == 1)
    gate.open()
    for call in calls.dropFirst() { #expect(await call.value == nil) }
    #expect((base.callCount, base.cancellations) == (1, 0))
  }

  @Test func `cancels the call when the last caller leaves`() async {
    let source = base.coalesced()
    let calls = await callers(3, of: source)
    for call in calls { call.cancel() }
    for call in calls { #expect(await call.value?.code == .cancelled) }
    await base.ends(atLeast: 1)
    #expect((base.callCount, base.cancellations) == (1, 1))
  }

  @Test func `makes no call for a cancelled caller`() async {
    let source = base.coalesced()
    let left = Gate()
    let call = Task {
      try? await left.pass()
      return await source.failure()
    }
    call.cancel()
    #expect(await call.value?.code == .cancelled)
    #expect(base.callCount == 0)
  }

  @Test func `makes a new call after all callers left, while the old one still ends`() async {
    let source = base.coalesced()
    let early = await callers(1, of: source)
    early[0].cancel()
    #expect(await early[0].value?.code == .cancelled)
    async let late = source.failure()
    await base.calls(atLeast: 2)
    await base.ends(atLeast: 1)
    gate.open()
    #expect(await late == nil)
    #expect(base.callCount == 2)
  }

  @Test func `shares a failure`() async {
    let failing = ScriptedSource<Note>(pages: [.failure(.because(.serverError))], held: gate)
    let calls = await callers(9, of: failing.coalesced())
    gate.open()
    for call in calls { #expect(await call.value?.code == .serverError) }
    #expect(failing.callCount == 1)
  }

  @Test func `makes a new call after an answer`() async throws {
    let source = base.coalesced()
    gate.open()
    for _ in 0..<3 { _ = try await source.page(PageRequest()) }
    #expect(base.callCount == 3)
  }

  @Test func `serves thousands of callers, half of them cancelled`() async {
    let source = base.coalesced()
    let leaving = (0..<2000).map { _ in Task { await source.failure()?.code } }
    let staying = (0..<2000).map { _ in Task { await source.failure()?.code } }
    await gate.holds(1)
    for call in leaving { call.cancel() }
    var outcomes: [SourceError.Code?: Int] = [:]
    for call in leaving { outcomes[await call.value, default: 0] += 1 }
    #expect(outcomes == [.cancelled: 2000])
    gate.open()
    for call in staying { #expect(await call.value == nil) }
    #expect(base.inFlight == 0)
  }
}
