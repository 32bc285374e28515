import AggregatorKit
import AggregatorSourceTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct WaitLimitTests {
  private let clock = ManualClock()

  /// The reports of a wait whose limit of a minute passes or not, as `meanwhile` decides.
  private func reports(
    of wait: @escaping @Sendable () async -> Void,
    meanwhile: (Task<Void, Never>) async -> Void
  ) async -> [String] {
    let reports = Mutex<[String]>([])
    let limit = WaitLimit(.seconds(60), clock: clock) { text in
      reports.withLock { $0.append(text) }
    }
    let waiting = Task { await WaitLimit.$current.withValue(limit) { await wait() } }
    await clock.sleepers(atLeast: 1)
    await meanwhile(waiting)
    await waiting.value
    #expect(clock.sleeperCount == 0)
    return reports.withLock(\.self)
  }

  private func report(of wait: @escaping @Sendable () async -> Void) async -> [String] {
    await reports(of: wait) { [clock] _ in
      clock.advance(by: .seconds(59))
      clock.advance(by: .seconds(1))
    }
  }

  @Test func `a wait for what never happens ends at its limit, and says what is missing`()
    async throws
  {
    let (counter, other, gate) = (Counter(), ManualClock(), Gate())
    counter.add(2)
    let source = ScriptedSource(over: notebook(9))
    _ = try await source.page(PageRequest())
    let server = try LoopbackServer(replies: [])
    defer { server.stop() }
    let reports = [
      await report { await counter.reaches(3) },
      await report { await gate.holds(1) },
      await report { await other.sleepers(atLeast: 1) },
      await report { await source.calls(atLeast: 2) },
      await report { await source.ends(atLeast: 2) },
      await report { _ = await server.requests(atLeast: 1) },
    ]
    let missing = [
      "counter: 2 of 3", "counter: 0 of 1", "sleeping tasks: 0 of 1", "calls started: 1 of 2",
      "calls ended: 1 of 2", "requests received: 0 of 1",
    ]
    #expect(reports.flatMap(\.self) == missing.map { "waited 60 s in vain: \($0)" })
  }

  @Test func `a wait that ends in time, or is cancelled, reports nothing`() async {
    let counter = Counter()
    let inTime = await reports(of: { await counter.reaches(1) }) { _ in counter.add() }
    let cancelled = await reports(of: { await counter.reaches(2) }) { $0.cancel() }
    #expect(inTime.isEmpty && cancelled.isEmpty)
  }

  @Test func `what is tested waits without a limit`() async throws {
    let (gate, other) = (Gate(), ManualClock())
    let limit = WaitLimit(.seconds(60), clock: clock) { Issue.record("\($0)") }
    let waiting = Task {
      await WaitLimit.$current.withValue(limit) {
        try? await gate.pass()
        try? await other.sleep(for: .seconds(1))
      }
    }
    await gate.holds(1)
    #expect(clock.sleeperCount == 0)
    gate.open()
    await other.sleepers(atLeast: 1)
    #expect(clock.sleeperCount == 0)
    other.advance(by: .seconds(1))
    await waiting.value
  }
}
