import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct GateTests {
  private let gate = Gate()

  @Test func `holds who comes until it is open`() async throws {
    let passed = Gauge()
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

  @Test func `lets a cancelled call go`() async {
    let call = Task { [gate] in try await gate.pass() }
    await gate.holds(1)
    call.cancel()
    let error = await #expect(throws: SourceError.self) { try await call.value }
    #expect(error?.code == .cancelled)
    #expect(gate.count == 0)
  }

  @Test func `a gauge wakes those whose number is reached`() async {
    let gauge = Gauge()
    let first = Task { await gauge.reaches(1) }
    let third = Task { await gauge.reaches(3) }
    gauge.add()
    await first.value
    gauge.add(2)
    await third.value
    await gauge.reaches(3)
    gauge.add(-3)
    #expect(gauge.value == 0)
  }

  @Test func `a gauge lets a cancelled task go`() async {
    let gauge = Gauge()
    let waiting = Task { await gauge.reaches(1) }
    waiting.cancel()
    await waiting.value
    #expect(gauge.value == 0)
  }
}
