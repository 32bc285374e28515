import AggregatorKit
import AggregatorSourceTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CircuitBreakerTests {
  /// A service whose failures a test can turn on and off.
  private final class Service: Sendable {
    let failure = Mutex<SourceError.Code?>(nil)
    let gate = Gate()
    let isHeld = Mutex(false)

    func set(_ code: SourceError.Code?) { failure.withLock { $0 = code } }
    func hold() { isHeld.withLock { $0 = true } }
  }

  private let clock = ManualClock()
  private let service = Service()
  private let base: ScriptedSource<Note>

  init() {
    base = ScriptedSource { [service] _ throws(SourceError) in
      if service.isHeld.withLock({ $0 }) { try await service.gate.pass() }
      if let code = service.failure.withLock({ $0 }) { throw .because(code) }
      return .notes(1...3)
    }
  }

  private var broken: some DataSource<Note> { base.circuitBreaker(clock: clock) }

  /// Makes so many calls that fail with `code`.
  private func fail(
    _ source: some DataSource<Note>, _ code: SourceError.Code = .serverError, times: Int = 5
  ) async {
    service.set(code)
    for _ in 0..<times { #expect(await source.failure()?.code == code) }
  }

  @Test(arguments: [
    SourceError.Code.unreachable, .connectionLost, .timedOut, .serverError,
  ])
  func `opens after five failures in a row`(code: SourceError.Code) async {
    let source = broken
    await fail(source, code)
    service.set(nil)
    let failure = await source.failure()
    #expect(failure?.code == .circuitOpen)
    #expect(failure?.message == "a test says \(code); paused")
    #expect(failure?.retryAfter == .seconds(30))
    #expect(failure?.isTransient == false)
    #expect(base.callCount == 5)
  }

  @Test func `also rejects records while it is open`() async {
    let source = broken
    await fail(source)
    let error = await #expect(throws: SourceError.self) { try await source.item(1) }
    #expect(error?.code == .circuitOpen)
  }

  @Test func `forgets failures after a success`() async {
    let source = broken
    await fail(source, times: 4)
    service.set(nil)
    #expect(await source.failure() == nil)
    await fail(source, times: 4)
    service.set(nil)
    #expect(await source.failure() == nil)
  }

  @Test(arguments: [
    SourceError.Code.notFound, .rejected, .invalidKey, .rateLimited, .malformed, .tooLarge,
  ])
  func `treats any answer as a success`(code: SourceError.Code) async {
    let source = broken
    await fail(source, times: 4)
    await fail(source, code, times: 6)
    await fail(source, times: 4)
    service.set(nil)
    #expect(await source.failure() == nil)
  }

  @Test(arguments: [
    SourceError.Code.invalidRequest, .invalidCursor, .invalidSettings, .missingKey, .offline,
    .storage,
    .cancelled, .circuitOpen, .noProgress,
  ])
  func `ignores a call that never reached the service`(
    code: SourceError.Code
  ) async {
    let source = broken
    await fail(source, times: 4)
    await fail(source, code, times: 6)
    await fail(source, times: 1)
    #expect(await source.failure()?.code == .circuitOpen)
    clock.advance(by: .seconds(30))
    await fail(source, code, times: 2)
    await fail(source, times: 1)
    #expect(await source.failure()?.code == .circuitOpen)
  }

  @Test func `does not treat its own quota as an answer of the service`() async throws {
    let source = base.rateLimited(by: Rate(5, per: .seconds(3600)), clock: clock)
      .circuitBreaker(clock: clock).timeout(.seconds(15), clock: clock)
    await fail(source)
    clock.advance(by: .seconds(30))
    #expect(await source.failure()?.code == .rateLimited)
    clock.advance(by: .seconds(3600))
    await fail(source, times: 1)
    #expect(await source.failure()?.code == .circuitOpen)
  }

  @Test func `allows one probe after the pause`() async {
    let source = broken
    await fail(source)
    clock.advance(by: .seconds(30) - .nanoseconds(1))
    #expect(await source.failure()?.code == .circuitOpen)
    clock.advance(by: .nanoseconds(1))
    service.set(nil)
    service.hold()
    async let probe = source.failure()
    await service.gate.holds(1)
    for _ in 0..<3 {
      let failure = await source.failure()
      #expect(failure?.code == .circuitOpen)
      #expect(
        failure?.message == "a test says serverError; a trial request is already in progress")
      #expect(failure?.remedy == "retry shortly")
    }
    service.gate.open()
    #expect(await probe == nil)
    #expect(await source.failure() == nil)
    #expect(base.callCount == 7)
  }

  @Test func `pauses again when the probe fails`() async {
    let source = broken
    await fail(source)
    clock.advance(by: .seconds(40))
    #expect(await source.failure()?.code == .serverError)
    #expect(await source.failure()?.retryAfter == .seconds(30))
    clock.advance(by: .seconds(30))
    service.set(nil)
    #expect(await source.failure() == nil)
    #expect(await source.failure() == nil)
  }

  @Test func `probes again after a cancelled probe`() async {
    let source = broken
    await fail(source)
    clock.advance(by: .seconds(30))
    service.set(nil)
    service.hold()
    let probe = Task { await source.failure() }
    await service.gate.holds(1)
    probe.cancel()
    #expect(await probe.value?.code == .cancelled)
    service.gate.open()
    #expect(await source.failure() == nil)
  }

  @Test func `counts a stalled service cut off by the deadline`() async {
    let source = broken.timeout(.seconds(15), clock: clock)
    service.hold()
    for number in 1...5 {
      async let failure = source.failure()
      await base.calls(atLeast: number)
      await clock.sleepers(atLeast: 1)
      clock.advance(by: .seconds(15))
      #expect(await failure?.code == .timedOut)
    }
    let failure = await source.failure()
    #expect(failure?.code == .circuitOpen)
    #expect(failure?.message == "the service timed out; paused")
  }

  @Test func `does not count callers cancelled before the deadline`() async {
    let source = broken.timeout(.seconds(15), clock: clock)
    service.hold()
    for number in 1...6 {
      let call = Task { await source.failure() }
      await base.calls(atLeast: number)
      call.cancel()
      #expect(await call.value?.code == .cancelled)
    }
    service.gate.open()
    #expect(await source.failure() == nil)
  }

  @Test func `opens after the configured number of failures`() async {
    let policy = BreakerPolicy(failures: 1, pause: .seconds(5))
    let source = base.circuitBreaker(policy, clock: clock)
    await fail(source, times: 1)
    #expect(await source.failure()?.retryAfter == .seconds(5))
  }
}
