import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// Two chains over the same texts stand for two processes that ask one service.
@Suite(.timeLimit(.minutes(10)))
struct SharedCircuitTests {
  private final class Health: Sendable {
    let code = Mutex<SourceError.Code?>(nil)

    func set(_ code: SourceError.Code?) { self.code.withLock { $0 = code } }
  }

  private let clock = ManualClock()
  private let wall: WallClock
  private let texts = Texts()
  private let health = Health()
  private let service: ScriptedSource<Note>

  init() {
    wall = WallClock(clock)
    service = ScriptedSource { [health] _ throws(SourceError) in
      if let code = health.code.withLock(\.self) { throw .because(code) }
      return .notes(1...3)
    }
  }

  /// The service as a new process uses it.
  private func process(
    _ policy: BreakerPolicy = .standard, held gate: Gate? = nil
  ) -> some DataSource<Note> {
    ScriptedSource(over: service, held: gate).circuitBreaker(
      policy, clock: clock, sharing: texts.sharedState { [wall] in wall.now })
  }

  /// Lets so many calls fail, each in a process of its own.
  private func fail(times: Int = 5) async {
    health.set(.serverError)
    for _ in 0..<times { #expect(await process().failure()?.code == .serverError) }
  }

  @Test func `a rate limit and a circuit breaker access the shared state once per call`()
    async throws
  {
    let rate = Rate(9, per: .seconds(1))
    let source = service.admitted(
      by: CallLimit(rate), through: .standard, clock: clock,
      sharing: texts.sharedState { [wall] in wall.now })
    #expect(await source.failure() == nil)
    #expect((texts.changes, texts.writes) == (1, 1))
    health.set(.serverError)
    #expect(await source.failure()?.code == .serverError)
    #expect((texts.changes, texts.writes) == (3, 3))
    health.set(nil)
    #expect(await source.failure() == nil)
    #expect((texts.changes, texts.writes) == (5, 5))
    #expect(await source.failure() == nil)
    #expect((texts.changes, texts.writes) == (6, 6))
  }

  @Test func `counts the failures of all processes`() async {
    await fail()
    let failure = await process().failure()
    #expect(failure?.code == .circuitOpen)
    #expect(failure?.message == "a test says serverError; paused")
    #expect(failure?.retryAfter == .seconds(30))
    #expect(service.callCount == 5)
  }

  @Test func `is closed for all processes by one success`() async {
    await fail()
    health.set(nil)
    clock.advance(by: .seconds(30))
    #expect(await process().failure() == nil)
    await fail(times: 4)
    health.set(nil)
    #expect(await process().failure() == nil)
  }

  @Test func `allows one process to probe while the others wait`() async {
    await fail()
    health.set(nil)
    clock.advance(by: .seconds(30))
    let gate = Gate()
    async let probe = process(held: gate).failure()
    await gate.holds(1)
    #expect(
      await process().failure()?.remedy
        == "retry shortly")
    gate.open()
    #expect(await probe == nil)
    #expect(await process().failure() == nil)
  }

  @Test(arguments: [(30, 60), (100, 100)])
  func `ignores the probe of a process that ended`(
    pause: Int, lease: Int
  ) async {
    let policy = BreakerPolicy(failures: 5, pause: .seconds(pause))
    await fail()
    health.set(nil)
    clock.advance(by: .seconds(pause))
    // A killed process leaves the same state as one that hangs.
    let gate = Gate()
    let killed = Task { [self] in await process(policy, held: gate).failure() }
    await gate.holds(1)
    clock.advance(by: .seconds(lease) - .milliseconds(1))
    #expect(await process(policy).failure()?.code == .circuitOpen)
    clock.advance(by: .milliseconds(1))
    #expect(await process(policy).failure() == nil)
    killed.cancel()
    _ = await killed.value
  }

  @Test func `distinguishes the current probe from an abandoned one`() async {
    await fail()
    clock.advance(by: .seconds(30))
    let (slow, next) = (Gate(), Gate())
    let given = Task { [self] in await process(held: slow).failure() }
    await slow.holds(1)
    clock.advance(by: .seconds(60))
    let probe = Task { [self] in await process(held: next).failure() }
    await next.holds(1)
    given.cancel()
    #expect(await given.value?.code == .cancelled)
    #expect(await process().failure()?.code == .circuitOpen)
    probe.cancel()
    #expect(await probe.value?.code == .cancelled)
    #expect(await process().failure()?.code == .serverError)
  }

  @Test func `writes nothing while all calls succeed`() async {
    for _ in 0..<3 { #expect(await process().failure() == nil) }
    health.set(.notFound)
    _ = await process().failure()
    #expect(texts.writes == 0)
    await fail()
    let writes = texts.writes
    _ = await process().failure()
    #expect(texts.writes == writes)
  }

  @Test(arguments: [Texts.Fault.busy, .full])
  func `is in memory when the store fails`(fault: Texts.Fault) async {
    let source = process()
    health.set(.unreachable)
    _ = await source.failure()
    texts.fail(fault)
    for _ in 2...5 { #expect(await source.failure()?.code == .unreachable) }
    #expect(await source.failure()?.code == .circuitOpen)
    clock.advance(by: .seconds(30))
    health.set(nil)
    #expect(await source.failure() == nil)
  }

  @Test func `allows a probe when the system clock was set back`() async {
    await fail()
    health.set(nil)
    wall.put(forward: -3600)
    #expect(await process().failure() == nil)
  }

  @Test(arguments: [
    #"{"failures":-1}"#, #"{"failures":99999999999}"#, #"{"closesAt":"soon","failures":9}"#,
    #"{"closesAt":9223372036854775807,"failures":9}"#, "garbage",
    #"{"closesAt":1753900000000,"failures":9,"probe":1753900000000}"#,
  ])
  func `allows calls if the text is invalid`(text: String) async {
    texts.set("notes/admission", #"{"circuit":\#(text)}"#)
    #expect(await process().failure() == nil)
  }
}
