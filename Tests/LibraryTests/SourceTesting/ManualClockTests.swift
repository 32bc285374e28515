import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ManualClockTests {
  private let clock = ManualClock()

  @Test func `advances only on request`() {
    #expect(clock.now.offset == .zero)
    clock.advance(by: .seconds(5))
    clock.advance(by: .zero)
    #expect(clock.now.offset == .seconds(5))
    #expect(clock.now.duration(to: clock.now.advanced(by: .seconds(2))) == .seconds(2))
  }

  @Test func `has a date that advances with it`() {
    clock.advance(by: .milliseconds(1500))
    #expect(clock.date(startingAt: .day(1)) == Date.day(1).addingTimeInterval(1.5))
  }

  @Test func `wakes no sleeper early`() async throws {
    async let sleep: Void = clock.sleep(for: .seconds(2))
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(2) - .nanoseconds(1))
    #expect((clock.sleeperCount, clock.untilNextWake) == (1, .nanoseconds(1)))
    clock.advance(by: .nanoseconds(1))
    try await sleep
    #expect((clock.sleeperCount, clock.untilNextWake) == (0, nil))
  }

  @Test func `wakes each sleeper at its own time`() async throws {
    let seconds = [5, 1, 4, 2, 3, 1]
    let sleeps = seconds.map { second in
      Task { [clock] in try await clock.sleep(for: .seconds(second)) }
    }
    await clock.sleepers(atLeast: seconds.count)
    for now in 1...5 {
      clock.advance(by: .seconds(1))
      for (second, sleep) in zip(seconds, sleeps) where second == now { try await sleep.value }
      let left = seconds.filter { $0 > now }
      #expect(clock.sleeperCount == left.count)
      #expect(clock.untilNextWake == left.min().map { .seconds($0 - now) })
    }
  }

  @Test func `wakes all sleepers that are due at once`() async throws {
    let sleeps = [5, 1, 4, 6].map { second in
      Task { [clock] in try await clock.sleep(for: .seconds(second)) }
    }
    await clock.sleepers(atLeast: sleeps.count)
    clock.advance(by: .seconds(5))
    for sleep in sleeps.prefix(3) { try await sleep.value }
    #expect((clock.sleeperCount, clock.untilNextWake) == (1, .seconds(1)))
    clock.advance(by: .seconds(1))
    try await sleeps[3].value
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `does not sleep for zero or negative durations`(duration: Duration) async throws {
    try await clock.sleep(for: duration)
  }

  @Test func `ends a sleep that is cancelled`() async {
    let sleep = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
    await clock.sleepers(atLeast: 1)
    sleep.cancel()
    await #expect(throws: CancellationError.self) { try await sleep.value }
    #expect(clock.sleeperCount == 0)
    clock.advance(by: .seconds(1))
  }

  @Test func `does not sleep in a cancelled task`() async {
    let sleep = Task { [clock] in
      withUnsafeCurrentTask { $0?.cancel() }
      try await clock.sleep(for: .zero)
    }
    await #expect(throws: CancellationError.self) { try await sleep.value }
  }

  @Test func `survives cancellations while it advances`() async {
    let sleeps = (0..<500).map { number in
      Task { [clock] in try? await clock.sleep(for: .seconds(number % 7 + 1)) }
    }
    await clock.sleepers(atLeast: 500)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for sleep in sleeps { sleep.cancel() } }
      group.addTask { [clock] in for _ in 0..<7 { clock.advance(by: .seconds(1)) } }
    }
    for sleep in sleeps { await sleep.value }
    #expect((clock.sleeperCount, clock.untilNextWake) == (0, nil))
  }
}
