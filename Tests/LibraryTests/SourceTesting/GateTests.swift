import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct GateTests {
  private let gate = Gate()

  @Test func `blocks calls until it is open`() async throws {
    let passed = Counter()
    let calls = (0..<3).map { _ in
      Task { [gate] in
        try await gate.pass()
        passed.add()
      }
    }
    await gate.holds(3)
    #expect((gate.count, passed.value) == (3, 0))
    gate.open()
    for call in calls { try await call.value }
    #expect((gate.count, passed.value) == (0, 3))
    try await gate.pass()
  }

  @Test func `releases a cancelled call`() async {
    let call = Task { [gate] in try await gate.pass() }
    await gate.holds(1)
    call.cancel()
    let error = await #expect(throws: SourceError.self) { try await call.value }
    #expect(error?.code == .cancelled)
    #expect(gate.count == 0)
  }

  @Test func `a counter resumes the waiters whose value is reached`() async {
    let counter = Counter()
    let first = Task { await counter.reaches(1) }
    let third = Task { await counter.reaches(3) }
    counter.add()
    await first.value
    counter.add(2)
    await third.value
    await counter.reaches(3)
    counter.add(-3)
    #expect(counter.value == 0)
  }

  @Test func `a counter releases a cancelled task`() async {
    let counter = Counter()
    let waiting = Task { await counter.reaches(1) }
    waiting.cancel()
    await waiting.value
    #expect(counter.value == 0)
  }
}
